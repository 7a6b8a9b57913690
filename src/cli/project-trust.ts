// Takes a human's yes to what this project's file asks for (V10), for `trust`, `run` and
// `init` alike. It accepts nothing without a terminal, except by `run --trust`. It also
// adds the checks of `init` and `config init`, so that the first outcome can be `done`.
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CommandCheck } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import { visibleLine } from '../core/safe-text.ts';
import { findCheck } from '../core/same-checks.ts';
import { type PolicyResult, policyProblemSentence } from '../engine/policy.ts';
import { acceptWishes, type Entry, entriesOf, pendingSentence } from '../engine/trust.ts';
import { stateDirectory } from '../store/state-directory.ts';
import {
  askAtTerminal,
  canAnswerHere,
  notUnderstood,
  readApproval,
} from './ask-at-terminal.ts';
import type { Io } from './io.ts';
import { readPolicyFor } from './open-runtime.ts';
import {
  escapeForTerminal,
  printComplaint,
  printRefusal,
  printWrapped,
} from './print.ts';
import { addChecks, type FoundTest, findTests } from './project-tests.ts';
import { diffTexts, shownLine } from './text-diff.ts';
import { formatCheckCommand, tryChecks } from './try-checks.ts';

export type Project = PolicyResult['project'];

/**
 * Asks the human at this terminal. Only a yes is true; every other answer changes
 * nothing.
 */
export async function saysYes(question: string): Promise<boolean> {
  const said = await askAtTerminal(
    `${question} [y: yes; Enter: leave it as it is] `,
    '--yes',
  );
  return readApproval(said ?? '')?.approved === true;
}

/** Accepts exactly what was shown: a file that changed since is refused. */
export function acceptProject(
  io: Io,
  shownProject: Pick<Project, 'asked'>,
  isQuiet = false,
): number {
  const { project } = readPolicyFor(io, realpathSync(io.cwd));
  const { key, folder, asked } = project;
  if (
    key === null ||
    folder === null ||
    JSON.stringify(asked) !== JSON.stringify(shownProject.asked)
  )
    return printRefusal(
      io,
      'The file changed while you were looking at it, so nothing was accepted. Look again.',
    );
  acceptWishes(stateDirectory(io.env), {
    key,
    folder,
    at: io.clock.now(),
    config: asked,
  });
  if (!isQuiet) printWrapped(io, ['Accepted. It holds from your next message on.']);
  return 0;
}

export function describeProject({ folder, asked, pending, warnings }: Project): string[] {
  const refused = warnings.map(
    (warning) => `! ${policyProblemSentence({ ...warning, file: null })}`,
  );
  if (pending === null) {
    if (folder === null) return ['No project file asks for anything here.'];
    return [
      `All that the project file in ${escapeForTerminal(folder, 300)} asks for is accepted:`,
      ...entriesOf(asked).map(entryLine),
      ...refused,
    ];
  }
  const { added, removed, problems, file } = pending;
  if (problems.length > 0)
    return [
      `${escapeForTerminal(file, 300)} cannot be used, so nothing in it can be accepted:`,
      ...problems.map(
        (problem) => `  ${policyProblemSentence({ ...problem, file: null })}`,
      ),
    ];
  const paths = new Set(added.map((entry) => JSON.stringify(entry)));
  const known = entriesOf(asked).filter((entry) => !paths.has(JSON.stringify(entry)));
  return [
    `${escapeForTerminal(file, 300)} ${added.length + known.length === 0 ? 'no longer asks for what you accepted' : 'asks for'}:`,
    ...known.map((entry) => `  ${entryLine(entry).trimStart()}  (accepted)`),
    ...added.map((entry) => `+ ${entryLine(entry).trimStart()}`),
    ...removed.map(
      (entry) =>
        `- ${entryLine(entry).trimStart()}  (accepted, and not in the file any more)`,
    ),
    ...refused,
    ...(added.length === 0 ? [] : ['What has a + is ignored until you accept it.']),
    ...(removed.length === 0
      ? []
      : ['What has a - stays in force until you accept the change.']),
  ];
}

/**
 * An entry in full, however long it is: a yes must not cover anything that was cut off.
 * Control characters are written out.
 */
export function entryLine({ path, value }: Entry): string {
  return `  ${visibleLine(path)}: ${visibleLine(JSON.stringify(value))}`;
}

/**
 * Asks for a yes before a command uses the project's file. `says`: it was called with
 * --trust.
 */
