// What a run shows in words: amounts, todos and how far they are proved, why an answer
// was refused. Pure. The words still hold texts of the model and of tools; the page
// cleans them.
import type { EventOf, TodoView, UsageView } from '../../agent/agent-event.ts';
import { bareCheck } from '../../core/check-specs.ts';
import type { TextKind } from '../../core/texts.ts';
import { isEnded, type TodoStatus } from '../../core/todo.ts';
import { formatTime } from '../describe-time.ts';
import { formatCount, type Style } from '../print.ts';
import type { ViewState } from './state.ts';

/** `12 ms`, `2.1 s`, `5 min`: at most six letters, which fit at the end of a line. */
export function formatShort(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.max(0, Math.round(milliseconds))} ms`;
  // 59.95 s would otherwise round up to 60.0 s.
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/** `45 s`, `4 min 12 s`, `3 h 5 min`. */
export function formatElapsed(milliseconds: number): string {
  const seconds = Math.round(Math.max(0, milliseconds) / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Local time of day, with the date if it is not today's. */
export function formatClock(at: number, now: number): string {
  const [day, time = ''] = formatTime(at).split(' ');
  if (Number.isNaN(at)) return 'an unknown time';
  return day === formatTime(now).split(' ')[0] ? time : `${day} ${time}`;
}

/** `950`, `1.2k`, `120k`, `3.4M`. */
export function formatTokens(tokens: number): string {
  if (tokens < 1000) return String(Math.max(0, Math.round(tokens)));
  const [value, unit] =
    tokens < 999_500 ? [tokens / 1000, 'k'] : [tokens / 1_000_000, 'M'];
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0)}${unit}`;
}

/**
 * Prices are in US dollars, like those in the configuration. Empty if the price is
 * unknown.
 */
export function describeCost(cost: number | null): string {
  return cost === null ? '' : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}

export function describeTokens({
  inputTokens,
  cachedTokens,
  outputTokens,
}: UsageView): string {
  const cached = cachedTokens > 0 ? ` (${formatTokens(cachedTokens)} cached)` : '';
  return `${formatTokens(inputTokens)} tokens in${cached}, ${formatTokens(outputTokens)} out`;
}

/**
 * How often the agent was sent back. The reasons already stood above, each at its time.
 */
export const sentBack = (times: number): string =>
  `sent back ${times === 1 ? 'once' : `${times} times`}`;

/** In the order in which a human wants to see them if not all can be shown. */
export const standings = [
  'open',
  'blocked',
  'claimed',
  'cancelled',
  'covered',
  'checked',
] as const;
export type Standing = (typeof standings)[number];

export const standingNames: Readonly<Record<Standing, string>> = {
  open: 'open',
  blocked: 'blocked',
  claimed: 'claimed, not checked',
  cancelled: 'cancelled',
  covered: 'checked by the goal check',
  checked: 'checked',
};

/** `5 checked · 2 claimed, not checked · 1 open`, best standing first. */
export function tallyPlan(found: readonly Standing[], separator: string): string {
  const counted = standings.toReversed().flatMap((standing) => {
    const amount = found.filter((each) => each === standing).length;
    return amount === 0 ? [] : [`${amount} ${standingNames[standing]}`];
  });
  return counted.join(` ${separator} `);
}

/** The same marks as in `plan show`. */
export const todoMarks: Readonly<
  Record<TodoStatus, readonly [mark: string, style: Style]>
> = {
  pending: ['[ ]', 'bold'],
  in_progress: ['[>]', 'yellow'],
  completed: ['[x]', 'green'],
  cancelled: ['[-]', 'dim'],
  blocked: ['[!]', 'red'],
};

/**
 * How far a todo is proved. A claim is never called checked. `goalPassed`: a passed goal
 * check also covers todos without a check of their own.
 */
export function standingOf(
  { status, verification }: Pick<TodoView, 'status' | 'verification'>,
  goalPassed: boolean,
): Standing {
  if (status === 'blocked' || status === 'cancelled') return status;
  if (status !== 'completed') return 'open';
  if (verification === 'passed') return 'checked';
  return goalPassed && verification !== 'failed' ? 'covered' : 'claimed';
}

/** What we know of a todo, in brackets; empty if nothing is worth saying. */
export function remarkOf({ status, verification, dropped }: TodoView): string {
  if (dropped && !isEnded({ status })) return ' (dropped)';
  if (verification === 'failed') return ' (check failed)';
  if (verification === 'running') return ' (check runs)';
  if (status !== 'completed') return '';
  return verification === 'passed' ? ' (checked)' : ' (claimed)';
}

/** Reminders get firmer with each level; there is none after the third. */
export const lastLevel = 3;

/** Names in a few words why the agent was sent back. */
export function continuationName(kind: TextKind): string {
  const specialNames: Partial<Record<TextKind, string>> = {
    standard: 'todos open',
    'text-question': 'question in the text',
  };
  return specialNames[kind] ?? kind.replaceAll('-', ' ');
}

/**
 * After these the agent did not want to stop: it was cut off, or it only has to hear
 * where it was.
 */
const notRefused: readonly TextKind[] = [
  'output-limit',
  'iteration-budget',
  'after-compaction',
  'loop',
];

type ViewFacts = Pick<ViewState, 'todos' | 'said' | 'results'>;

