// The texts that send an agent on: the first text that applies is sent (E6, V9), in our
// words or the user's own. Words of todos and tools are quoted, so that they can neither
// pose as an instruction nor close a tag.
import { messageOf } from './error.ts';
import {
  type CheckFailure,
  findSameOutput,
  pickFailedLines,
  readFailure,
} from './failed-lines.ts';
import { parseTemplate, renderTemplate } from './own-words.ts';
import { excerpt } from './problem.ts';
import type { StopContext } from './rules.ts';
import { oneLine, quoteForModel } from './safe-text.ts';
import { section } from './schema.ts';
import {
  callsSinceMessage,
  claimsWaitedFor,
  dueChallenge,
  findFailedBefore,
  hasGoalCheckFailed,
  unnamedJobs,
} from './settlement.ts';
import { openCount, type PlanCounts, planSize, type State } from './state.ts';
import { isOpen, isUnnamedDrop, type Todo } from './todo.ts';

/**
 * The first words of each text that sends an agent on. They are for people and other
 * tools; we never rely on them ourselves (E6).
 */
export const continuationMarker = 'TODO CONTINUATION';

/** Nobody would read more titles. */
const namedTitles = 8;
/** Quoted lines of all failed checks together; more lines cost tokens every time. */
const quotedLines = 15;
/** Quoted lines of each check at least, if several failed. */
const fewestLines = 4;
/** Checks whose output is quoted; further ones are only named. */
const quotedChecks = 5;
const lineLength = 200;

type TextContext = StopContext & Readonly<{ next: readonly Todo[]; level: number }>;

type Words = Readonly<{
  applies: (context: StopContext) => boolean;
  /** They stand before the next todo; empty ones are left out. */
  lines: (context: TextContext) => string | readonly string[];
}>;

/** One text. `sentence` tells people what the agent was told. */
function text<const Kind extends string>(kind: Kind, sentence: string, words: Words) {
  return { kind, sentence, ...words };
}

const standard = text('standard', 'Todos are still open: the agent is told to go on.', {
  applies: () => true,
  lines: (context) =>
    context.level === 1 ? staleListLine(context) : unchangedLine(context),
});