export async function settleTrust(io: Io, says = false): Promise<void> {
  const { project } = readPolicyFor(io, realpathSync(io.cwd));
  const { pending } = project;
  // The next command that reads a broken file reports it; nothing in it can be accepted.
  if (pending === null || pending.problems.length > 0) return;
  // Standard output is kept for the command's own output.
  const show = () => printWrapped({ ...io, stdout: io.stderr }, describeProject(project));
  if (says) {
    const above = await io.agentAbove();
    if (above !== null)
      throw new UntildoneError(
        'usage',
        `Only a human may trust a project; this was said beneath ${above}.`,
      );
    show();
  } else if (!(await canAnswerHere(io))) {
    printComplaint(io, `warning: ${pendingSentence(pending)}`);
    return;
  } else {
    show();
    if (!(await saysYes('Accept?'))) return;
  }
  acceptProject(io, project, true);
}

export interface CheckRequest {
  /** The commands of `--check`. Empty: the human at this terminal is asked. */
  readonly commands: readonly string[];
  /** The command that a human would call again with `--check`. */
  readonly command: string;
  /** The file is wanted here even without a check. */
  readonly isNew: boolean;
  /** Show what would be written, but write nothing. */
  readonly isDry: boolean;
  /** Run each check once after it is accepted here. */
  readonly isTried: boolean;
}

/** The folder of the file that a check would go into, and the project as it is now. */
function placeOfChecks(io: Io, isNew: boolean) {
  const here = realpathSync(io.cwd);
  const { project } = readPolicyFor(io, here);
  return {
    before: project,
    folder: isNew || project.file === null ? here : dirname(project.file.path),
  };
}

/** Says why these checks cannot be written. Null: they can. It writes nothing. */
export function whyNoChecks(io: Io, commands: readonly string[]): string | null {
  if (commands.length === 0) return null;
  const added = addChecks(placeOfChecks(io, false).folder, commands, {
    isNew: false,
    isDry: true,
  });
  return added.ok ? null : added.problem;
}

/**
 * Adds checks to the project's file and returns the exit code. Checks that the human
 * named or chose are accepted with it and then run once.
 */
export async function setUpChecks(io: Io, request: CheckRequest): Promise<number> {
  const { command, isNew, isDry } = request;
  const known = isDry ? [] : readGoalCommands(io);
  const { before, folder } = placeOfChecks(io, isNew);
  // A new file here replaces one in a folder above: none of that file's checks counts
  // then.
  const isChecked =
    dirname(before.file?.path ?? '') === folder && (before.asked.goal ?? []).length > 0;
  // A broken file takes no check. If the file is only not accepted yet, `settleTrust`
  // says so.
  if (before.pending?.problems.length && request.commands.length === 0 && !isNew) {
    printComplaint(io, `warning: ${pendingSentence(before.pending)}`);
    return 0;
  }
  const isAsked = !isDry && request.commands.length === 0 && !isChecked;
  const commands = isAsked ? await chooseChecks(io, folder, command) : request.commands;
  if (commands.length === 0 && !isNew) {
    if (!isDry) await settleTrustAndTry(io, request.isTried);
    return 0;
  }
  const added = addChecks(folder, commands, request);
  const waits = before.pending === null ? '' : ` ${pendingSentence(before.pending)}`;
  if (!added.ok)
    return printRefusal(io, escapeForTerminal(`${added.problem}${waits}`, 800));
  const { path, after } = added;
  if (isDry) {
    printWrapped(io, diffTexts(path, added.before, after).map(shownLine));
    return 0;
  }
  const change = after === added.before ? 'Nothing to add to' : 'Added to';
  const verb = added.before === null ? 'Wrote' : change;
  const checks = commands.map(visibleLine).join(', ');
  printWrapped(io, [
    `${verb} ${escapeForTerminal(path, 300)}${checks === '' ? '' : `: ${checks}`}.`,
  ]);
  // `--check` accepts the checks that it adds. Anything else in the file still needs a
  // yes.
  if (before.pending !== null || (await io.whyNoHuman()) !== null) await settleTrust(io);
  else if (acceptProject(io, added, true) !== 0) return 1;
  else if (checks !== '')
    printWrapped(io, ['Once that passes and nothing is open, an agent here is `done`.']);
  // The checks run last, so that Ctrl-C leaves nothing half done.
  if (request.isTried) await tryAcceptedChecks(io, known);
  return 0;
}

/** Asks as `settleTrust` does, then runs each check once that was accepted by it. */
export async function settleTrustAndTry(io: Io, isTried: boolean): Promise<void> {
  const known = readGoalCommands(io);
  await settleTrust(io);
  if (isTried) await tryAcceptedChecks(io, known);
}

/** The commands that an agent here must pass before it may stop. */
function readGoalCommands(io: Io): readonly CommandCheck[] {
  const read = readPolicyFor(io, realpathSync(io.cwd));
  if (!read.ok) return [];
  const { goalChecks, checks } = read.policy;
  return goalChecks.flatMap((id) => {
    const check = findCheck(checks, id);
    return check?.kind === 'command' ? [check] : [];
  });
}

