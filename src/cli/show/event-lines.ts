// Turns each event of a run into lines. A tool call or a check takes one line; if it
// failed, the line that says why follows. The plan is a bar and the todos that changed.
// Pure: it reads the state and never changes it.
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
  wrapText,
} from './page.ts';
import type { CallView, FileChange, ViewState } from './state.ts';
import { summaryLines } from './summary.ts';
import * as words from './words.ts';

const longestName = 40;
const longestCheck = 80;
/** The longest title of a todo in the plan. */
const longestTitle = 120;
/** The longest argument in a log, where no width limits it. */
const longestArgument = 160;
/**
 * Columns kept for the result of a call: `✗ exit 127 · 59.9 s` on a wide page; `✗ exit
 * 127` or `✓ 59.9 s` on a narrow one.
 */
const resultWidth = { wide: 20, narrow: 12 };
const isNarrow = ({ width }: Page): boolean => width !== null && width < 60;
/** Lines shown of a failed check's output; the agent gets more. */
const mostFailedLines = 8;
/** A plan of 200 todos must not push everything else off the screen. */
const shownAtFirst = 40;
const shownAfterwards = 8;
const barCells = 8;
/** Calls to the model between two lines on tokens and cost. */
const usageEvery = 10;

/**
 * Calls of the plan's own tools show in the plan, and the call that starts a worker in
 * the lines about the worker.
 */
export function isPlanTool(tool: string): boolean {
  return /^(?:(?:create|list|complete|update)_todo|todo_(?:write|read|pause|verify)|delegate)$/u.test(
    tool,
  );
}

/**
 * A failed call of a plan tool is named `plan` or `worker`, not by the tool's own name.
 */
export function toolName(tool: string): string {
  if (!isPlanTool(tool)) return tool;
  return tool === 'delegate' ? 'worker' : 'plan';
}

/**
 * Finds the call that a `tool-ended` event ends. If its start was never reported, the
 * input is null.
 */
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
 * The result of a call: `✓ 12 ms`, `✓ +12 −3 · 6 ms`, `✗ exit 1 · 279 ms`. A command that
 * exited with an error is a failed call.
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
  // The duration of a call is unknown if its start was never reported.
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
  // The first line that says what went wrong. The exit code already stands beside the
  // call.
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
 * The lines of a check that ended. `results`: how each check ended last; an output that
 * was already shown for one of them is not shown again.
 */
export function checkLines(
  page: Page,
  event: EndedCheck,
  results: ReadonlyMap<string, EndedCheck>,
  most: number = mostFailedLines,
): string[] {
  const { check, result, flaky, milliseconds, tail } = event;
  const { signs, unicode } = page;
  const appearances = {
    passed: ['passed', signs.ok, flaky ? 'yellow' : 'green'],
    failed: ['failed', signs.failed, 'red'],
    waiting: ['waits', signs.waiting, 'yellow'],
    'cannot-start': ['cannot start', signs.failed, 'yellow'],
  } as const satisfies Record<typeof result, readonly [string, string, Style]>;
  const [verb, mark, markStyle] = appearances[result];
  const sameFailure = findSameFailure(event, results);
  const failsAsBefore = sameFailure?.check === check;
  const printsSameAs = sameFailure === null || failsAsBefore ? null : sameFailure.check;
  const ended = failsAsBefore ? 'fails as before' : verb;
  const ending = flaky ? 'passed only when run again (flaky)' : ended;
  const took = result === 'waiting' ? '' : ` (${words.formatShort(milliseconds)})`;
  const why = failsAsBefore ? '' : words.whyNotPassed(event);
  const printed =
    printsSameAs === null
      ? ''
      : ` It printed the same as ${nameCheck(page, printsSameAs)}.`;
  const text = `${nameCheck(page, check)} ${ending}${took}${why === '' ? '' : `: ${why}`}${printed}`;
  const isShown =
    (result === 'failed' || result === 'cannot-start') && sameFailure === null;
  return [
    // In ASCII the marks are words, and the text already has these words.
    ...page.entry({ mark: unicode ? mark : signs.notice, markStyle, text }),
    ...(isShown ? failedLinesOf(page, tail, most) : []),
  ];
}

/**
 * Finds how this or another check failed before with the same output. Null: the output is
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
  const failedAlike =
    before !== undefined &&
    isSame(before) &&
    words.whyNotPassed(before) === words.whyNotPassed(event);
  if (failedAlike) return before;
  const others = key === '' ? [] : [...results.values()];
  return others.find((other) => other.check !== event.check && isSame(other)) ?? null;
}

const nameCheck = (page: Page, check: string): string =>
  words.checkName(check, (name) => page.clip(name, longestCheck));

/**
 * The first time the whole plan; afterwards the bar and the todos that changed. No lines
 * if nothing changed.
 */
