// The words of a continuation (E6, V9). Short, and with a stable first line; everything that comes from todos or
// tools is quoted, so that it can neither pose as an instruction nor close a tag. What varies stands at the end.
import type { TextKind } from '../decision.ts';
import { dueChallenge } from '../rules/plan-rules.ts';
import type { StopContext } from '../rules/rule.ts';
import { quoteForModel } from '../safe-text.ts';
import { openCount, planSize } from '../session.ts';
import type { Todo } from '../todo.ts';
import { quoteTail } from './quote-tail.ts';

export interface TextRows {
  readonly next: readonly Todo[];
  readonly dropped: readonly Todo[];
  readonly failed: readonly Todo[];
}

/** Hosts show texts back to us; the marker helps people and other tools, we never rely on it ourselves (E6). */
export const continuationMarker = 'TODO CONTINUATION';

/** Titles that one text names; more would be read by nobody. */
const namedTitles = 8;

export function continuationText(
  kind: TextKind,
  level: number,
  context: StopContext,
  rows: TextRows,
): string {
  const named = { ...rows, delegate: context.session.descriptor.tools.delegate };
  const lines = [firstLine(context), ...bodyOf[kind](context, named, level)];
  return lines.filter((line) => line !== '').join('\n');
}

interface NamedRows extends TextRows {
  /** The tool that hands a todo to its worker, where there are workers. */
  readonly delegate: string | undefined;
}

type Body = (context: StopContext, rows: NamedRows, level: number) => string[];

const bodyOf: Readonly<Record<TextKind, Body>> = {
  standard: (context, rows, level) => [
    level === 1 ? staleListLine(context) : unchangedLine(context, level),
    nextLine(rows),
    level === 3 ? lastLine(context) : '',
    closing(context),
  ],
  'output-limit': (context, rows) => [
    'Your answer was cut off by the output limit. Take up the same todo where you stopped, in smaller steps.',
    nextLine(rows),
    closing(context),
  ],
  'iteration-budget': (context, rows) => [
    planSize(context.session.counts) === 0
      ? 'You have made many tool calls without a plan. Write down what is finished and what remains as todos, then go on; if nothing remains, answer.'
      : 'You have made many tool calls in a row. Take stock: bring the todo list up to date, then go on.',
    nextLine(rows),
    closing(context),
  ],
  loop: (context, rows) => [
    'You have been repeating the same calls without a new result. Stop doing that: say in one sentence what is missing, then try a different way.',
    nextLine(rows),
    closing(context),
  ],
  'tool-error': (context, rows) => [
    `The last tool call failed: ${quoteForModel(context.stop.toolError ?? '', 300)}. Try once more, differently; after a second failure this todo is set aside as blocked.`,
    nextLine(rows),
    closing(context),
  ],
  'dropped-todos': (context, rows) => [
    `These todos were left out or cancelled without a reason and are still open: ${titles(rows.dropped, context.session.counts.unnamedDrops)}.`,
    'Put each one back and finish it, or cancel it with a reason. If it is left out again it is recorded as cancelled without explanation, and the work cannot count as done.',
    nextLine(rows),
    closing(context),
  ],
  'bulk-claim': (context, rows) => [
    bulkLine(context),
    'Check each one now against the files or with a command. Set those that are not finished back to pending and do them; confirm the others with what proves them.',
    openCount(context.session.counts) > 0 ? nextLine(rows) : '',
    closing(context),
  ],
  'failed-check': (context, rows, level) => [
    ...failureLines(context, rows),
    level === 1 ? '' : unchangedLine(context, level),
    nextLine(rows),
    level === 3 ? lastLine(context) : '',
    closing(context),
  ],
  'checks-running': (context) => [
    context.session.descriptor.tools.verify === null
      ? 'The checks of your work are still running. Stop again in a moment; nothing else is needed.'
      : `The checks of your work are still running. Call ${context.session.descriptor.tools.verify} to wait for their results.`,
  ],
  'text-question': (context, rows) => [
    context.session.descriptor.tools.pause === null
      ? 'Your answer ends in a question, but nobody is waiting to answer it. Decide by yourself, note the assumption, and go on.'
      : `Your answer ends in a question. If you need a human, call ${context.session.descriptor.tools.pause}; otherwise decide by yourself, note the assumption, and go on.`,
    nextLine(rows),
    closing(context),
  ],
  'empty-answer': (context, rows) => ['Your last answer was empty.', nextLine(rows), closing(context)],
  'background-job': (context, rows) => [
    `Background work is running: ${jobs(context)}. You will be told when it ends; there is other work to do meanwhile.`,
    nextLine(rows),
    closing(context),
  ],
  'after-compaction': (context, rows) => [
    'The conversation was compacted; the plan is kept outside it and still stands.',
    upcomingLine(rows),
    nextLine(rows),
    closing(context),
  ],
};

