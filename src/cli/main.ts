// The command line: finds the command, reads its arguments, runs it, and turns every failure into a sentence.
// It decides nothing and prints no stack trace unless UNTILDONE_DEBUG asks for one.

import { UntildoneError } from '../core/error.ts';
import { closestName } from '../core/problem.ts';
import { type Command, readArguments } from './command.ts';
import { type CommandRow, commandTable } from './command-table.ts';
import { commandHelp, overview } from './help.ts';
import { type Io, processIo } from './io.ts';
import { printLines, shown } from './print.ts';
import { reportFailure } from './report-failure.ts';

/** Written in by the build; a run from source has no published version. */
declare const UNTILDONE_VERSION: string | undefined;

export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  try {
    return await run(argv, io);
  } catch (error) {
    // Safe: a command that failed has committed whole transactions or nothing; all that is left is to say so.
    return reportFailure(error, io);
  }
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [first, ...others] = argv;
  if (first === undefined || first === '--help' || first === '-h') return print(io, overview());
  if (first === '--version' || first === '-v') {
    return print(io, [typeof UNTILDONE_VERSION === 'string' ? UNTILDONE_VERSION : '0.0.0-source']);
  }
  const asksForHelp = first === 'help';
  const words = asksForHelp ? others : argv;
  if (words.length === 0) return print(io, overview());
  const { row, rest } = findCommand(words);
  const command = await row.load();
  // A host reads exit code 2 as a refusal: whatever stands in its settings, a hook lets the agent go.
  if (row.name === 'hook' && !asksForHelp && !wantsHelp(rest)) return runHook(command, rest, io);
  if (asksForHelp || wantsHelp(rest)) return print(io, commandHelp(row, command));
  return command.run(readArguments(command, rest), io);
}

async function runHook(command: Command, rest: readonly string[], io: Io): Promise<number> {
  try {
    return await command.run(readArguments(command, rest), io);
  } catch {
    // Safe: nothing was decided, so the agent may stop; `doctor` says what is wrong with the settings.
    io.stdout.write('{}\n');
    return 0;
  }
}

function print(io: Io, lines: readonly string[]): number {
  printLines(io, lines);
  return 0;
}

function wantsHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const ours = end === -1 ? argv : argv.slice(0, end);
  return ours.includes('--help') || ours.includes('-h');
}

/** Two words (`plan show`) before one (`config`). */
function findCommand(argv: readonly string[]): { row: CommandRow; rest: readonly string[] } {
  for (const length of [2, 1]) {
    const name = argv.slice(0, length).join(' ');
    const row = commandTable.find((candidate) => candidate.name === name);
    if (row !== undefined) return { row, rest: argv.slice(length) };
  }
  throw new UntildoneError('usage', unknownCommand(argv));
}

function unknownCommand([first = '', second]: readonly string[]): string {
  const inGroup = commandTable.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (inGroup.length > 0) return `"${first}" wants one more word: ${inGroup.join(' or ')}.`;
  const written = second === undefined ? first : `${first} ${second}`;
  const names = commandTable.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const closest = closestName(first, names) ?? closestName(written, names);
  const hint = closest === null ? 'See untildone --help.' : `Did you mean "${closest}"?`;
  return `There is no command "${shown(first, 40)}". ${hint}`;
}
