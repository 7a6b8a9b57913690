// The command line: what must start quickly is answered here; program.ts does the rest.
// Every failure becomes a sentence. It decides nothing and prints no stack trace unless
// UNTILDONE_DEBUG asks for one.
import { commandTable } from './command-table.ts';
import { type Io, processIo, programVersion } from './io.ts';
import { complain, printLines, reportFailure } from './print.ts';

/** For the file with the quick commands, which does without. */
export const renewPrograms = async (io: Io) =>
  (await import('./renew-programs.ts')).renewPrograms(io);

export async function main(
  argv: readonly string[],
  io: Io = processIo(),
): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    // Safe: a command that failed has committed whole transactions or nothing; all that
    // is left is to say so.
    return reportFailure(error, io);
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first = '--help', ...rest] = argv;
  if (['--version', '-V', '-v', 'version'].includes(first)) {
    printLines(io, [programVersion]);
    return 0;
  }
  const wantsHelp = rest.includes('--help') || rest.includes('-h');
  if (first === 'hook' && !wantsHelp) return runHook(rest, io);
  if (first === 'complete') {
    const { complete } = await import('./completion.ts');
    return complete(rest.slice(rest.indexOf('--') + 1), commandTable);
  }
  if (first === 'mcp' && !wantsHelp)
    sayWhatIsAwaited(io, 'a client that speaks MCP (a host starts it)');
  const { runProgram } = await import('./program.ts');
  return runProgram(
    first === 'help' ? [...rest, '--help'] : [first, ...rest],
    io,
    commandTable,
  );
}

/**
 * A host reads exit code 2 as a refusal: whatever stands in its settings, a hook lets the
 * agent stop.
 */
async function runHook(argv: readonly string[], io: Io): Promise<number> {
  try {
    sayWhatIsAwaited(io, 'one hook call, a JSON object (a host sends it)');
    const { answerHook } = await import('./commands/hook.ts');
    return await answerHook(argv);
  } catch {
    // Safe: nothing was decided, so the agent may stop; `doctor` says what is wrong with
    // the settings.
    io.stdout.write('{}\n');
    return 0;
  }
}

/** Typed by hand, it would seem to hang. */
function sayWhatIsAwaited(io: Io, what: string): void {
  const terminal = process.getBuiltinModule('node:tty');
  if (terminal.isatty(0))
    complain(io, `Waiting for ${what} on standard input. Ctrl-C ends it.`);
}