function firstLine({ session }: StopContext): string {
  const total = planSize(session.counts);
  const settled = total - openCount(session.counts) - session.counts.blocked;
  const blocked = session.counts.blocked > 0 ? `, ${session.counts.blocked} blocked` : '';
  return `[${continuationMarker}] ${settled}/${total} completed, ${openCount(session.counts)} remaining${blocked}.`;
}

function nextLine({ next, delegate }: NamedRows): string {
  const todo = next[0];
  if (todo === undefined) return '';
  const criteria =
    todo.completionCriteria === null ? '' : ` It is done when: ${quoteForModel(todo.completionCriteria)}.`;
  return `Go on with the next todo: ${quoteForModel(todo.title)}.${criteria}${workerPart(todo, delegate)}`;
}

/** S4: a todo with an agentType goes to that worker. */
function workerPart({ agentType }: Todo, delegate: string | undefined): string {
  if (agentType === null || delegate === undefined) return '';
  return ` It goes to the worker ${quoteForModel(agentType, 40)}: call ${delegate}.`;
}

/** The rest of the plan after a compaction, when the model may have forgotten it. */
function upcomingLine({ next }: TextRows): string {
  return next.length < 2 ? '' : `Open: ${titles(next, next.length)}.`;
}

function closing({ session }: StopContext): string {
  const pause = session.descriptor.tools.pause;
  const wayOut =
    pause === null
      ? 'If that is impossible, say in one sentence what only a human can provide.'
      : `If that is impossible, needs a human, or you were asked for a part only, call ${pause} with the reason.`;
  return `Do not ask whether to go on. Mark each todo as soon as it is finished; do not stop until all are done. ${wayOut}`;
}

function staleListLine({ session }: StopContext): string {
  const { workspaceMoved, planMoved } = session.progress;
  return workspaceMoved && !planMoved
    ? 'The workspace has changed but the todo list has not: bring it up to date first.'
    : '';
}

function unchangedLine({ session }: StopContext, level: number): string {
  const times = level === 2 ? 'the last reminder' : 'two reminders';
  const moved = session.progress.planMoved ? 'the list was edited, but ' : '';
  return `Since ${times} ${moved}no todo was finished, no check passed and no new state of the workspace appeared. Do one concrete step with a tool now; a todo that cannot be done is blocked with its reason.`;
}

function lastLine({ session }: StopContext): string {
  return `This is the last reminder: without progress the system ends the run as stagnant and shows the human the ${openCount(session.counts)} open todos.`;
}

function bulkLine(context: StopContext): string {
  const { counts } = context.session;
  return dueChallenge(context.session) === 'ends'
    ? `${counts.idleEnds} todos were blocked or cancelled although nothing was tried since they were created.`
    : `${counts.idleClaims} todos were marked completed although no tool was called and no file changed since they were created.`;
}

function failureLines({ session, goalChecks }: StopContext, rows: TextRows): string[] {
  const todo = rows.failed[0];
  if (todo !== undefined) {
    return [
      `The check of ${quoteForModel(todo.title)} failed, so it is open again.`,
      todo.failureTail === null ? '' : `It printed:\n${quoteTail(todo.failureTail)}`,
    ];
  }
  const failed = goalChecks.filter((check) => session.goal[check]?.state === 'failed');
  const tail = session.goal[failed[0] ?? '']?.tail ?? null;
  return [
    `The check ${failed.map((check) => quoteForModel(check, 80)).join(', ')} of the whole work failed. Mend the cause.`,
    tail === null ? '' : `It printed:\n${quoteTail(tail)}`,
  ];
}

function titles(todos: readonly Todo[], total: number): string {
  const named = todos.slice(0, namedTitles).map((todo) => quoteForModel(todo.title, 120));
  const rest = total - named.length;
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

function jobs({ session }: StopContext): string {
  const unnamed = session.jobs.filter(({ id }) => !session.namedJobs.includes(id));
  return unnamed
    .slice(0, 4)
    .map(({ description }) => quoteForModel(description, 100))
    .join(', ');
}
