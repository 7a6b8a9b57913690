// `untildone verify`: runs the checks of a session, of a plan file or of this directory's
// configuration now, and says how they ended (V1). It changes no plan and starts nothing
// that outlives it; it works without a store, as in CI.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  collectChecks,
  runWanted,
  sessionTarget,
  type VerifiedCheck,
  type VerifyTarget,
  type WantedCheck,
} from '../../checks/verify.ts';
import { UntildoneError } from '../../core/error.ts';
import { addChecks, type Policy } from '../../core/policy.ts';
import { problemSentence } from '../../core/problem.ts';
import { findCheck } from '../../core/same-checks.ts';
import { hiddenSentence } from '../../core/stop.ts';
import { policyProblemSentence } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import { inLine } from '../../plan-file/line-text.ts';
import { planChecks, readPlanFile } from '../../plan-file/plan-file.ts';
import { type Arguments, type Command, jsonOption } from '../command.ts';
import { nameSession } from '../describe-session.ts';
import { findSession, noSessionsYet, sessionsHere } from '../find-session.ts';
import type { Io } from '../io.ts';
import { readPolicyFor, withStore } from '../open-runtime.ts';
import {
  escapeForTerminal,
  formatCount,
  printComplaint,
  printLines,
  printResult,
  printWrapped,
} from '../print.ts';
import { checkLines } from '../show/event-lines.ts';
import { createPage, readTerminalStyle } from '../show/page.ts';
import { whyNotPassed } from '../show/words.ts';
import { createTimedLine } from '../timed-line.ts';

type VerifyResult = VerifiedCheck['result'] | 'nothing' | 'interrupted';

/**
 * One failed check outweighs checks that wait or are flaky. Code 3 means: no check
 * failed, but the work is not proved either.
 */
const exitCodes: Readonly<Record<VerifyResult, number>> = {
  passed: 0,
  failed: 1,
  flaky: 3,
  waiting: 3,
  nothing: 3,
  interrupted: 130,
};

export const verify: Command = {
  takes: '[session]',
  about: [
    'Runs the checks of a session: those on the goal and those of its todos, each once, as they were frozen at the last\nmessage to the agent, protected paths included. Without a name: the last session of this directory; where there is\nnone, the checks on the goal that the configuration here names. What is seen is recorded; the plan is not changed.',
    'With --plan: the checks of a plan file. Neither a session nor a store is needed, so that it works in CI.',
    'A check that fails is run once more. Exit codes: 0 all passed, 1 a check failed, 3 nothing to verify, a check that\npassed only when it was run again, or one that waits for a human, 2 wrong usage or configuration, 130 interrupted.',
  ],
  options: {
    plan: {
      value: 'FILE',
      summary: 'The checks of this plan file (see docs/plan-files.md).',
    },
    ...jsonOption,
  },
  async run(given, io) {
    const file = given.text('plan');
    const word = given.positional(0);
    if (file !== null && word !== null)
      throw new UntildoneError('usage', 'Name a session or say --plan FILE, not both.');
    if (file !== null) return verifyTarget(given, io, targetHere(io, file), null);
    const code = await withStore(io, async (store) => {
      if (word === null && (await sessionsHere(store, io, 1)).length === 0) return null;
      const target = await sessionTarget(store, await findSession(store, word, io), io);
      return verifyTarget(given, io, target, store);
    });
    if (code !== null) return code;
    if (word !== null) throw new UntildoneError('unknown-session', noSessionsYet);
    return verifyTarget(given, io, targetHere(io, null), null);
  },
};

/**
 * The checks of a plan file, or of the configuration alone. If the file or the
 * configuration is wrong, all problems are printed before any check runs.
 */