export function planLines(
  page: Page,
  before: readonly TodoView[],
  todos: readonly TodoView[],
): string[] {
  const draw = (todo: TodoView): string => todoLine(page, todo);
  const head = wrapText(planHead(page, todos), page.width).map((line, index) =>
    index === 0 ? line : `  ${line}`,
  );
  if (before.length === 0)
    return todos.length === 0 ? [] : [...head, ...upTo(page, todos, shownAtFirst, draw)];
  const changed = changedTodos(before, todos);
  const [first, ...others] = changed;
  if (first === undefined) return before.length === todos.length ? [] : head;
  if (changed.length > 2 || isNarrow(page))
    return [...head, ...upTo(page, changed, shownAfterwards, draw)];
  // A todo that was finished and the next one take one line each.
  const lead = barAndCount(page, todos);
  const line = todoLine(page, first, displayWidth(lead) + 1);
  return [`${lead} ${line.trimStart()}`, ...others.map(draw)];
}

/**
 * The todos that ended. A todo that was begun or planned already stands in the living
 * part.
 */
function todoOutcomes(
  page: Page,
  before: readonly TodoView[],
  todos: readonly TodoView[],
): string[] {
  const hasOutcome = ({ status, verification, dropped }: TodoView): boolean =>
    dropped ||
    verification === 'failed' ||
    !(status === 'pending' || status === 'in_progress');
  const ended = before.length === 0 ? [] : changedTodos(before, todos).filter(hasOutcome);
  return ended.map((todo) => todoLine(page, todo));
}

function changedTodos(
  before: readonly TodoView[],
  todos: readonly TodoView[],
): TodoView[] {
  const visibleParts = ({ title, status, verification, dropped }: TodoView): string =>
    JSON.stringify([title.slice(0, longestTitle * 2), status, verification, dropped]);
  const partsBefore = new Map(before.map((todo) => [todo.id, visibleParts(todo)]));
  return todos.filter((todo) => partsBefore.get(todo.id) !== visibleParts(todo));
}