/** Every text, in the order in which they are tried. */
export const texts = [
  text(
    'output-limit',
    'The output limit cut the answer off: the agent goes on with the same todo.',
    {
      applies: ({ stop }) => stop.end === 'length',
      lines: () =>
        'Your answer was cut off by the output limit. Take up the same todo where you stopped, in smaller steps.',
    },
  ),
  text(
    'iteration-budget',
    'The agent made many tool calls in a row: it is told to update its list and go on.',
    {
      applies: ({ stop }) => stop.end === 'iteration-budget',
      lines: ({ counts }) =>
        planSize(counts) === 0
          ? 'You have made many tool calls without a plan. Write down what is finished and what remains as todos, then go on; if nothing remains, answer.'
          : 'You have made many tool calls in a row. Take stock: bring the todo list up to date, then go on.',
    },
  ),
  text('loop', 'The agent is repeating itself: it is told to try another way.', {
    applies: ({ state }) => state.loopAlarms > 0 && !state.loopTold,
    lines: () =>
      'You have been repeating the same calls without a new result. Stop doing that: say in one sentence what is missing, then try a different way.',
  }),
  text('tool-error', 'The last tool call failed: the agent tries once more.', {
    applies: ({ stop, counts }) => stop.toolError !== null && openCount(counts) > 0,
    lines: ({ stop }) =>
      `The last tool call failed: ${quoteForModel(stop.toolError ?? '', 300)}. Try once more, differently; after a second failure this todo is set aside as blocked.`,
  }),
  text(
    'dropped-todos',
    'Todos were left out of the list: they are named and stay open.',
    {
      applies: ({ counts }) => counts.unnamedDrops > 0,
      lines: ({ state }) => [
        `These todos were left out or cancelled without a reason and are still open: ${namedTodos(state.plan.filter(isUnnamedDrop))}.`,
        'Put each one back and finish it, or cancel it with a reason. If it is left out again it is recorded as cancelled without explanation, and the work cannot count as done.',
      ],
    },
  ),
  text(
    'bulk-claim',
    'Several todos were ended with hardly any work: the agent is asked to check each one.',
    {
      applies: (context) => dueChallenge(context) !== null,
      lines: (context) => [
        dueChallenge(context) === 'ends'
          ? `${context.counts.ends} todos were blocked or cancelled ${afterLittle(context)}`
          : `${context.counts.claims} todos were marked completed ${afterLittle(context)}`,
        'Check each one now against the files or with a command. Set those that are not finished back to pending and do them; confirm the others with what proves them.',
      ],
    },
  ),
  text('failed-check', 'A check failed: the agent is shown what it printed.', {
    // While todos are open, a failed check on the goal is not quoted yet.
    applies: (context) =>
      context.counts.failed > 0 ||
      (openCount(context.counts) === 0 && hasGoalCheckFailed(context)),
    lines: (context) => [
      ...failureLines(context),
      context.level === 1 ? '' : unchangedLine(context),
    ],
  }),
  text(
    'checks-running',
    'Checks are still running: the agent is told how to wait for them.',
    {
      applies: (context) =>
        context.state.checksOverdue &&
        (openCount(context.counts) === 0 || claimsWaitedFor(context) === 'late'),
      lines: ({ state: { descriptor } }) =>
        descriptor.tools.verify === null
          ? 'The checks of your work are still running. Stop again in a moment; nothing else is needed.'
          : `The checks of your work are still running. Call ${descriptor.tools.verify} to wait for their results.`,
    },
  ),
  text(
    'text-question',
    'The answer ends in a question: the agent is told to decide by itself, or to pause.',
    {
      applies: ({ stop }) => stop.question,
      lines: ({ state: { descriptor } }) =>
        descriptor.tools.pause === null
          ? 'Your answer ends in a question, but nobody is waiting to answer it. Decide by yourself, note the assumption, and go on.'
          : `Your answer ends in a question. If you need a human, call ${descriptor.tools.pause}; otherwise decide by yourself, note the assumption, and go on.`,
    },
  ),
  text('empty-answer', 'The answer was empty: the agent is asked again.', {
    applies: ({ stop, state }) => stop.end === 'empty' && state.emptyAnswers === 1,
    lines: () => 'Your last answer was empty.',
  }),
  text(
    'background-job',
    'A background job runs: the agent is told that nobody waits for it.',
    {
      applies: (context) => unnamedJobs(context).length > 0,
      lines: (context) => [
        `Background work is running: ${jobs(context)}.`,
        jobLine(context),
      ],
    },
  ),
  text('after-compaction', 'The context was compacted: the plan is given again.', {
    applies: ({ state }) => state.compacted,
    lines: ({ next }) => [
      'The conversation was compacted; the plan is kept outside it and still stands.',
      next.length < 2 ? '' : `Open: ${namedTodos(next)}.`,
    ],
  }),
  standard,
] as const;

type Text = (typeof texts)[number];
/** The name of a text. */
export type TextKind = Text['kind'];

/** The first text that applies; the last one always does. */
export function pickText(context: StopContext): Text {
  return texts.find(({ applies }) => applies(context)) ?? standard;
}

/** The parts that every text is made of, and what each one holds, for people. */
export const textParts = {
  marker: `the words by which people and tools know such a text, [${continuationMarker}]`,
  progress:
    'how far the plan is: 3/5 completed, 2 remaining; if no todo is open: All 5 todos are completed, but a check fails',
  reason:
    'why this kind of text is sent, such as what a failed check printed; sometimes empty',
  next: 'the next todo in quotes, with when it is done and who does it, if that is known; empty if none is open',
  last: 'what the system will do without progress; empty before the last reminder',
  wayOut: 'what the agent does if it cannot go on',
};
type PartName = keyof typeof textParts;

/**
 * A continuation, part by part; `text` is all of it, in our words or in those of the
 * settings.
 */
export type Continuation = Readonly<
  Record<PartName | 'text', string> & { kind: TextKind }
>;

/**
 * A program's own words for a text. The function answers at once and may be asked twice.
 */
export type OwnTexts = (said: Continuation) => string;

