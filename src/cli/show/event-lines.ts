// Each event of a run in lines: tool calls and checks folded to one line each, of what
// went wrong the line that says so, the plan as a bar and what changed in it. Pure.
import displayWidth from 'fast-string-width';
import type { EventOf, TodoView } from '../../agent/agent-event.ts';
import { outputKey } from '../../core/failed-lines.ts';
import { isShort, permissionAnswers, wantedLines } from '../ask-at-terminal.ts';
import { shortId } from '../describe-session.ts';
import { formatAge } from '../describe-time.ts';
import type { Style } from '../print.ts';
import type { SessionStateSeen, ViewEvent, ViewEventOf } from './events.ts';
import {
  changeSize,
  cleanLines,
  type Entry,
  failedLinesOf,
  type Page,
  upTo,
  wrap,
} from './page.ts';
import type { CallView, FileChange, ViewState } from './state.ts';
import { summaryLines } from './summary.ts';
import * as words from './words.ts';

const longestName = 40;
const longestCheck = 80;
/** Of a todo in the plan. */
const longestTitle = 120;
/** An argument in a log, where no width limits it. */
const longestArgument = 160;
/**
 * Room for the result of a call: `✗ exit 127 · 59.9 s`; where that is too much, `✗ exit
 * 127` or `✓ 59.9 s`.
 */
const resultWidth = { wide: 20, narrow: 12 };
const isNarrow = ({ width }: Page): boolean => width !== null && width < 60;
/** Lines that are shown of what a failed check printed; the agent is told more. */
const mostFailedLines = 8;
/** A plan of 200 todos must not push everything else off the screen. */
const shownAtFirst = 40;
const shownAfterwards = 8;
const barCells = 8;
/** Calls to the model between two lines on tokens and cost. */
const usageEvery = 10;

/**
 * Calls of the plan's own tools show in the plan, and a worker's in the lines about it.
 */
export function isPlanTool(tool: string): boolean {
  return /^(?:(?:create|list|complete|update)_todo|todo_(?:write|read|pause|verify)|delegate)$/u.test(
    tool,
  );
}

/**
 * One that failed is told in people's words, not by the name that the machine has for it.
 */
export function toolName(tool: string): string {
  if (!isPlanTool(tool)) return tool;
  return tool === 'delegate' ? 'worker' : 'plan';
}

export function knownCall(
  { calls }: ViewState,
  { callId, tool, sessionId }: EventOf<'tool-ended'>,
) {
  const call = calls.findLast(
    (each) => each.callId === callId && (each.workerId ?? sessionId) === sessionId,
  );
  return call ?? { tool, input: null, changes: [] as readonly FileChange[] };
}

export function callLine(
  page: Page,
  { tool, input }: Pick<CallView, 'tool' | 'input'>,
): string {
  const { signs, width } = page;
  const name = page.clip(toolName(tool), longestName);
  const taken = displayWidth(`${signs.call} ${name} ${signs.failed}`) - 1;
  const result = isNarrow(page) ? resultWidth.narrow : resultWidth.wide;
  const room = width === null ? longestArgument : width - taken - result;
  const argument = page.clip(words.tellingArgument(tool, input), Math.max(8, room));
  return `${signs.call} ${page.paint('bold', name)} ${argument}`.trimEnd();
}

/**
 * The result of a call: `✓ 12 ms`, `✓ +12 −3 · 6 ms`, `✗ exit 1 · 279 ms`; a failed
 * command is a failed one.
 */
export function callResult(
  page: Page,
  {
    ok,
    output,
    milliseconds,
  }: Pick<EventOf<'tool-ended'>, 'ok' | 'output' | 'milliseconds'>,
  changes: readonly FileChange[],
  isKnown = true,
): string {
  const { signs, paint } = page;
  const [, exit] = /^Exit code (\d+)\./u.exec(output) ?? [];
  const status = ok || exit === undefined ? '' : `exit ${exit}`;
  const about = changes.length > 0 ? changeSize(page, changes) : status;
  // Of a call whose start nobody told it is not known how long it took.
  const took =
    isKnown || milliseconds > 0 ? paint('dim', words.formatShort(milliseconds)) : '';
  const parts = isNarrow(page) && about !== '' ? [about] : [about, took];
  const rest = parts
    .filter((part) => part !== '')
    .join(` ${paint('dim', signs.separator)} `);
  return `${ok ? paint('green', signs.ok) : paint('red', signs.failed)} ${rest}`.trimEnd();
}

