// The end of a run in words: the outcome and what led to it, each todo with its evidence or the lack of it, the files
// that changed and what proves them, what it took, and ONE command to go on with (V8, S8).
import type { RunEnded, TodoView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import { count, type Style } from '../print.ts';
import { shortId } from '../session-name.ts';
import { changeSize, type Page, tailOf, upTo } from './page.ts';
import type { ViewState } from './state.ts';
import * as words from './words.ts';

/** Todos that are listed; of a longer plan those that a human must look at come first. */
const listedTodos = 40;
const listedOthers = 10;
const longestTitle = 160;
const longestWhy = 240;

const styles: Readonly<Record<Outcome, Style>> = {
  ...{ done: 'green', blocked: 'red', stagnant: 'red', exhausted: 'red', failed: 'red' },
  ...{ paused: 'yellow', aborted: 'yellow' },
  // No alarm: an honest answer may be all that was wanted.
  claimed: 'bold',
};

/** `state`: as it was before the end. */
export function summaryLines(page: Page, event: RunEnded, state: ViewState): string[] {
  const { outcome } = event;
  const plain = (text: string): string[] => (text === '' ? [] : page.entry({ hang: 2, text }));
  return [
    '',
    ...page.entry({ text: `outcome: ${outcome}`, style: styles[outcome] }),
    ...page.entry({ indent: 2, text: sentenceOf(event, state) }),
    ...todoLines(page, event),
    ...failedCheckLines(page, event.failedChecks, state),
    ...fileLines(page, event, state),
    ...leftOverLines(page, event.leftOver),
    ...plain(describeEffort(event)),
    // In one piece, however narrow the terminal is: it is there to be copied.
    ...nextLines(page, event),
  ];
}

/** One sentence. What was said a moment ago, and what the last line says, is not said again. */
function sentenceOf({ outcome, reason, sentence }: RunEnded, { error, results }: ViewState): string {
  if (outcome === 'failed' && error !== null && sentence.includes(error))
    return 'The model could not be called; the error stands above.';
  if (reason === 'aborted') return 'Stopped by you; what was done so far is kept.';
  const broken = [...results.values()].filter(({ result }) => result === 'cannot-start');
  if (reason !== 'check-cannot-start' || broken.length === 0) return sentence;
  const names = broken.map(({ check }) => words.checkName(words.bareCheck(check))).join(', ');
  return `Nothing is open, but ${names} cannot start; why stands above.`;
}

function todoLines(page: Page, { todos, outcome, reason }: RunEnded): string[] {
  if (todos.length === 0) return [];
  // Only so does the rule let go with `done` while some todos have no check of their own.
  const goalPassed = outcome === 'done' && reason === 'nothing-open';
  const rank = (todo: TodoView): number => words.standings.indexOf(words.standingOf(todo, goalPassed));
  // What is proved is counted; named is what a human may have to look at.
  const unproved = todos.filter((todo) => rank(todo) < words.standings.indexOf('covered'));
  const listed = new Set(unproved.toSorted((one, other) => rank(one) - rank(other)).slice(0, listedTodos));
  const hidden = unproved.filter((todo) => !listed.has(todo));
  const head = `${count(todos.length, 'todo')}: ${tally(page, todos, goalPassed)}`;
  const rest = `and ${hidden.length} more: ${tally(page, hidden, goalPassed)}`;
  // The sentence above has said it.
  const isSaid =
    outcome === 'claimed' && todos.every((todo) => words.standingOf(todo, goalPassed) === 'claimed');
  return [
    ...(isSaid ? [] : page.entry({ hang: 2, text: head })),
    ...todos.filter((todo) => listed.has(todo)).flatMap((todo) => todoEntry(page, todo)),
    ...(hidden.length === 0 ? [] : page.entry({ indent: 2, text: rest })),
  ];
}

/** `5 checked · 2 claimed, not checked · 1 open`, best first. */
function tally({ signs }: Page, todos: readonly TodoView[], goalPassed: boolean): string {
  const counted = [...words.standings].reverse().flatMap((standing) => {
    const amount = todos.filter((todo) => words.standingOf(todo, goalPassed) === standing).length;
    return amount === 0 ? [] : [`${amount} ${words.standingNames[standing]}`];
  });
  return counted.join(` ${signs.separator} `);
}

/** With the reason, or with the agent's own word where there is nothing better. */
function todoEntry(page: Page, todo: TodoView): string[] {
  const { status, reason, outcome } = todo;
  const [mark, markStyle] = words.todoMarks[status];
  const isGivenUp = status === 'blocked' || status === 'cancelled';
  const why = isGivenUp ? (reason ?? 'no reason given') : status === 'completed' ? (outcome ?? '') : '';
  const told = why === '' ? '' : ` ${page.signs.arrow} ${page.clip(why, longestWhy)}`;
  const text = `${page.clip(todo.title, longestTitle)}${words.remarkOf(todo)}${told}`;
  return page.entry({ mark, markStyle, indent: 2, text });
}

/** Its output stands above, if it was run in front of whoever reads this. */
function failedCheckLines(page: Page, failed: RunEnded['failedChecks'], { results }: ViewState): string[] {
  return failed.slice(0, listedOthers).flatMap(({ check, tail }) => [
    ...page.entry({
      mark: page.signs.error,
      markStyle: 'red',
      text: `${words.checkName(page.clip(words.bareCheck(check), longestTitle))} failed${results.has(check) ? '; its output stands above' : ''}`,
    }),
    ...(tail === null || results.has(check) ? [] : tailOf(page, tail, 3)),
  ]);
}

/** What the file tools changed. Commands may have changed more: nobody looks over their shoulder. */
function fileLines(page: Page, { outcome }: RunEnded, { files, results }: ViewState): string[] {
  if (files.size === 0) return [];
  const passed = [...results.values()].filter(({ result, flaky }) => result === 'passed' && !flaky);
  const names = passed.slice(0, 3).map(({ check }) => `"${page.clip(words.bareCheck(check), 60)}"`);
  const how = outcome === 'done' ? 'proved by' : 'passed so far:';
  const proof = names.length === 0 ? 'no check passed in this run' : `${how} ${names.join(', ')}`;
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
    ...page.entry({ text: `left over from earlier turns: ${count(leftOver.length, 'todo')}` }),
    ...upTo(page, leftOver, listedOthers, (title) =>
      page.entry({ ...todo, text: page.clip(title, longestTitle) }),
    ),
  ];
}