/** Describes a stop attempt in one sentence: `"All done!" refused: 3 of 4 todos open`. */
export function describeContinuation(
  { textKind, level, ...reported }: EventOf<'continuation'>,
  known: ViewFacts,
  quote: (text: string) => string,
) {
  const isRefused = !notRefused.includes(textKind);
  const question =
    textKind === 'text-question' ? /[^.!?\n]*\?/u.exec(known.said)?.[0] : undefined;
  const quoted = quote(question ?? firstSentence(known.said));
  const head = isRefused
    ? `${quoted === '' ? 'Stop' : `"${quoted}"`} refused`
    : 'Sent on';
  const again = level > 1 ? ` (reminder ${level} of ${lastLevel})` : '';
  const next = reported.next ?? known.todos.find(isOpen)?.title ?? null;
  const open = reported.open ?? known.todos.filter(isOpen).length;
  const openTodos = formatOpenTodos(open, reported.total ?? known.todos.length);
  return {
    isRefused,
    sentence: `${head}: ${reasonOf(textKind, open, openTodos, known, quote)}${again}`,
    next,
  };
}

/** `2 of 3 todos open`; an unknown plan has no total. */
function formatOpenTodos(open: number, total: number): string {
  return total < open
    ? `${formatCount(open, 'todo')} open`
    : `${open} of ${formatCount(total, 'todo')} open`;
}

/** The first sentence of the agent's text, which is usually its claim. */
function firstSentence(text: string): string {
  const lines = text.split('\n').filter((line) => /[\p{L}\p{N}]/u.test(line));
  // A heading says less than the words below it.
  const spokenLine = lines.find((line) => !/^\s*#/u.test(line)) ?? lines[0] ?? '';
  const line = spokenLine.replace(/^[\s#>*_-]+/u, '').replaceAll('**', '');
  return /^.*?[.!?](?=\s|$)/u.exec(line)?.[0] ?? line;
}

const isOpen = ({ status }: TodoView): boolean =>
  status === 'pending' || status === 'in_progress';

/** The reasons that need no figure. */
const reasons = {
  'bulk-claim': 'it called several todos finished at once; it has to show each',
  'checks-running': 'its checks still run',
  'empty-answer': 'it said nothing',
  'background-job': 'a background job of its own still runs',
  'output-limit': 'its answer was cut off at the output limit',
  'iteration-budget': 'many steps without an answer; it is asked where it stands',
  loop: 'it repeats itself; it is asked to try another way',
  'after-compaction': 'its history was summarised; it is told where it was',
} as const;

function reasonOf(
  textKind: TextKind,
  open: number,
  left: string,
  { todos, results }: ViewFacts,
  quote: (text: string) => string,
): string {
  switch (textKind) {
    case 'standard':
      return open === 0 ? 'the work is not proved yet' : left;
    case 'dropped-todos': {
      const dropped = todos
        .filter((todo) => todo.dropped && isOpen(todo))
        .map(({ title }) => title);
      const droppedNames =
        dropped.length === 1
          ? `"${quote(dropped[0] ?? '')}"`
          : formatCount(dropped.length, 'todo');
      return `it left ${dropped.length === 0 ? 'todos' : droppedNames} out of the plan`;
    }
    case 'failed-check': {
      const failed = [...results.values()].filter(({ result }) => result !== 'passed');
      const names = failed.map(({ check }) => checkName(check, quote)).join(', ');
      return failed.length === 0 ? 'a check failed' : `${names} failed`;
    }
    case 'text-question':
      return open === 0
        ? 'it asked instead of working'
        : `it asked instead of working, ${left}`;
    case 'tool-error':
      return `it gave up after a failed tool call${open === 0 ? '' : `, ${left}`}`;
    default:
      return reasons[textKind];
  }
}

/** A check by its name. The quotes show where a name of several words ends. */
export function checkName(
  check: string,
  shorten = (name: string): string => name,
): string {
  return `check "${shorten(bareCheck(check))}"`;
}

/** `exited with 1 instead of 0`: without the name and the time, which stand beside it. */
export function whyNotPassed({
  check,
  sentence,
}: Pick<EventOf<'check-ended'>, 'check' | 'sentence'>) {
  const name = bareCheck(check);
  const bare = sentence.startsWith(`${name} `)
    ? sentence.slice(name.length + 1)
    : sentence;
  return bare.replace(/ after [\d.]+ s\.$/u, '.');
}

/**
 * Which arguments to show of the tools that we know, in order. Of other tools the first
 * argument that `usualArguments` names is shown.
 */
const tellingArguments: Readonly<Record<string, readonly string[]>> = {
  grep: ['pattern', 'path'],
  glob: ['pattern', 'path'],
  complete_todo: ['outcome'],
  update_todo: ['status', 'reason'],
  list_todo: ['status'],
  delegate: ['instructions'],
};
const usualArguments = [
  'command',
  'path',
  'file',
  'url',
  'pattern',
  'query',
  'title',
  'name',
  'job',
  'reason',
];

/**
 * The one argument of a call that tells people what it does. Of an unknown tool this is
 * its first text.
 */
export function tellingArgument(tool: string, input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return '';
  const argumentsByName = new Map(Object.entries(input));
  const texts = (names: readonly string[]): string[] =>
    names
      .map((name) => argumentsByName.get(name))
      .filter((value) => typeof value === 'string' && value.trim() !== '');
  const parts = texts(
    Object.hasOwn(tellingArguments, tool) ? (tellingArguments[tool] ?? []) : [],
  );
  if (parts.length > 0) return parts.join(' ');
  const list = argumentsByName.get('todos') ?? argumentsByName.get('items');
  if (Array.isArray(list)) return formatCount(list.length, 'todo');
  return texts([...usualArguments, ...argumentsByName.keys()])[0] ?? '';
}