function toolEndedLines(
  page: Page,
  state: ViewState,
  event: EventOf<'tool-ended'>,
): string[] {
  if (event.ok && isPlanTool(event.tool)) return [];
  const call = knownCall(state, event);
  const line = `${callLine(page, call)} ${callResult(page, event, call.changes, 'at' in call)}`;
  const output = event.ok ? '' : cleanLines(event.output.slice(0, 4000), page.unicode);
  // The first line that says what went wrong; the exit code stands beside the call
  // already.
  const complaint = output
    .split('\n')
    .find(
      (each) =>
        each.trim() !== '' && !/^Exit code \d+\.$|^\(no output\)$/u.test(each.trim()),
    );
  if (complaint === undefined) return [line];
  return [line, ...page.entry({ indent: 4, text: complaint, style: 'red', cut: true })];
}

type EndedCheck = Omit<EventOf<'check-ended'>, 'type' | 'at' | 'sessionId' | 'todoId'>;

/**
 * `results`: how each check ended last. An output that was shown for one of them is not
 * shown again.
 */
export function checkLines(
  page: Page,
  event: EndedCheck,
  results: ReadonlyMap<string, EndedCheck>,
  most: number = mostFailedLines,
): string[] {
  const { check, result, flaky, milliseconds, tail } = event;
  const { signs, unicode } = page;
  const looks = {
    passed: ['passed', signs.ok, flaky ? 'yellow' : 'green'],
    failed: ['failed', signs.failed, 'red'],
    waiting: ['waits', signs.waiting, 'yellow'],
    'cannot-start': ['cannot start', signs.failed, 'yellow'],
  } as const satisfies Record<typeof result, readonly [string, string, Style]>;
  const [said, mark, markStyle] = looks[result];
  const same = findSameFailure(event, results);
  const failsAsBefore = same?.check === check;
  const printsSameAs = same === null || failsAsBefore ? null : same.check;
  const ended = failsAsBefore ? 'fails as before' : said;
  const how = flaky ? 'passed only when run again (flaky)' : ended;
  const took = result === 'waiting' ? '' : ` (${words.formatShort(milliseconds)})`;
  const why = failsAsBefore ? '' : words.whyNotPassed(event);
  const printed =
    printsSameAs === null
      ? ''
      : ` It printed the same as ${nameCheck(page, printsSameAs)}.`;
  const text = `${nameCheck(page, check)} ${how}${took}${why === '' ? '' : `: ${why}`}${printed}`;
  const isShown = (result === 'failed' || result === 'cannot-start') && same === null;
  return [
    // In ASCII the marks are words, and the words stand here already.
    ...page.entry({ mark: unicode ? mark : signs.notice, markStyle, text }),
    ...(isShown ? failedLinesOf(page, tail, most) : []),
  ];
}

/**
 * How this check or another one failed before with the same output; null: the output is
 * new, or there is none.
 */
function findSameFailure(
  event: EndedCheck,
  results: ReadonlyMap<string, EndedCheck>,
): EndedCheck | null {
  if (event.result !== 'failed') return null;
  const key = outputKey(event.tail);
  const isSame = (other: EndedCheck): boolean =>
    other.result === 'failed' && outputKey(other.tail) === key;
  const before = results.get(event.check);
  if (
    before !== undefined &&
    isSame(before) &&
    words.whyNotPassed(before) === words.whyNotPassed(event)
  )
    return before;
  const others = key === '' ? [] : [...results.values()];
  return others.find((other) => other.check !== event.check && isSame(other)) ?? null;
}

const nameCheck = (page: Page, check: string): string =>
  words.checkName(check, (name) => page.clip(name, longestCheck));

