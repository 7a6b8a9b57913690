// The command line: answers here what must start quickly; program.ts does the rest. Every
// failure becomes a sentence. It decides nothing and prints no stack trace unless
// UNTILDONE_DEBUG asks for one.
import { commandTable } from './command-table.ts';
import { type Io, processIo, programVersion } from './io.ts';
import { printComplaint, printLines, reportFailure } from './print.ts';

/** The file with the quick commands calls this: it is built without renew-programs.ts. */
export const renewPrograms = async (io: Io) =>
  (await import('./renew-programs.ts')).renewPrograms(io);

export async function main(
  argv: readonly string[],
  io: Io = processIo(),
): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    // Safe: a command that failed has committed whole transactions or nothing, so only
    // the message is left to print.
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
 * Answers a hook. A host takes exit code 2 for a refusal, so whatever its settings say, a
 * hook lets the agent stop.
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

/** A human who typed the command would otherwise think that it hangs. */
function sayWhatIsAwaited(io: Io, what: string): void {
  const terminal = process.getBuiltinModule('node:tty');
  if (terminal.isatty(0))
    printComplaint(io, `Waiting for ${what} on standard input. Ctrl-C ends it.`);
}