/**
 * Our own words for a text, if the user gave none.
 * @param goOn how the sentence "Do not ask whether to go on" ends
 */
const defaultWords = (goOn: string) => [
  '{marker} {progress}.',
  '{reason}',
  'Go on with the next todo: {next}.',
  '{last}',
  `Do not ask whether to go on${goOn} {wayOut}`,
];

/** The parts that every template must contain, whoever wrote it. */
function keptParts(kind: TextKind | 'default'): readonly PartName[] {
  if (kind === 'checks-running') return ['marker'];
  const kept = ['marker', 'next', 'wayOut'] as const;
  // Only the reason names what was dropped or what failed, and later rules rely on the
  // agent having been told (P3, V1).
  return ['default', 'dropped-todos', 'failed-check'].includes(kind)
    ? [...kept, 'reason']
    : kept;
}

/**
 * The user's own words for each kind of text; `default` is for each kind that has none.
 */
export const textTemplates = section(
  Object.fromEntries(
    [
      { kind: 'default', sentence: 'Every text that has no words of its own.' } as const,
      ...texts,
    ].map(({ kind, sentence }) => [
      kind,
      parseTemplate(sentence, textParts, keptParts(kind)),
    ]),
  ) as Readonly<Record<TextKind | 'default', ReturnType<typeof parseTemplate>>>,
);

/** Builds a text: its parts, and the whole in our words or the user's. */
export function continuationText(
  { kind, lines }: Text,
  context: TextContext,
): Continuation {
  const isReminder = kind === 'standard' || kind === 'failed-check';
  // While only checks are missing, there is nothing to go on with.
  const goesOn = kind !== 'checks-running';
  const reason = [lines(context)].flat();
  const parts = {
    marker: `[${continuationMarker}]`,
    progress: progressPart(context),
    reason: reason.filter((line) => line !== '').join('\n'),
    next: goesOn ? nextPart(context) : '',
    last: isReminder ? lastPart(context) : '',
    wayOut: goesOn ? wayOutPart(context) : '',
  };
  const { texts: own } = context.settings;
  return {
    kind,
    ...parts,
    text: renderTemplate(
      own[kind] ?? own.default ?? defaultWords(goOnWords(context)),
      parts,
    ),
  };
}

/**
 * Wraps a program's own function so that it cannot fail a stop: if it fails, the human is
 * told once, and our own text is sent.
 */
export function checkedTexts(own: OwnTexts, tell: (sentence: string) => void): OwnTexts {
  let isTold = false;
  return (said) => {
    const { text = said.text, wrong = null } = ask(own, said);
    if (wrong === null || isTold) return text;
    isTold = true;
    tell(`texts: ${wrong}; our own text was sent.`);
    return text;
  };
}

function ask(
  own: OwnTexts,
  said: Continuation,
): Readonly<{ text?: string; wrong?: string }> {
  try {
    const text: unknown = own(said);
    // Safe: a promise comes too late and is refused, so its failure does not matter.
    if (text instanceof Promise) text.catch(() => {});
    if (typeof text !== 'string')
      return { wrong: `the function must return a text, got ${excerpt(text)}` };
    const lost = keptParts(said.kind).find((name) => !text.includes(said[name]));
    return lost === undefined
      ? { text }
      : { wrong: `what it returned for ${said.kind} lacks ${lost}` };
  } catch (error) {
    // Safe: the human is told, and the agent gets our text.
    return { wrong: oneLine(messageOf(error), 300) };
  }
}

/** What the agent was told, in a sentence for people. */
export function describeText({ kind, sentence }: Text, level: number): string {
  return kind === 'standard'
    ? sentence.replace(/\.$/, ` (reminder ${level} of 3).`)
    : sentence;
}

function progressPart(context: StopContext): string {
  const { counts } = context;
  const open = openCount(counts);
  if (open === 0)
    return `${describeEndedTodos(counts)}${hasGoalCheckFailed(context) ? ', but a check fails' : ''}`;
  const cancelled = counts.cancelled > 0 ? `, ${counts.cancelled} cancelled` : '';
  const blocked = counts.blocked > 0 ? `, ${counts.blocked} blocked` : '';
  return `${counts.completed}/${planSize(counts)} completed${cancelled}, ${open} remaining${blocked}`;
}