/**
 * Everything the first time, afterwards a bar and what changed; nothing when nothing
 * changed.
 */
export function planLines(
  page: Page,
  before: readonly TodoView[],
  todos: readonly TodoView[],
): string[] {
  const draw = (todo: TodoView): string => todoLine(page, todo);
  const head = wrap(planHead(page, todos), page.width).map((line, index) =>
    index === 0 ? line : `  ${line}`,
  );
  if (before.length === 0)
    return todos.length === 0 ? [] : [...head, ...upTo(page, todos, shownAtFirst, draw)];
  const changed = changedTodos(before, todos);
  const [first, ...others] = changed;
  if (first === undefined) return before.length === todos.length ? [] : head;
  if (changed.length > 2 || isNarrow(page))
    return [...head, ...upTo(page, changed, shownAfterwards, draw)];
  // One line for a todo that was finished, and one for the next.
  const lead = barAndCount(page, todos);
  const line = todoLine(page, first, displayWidth(lead) + 1);
  return [`${lead} ${line.trimStart()}`, ...others.map(draw)];
}

/** What came of them; a todo that was begun or planned stands in the living part. */
function todoOutcomes(
  page: Page,
  before: readonly TodoView[],
  todos: readonly TodoView[],
): string[] {
  const isTold = ({ status, verification, dropped }: TodoView): boolean =>
    dropped ||
    verification === 'failed' ||
    !(status === 'pending' || status === 'in_progress');
  const told = before.length === 0 ? [] : changedTodos(before, todos).filter(isTold);
  return told.map((todo) => todoLine(page, todo));
}

function changedTodos(
  before: readonly TodoView[],
  todos: readonly TodoView[],
): TodoView[] {
  const seen = ({ title, status, verification, dropped }: TodoView): string =>
    JSON.stringify([title.slice(0, longestTitle * 2), status, verification, dropped]);
  const known = new Map(before.map((todo) => [todo.id, seen(todo)]));
  return todos.filter((todo) => known.get(todo.id) !== seen(todo));
}

/**
 * The bar, and how far the plan is: what is checked and what is only claimed are told
 * apart.
 */
export function planHead(page: Page, todos: readonly TodoView[]): string {
  const amount = (standing: words.Standing): number =>
    todos.filter((todo) => words.standingOf(todo, false) === standing).length;
  const more = (['claimed', 'blocked', 'cancelled'] as const).flatMap((standing) => {
    const name = standing === 'claimed' ? 'only claimed' : standing;
    return amount(standing) === 0 ? [] : [`, ${amount(standing)} ${name}`];
  });
  return todos.length === 0 ? 'plan: no todos' : barAndCount(page, todos) + more.join('');
}

/**
 * The bar is full only when everything is completed, empty only when nothing is; one cell
 * for whatever there is.
 */
function barAndCount({ signs, paint }: Page, todos: readonly TodoView[]): string {
  const done = todos.filter(({ status }) => status === 'completed');
  const checked = done.filter(
    (todo) => words.standingOf(todo, false) === 'checked',
  ).length;
  const cells = (amount: number): number =>
    amount >= todos.length
      ? barCells
      : Math.min(barCells - 1, Math.ceil((amount / todos.length) * barCells));
  const filled = cells(done.length);
  const proved = Math.min(
    cells(checked),
    checked < done.length ? Math.max(0, filled - 1) : filled,
  );
  const bar = [
    paint('green', signs.checked.repeat(proved)),
    paint('yellow', signs.claimed.repeat(filled - proved)),
    signs.open.repeat(barCells - filled),
  ];
  return `plan [${bar.join('')}] ${done.length}/${todos.length}`;
}

/**
 * One line: the title gives way, the remark stays. `taken`: columns that stand before it.
 */
export function todoLine(page: Page, todo: TodoView, taken = 2): string {
  const [mark, markStyle] = words.todoMarks[todo.status];
  const remark = words.remarkOf(todo);
  const room =
    page.width === null
      ? Infinity
      : page.width - taken - mark.length - 1 - displayWidth(remark);
  const title = page.clip(todo.title, Math.max(8, Math.min(longestTitle, room)));
  const style: { style?: Style } = todo.status === 'in_progress' ? { style: 'bold' } : {};
  return page
    .entry({ mark, markStyle, text: `${title}${remark}`, indent: 2, cut: true, ...style })
    .join('');
}