/** Where no answer ever came there is nothing to count. */
function describeEffort({ steps, toolCalls, continuations, milliseconds, usage }: RunEnded): string {
  const tokens = usage.inputTokens + usage.outputTokens === 0 ? '' : words.describeTokens(usage);
  if (tokens === '' && toolCalls === 0) return '';
  const back = continuations.reduce((sum, { count: amount }) => sum + amount, 0);
  const sent = back === 0 ? [] : [words.sentBack(back)];
  const work = [
    count(steps, 'step'),
    count(toolCalls, 'tool call'),
    ...sent,
    words.formatElapsed(milliseconds),
  ];
  return [work.join(', '), tokens, words.describeCost(usage.cost)].filter((part) => part !== '').join('; ');
}

/** Only a message of the human starts a session afresh that has given up or used up what it had. */
const wanted: Readonly<Record<string, readonly [words: string, note: string]>> = {
  stagnant: ['what to change', 'it needs your words'],
  exhausted: ['go on', 'your words give it a new budget'],
  blocked: ['how to get past it', 'it needs your words'],
  'plan-not-resumed': ['finish what is left over', 'your words take it up'],
  'question-pending': ['your answer', 'it waits for your words'],
  'repeated-question': ['your answer', 'it waits for your words'],
  'paused-by-model': ['your answer', 'it waits for your words'],
};

function nextLines(page: Page, { outcome, reason, sessionId, resumeCommand }: RunEnded): string[] {
  if (resumeCommand === '') return [];
  const id = shortId(sessionId);
  const resume = page.clip(resumeCommand.replace(sessionId, id), 500);
  const [command, note = ''] = ((): readonly string[] => {
    if (outcome === 'done') return [`untildone why ${id}`];
    if (reason === 'permission-pending') return [`untildone approve ${id} && ${resume}`];
    // Every check passed before the work as well: one more such check would prove as little.
    if (reason === 'no-change')
      return [`${resume} --check "a check that fails before the work"`, 'only such a check would show it'];
    if (outcome === 'claimed' || reason === 'check-cannot-start')
      return [
        `${resume} --check "npm test"`,
        reason === 'check-cannot-start' ? 'with a command that can start' : 'with the command that proves it',
      ];
    const [said, why] = wanted[reason] ?? wanted[outcome] ?? [];
    return said === undefined ? [resume] : [`${resume} "${said}"`, why ?? ''];
  })();
  const line = `next: ${command}`;
  // The command must not be torn, and a remark beside it only helps where it fits.
  const remark = note !== '' && line.length + note.length + 5 <= (page.width ?? 200) ? `   # ${note}` : '';
  return [`next: ${page.paint('bold', command ?? resume)}${page.paint('dim', remark)}`];
}
