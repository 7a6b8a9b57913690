// The commands that a host starts by itself, from a copy that may lie anywhere: the MCP
// server, the runner of checks that it starts, and what the slash commands of a host's
// plugin show. A slash command that changes something is carried out by the hook, because
// only the hook knows that a human typed it.
import { oneLine } from '../core/safe-text.ts';

/** Written in by the build, whose commands are in a file beside this one. */
declare const QUICK_COMMANDS: string | undefined;

const known = ['mcp', 'check-runner', 'status', 'why'];
const argv = process.argv.slice(2);
const [name = ''] = argv;

if (known.includes(name)) {
  const { main } =
    typeof QUICK_COMMANDS === 'undefined'
      ? await import('./main.ts')
      : (await import('./warm-start.ts')).startWarm(
          new URL(QUICK_COMMANDS, import.meta.url),
          null,
        );
  process.exitCode = await main(argv);
} else {
  const sentence = `There is no command "${oneLine(name, 40)}" here, only ${known.join(', ')}.`;
  process.stderr.write(`untildone: ${sentence}\n`);
  process.exitCode = 2;
}