function targetHere(io: Io, file: string | null): VerifyTarget {
  const directory = realpathSync(io.cwd);
  const configurationError = (problems: readonly string[]): UntildoneError => {
    const sentences = problems.map(
      (problem) =>
        `${escapeForTerminal(file ?? '', 200)}: ${escapeForTerminal(problem, 300)}.`,
    );
    return new UntildoneError(
      'invalid-config',
      `${sentences.join('\n')}\nNothing was run.`,
    );
  };
  const parsed = file === null ? null : readPlanFile(resolve(io.cwd, file));
  if (parsed?.ok === false) throw configurationError(parsed.problems);
  const { warnings = [], items = [], goalChecks } = parsed?.plan ?? {};
  for (const warning of warnings)
    printComplaint(
      io,
      `warning: ${escapeForTerminal(file ?? '', 200)}: ${escapeForTerminal(warning, 300)}`,
    );
  const policy = readConfiguration(io, directory);
  const { names = [], specs = [] } = parsed === null ? {} : planChecks(parsed.plan);
  const lines = Object.fromEntries(specs.map((spec) => [spec.id, spec]));
  const { checks } = addChecks(policy, { goalChecks: [], checks: lines });
  // Names are compared without letter case, like all names in a configuration.
  const specOf = (id: string) =>
    findCheck(checks, id) ?? findCheck(checks, id.trim().toLowerCase());
  const problems = names
    .filter((name) => specOf(name) === undefined)
    .map((name) => {
      const line = items.find((item) => item.checks.includes(name))?.line;
      const sentence = `there is no check named "${name}" in the configuration of this directory; a command of one word stands in backticks`;
      return line === undefined ? sentence : inLine(line, sentence);
    });
  if (problems.length > 0) throw configurationError(problems);
  const todos = items.map(({ title, checks }) => ({ id: null, title, checks }));
  return {
    ...collectChecks({ goalChecks: goalChecks ?? policy.goalChecks, todos, specOf }),
    session: null,
    frozen: {},
    edited: [],
    hidden: [],
    file,
    directory,
    source: file === null ? 'configuration' : 'plan-file',
  };
}

function readConfiguration(io: Io, directory: string): Policy {
  // `verify` is the human's word: it takes the files as they are now.
  const result = readPolicyFor(io, directory, undefined, 'all');
  if (!result.ok)
    throw new UntildoneError(
      'invalid-config',
      result.problems.map(policyProblemSentence).join('\n'),
    );
  for (const warning of result.warnings)
    printComplaint(io, `warning: ${problemSentence(warning)}`);
  return result.policy;
}

async function verifyTarget(
  given: Arguments,
  io: Io,
  target: VerifyTarget,
  store: Store | null,
) {
  const json = given.has('json');
  const ending = new AbortController();
  const onInterrupt = (): void => ending.abort();
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  const { wanted } = target;
  // With --json, standard output holds nothing but the document.
  const shownTo = json ? { ...io, isTTY: false, stdout: { write: () => {} } } : io;
  const where = `${nameOf(target)} in ${escapeForTerminal(target.directory, 200)}`;
  if (wanted.length > 0)
    printWrapped(shownTo, [`${formatCount(wanted.length, 'check')} of ${where}`]);
  const progress = createProgress(shownTo, wanted.length);
  try {
    const runOptions = {
      clock: io.clock,
      environment: io.env,
      store,
      signal: ending.signal,
    };
    const results = await runWanted(target, { ...runOptions, ...progress });
    const result = overallResult(target, results);
    progress.close();
    printResult(io, json, toJson(target, results, result), () =>
      summaryLines(target, results, result),
    );
    return exitCodes[result];
  } finally {
    progress.close();
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
  }
}

function overallResult(
  { wanted }: VerifyTarget,
  results: readonly VerifiedCheck[],
): VerifyResult {
  if (wanted.length === 0) return 'nothing';
  if (results.length < wanted.length) return 'interrupted';
  const worst = (['failed', 'waiting', 'flaky'] as const).find((bad) =>
    results.some(({ result }) => result === bad),
  );
  return worst ?? 'passed';
}

function nameOf({ source, session, file }: VerifyTarget): string {
  if (session !== null) return `session ${nameSession(session)}`;
  return source === 'plan-file'
    ? escapeForTerminal(file ?? '', 200)
    : 'the configuration';
}

/**
 * Lines shown of a failed check's output. `run` shows fewer: in CI the log may be all
 * that is left.
 */
const mostFailedLines = 20;

/**
 * Shows a line while a check runs, which a terminal overwrites, and then the same lines
 * as `run`.
 */
