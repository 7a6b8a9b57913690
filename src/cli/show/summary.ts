// The end of a run in words: the outcome and what led to it, each todo with its evidence
// or the lack of it, the files that changed and what proves them, what it took, and ONE
// command to go on with (V8, S8).
import type { RunEnded, TodoView } from '../../agent/agent-event.ts';
import { bareCheck } from '../../core/check-specs.ts';
import type { Outcome } from '../../core/decision.ts';
import { findSameOutput, readFailure } from '../../core/failed-lines.ts';
import { shortId } from '../describe-session.ts';
import { count, type Style } from '../print.ts';
import { changeSize, failedLinesOf, type Page, upTo } from './page.ts';
import type { ViewState } from './state.ts';
import * as words from './words.ts';

/** Todos that are listed; of a longer plan those that a human must look at come first. */
const listedTodos = 40;
const listedOthers = 10;
/** Lines that are shown of what a failed check printed. */
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
  // No alarm: an honest answer may be all that was wanted.
  claimed: 'bold',
};

/** `state`: as it was before the end. */
export function summaryLines(page: Page, event: RunEnded, state: ViewState): string[] {
  const { outcome } = event;
  const plain = (text: string): string[] =>
    text === '' ? [] : page.entry({ hang: 2, text });
  const sentence = sentenceOf(event, state);
  // The decision's own sentence names the checks that failed before the work began too.
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
    // In one piece, however narrow the terminal is: it is there to be copied.
    ...nextLines(page, event),
  ];
}

/**
 * One sentence. What was said a moment ago, and what the last line says, is not said
 * again.
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
  // Only so does the rule let go with `done` while some todos have no check of their own.
  const goalPassed = outcome === 'done' && reason === 'nothing-open';
  const standing = (todo: TodoView): words.Standing => words.standingOf(todo, goalPassed);
  const rank = (todo: TodoView): number => words.standings.indexOf(standing(todo));
  const tally = (some: readonly TodoView[]): string =>
    words.tally(some.map(standing), page.signs.separator);
  // What is proved is counted; named is what a human may have to look at.
  const unproved = todos.filter(
    (todo) => rank(todo) < words.standings.indexOf('covered'),
  );
  const listed = new Set(
    unproved.toSorted((one, other) => rank(one) - rank(other)).slice(0, listedTodos),
  );
  const hidden = unproved.filter((todo) => !listed.has(todo));
  // The sentence above has said it.
  const isSaid =
    outcome === 'claimed' && todos.every((todo) => standing(todo) === 'claimed');
  return [
    ...(isSaid
      ? []
      : page.entry({ hang: 2, text: `${count(todos.length, 'todo')}: ${tally(todos)}` })),
    ...todos.filter((todo) => listed.has(todo)).flatMap((todo) => todoEntry(page, todo)),
    ...(hidden.length === 0
      ? []
      : page.entry({ indent: 2, text: `and ${hidden.length} more: ${tally(hidden)}` })),
  ];
}

/** With the reason, or with the agent's own word where there is nothing better. */
function todoEntry(page: Page, todo: TodoView): string[] {
  const { status, reason, outcome } = todo;
  const [mark, markStyle] = words.todoMarks[status];
  const isGivenUp = status === 'blocked' || status === 'cancelled';
  const done = status === 'completed' ? (outcome ?? '') : '';
  const why = isGivenUp ? (reason ?? 'no reason given') : done;
  const told = why === '' ? '' : ` ${page.signs.arrow} ${page.clip(why, longestWhy)}`;
  const text = `${page.clip(todo.title, longestTitle)}${words.remarkOf(todo)}${told}`;
  return page.entry({ mark, markStyle, indent: 2, text });
}

/**
 * The output of a check that ran on this screen stands above; that of another check is
 * shown once.
 * @param namesFailedBefore the sentence above names the checks that failed before the
 * work began too
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
 * What the file tools changed. Commands may have changed more: nobody looks over their
 * shoulder.
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
  const how = outcome === 'done' ? 'proved by' : 'passed so far:';
  const proof =
    names.length === 0 ? 'no check passed in this run' : `${how} ${names.join(', ')}`;
  return [
    ...page.entry({ hang: 2, text: `${count(files.size, 'changed file')}; ${proof}` }),
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
      text: `left over from earlier turns: ${count(leftOver.length, 'todo')}`,
    }),
    ...upTo(page, leftOver, listedOthers, (title) =>
      page.entry({ ...todo, text: page.clip(title, longestTitle) }),
    ),
  ];
}

/** Where no answer ever came there is nothing to count. */
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
    count(steps, 'step'),
    count(toolCalls, 'tool call'),
    ...sent,
    words.formatElapsed(milliseconds),
  ];
  return [work.join(', '), tokens, words.describeCost(usage.cost)]
    .filter((part) => part !== '')
    .join('; ');
}

/**
 * The one command to go on with, by reason or outcome; only a message of the human starts
 * a session afresh that gave up.
 */
const commands: Readonly<Record<string, readonly [command: string, note?: string]>> = {
  done: ['untildone why ID'],
  'permission-pending': ['untildone approve ID && RESUME'],
  // Every check passed before the work as well: one more such check would prove as
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
  const known = (outcome === 'done' ? undefined : commands[reason]) ?? commands[outcome];
  const [form, note = ''] = known ?? ['RESUME'];
  const command = form.replace('ID', id).replace('RESUME', () => resume);
  // The command must not be torn, and a remark beside it only helps where it fits.
  const isFitting = command.length + note.length + 11 <= (page.width ?? 200);
  const remark = note !== '' && isFitting ? `   # ${note}` : '';
  return [`next: ${page.paint('bold', command)}${page.paint('dim', remark)}`];
}