type Lines = {
  readonly [Type in ViewEvent['type']]?: (
    page: Page,
    event: ViewEventOf<Type>,
    state: ViewState,
  ) => string[];
};

function told(
  page: Page,
  sign: keyof Page['signs'],
  markStyle: Style,
  text: string,
  more?: Partial<Entry>,
) {
  return page.entry({ mark: page.signs[sign], markStyle, text, ...more });
}

const lines: Lines = {
  'run-started': (page, { goal, resumed, model, directory, permissions, sessionId }) => {
    const session = `session ${shortId(sessionId)}`;
    const what = goal ?? (resumed ? session : 'the plan as given');
    const about = `${what === session ? '' : `${session}, `}model ${model}, permissions ${permissions}`;
    return [
      ...told(page, 'start', 'green', `${resumed ? 'resumed' : 'goal'}: ${what}`, {
        style: 'bold',
      }),
      ...page.entry({ indent: 2, text: about }),
      ...page.entry({ indent: 2, text: `folder ${directory}` }),
    ];
  },
  // A pause may have been lifted elsewhere.
  'step-started': (page, _event, { wait }) =>
    wait?.reason === 'paused-by-human'
      ? told(page, 'notice', 'yellow', 'Resumed by you.')
      : [],
  'tool-ended': (page, event, state) => toolEndedLines(page, state, event),
  'plan-changed': (page, { todos }, state) => planLines(page, state.todos, todos),
  continuation: (page, event, state) => {
    const quote = (text: string): string => page.clip(text, 48);
    const { isRefused, sentence, next } = words.describeContinuation(event, state, quote);
    const then = next === null ? '' : ` ${page.signs.arrow} next: ${page.clip(next, 60)}`;
    const style = event.level >= words.lastLevel ? 'red' : 'yellow';
    const mark = isRefused ? page.signs.refused : page.signs.continuation;
    // The line that must not be overlooked: bold, in colour, mark and text.
    const entry = page.entry({ mark, text: sentence + then, style });
    return entry.map((line) =>
      page.paint('bold', line.replace(mark, page.paint(style, mark))),
    );
  },
  waiting: (page, { at, reason, sentence, until }, { wait }) => {
    // An error that is tried again has said so.
    if (until !== null && wait?.until === until) return [];
    // Background work ends when it ends; what is known is how long it may take at most.
    const most = reason === 'subagent-at-work' ? ', at most' : '';
    const end = until === null ? '' : `${most} until ${moment(until, at)}`;
    return told(page, 'waiting', 'yellow', `waiting${end}: ${sentence}`);
  },
  error: (page, { at, sentence, retryAt }) => {
    const again = retryAt === null ? '' : ` It is tried again at ${moment(retryAt, at)}.`;
    return told(page, 'error', 'red', `${sentence}${again}`);
  },
  notice: (page, { sentence }) => told(page, 'notice', 'yellow', sentence),
  'worker-started': (page, { agentType, title }) =>
    told(page, 'arrow', 'green', `worker ${page.clip(agentType, longestName)}: ${title}`),
  'worker-ended': (page, { agentType, result, sentence, milliseconds }) => {
    const who = `worker ${page.clip(agentType, longestName)}`;
    const took = words.formatShort(milliseconds);
    // What it reports is its word: no tick.
    if (result === 'done')
      return told(page, 'notice', 'yellow', `${who} reported after ${took}`);
    return told(page, 'failed', 'red', `${who}: ${result} after ${took}. ${sentence}`);
  },
  'permission-asked': (page, event) => wantedLines(page, event),
  'permission-answered': (page, { granted, remembered, by }) => {
    const where = by === 'elsewhere' ? ' (answered elsewhere)' : '';
    return granted
      ? told(page, 'ok', 'green', `allowed ${permissionAnswers[remembered][1]}${where}`)
      : told(page, 'failed', 'red', `not allowed${where}`);
  },
  'human-message': (page, { text, state }) => {
    const when = state === 'queued' ? 'you, after this step' : 'you';
    return told(page, 'start', 'green', `${when}: ${text}`, { cut: true });
  },
  'check-ended': (page, event, { results }) => checkLines(page, event, results),
  baseline: (page, { check, result, sentence }) => {
    const why = words.whyNotPassed({ check, sentence });
    const said = {
      passed: 'passes already',
      failed: 'fails',
      'cannot-start': `cannot start: ${why} If it still cannot at the end, the run ends as blocked.`,
    };
    const text = `before the work: ${nameCheck(page, check)} ${said[result]}`;
    // A warning, not an error: the agent may have to write it (P44).
    return result === 'cannot-start'
      ? told(page, 'failed', 'yellow', text)
      : told(page, 'notice', 'dim', text);
  },
  usage: (page, { total }, { counted }) => {
    if ((counted + 1) % usageEvery !== 0) return [];
    const parts = [words.describeTokens(total), words.describeCost(total.cost)].filter(
      (part) => part !== '',
    );
    return page.entry({ text: `so far: ${parts.join('; ')}`, style: 'dim' });
  },
  compacted: (page, { messagesBefore, messagesAfter }) => {
    const sentence = `history summarised: ${messagesBefore} ${page.signs.arrow} ${messagesAfter} messages`;
    return told(page, 'notice', 'yellow', sentence);
  },
  'run-ended': (page, event, state) => summaryLines(page, event, state),
  'permission-withdrawn': (page) =>
    told(
      page,
      'notice',
      'yellow',
      'The permission is no longer asked for; nobody answered.',
    ),
  'session-state': (page, event, { session }) => {
    const describe = (seen: SessionStateSeen): string =>
      [`${nameSeen(seen, 60)}: ${seen.words}`, ...seen.waits].join('; ');
    const isKnown = session !== null && describe(session) === describe(event);
    return isKnown ? [] : told(page, 'notice', 'yellow', describe(event));
  },
};