function createProgress(io: Io, total: number) {
  const page = createPage(readTerminalStyle(io));
  const { begin: beginLine, close } = createTimedLine(io);
  const begin = (what: string, { id }: WantedCheck, index: number): void =>
    beginLine(`[${index + 1}/${total}] ${what} ${escapeForTerminal(id, 60)}`);
  const results = new Map<string, Parameters<typeof checkLines>[1]>();

  return {
    close,
    onStarted: (wanted: WantedCheck, index: number) => begin('running', wanted, index),
    onRepeated: (wanted: WantedCheck, index: number) =>
      begin('failed, running once more:', wanted, index),
    onEnded({ wanted, result, ...measured }: VerifiedCheck) {
      close();
      const { id: check } = wanted;
      const purpose = describePurpose(wanted);
      const why = `${whyNotPassed({ check, sentence: measured.sentence })} For ${purpose}.`;
      const sentence = result === 'passed' ? `for ${purpose}` : why;
      const isFlaky = result === 'flaky';
      const ended = {
        ...measured,
        check,
        result: isFlaky ? 'passed' : result,
        flaky: isFlaky,
        sentence,
      } as const;
      printLines(io, checkLines(page, ended, results, mostFailedLines));
      results.set(check, ended);
    },
  };
}

/** `the goal`, `the goal and 3 todos`, `3 todos`, or the title of the only todo. */
export function describePurpose({
  forGoal,
  todos,
}: Pick<WantedCheck, 'forGoal' | 'todos'>): string {
  const [only, second] = todos;
  const todoWords =
    only &&
    (second === undefined
      ? `“${escapeForTerminal(only.title, 60)}”`
      : formatCount(todos.length, 'todo'));
  return [forGoal ? 'the goal' : '', todoWords].filter(Boolean).join(' and ');
}

function summaryLines(
  target: VerifyTarget,
  results: readonly VerifiedCheck[],
  overall: VerifyResult,
): string[] {
  const { uncovered, edited, hidden, session, source, wanted } = target;
  const all = formatCount(wanted.length, 'check');
  const countResults = (one: VerifiedCheck['result']): number =>
    results.filter(({ result }) => result === one).length;
  const answerHint =
    session === null ? 'It is answered in a session.' : '`untildone approve` answers it.';
  const nothing =
    source === 'configuration'
      ? 'there are no sessions yet in this directory, and its configuration names no check on the goal'
      : `${nameOf(target)} has no checks`;
  const changed = edited.map((path) => escapeForTerminal(path, 200)).join(', ');
  const sentences: readonly (readonly [applies: boolean | number, sentence: string])[] = [
    [overall === 'nothing', `Nothing to verify: ${nothing}.`],
    [overall === 'passed', `Passed: ${all}.`],
    [
      overall === 'interrupted',
      `Interrupted: ${wanted.length - results.length} of ${all} did not end.`,
    ],
    [countResults('failed'), `Failed: ${countResults('failed')} of ${all}.`],
    [
      uncovered,
      `${formatCount(uncovered, 'todo')} without a check: only the agent’s word covers that.`,
    ],
    [
      countResults('waiting'),
      `${formatCount(countResults('waiting'), 'check')} for a human without an answer. ${answerHint}`,
    ],
    [
      countResults('flaky'),
      `Flaky: ${countResults('flaky')} of ${all}. A check that passes only sometimes proves nothing.`,
    ],
    [
      edited.length,
      `${changed} was changed since your message; what it says about checks counts from the next one.`,
    ],
    [hidden.length, hiddenSentence(hidden)],
  ];
  const lines = sentences.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
  return overall === 'nothing' ? lines : ['', ...lines];
}

function toJson(
  target: VerifyTarget,
  results: readonly VerifiedCheck[],
  result: VerifyResult,
) {
  const { source, session, file, directory, wanted, uncovered, edited } = target;
  return {
    result,
    exitCode: exitCodes[result],
    source,
    session: session?.id ?? null,
    file,
    directory,
    wanted: wanted.length,
    uncovered,
    edited,
    checks: results.map(({ wanted: { id, spec, forGoal, todos }, ...measured }) => ({
      check: id,
      kind: spec?.kind ?? null,
      goal: forGoal,
      todos,
      ...measured,
    })),
  };
}
