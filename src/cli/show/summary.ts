// The end of a run in words: the outcome and its reason, each todo with its evidence or
// the lack of it, the changed files and what proves them, the effort, and ONE command to
// go on with (V8, S8).
import type { RunEnded, TodoView } from '../../agent/agent-event.ts';
import { bareCheck } from '../../core/check-specs.ts';
import type { Outcome } from '../../core/decision.ts';
import { findSameOutput, readFailure } from '../../core/failed-lines.ts';
import { shortId } from '../describe-session.ts';
import { formatCount, type Style } from '../print.ts';
import { changeSize, failedLinesOf, type Page, upTo } from './page.ts';
import type { ViewState } from './state.ts';
import * as words from './words.ts';

/** Todos that are listed. In a longer plan those that a human must look at come first. */
const listedTodos = 40;
const listedOthers = 10;
/** Lines shown of a failed check's output. */
const mostFailedLines = 3;
const longestTitle = 160;
const longestWhy = 240;

const styles: Readonly<Record<Outcome, Style>> = {
  done: 'green',
  blocked: 'red',
  stagnant: 'red',
  exhausted: 'red',
  failed: 'red',
  paused: 'yellow',
  aborted: 'yellow',
  // No alarm: the human may have wanted nothing but an answer.
  claimed: 'bold',
};

/** The lines at the end of a run. `state`: as it was before the run ended. */
export function summaryLines(page: Page, event: RunEnded, state: ViewState): string[] {
  const { outcome } = event;
  const plain = (text: string): string[] =>
    text === '' ? [] : page.entry({ hang: 2, text });
  const sentence = sentenceOf(event, state);
  // The decision's own sentence also names the checks that failed before the work began.
  const namesFailedBefore = sentence === event.sentence;
  return [
    '',
    ...page.entry({ text: `outcome: ${outcome}`, style: styles[outcome] }),
    ...page.entry({ indent: 2, text: sentence }),
    ...todoLines(page, event),
    ...failedCheckLines(page, event.failedChecks, state, namesFailedBefore),
    ...fileLines(page, event, state),
    ...leftOverLines(page, event.leftOver),
    ...plain(describeEffort(event)),
    // Stays on one line, however narrow the terminal is, because people copy it.
    ...nextLines(page, event),
  ];
}

/**
 * Says in one sentence why the run ended, without repeating what stands above or in the
 * last line.
 */
function sentenceOf(
  { outcome, reason, sentence }: RunEnded,
  { error, results }: ViewState,
): string {
  if (outcome === 'failed' && error !== null && sentence.includes(error))
    return 'The run ended with the error that is shown above.';
  if (reason === 'aborted') return 'Stopped by you; what was done so far is kept.';
  const broken = [...results.values()].filter(({ result }) => result === 'cannot-start');
  if (reason !== 'check-cannot-start' || broken.length === 0) return sentence;
  const names = broken.map(({ check }) => words.checkName(check)).join(', ');
  return `Nothing is open, but ${names} cannot start; see above.`;
}

function todoLines(page: Page, { todos, outcome, reason }: RunEnded): string[] {
  if (todos.length === 0) return [];
  // Only with this reason does `done` allow todos that have no check of their own.
  const goalPassed = outcome === 'done' && reason === 'nothing-open';
  const standing = (todo: TodoView): words.Standing => words.standingOf(todo, goalPassed);
  const rank = (todo: TodoView): number => words.standings.indexOf(standing(todo));
  const tally = (some: readonly TodoView[]): string =>
    words.tallyPlan(some.map(standing), page.signs.separator);
  // Proved todos are only counted. Todos that a human may have to look at are listed.
  const unproved = todos.filter(
    (todo) => rank(todo) < words.standings.indexOf('covered'),
  );
  const listed = new Set(
    unproved.toSorted((one, other) => rank(one) - rank(other)).slice(0, listedTodos),
  );
  const hidden = unproved.filter((todo) => !listed.has(todo));
  // The sentence above has already said so.
  const isAlreadySaid =
    outcome === 'claimed' && todos.every((todo) => standing(todo) === 'claimed');
  return [
    ...(isAlreadySaid
      ? []
      : page.entry({
          hang: 2,
          text: `${formatCount(todos.length, 'todo')}: ${tally(todos)}`,
        })),
    ...todos.filter((todo) => listed.has(todo)).flatMap((todo) => todoEntry(page, todo)),
    ...(hidden.length === 0
      ? []
      : page.entry({ indent: 2, text: `and ${hidden.length} more: ${tally(hidden)}` })),
  ];
}

/** A todo with its reason, or with the agent's own outcome if there is no reason. */
function todoEntry(page: Page, todo: TodoView): string[] {
  const { status, reason, outcome } = todo;
  const [mark, markStyle] = words.todoMarks[status];
  const isGivenUp = status === 'blocked' || status === 'cancelled';
  const done = status === 'completed' ? (outcome ?? '') : '';
  const why = isGivenUp ? (reason ?? 'no reason given') : done;
  const explanation =
    why === '' ? '' : ` ${page.signs.arrow} ${page.clip(why, longestWhy)}`;
  const text = `${page.clip(todo.title, longestTitle)}${words.remarkOf(todo)}${explanation}`;
  return page.entry({ mark, markStyle, indent: 2, text });
}

/**
 * The failed checks. The output of a check that ran on this screen stands above; an
 * output that several checks share is shown once.
 * @param namesFailedBefore the sentence above already names the checks that failed before
 * the work began
 */
