// The end of a run in words: the outcome and what led to it, each todo with its evidence or the lack of it, the files
// that changed and what proves them, what it took, and ONE command to go on with (V8, S8).
import type { RunEnded, TodoView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import { count, type Style } from '../print.ts';
import { shortId } from '../session-name.ts';
import { changeSize, tailOf } from './call-lines.ts';
import type { Page } from './page.ts';
import type { ViewState } from './state.ts';
import * as words from './words.ts';

/** Todos that are listed; of a longer plan those that a human must look at come first. */
const listedTodos = 40;
const listedOthers = 10;
const longestTitle = 160;
const longestStanding = 240;

const styles: Readonly<Record<Outcome, Style>> = {
  ...{ done: 'green', blocked: 'red', stagnant: 'red', exhausted: 'red', failed: 'red' },
  ...{ paused: 'yellow', aborted: 'yellow' },
  // No alarm: an honest answer may be all that was wanted.
  claimed: 'bold',
};

/** `state`: as it was before the end. */
export function summaryLines(page: Page, event: RunEnded, state: ViewState): string[] {
  const { outcome } = event;
  const plain = (text: string): string[] => (text === '' ? [] : page.entry({ mark: '', hang: 2, text }));
  return [
    '',
    ...page.entry({ mark: '', text: `outcome: ${outcome}`, style: styles[outcome] }),
    ...page.entry({ mark: '', indent: 2, text: sentenceOf(event, state) }),
    ...todoLines(page, event),
    ...failedCheckLines(page, event.failedChecks, state),
    ...fileLines(page, event, state),
    ...leftOverLines(page, event.leftOver),
    ...plain(describeContinuations(event.continuations)),
    ...plain(describeEffort(event)),
    // In one piece, however narrow the terminal is: it is there to be copied.
    ...nextLines(page, event),
  ];
}

/** One sentence. What was said a moment ago is not said again. */
function sentenceOf({ outcome, sentence }: RunEnded, { error }: ViewState): string {
  if (outcome !== 'failed' || error === null || !sentence.includes(error)) return sentence;
  return 'The model could not be called; the error stands above.';
}

function todoLines(page: Page, { todos, outcome, reason }: RunEnded): string[] {
  if (todos.length === 0) return [];
  // Only so does the rule let go with `done` while some todos have no check of their own.
  const goalPassed = outcome === 'done' && reason === 'nothing-open';
  const rank = (todo: TodoView): number => words.standings.indexOf(words.standingOf(todo, goalPassed));
  const listed = new Set([...todos].sort((one, other) => rank(one) - rank(other)).slice(0, listedTodos));
  const hidden = todos.filter((todo) => !listed.has(todo));
  const head = `${count(todos.length, 'todo')}: ${tally(page, todos, goalPassed)}`;
  const rest = `and ${hidden.length} more: ${tally(page, hidden, goalPassed)}`;
  return [
    ...page.entry({ mark: '', hang: 2, text: head }),
    ...todos.filter((todo) => listed.has(todo)).flatMap((todo) => todoEntry(page, todo, goalPassed)),
    ...(hidden.length === 0 ? [] : page.entry({ mark: '', indent: 2, text: rest })),
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

function todoEntry(page: Page, todo: TodoView, goalPassed: boolean): string[] {
  const [mark, markStyle] = words.todoMarks[todo.status];
  const title = page.clip(todo.title, longestTitle);
  const standing = page.clip(words.describeStanding(todo, goalPassed), longestStanding);
  return page.entry({ mark, markStyle, indent: 2, text: `${title} ${page.signs.arrow} ${standing}` });
}

/** Its output stands above, if it was run in front of whoever reads this. */
function failedCheckLines(page: Page, failed: RunEnded['failedChecks'], { results }: ViewState): string[] {
  return failed.slice(0, listedOthers).flatMap(({ check, tail }) => [
    ...page.entry({
      mark: page.signs.error,
      markStyle: 'red',
      text: `${words.checkName(page.clip(check, longestTitle))} failed${results.has(check) ? '; its output stands above' : ''}`,
    }),
    ...(tail === null || results.has(check) ? [] : tailOf(page, tail, 3)),
  ]);
}

/** What the file tools changed. Commands may have changed more: nobody looks over their shoulder. */
function fileLines(page: Page, { outcome }: RunEnded, { files, results }: ViewState): string[] {
  if (files.size === 0) return [];
  const passed = [...results.values()].filter(({ result, flaky }) => result === 'passed' && !flaky);
  const names = passed.slice(0, 3).map(({ check }) => `"${page.clip(check, 60)}"`);
  const how = outcome === 'done' ? 'proved by' : 'passed so far:';
  const proof = names.length === 0 ? 'no check passed in this run' : `${how} ${names.join(', ')}`;
  const listed = [...files.values()].slice(0, listedOthers);
  const hidden = files.size - listed.length;
  return [
    ...page.entry({ mark: '', hang: 2, text: `${count(files.size, 'changed file')}; ${proof}` }),
    ...listed.map((change) => {
      const name = page.clip(change.path, Math.max(8, (page.width ?? 120) - 24));
      return `  ${name} ${changeSize(page, [change])}${change.isNew ? ' (new)' : ''}`;
    }),
    ...(hidden > 0 ? page.entry({ mark: '', indent: 2, text: `and ${hidden} more` }) : []),
  ];
}

function leftOverLines(page: Page, leftOver: readonly string[]): string[] {
  if (leftOver.length === 0) return [];
  const hidden = leftOver.length - listedOthers;
  return [
    ...page.entry({ mark: '', text: `left over from earlier turns: ${count(leftOver.length, 'todo')}` }),
    ...leftOver
      .slice(0, listedOthers)
      .flatMap((title) =>
        page.entry({ mark: '[ ]', markStyle: 'dim', indent: 2, text: page.clip(title, longestTitle) }),
      ),
    ...(hidden > 0 ? page.entry({ mark: '', indent: 2, text: `and ${hidden} more` }) : []),
  ];
}

function describeContinuations(continuations: RunEnded['continuations']): string {
  const total = continuations.reduce((sum, { count: amount }) => sum + amount, 0);
  if (total === 0) return '';
  const kinds = continuations.map(
    ({ textKind, count: amount }) => `${words.continuationNames[textKind]} (${amount})`,
  );
  return `sent back to work ${total === 1 ? 'once' : `${total} times`}: ${kinds.join(', ')}`;
}

function describeEffort({ steps, toolCalls, milliseconds, usage }: RunEnded): string {
  const tokens = usage.inputTokens + usage.outputTokens === 0 ? '' : words.describeTokens(usage);
  const work = `${count(steps, 'step')}, ${count(toolCalls, 'tool call')}, ${words.formatElapsed(milliseconds)}`;
  return [work, tokens, words.describeCost(usage.cost)].filter((part) => part !== '').join('; ');
}

function nextLines(page: Page, { outcome, reason, sessionId, resumeCommand }: RunEnded): string[] {
  if (resumeCommand === '') return [];
  const id = shortId(sessionId);
  const resume = page.clip(resumeCommand.replace(sessionId, id), 500);
  const next =
    outcome === 'done'
      ? `untildone why ${id}`
      : outcome === 'claimed'
        ? `${resume} --check "npm test"`
        : reason === 'permission-pending'
          ? `untildone approve ${id} && ${resume}`
          : resume;
  const why = outcome === 'claimed' ? '   # with the command that proves it' : '';
  return [`next: ${page.paint('bold', next)}${page.paint('dim', why)}`];
}
