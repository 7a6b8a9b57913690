// The end of a run in words: the outcome and what it means, each todo with its evidence or the lack of it, what it
// took, and how to go on (V8, S8). Lines only; whoever prints them decides where.
import type { RunEnded, TodoView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import { count, type Style } from '../print.ts';
import { shortId } from '../session-name.ts';
import { continuationNames } from './continuation-names.ts';
import { describeCost, describeTokens, formatElapsed } from './describe-amounts.ts';
import type { Page } from './page.ts';
import { describeStanding, standingNames, standingOf, standings, todoMarks } from './todo-standing.ts';

/** Todos that are listed; of a longer plan those that a human must look at come first. */
const listedTodos = 40;
const listedLeftOver = 10;
const longestTitle = 160;
const longestStanding = 240;

const meanings: Readonly<Record<Outcome, readonly [style: Style, meaning: string]>> = {
  done: ['green', 'Everything is finished, and the system saw the evidence.'],
  // No alarm: an honest answer may be all that was wanted.
  claimed: [
    'bold',
    "Part of it rests on the agent's word. A check would show it: --check CMD, also with --resume.",
  ],
  blocked: ['red', 'What remains needs something that the agent does not have; the reasons stand below.'],
  stagnant: ['red', 'The agent was sent on, and nothing new came of it; what is missing stands below.'],
  exhausted: ['red', 'A limit was reached before the work was finished; what is missing stands below.'],
  paused: ['yellow', 'The work waits for a human.'],
  aborted: ['yellow', 'What was done so far is kept.'],
  failed: ['red', 'It could not go on; what was done so far is kept.'],
};

/** There are checks, and one more that passes already would show as little. */
const unchanged =
  'If work was wanted, a check that fails before it would show it: --check CMD, also with --resume.';

export function summaryLines(page: Page, event: RunEnded): string[] {
  return [
    '',
    ...outcomeLines(page, event),
    ...todoLines(page, event),
    ...failedCheckLines(page, event.failedChecks),
    ...leftOverLines(page, event.leftOver),
    ...page.entry({ mark: '', hang: 2, text: describeContinuations(event.continuations) }),
    ...page.entry({ mark: '', hang: 2, text: describeEffort(event) }),
    ...page.entry({
      mark: '',
      hang: 2,
      text: [describeTokens(event.usage), describeCost(event.usage.cost)].filter(Boolean).join('; '),
    }),
    // In one piece, however narrow the terminal is: it is there to be copied. Finished work needs none.
    ...(event.outcome === 'done' || event.resumeCommand === ''
      ? []
      : [
          `resume with: ${page.clip(event.resumeCommand.replace(event.sessionId, shortId(event.sessionId)), 500)}`,
        ]),
  ];
}

function outcomeLines(page: Page, { outcome, reason, sentence, exitCode }: RunEnded): string[] {
  const [style, meaning] = meanings[outcome];
  return [
    ...page.entry({
      mark: '',
      hang: 2,
      text: `outcome: ${outcome} (${reason}, exit code ${exitCode})`,
      style,
    }),
    ...page.entry({ mark: '', indent: 2, text: sentence }),
    ...page.entry({ mark: '', indent: 2, text: reason === 'no-change' ? unchanged : meaning }),
  ];
}

function todoLines(page: Page, { todos, outcome, reason }: RunEnded): string[] {
  if (todos.length === 0) return [];
  // Only so does the rule let go with `done` while some todos have no check of their own.
  const goalPassed = outcome === 'done' && reason === 'nothing-open';
  const listed = mostTelling(todos, goalPassed);
  const hidden = todos.filter((todo) => !listed.has(todo));
  return [
    ...page.entry({
      mark: '',
      hang: 2,
      text: `${count(todos.length, 'todo')}: ${tally(page, todos, goalPassed)}`,
    }),
    ...todos.filter((todo) => listed.has(todo)).flatMap((todo) => todoEntry(page, todo, goalPassed)),
    ...(hidden.length === 0
      ? []
      : page.entry({
          mark: '',
          indent: 2,
          text: `and ${hidden.length} more: ${tally(page, hidden, goalPassed)}`,
        })),
  ];
}

function mostTelling(todos: readonly TodoView[], goalPassed: boolean): ReadonlySet<TodoView> {
  const rank = (todo: TodoView): number => standings.indexOf(standingOf(todo, goalPassed));
  return new Set([...todos].sort((one, other) => rank(one) - rank(other)).slice(0, listedTodos));
}

/** `5 checked · 2 claimed, not checked · 1 open`, best first. */
function tally({ signs }: Page, todos: readonly TodoView[], goalPassed: boolean): string {
  const counted = [...standings].reverse().map((standing) => {
    const amount = todos.filter((todo) => standingOf(todo, goalPassed) === standing).length;
    return amount === 0 ? null : `${amount} ${standingNames[standing]}`;
  });
  return counted.filter((part) => part !== null).join(` ${signs.separator} `);
}

function todoEntry(page: Page, todo: TodoView, goalPassed: boolean): string[] {
  const [mark, markStyle] = todoMarks[todo.status];
  const title = page.clip(todo.title, longestTitle);
  const standing = page.clip(describeStanding(todo, goalPassed), longestStanding);
  return page.entry({ mark, markStyle, indent: 2, text: `${title} ${page.signs.arrow} ${standing}` });
}

/** The first line says what was expected; the rest was shown when it happened. */
function failedCheckLines(page: Page, failed: RunEnded['failedChecks']): string[] {
  return failed.slice(0, listedLeftOver).flatMap(({ check, tail }) => {
    const why = tail === null ? '' : `: ${page.clip(tail.split('\n')[0] ?? '', longestStanding)}`;
    const text = `check ${page.clip(check, longestTitle)} failed${why}`;
    return page.entry({ mark: page.signs.error, markStyle: 'red', text });
  });
}

function leftOverLines(page: Page, leftOver: readonly string[]): string[] {
  if (leftOver.length === 0) return [];
  const hidden = leftOver.length - listedLeftOver;
  return [
    ...page.entry({ mark: '', text: `left over from earlier turns: ${count(leftOver.length, 'todo')}` }),
    ...leftOver
      .slice(0, listedLeftOver)
      .flatMap((title) =>
        page.entry({ mark: '[ ]', markStyle: 'dim', indent: 2, text: page.clip(title, longestTitle) }),
      ),
    ...(hidden > 0 ? page.entry({ mark: '', indent: 2, text: `and ${hidden} more` }) : []),
  ];
}

function describeContinuations(continuations: RunEnded['continuations']): string {
  const total = continuations.reduce((sum, { count: amount }) => sum + amount, 0);
  if (total === 0) return 'no continuations';
  const kinds = continuations.map(
    ({ textKind, count: amount }) => `${continuationNames[textKind]} (${amount})`,
  );
  return `${count(total, 'continuation')}: ${kinds.join(', ')}`;
}

function describeEffort({ steps, toolCalls, milliseconds }: RunEnded): string {
  return `${count(steps, 'step')}, ${count(toolCalls, 'tool call')}, ${formatElapsed(milliseconds)}`;
}