function failedCheckLines(
  page: Page,
  failed: RunEnded['failedChecks'],
  { results }: ViewState,
  namesFailedBefore: boolean,
): string[] {
  const listed = failed.slice(0, listedOthers);
  const name = (check: string): string =>
    words.checkName(check, (text) => page.clip(text, longestTitle));
  const sameOutputs = findSameOutput(
    listed.map(({ check, tail }) => ({ name: name(check), tail })),
  );
  return listed.flatMap(({ check, tail, failedBefore = false }, index) => {
    const sameAs = sameOutputs[index] ?? null;
    const isAbove = results.has(check);
    const before = failedBefore && !namesFailedBefore ? ' before the work began too' : '';
    const entry = (printed: string): string[] => {
      const text = `${name(check)} failed${before}${printed}`;
      return page.entry({ mark: page.signs.error, markStyle: 'red', text });
    };
    if (isAbove) return entry('; its output is above');
    if (sameAs !== null) return entry(`; it printed the same as ${sameAs}`);
    const lines = entry('');
    if (tail === null) return lines;
    const { sentence, output } = readFailure(tail);
    return [
      ...lines,
      ...failedLinesOf(page, output.trim() === '' ? sentence : output, mostFailedLines),
    ];
  });
}

/**
 * The files that the file tools changed. Commands may have changed more; those changes
 * are not counted.
 */
function fileLines(
  page: Page,
  { outcome }: RunEnded,
  { files, results }: ViewState,
): string[] {
  if (files.size === 0) return [];
  const passed = [...results.values()].filter(
    ({ result, flaky }) => result === 'passed' && !flaky,
  );
  const names = passed
    .slice(0, 3)
    .map(({ check }) => `"${page.clip(bareCheck(check), 60)}"`);
  const proofWords = outcome === 'done' ? 'proved by' : 'passed so far:';
  const proof =
    names.length === 0
      ? 'no check passed in this run'
      : `${proofWords} ${names.join(', ')}`;
  return [
    ...page.entry({
      hang: 2,
      text: `${formatCount(files.size, 'changed file')}; ${proof}`,
    }),
    ...upTo(page, [...files.values()], listedOthers, (change) => {
      const name = page.clip(change.path, Math.max(8, (page.width ?? 120) - 24));
      return `  ${name} ${changeSize(page, [change])}${change.isNew ? ' (new)' : ''}`;
    }),
  ];
}

function leftOverLines(page: Page, leftOver: readonly string[]): string[] {
  if (leftOver.length === 0) return [];
  const todo = { mark: '[ ]', markStyle: 'dim', indent: 2 } as const;
  return [
    ...page.entry({
      text: `left over from earlier turns: ${formatCount(leftOver.length, 'todo')}`,
    }),
    ...upTo(page, leftOver, listedOthers, (title) =>
      page.entry({ ...todo, text: page.clip(title, longestTitle) }),
    ),
  ];
}

/** Empty if no model ever answered: there is nothing to count. */
function describeEffort({
  steps,
  toolCalls,
  continuations,
  milliseconds,
  usage,
}: RunEnded): string {
  const tokens =
    usage.inputTokens + usage.outputTokens === 0 ? '' : words.describeTokens(usage);
  if (tokens === '' && toolCalls === 0) return '';
  const back = continuations.reduce((sum, { count: amount }) => sum + amount, 0);
  const sent = back === 0 ? [] : [words.sentBack(back)];
  const work = [
    formatCount(steps, 'step'),
    formatCount(toolCalls, 'tool call'),
    ...sent,
    words.formatElapsed(milliseconds),
  ];
  return [work.join(', '), tokens, words.describeCost(usage.cost)]
    .filter((part) => part !== '')
    .join('; ');
}

/**
 * The one command to go on with, by reason or outcome. After a session gave up, only a
 * message of the human starts it again.
 */
const commands: Readonly<Record<string, readonly [command: string, note?: string]>> = {
  done: ['untildone why ID'],
  'permission-pending': ['untildone approve ID && RESUME'],
  // Every check already passed before the work: one more such check would prove just as
  // little.
  'no-change': [
    'RESUME --check "a check that fails before the work"',
    'only such a check would show it',
  ],
  'check-cannot-start': ['RESUME --check "npm test"', 'with a command that can start'],
  claimed: ['RESUME --check "npm test"', 'with the command that proves it'],
  stagnant: ['RESUME "what to change"', 'it needs your words'],
  exhausted: ['RESUME "go on"', 'your words give it a new budget'],
  blocked: ['RESUME "how to get past it"', 'it needs your words'],
  'plan-not-resumed': ['RESUME "finish what is left over"', 'your words take it up'],
  'question-pending': ['RESUME "your answer"', 'it waits for your words'],
  'repeated-question': ['RESUME "your answer"', 'it waits for your words'],
  'paused-by-model': ['RESUME "your answer"', 'it waits for your words'],
};

function nextLines(
  page: Page,
  { outcome, reason, sessionId, resumeCommand }: RunEnded,
): string[] {
  if (resumeCommand === '') return [];
  const id = shortId(sessionId);
  const resume = page.clip(resumeCommand.replace(sessionId, id), 500);
  const nextCommand =
    (outcome === 'done' ? undefined : commands[reason]) ?? commands[outcome];
  const [form, note = ''] = nextCommand ?? ['RESUME'];
  const command = form.replace('ID', id).replace('RESUME', () => resume);
  // The command must stay on one line, and the remark is shown only if it fits beside it.
  const isFitting = command.length + note.length + 11 <= (page.width ?? 200);
  const remark = note !== '' && isFitting ? `   # ${note}` : '';
  return [`next: ${page.paint('bold', command)}${page.paint('dim', remark)}`];
}