/**
 * Says how the todos ended, if none is open. A cancelled todo does not count as
 * completed.
 */
function describeEndedTodos({ completed, cancelled, blocked }: PlanCounts): string {
  if (cancelled + blocked === 0) {
    if (completed === 0) return 'No todo is open';
    return completed === 1
      ? 'The one todo is completed'
      : `All ${completed} todos are completed`;
  }
  const counted = Object.entries({ completed, cancelled, blocked }).filter(
    ([, amount]) => amount > 0,
  );
  return `No todo is open: ${counted.map(([status, amount]) => `${amount} ${status}`).join(', ')}`;
}

/** Ends the sentence "Do not ask whether to go on": for how long to go on. */
function goOnWords(context: StopContext): string {
  if (openCount(context.counts) > 0)
    return '. Mark each todo as soon as it is finished; do not stop until all are done.';
  if (!hasGoalCheckFailed(context)) return '.';
  return failedGoalChecks(context).length === 1
    ? '; go on until it passes.'
    : '; go on until they pass.';
}

function nextPart({ next: [todo], state }: TextContext): string {
  if (todo === undefined) return '';
  const { title, completionCriteria, agentType } = todo;
  const { delegate } = state.descriptor.tools;
  const wanted =
    completionCriteria === null
      ? ''
      : `. It is done when: ${quoteForModel(completionCriteria)}`;
  const worker =
    agentType === null || delegate === undefined
      ? ''
      : `. It goes to the worker ${quoteForModel(agentType, 40)}: call ${delegate}`;
  return `${quoteForModel(title)}${wanted}${worker}`;
}

function wayOutPart({ state }: StopContext): string {
  const { pause } = state.descriptor.tools;
  return pause === null
    ? 'If that is impossible, say in one sentence what only a human can provide.'
    : `If that is impossible, needs a human, or you were asked for a part only, call ${pause} with the reason.`;
}

function staleListLine({ state: { progress } }: StopContext): string {
  return progress.workspaceMoved && !progress.planMoved
    ? 'The workspace has changed but the todo list has not: bring it up to date first.'
    : '';
}

function unchangedLine({ state, counts, level }: TextContext): string {
  const since = `Since ${level === 2 ? 'the last reminder' : 'two reminders'}`;
  const nothingNew = 'no check passed and no new state of the workspace appeared.';
  const nextStep = 'Do one concrete step with a tool now';
  if (openCount(counts) === 0) return `${since} ${nothingNew} ${nextStep}.`;
  const moved = state.progress.planMoved ? 'the list was edited, but ' : '';
  return `${since} ${moved}no todo was finished, ${nothingNew} ${nextStep}; a todo that cannot be done is blocked with its reason.`;
}

function lastPart({ counts, level }: TextContext): string {
  const open = openCount(counts);
  const openTodos = open === 1 ? 'the open todo' : `the ${open} open todos`;
  const shown = open === 0 ? 'what is missing' : openTodos;
  return level === 3
    ? `This is the last reminder: without progress the system ends the run as stagnant and shows the human ${shown}.`
    : '';
}

function failedGoalChecks({ state, goalChecks }: StopContext): string[] {
  return goalChecks.filter((check) => state.goal[check]?.state === 'failed');
}

function failureLines(context: StopContext): string[] {
  const { state } = context;
  const todo = state.plan.find((row) => isOpen(row) && row.verification === 'failed');
  return todo === undefined ? goalFailureLines(context) : todoFailureLines(state, todo);
}

function todoFailureLines(state: State, todo: Todo): string[] {
  const [printed = ''] = describeOutputs([{ name: '', tail: todo.failureTail }]);
  return [
    `The check of ${quoteForModel(todo.title)} failed, so it is open again.`,
    describeFailedBefore(state, todo.checks),
    printed === '' ? '' : `It ${printed}`,
  ];
}

