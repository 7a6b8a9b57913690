// The one line that people read when a turn ends with an outcome: how the turn ended,
// what is open, what the checks said, how often the agent was sent back, and why it
// ended. The line is derived from the state, so that a command can print it again.
import { bareCheck, protectedPathsId } from './check-specs.ts';
import type { Decision, Outcome } from './decision.ts';
import { withFullStop } from './problem.ts';
import { oneLine, visibleLine } from './safe-text.ts';
import { formatTodoCount } from './settlement.ts';
import { countPlan, type GoalCheck, openCount, type State } from './state.ts';
import { isOpen } from './todo.ts';

/** In characters: toasts and lines on the error output show no more. */
const longestLine = 500;
const longestName = 60;
const namedChecks = 3;
const namedOpen = 5;

/**
 * The line that people are shown when a stop is answered; null: none.
 * @param state as it was before the answer: after it, a second stop of an aborted turn
 * looks the same
 */
export function endMessage(
  state: State,
  goalChecks: readonly string[],
  { outcome, reason, sentence }: Pick<Decision, 'outcome' | 'reason' | 'sentence'>,
): string | null {
  const { kind, driven } = state.descriptor;
  // The end of a subagent concerns only its parent, and `run --with` prints a summary of
  // its own.
  if (outcome === null || kind === 'subagent' || driven !== undefined) return null;
  // A host may stop more than once after an abort; only the first of these stops is
  // shown.
  const isRepeated = outcome === 'aborted' && !state.activeSinceAnswer;
  if (isRepeated && state.latch?.movedTo === undefined) return null;
  return endSentence(state, goalChecks, { outcome, reason }, sentence);
}

/**
 * The words for these two outcomes. Every other outcome is "not done", with its name in
 * brackets.
 */
const outcomeWords: Partial<Record<Outcome, string>> = {
  done: 'done',
  claimed: 'claimed, not proved',
};

/**
 * The line for an outcome.
 * @param why the sentence of the decision; null: not known
 */
export function endSentence(
  state: State,
  goalChecks: readonly string[],
  { outcome, reason }: Readonly<{ outcome: Outcome; reason: string }>,
  why: string | null,
): string {
  const facts = [
    openFact(state),
    ...checkFacts(state, goalChecks, outcome),
    sentBackFact(state, reason),
  ];
  const details = facts.filter((fact) => fact !== '').join(', ');
  const plain = [outcomeWords[outcome] ?? 'not done', details]
    .filter((part) => part !== '')
    .join(': ');
  const end = outcome in outcomeWords ? plain : `${plain} (${outcome})`;
  // "done" and its checks say all, unless files were hidden from the checks.
  const needsReason = outcome !== 'done' || state.hidden.length > 0;
  const reasons = needsReason && why !== null && why !== '' ? [why] : [];
  const { open } = openTodos(state);
  const rest = open === '' ? reasons : [...reasons, `Open: ${open}`];
  const line = rest.length === 0 ? end : [end, ...rest].map(withFullStop).join(' ');
  return oneLine(visibleLine(line), longestLine);
}

function openFact({ plan }: State): string {
  const open = openCount(countPlan(plan));
  return open === 0 ? '' : `${open} of ${formatTodoCount(plan.length)} open`;
}

/**
 * Checks that passed are told only if the plan is finished: further work may break them
 * again.
 */
function checkFacts(
  state: State,
  goalChecks: readonly string[],
  outcome: Outcome,
): string[] {
  const failed = failedFacts(state, goalChecks);
  const isFinished = outcome === 'done' || outcome === 'claimed';
  return isFinished ? [...failed, ...passedFacts(state, goalChecks)] : failed;
}

function failedFacts(state: State, goalChecks: readonly string[]): string[] {
  const goal = checksWith('failed', state, goalChecks);
  const reopened = state.plan.filter(
    (todo) => isOpen(todo) && todo.verification === 'failed',
  );
  // If a todo has several checks, the record does not say which of them failed.
  const own = reopened.map(({ checks: [check = '', ...others], title }) =>
    others.length === 0 ? nameCheck(check) : `a check of “${shortTitle(title)}”`,
  );
  const names = [
    ...goal.filter((check) => check !== protectedPathsId).map(nameCheck),
    ...own,
  ];
  const changed = goal.includes(protectedPathsId) ? ['protected paths changed'] : [];
  return [...listChecks(names, 'fails', 'fail'), ...changed];
}

function passedFacts(state: State, goalChecks: readonly string[]): string[] {
  const own = state.plan.filter(({ verification }) => verification === 'passed');
  const passed = [
    ...checksWith('passed', state, goalChecks),
    ...own.flatMap(({ checks }) => checks),
  ];
  const names = passed.filter((check) => check !== protectedPathsId).map(nameCheck);
  return listChecks(names, 'passed', 'passed');
}

/** The checks on the goal that had this result in this turn. */
function checksWith(
  result: GoalCheck['state'],
  { goal, finalRun }: State,
  goalChecks: readonly string[],
) {
  return finalRun === null
    ? []
    : goalChecks.filter((check) => goal[check]?.state === result);
}

/**
 * One fact about these checks, such as `npm test, lint, types and 2 more checks passed`.
 */
function listChecks(
  checks: readonly string[],
  verb: string,
  verbOfMany: string,
): string[] {
  const names = [...new Set(checks)];
  const [first] = names;
  if (first === undefined) return [];
  if (names.length === 1) return [`${first} ${verb}`];
  const more = names.length - namedChecks;
  const last =
    more > 0 ? `${more} more ${more === 1 ? 'check' : 'checks'}` : names.at(-1);
  const others = names.slice(0, more > 0 ? namedChecks : -1);
  return [`${others.join(', ')} and ${last} ${verbOfMany}`];
}

const nameCheck = (check: string): string =>
  oneLine(visibleLine(bareCheck(check)), longestName);
const shortTitle = (title: string): string => oneLine(visibleLine(title), 80);

/** After these reasons the last continuation was counted but never reached the agent. */
const undelivered: readonly string[] = ['host-cap', 'delivery-failed'];

/** How often the agent was sent back since the human's message. */
function sentBackFact({ counters: { total } }: State, reason: string): string {
  const sent = undelivered.includes(reason) ? total - 1 : total;
  if (sent <= 0) return '';
  return `sent back ${['never', 'once', 'twice'][sent] ?? `${sent} times`}`;
}

/** For the human: the first open todos by name, and how many more there are (S8). */
export function openTodos({ plan }: State) {
  const all = plan.filter(isOpen);
  const named = all.slice(0, namedOpen).map(({ title }) => `“${shortTitle(title)}”`);
  const more = all.length > namedOpen ? ` and ${all.length - namedOpen} more` : '';
  return { remaining: all.length, open: named.join(', ') + more };
}