/**
 * Tries each accepted check except those in `known`: they were accepted before, and run
 * at every stop anyway. It does not matter who wrote a check into the file: the human has
 * just accepted it.
 */
async function tryAcceptedChecks(io: Io, known: readonly CommandCheck[]) {
  const before = known.map(formatCheckCommand);
  const accepted = readGoalCommands(io).filter(
    (check) => !before.includes(formatCheckCommand(check)),
  );
  if (accepted.length > 0)
    await tryChecks(io, accepted, { directory: realpathSync(io.cwd) });
}

/**
 * Asks for the checks of this project. Empty: no human can answer, or the human wants
 * none.
 */
async function chooseChecks(
  io: Io,
  folder: string,
  command: string,
): Promise<readonly string[]> {
  const found = findTests(folder);
  if (!(await canAnswerHere(io))) {
    const known = 'This project looks as if this tests it';
    const looks = found.length > 0 ? known : 'Name the command that tests this project';
    printWrapped(io, [
      'No check is set up here, so finished work is `claimed`, never `done`.',
      `${looks}: ${command} --check "${found[0]?.command ?? 'npm test'}"`,
    ]);
    return [];
  }
  if (found.length > 0) {
    const question = `May an agent stop only when ${found.length === 1 ? 'it passes' : 'they pass'}?`;
    printWrapped(io, ['This project looks as if it is tested by:']);
    const chosen = await askWhich(io, found.map(describeTest), question, '--check');
    const commands = chosen.flatMap((index) => found[index]?.command ?? []);
    return reportNoCheck(io, commands);
  }
  return reportNoCheck(io, await askForCommand());
}

/**
 * Tells the human that no check was added, in case they meant to say yes. Returns
 * `commands`.
 */
function reportNoCheck(io: Io, commands: readonly string[]): readonly string[] {
  if (commands.length === 0) printWrapped(io, ['No check was added.']);
  return commands;
}

async function askForCommand(): Promise<readonly string[]> {
  const prompt =
    'Which command tests this project? [such as make test; Enter: leave it as it is] ';
  for (;;) {
    const said = (await askAtTerminal(prompt, '--check'))?.trim() ?? '';
    const commands = readTestCommand(said);
    if (commands !== null) return commands;
    process.stderr.write(`${notUnderstood(said, 'with a command, or Enter')}\n`);
  }
}

/** Reads a command. Null: the text is a yes, or nearly an answer, but no command. */
export function readTestCommand(said: string): readonly string[] | null {
  if (said === '' || isNo(said)) return [];
  const isCommand = readApproval(said)?.approved === false;
  return isCommand ? [said] : null;
}

function isNo(said: string): boolean {
  const answer = readApproval(said);
  return answer !== null && !answer.approved && answer.reason === '';
}

/**
 * Asks which rows the human wants and returns their indexes. As everywhere, Enter alone
 * chooses nothing.
 */
export async function askWhich(
  io: Io,
  rows: readonly string[],
  question: string,
  flags: string,
): Promise<readonly number[]> {
  printWrapped(
    io,
    rows.map((row, index) => `  ${index + 1}  ${row}`),
  );
  const some = rows.length === 1 ? '' : ' 1, 2 …: only these;';
  const answers =
    rows.length === 1 ? 'y, n or Enter' : 'y, n, Enter or the numbers of some';
  for (;;) {
    const said =
      (await askAtTerminal(
        `${question} [y: yes;${some} n: no; Enter: leave it as it is] `,
        flags,
      )) ?? '';
    const chosen = chooseRows(said.trim(), rows.length);
    if (chosen !== null) return chosen;
    process.stderr.write(`${notUnderstood(said, answers)}\n`);
  }
}

/**
 * Reads which rows an answer chooses, as indexes. Null: it is no answer, so the human is
 * asked again.
 */
export function chooseRows(said: string, rows: number): readonly number[] | null {
  const all = Array.from({ length: rows }, (_, index) => index);
  if (said === '' || isNo(said)) return [];
  if (readApproval(said)?.approved === true) return all;
  if (!/^[\d\s,]+$/u.test(said)) return null;
  const numbers = (said.match(/\d+/gu) ?? []).map((number) => Number(number) - 1);
  const areRows = numbers.length > 0 && numbers.every((number) => all.includes(number));
  return areRows ? all.filter((index) => numbers.includes(index)) : null;
}

/**
 * The script is the project's own text: the human must see everything that a yes would
 * run.
 */
function describeTest({ command, file, script }: FoundTest): string {
  const does = script === undefined ? '' : `: ${visibleLine(script)}`;
  return `${command}  (${escapeForTerminal(file, 60)}${does})`;
}