/** Of a session that runs elsewhere: whose it is, and which (V11). */
export function nameSeen(
  { host, sessionId, title }: SessionStateSeen,
  longest: number,
): string {
  return `${host} ${shortId(sessionId)}${title === null ? '' : ` “${title.slice(0, longest)}”`}`;
}

/**
 * `state`: before the event. `forView`: above a living part that shows the plan, what
 * runs and what is asked.
 */
export function eventLines(
  page: Page,
  state: ViewState,
  event: ViewEvent,
  forView: boolean,
): string[] {
  // The table pairs each type with the lines of exactly that type; the compiler cannot
  // follow the pairing.
  const draw = lines[event.type] as
    | ((page: Page, event: ViewEvent, state: ViewState) => string[])
    | undefined;
  if (draw === undefined) return [];
  if (!forView) return draw(page, event, state);
  if (
    event.type === 'usage' ||
    event.type === 'session-state' ||
    event.type === 'permission-withdrawn'
  )
    return [];
  if (event.type === 'plan-changed') return todoOutcomes(page, state.todos, event.todos);
  // While it is asked, the question stands in the living part; here it stands with its
  // answer. One that does not fit there is told at once: what is allowed must be shown
  // whole.
  if (event.type === 'permission-asked' && isShort(event.subject)) return [];
  const isSettled = (requestId: string): boolean =>
    event.type === 'run-ended' ||
    (event.type === 'permission-answered' && event.requestId === requestId);
  const settled = state.permissions.filter(
    (each) => isShort(each.subject) && isSettled(each.requestId),
  );
  const questions = settled.flatMap((each) => wantedLines(page, each));
  // The living part says which key goes on here; the hint is for those who have none.
  if (event.type === 'waiting' && event.reason === 'paused-by-human')
    return draw(page, { ...event, sentence: 'Paused by you.' }, state);
  return [...questions, ...draw(page, event, state)];
}

function moment(at: number, now: number): string {
  const clock = words.formatClock(at, now);
  return at > now ? `${clock} (${formatAge(at, now)})` : clock;
}
