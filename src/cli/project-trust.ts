// A human's yes to what this project's file asks for (V10): what is shown, and how it is
// accepted. `trust`, `run` and `init` ask alike. Nothing is accepted without a terminal
// but by `run --trust`. And the checks that `init` and `config init` put into that file,
// so that the first outcome can be `done`.
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
import { complain, printWrapped, refuse, shown } from './print.ts';
import { addChecks, type FoundTest, findTests } from './project-tests.ts';
import { diffTexts, shownLine } from './text-diff.ts';
import { formatCheckCommand, tryChecks } from './try-checks.ts';

export type Project = PolicyResult['project'];

/** A question for a human who sits here: everything but a yes leaves it as it is. */
export async function saysYes(question: string): Promise<boolean> {
  const said = await askAtTerminal(
    `${question} [y: yes; Enter: leave it as it is] `,
    '--yes',
  );
  return readApproval(said ?? '')?.approved === true;
}

/** Exactly what was shown: a file that changed meanwhile is not accepted. */
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
    return refuse(
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
      `All that the project file in ${shown(folder, 300)} asks for is accepted:`,
      ...entriesOf(asked).map(entryLine),
      ...refused,
    ];
  }
  const { added, removed, problems, file } = pending;
  if (problems.length > 0)
    return [
      `${shown(file, 300)} cannot be used, so nothing in it can be accepted:`,
      ...problems.map(
        (problem) => `  ${policyProblemSentence({ ...problem, file: null })}`,
      ),
    ];
  const paths = new Set(added.map((entry) => JSON.stringify(entry)));
  const known = entriesOf(asked).filter((entry) => !paths.has(JSON.stringify(entry)));
  return [
    `${shown(file, 300)} ${added.length + known.length === 0 ? 'no longer asks for what you accepted' : 'asks for'}:`,
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
 * Whole, whatever its length: a yes must not cover what was cut off. Control characters
 * are written out.
 */
export function entryLine({ path, value }: Entry): string {
  return `  ${visibleLine(path)}: ${visibleLine(JSON.stringify(value))}`;
}

/** Before a command goes by the project's file. `says`: it was called with --trust. */
export async function settleTrust(io: Io, says = false): Promise<void> {
  const { project } = readPolicyFor(io, realpathSync(io.cwd));
  const { pending } = project;
  // A broken file is told by whoever reads it next; nothing in it can be accepted.
  if (pending === null || pending.problems.length > 0) return;
  // Standard output belongs to the command.
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
    complain(io, `warning: ${pendingSentence(pending)}`);
    return;
  } else {
    show();
    if (!(await saysYes('Accept?'))) return;
  }
  acceptProject(io, project, true);
}

export interface CheckRequest {
  /** What `--check` said. Empty: the human at this terminal is asked. */
  readonly commands: readonly string[];
  /** The command that would be called again with `--check`. */
  readonly command: string;
  /** A file is wanted here even without a check. */
  readonly isNew: boolean;
  /** Show what would be written, and write nothing. */
  readonly isDry: boolean;
  /** Run once each check that is accepted here. */
  readonly isTried: boolean;
}

/** Where a check would be written, and what stands there now. */
function placeOfChecks(io: Io, isNew: boolean) {
  const here = realpathSync(io.cwd);
  const { project } = readPolicyFor(io, here);
  return {
    before: project,
    folder: isNew || project.file === null ? here : dirname(project.file.path),
  };
}

/** Why these checks cannot be written; null: they can. It writes nothing. */
export function whyNoChecks(io: Io, commands: readonly string[]): string | null {
  if (commands.length === 0) return null;
  const added = addChecks(placeOfChecks(io, false).folder, commands, {
    isNew: false,
    isDry: true,
  });
  return added.ok ? null : added.problem;
}

/**
 * Returns the exit code. What the human's word put into the file is accepted with it, and
 * then run once.
 */
export async function setUpChecks(io: Io, request: CheckRequest): Promise<number> {
  const { command, isNew, isDry } = request;
  const known = isDry ? [] : readGoalCommands(io);
  const { before, folder } = placeOfChecks(io, isNew);
  // A new file here stands in front of one above, and none of the checks of that one
  // counts any more.
  const isChecked =
    dirname(before.file?.path ?? '') === folder && (before.asked.goal ?? []).length > 0;
  // A broken file takes no check; of one that is not accepted yet `settleTrust` tells.
  if (before.pending?.problems.length && request.commands.length === 0 && !isNew) {
    complain(io, `warning: ${pendingSentence(before.pending)}`);
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
  if (!added.ok) return refuse(io, shown(`${added.problem}${waits}`, 800));
  const { path, after } = added;
  if (isDry) {
    printWrapped(io, diffTexts(path, added.before, after).map(shownLine));
    return 0;
  }
  const change = after === added.before ? 'Nothing to add to' : 'Added to';
  const verb = added.before === null ? 'Wrote' : change;
  const checks = commands.map(visibleLine).join(', ');
  printWrapped(io, [`${verb} ${shown(path, 300)}${checks === '' ? '' : `: ${checks}`}.`]);
  // Whoever had it written means it, and only it: what else waits in the file is shown
  // and asked for as always.
  if (before.pending !== null || (await io.whyNoHuman()) !== null) await settleTrust(io);
  else if (acceptProject(io, added, true) !== 0) return 1;
  else if (checks !== '')
    printWrapped(io, ['Once that passes and nothing is open, an agent here is `done`.']);
  // Tried last, so that Ctrl-C leaves nothing half done.
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
 * `known` are those that were accepted before, and run at every stop anyway. Whoever
 * wrote the others into the file, the human has just accepted them.
 */
async function tryAcceptedChecks(io: Io, known: readonly CommandCheck[]) {
  const before = known.map(formatCheckCommand);
  const accepted = readGoalCommands(io).filter(
    (check) => !before.includes(formatCheckCommand(check)),
  );
  if (accepted.length > 0)
    await tryChecks(io, accepted, { directory: realpathSync(io.cwd) });
}

/** Empty: nobody is here, or nobody wanted one. */
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

/** A human who meant to say yes sees that they did not. Returns `commands`. */
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

/** null: `said` is a yes, or nearly an answer, and no command. */
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
 * The indexes of the rows that the human wants. As everywhere a bare Enter chooses
 * nothing.
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
 * The indexes that `said` chooses; null: `said` is no answer, so the human is asked
 * again.
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

/** The script is the project's own text: whoever says yes has seen all that would run. */
function describeTest({ command, file, script }: FoundTest): string {
  const does = script === undefined ? '' : `: ${visibleLine(script)}`;
  return `${command}  (${shown(file, 60)}${does})`;
}