/**
 * The bar and how far the plan is. Todos that are only claimed are counted apart from
 * checked ones.
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
 * The bar is full only if all todos are completed, and empty only if none is: even one
 * completed todo fills a cell.
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
 * A todo on one line: a long title is cut, the remark is kept. `taken`: columns used
 * before it.
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

function markedEntry(
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
    const subject = goal ?? (resumed ? session : 'the plan as given');
    const about = `${subject === session ? '' : `${session}, `}model ${model}, permissions ${permissions}`;
    return [
      ...markedEntry(
        page,
        'start',
        'green',
        `${resumed ? 'resumed' : 'goal'}: ${subject}`,
        {
          style: 'bold',
        },
      ),
      ...page.entry({ indent: 2, text: about }),
      ...page.entry({ indent: 2, text: `folder ${directory}` }),
    ];
  },
  // A pause may have been lifted in another terminal.
  'step-started': (page, _event, { wait }) =>
    wait?.reason === 'paused-by-human'
      ? markedEntry(page, 'notice', 'yellow', 'Resumed by you.')
      : [],
  'tool-ended': (page, event, state) => toolEndedLines(page, state, event),
  'plan-changed': (page, { todos }, state) => planLines(page, state.todos, todos),
  continuation: (page, event, state) => {
    const quote = (text: string): string => page.clip(text, 48);
    const { isRefused, sentence, next } = words.describeContinuation(event, state, quote);
    const then = next === null ? '' : ` ${page.signs.arrow} next: ${page.clip(next, 60)}`;
    const style = event.level >= words.lastLevel ? 'red' : 'yellow';
    const mark = isRefused ? page.signs.refused : page.signs.continuation;
    // This line must not be overlooked: mark and text are bold and coloured.
    const entry = page.entry({ mark, text: sentence + then, style });
    return entry.map((line) =>
      page.paint('bold', line.replace(mark, page.paint(style, mark))),
    );
  },
  waiting: (page, { at, reason, sentence, until }, { wait }) => {
    // The error line has already said that it is tried again.
    if (until !== null && wait?.until === until) return [];
    // Nobody knows when background work ends, only how long it may take at most.
    const most = reason === 'subagent-at-work' ? ', at most' : '';
    const end = until === null ? '' : `${most} until ${describeMoment(until, at)}`;
    return markedEntry(page, 'waiting', 'yellow', `waiting${end}: ${sentence}`);
  },
  error: (page, { at, sentence, retryAt }) => {
    const again =
      retryAt === null ? '' : ` It is tried again at ${describeMoment(retryAt, at)}.`;
    return markedEntry(page, 'error', 'red', `${sentence}${again}`);
  },
  notice: (page, { sentence }) => markedEntry(page, 'notice', 'yellow', sentence),
  'worker-started': (page, { agentType, title }) =>
    markedEntry(
      page,
      'arrow',
      'green',
      `worker ${page.clip(agentType, longestName)}: ${title}`,
    ),
  'worker-ended': (page, { agentType, result, sentence, milliseconds }) => {
    const who = `worker ${page.clip(agentType, longestName)}`;
    const took = words.formatShort(milliseconds);
    // A worker's report is only its claim, so it gets no tick.
    if (result === 'done')
      return markedEntry(page, 'notice', 'yellow', `${who} reported after ${took}`);
    return markedEntry(
      page,
      'failed',
      'red',
      `${who}: ${result} after ${took}. ${sentence}`,
    );
  },
  'permission-asked': (page, event) => wantedLines(page, event),
  'permission-answered': (page, { granted, remembered, by }) => {
    const where = by === 'elsewhere' ? ' (answered elsewhere)' : '';
    return granted
      ? markedEntry(
          page,
          'ok',
          'green',
          `allowed ${permissionAnswers[remembered][1]}${where}`,
        )
      : markedEntry(page, 'failed', 'red', `not allowed${where}`);
  },
  'human-message': (page, { text, state }) => {
    const speaker = state === 'queued' ? 'you, after this step' : 'you';
    return markedEntry(page, 'start', 'green', `${speaker}: ${text}`, { cut: true });
  },
  'check-ended': (page, event, { results }) => checkLines(page, event, results),
  baseline: (page, { check, result, sentence }) => {
    const why = words.whyNotPassed({ check, sentence });
    const resultWords = {
      passed: 'passes already',
      failed: 'fails',
      'cannot-start': `cannot start: ${why} If it still cannot at the end, the run ends as blocked.`,
    };
    const text = `before the work: ${nameCheck(page, check)} ${resultWords[result]}`;
    // A warning, not an error: the agent may have to write the check's command first
    // (P44).
    return result === 'cannot-start'
      ? markedEntry(page, 'failed', 'yellow', text)
      : markedEntry(page, 'notice', 'dim', text);
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
    return markedEntry(page, 'notice', 'yellow', sentence);
  },
  'run-ended': (page, event, state) => summaryLines(page, event, state),
  'permission-withdrawn': (page) =>
    markedEntry(
      page,
      'notice',
      'yellow',
      'The permission is no longer asked for; nobody answered.',
    ),
  'session-state': (page, event, { session }) => {
    const describe = (reported: SessionStateSeen): string =>
      [`${nameSeen(reported, 60)}: ${reported.words}`, ...reported.waits].join('; ');
    const isKnown = session !== null && describe(session) === describe(event);
    return isKnown ? [] : markedEntry(page, 'notice', 'yellow', describe(event));
  },
};

/** Names a session that runs elsewhere by its host, id and title (V11). */
export function nameSeen(
  { host, sessionId, title }: SessionStateSeen,
  longest: number,
): string {
  return `${host} ${shortId(sessionId)}${title === null ? '' : ` “${title.slice(0, longest)}”`}`;
}

/**
 * The lines of one event. `state`: as it was before the event. `forView`: the lines stand
 * above a living part that shows the plan, what runs and what is asked.
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
  const isShownBelow =
    event.type === 'usage' ||
    event.type === 'session-state' ||
    event.type === 'permission-withdrawn';
  if (isShownBelow) return [];
  if (event.type === 'plan-changed') return todoOutcomes(page, state.todos, event.todos);
  // While a question is open, it stands in the living part; its lines come with the
  // answer. A question too long for the living part is printed at once, because a human
  // must see all of what they allow.
  if (event.type === 'permission-asked' && isShort(event.subject)) return [];
  const isSettled = (requestId: string): boolean =>
    event.type === 'run-ended' ||
    (event.type === 'permission-answered' && event.requestId === requestId);
  const settled = state.permissions.filter(
    (each) => isShort(each.subject) && isSettled(each.requestId),
  );
  const questions = settled.flatMap((each) => wantedLines(page, each));
  // The living part already says which key goes on, so the line leaves out its hint.
  if (event.type === 'waiting' && event.reason === 'paused-by-human')
    return draw(page, { ...event, sentence: 'Paused by you.' }, state);
  return [...questions, ...draw(page, event, state)];
}

function describeMoment(at: number, now: number): string {
  const clock = words.formatClock(at, now);
  return at > now ? `${clock} (${formatAge(at, now)})` : clock;
}