function goalFailureLines(context: StopContext): string[] {
  const { state } = context;
  const checks = failedGoalChecks(context);
  const failures = checks.map((check) => ({
    name: quoteCheck(check),
    tail: state.goal[check]?.tail ?? null,
  }));
  const [only, ...others] = failures;
  const isOne = only !== undefined && others.length === 0;
  const names = failures.map(({ name }) => name).join(', ');
  const failedBefore = findFailedBefore(state, checks);
  const areAllFailedBefore = failedBefore.length === checks.length;
  const pronoun = isOne ? 'It' : 'They';
  const subject = areAllFailedBefore ? pronoun : failedBefore.map(quoteCheck).join(', ');
  const outputs = describeOutputs(failures).map((printed, index) => {
    if (printed === '') return '';
    return isOne ? `It ${printed}` : `${failures[index]?.name} ${printed}`;
  });
  return [
    `The ${isOne ? 'check' : 'checks'} ${names} of the whole work failed.${areAllFailedBefore ? '' : ' Fix the cause.'}`,
    failedBefore.length === 0 ? '' : `${subject} ${failedBeforeWords(state)}`,
    ...outputs,
  ];
}

const quoteCheck = (check: string) => quoteForModel(check, 80);

/**
 * If a check failed before the work began, mending it may not be part of the agent's
 * task, and then only a pause is an honest end (P51).
 */
function failedBeforeWords({ descriptor }: State): string {
  const { pause } = descriptor.tools;
  const end =
    pause === null ? 'say so in one sentence' : `call ${pause} with this as the reason`;
  return `failed before the work began too. If mending that is part of your task, fix the cause; if it is not, ${end}.`;
}

/**
 * A sentence about a todo's failed check, or about a check on the goal; empty: it did not
 * fail before. If a todo has several checks, the record does not say which of them failed
 * now, so all of them must have failed before.
 */
export function describeFailedBefore(state: State, checks: readonly string[]): string {
  const isFailedBefore =
    checks.length > 0 && findFailedBefore(state, checks).length === checks.length;
  return isFailedBefore ? `The check ${failedBeforeWords(state)}` : '';
}

/**
 * Words that follow the name of each check: what it printed, or which check printed the
 * same. Empty: nothing is known.
 */
export function describeOutputs(failures: readonly CheckFailure[]): string[] {
  const most = Math.max(fewestLines, Math.floor(quotedLines / failures.length));
  const same = findSameOutput(failures);
  return failures.map(({ tail }, index) => {
    if (tail === null || index >= quotedChecks) return '';
    const first = same[index] ?? null;
    return first === null
      ? `printed:\n${quoteFailure(tail, most)}`
      : `printed the same as ${first}.`;
  });
}

/**
 * How a check ended, and the lines that say what failed. Each line is marked as quoted,
 * so that no output can speak in our voice.
 */
export function quoteFailure(tail: string, most = quotedLines): string {
  const { sentence, output } = readFailure(tail);
  return [sentence, ...pickFailedLines(output, most - 1)]
    .map((line) => oneLine(line, lineLength).replaceAll('<', '‹').replaceAll('>', '›'))
    .filter((line) => line !== '')
    .map((line) => `| ${line}`)
    .join('\n');
}

/** The titles of the first todos in quotes, and how many more there are. */
export function namedTodos(todos: readonly Todo[]): string {
  const named = todos.slice(0, namedTitles).map((todo) => quoteForModel(todo.title, 120));
  const rest = todos.length - named.length;
  return rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ');
}

function afterLittle({ state }: StopContext): string {
  const calls = callsSinceMessage(state);
  const tried = calls === 0 ? 'without any' : `after ${calls}`;
  return `${tried} other tool call${calls > 1 ? 's' : ''}, and no file changed since the human's message.`;
}

function jobLine({ state, counts }: StopContext): string {
  const { wait } = state.descriptor.tools;
  if (openCount(counts) === 0)
    return 'Nobody waits for it. End it now, or say that it is meant to stay, such as a server.';
  const how =
    wait === undefined ? '' : `, or wait for it with ${wait} if you need its result`;
  return `Nobody waits for it: there is other work to do meanwhile${how}.`;
}

function jobs(context: StopContext): string {
  const some = unnamedJobs(context).slice(0, 4);
  return some.map(({ description }) => quoteForModel(description, 100)).join(', ');
}
