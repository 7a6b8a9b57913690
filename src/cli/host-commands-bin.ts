// The commands that a host starts by itself, from a copy that may lie anywhere: the MCP
// server, the runner of checks, and what a plugin's slash commands show. The hook
// performs slash commands that change something: only it knows that a human typed them.
import { oneLine } from '../core/safe-text.ts';

/** The build writes it in; its commands are in a file beside this one. */
declare const QUICK_COMMANDS: string | undefined;

const knownCommands = ['mcp', 'check-runner', 'status', 'why'];
const argv = process.argv.slice(2);
const [name = ''] = argv;

if (knownCommands.includes(name)) {
  const { main } =
    typeof QUICK_COMMANDS === 'undefined'
      ? await import('./main.ts')
      : (await import('./warm-start.ts')).startWarm(
          new URL(QUICK_COMMANDS, import.meta.url),
          null,
        );
  process.exitCode = await main(argv);
} else {
  const sentence = `There is no command "${oneLine(name, 40)}" here, only ${knownCommands.join(', ')}.`;
  process.stderr.write(`untildone: ${sentence}\n`);
  process.exitCode = 2;
}
