// Draws the living part of the view from the state alone: what happens now, the plan,
// open questions, the human's line, the keys. The most important part stands lowest and
// is cut last. Every text of the model, a tool or a host is cleaned before it is drawn.
import { Box, Text } from 'ink';
import { createElement as h, type ReactNode } from 'react';
import { bareCheck } from '../../core/check-specs.ts';
import {
  isShort,
  permissionAnswers,
  showControls,
  wantedLines,
} from '../ask-at-terminal.ts';
import { formatCount, type Style } from '../print.ts';
import {
  callLine,
  callResult,
  isPlanTool,
  nameSeen,
  planHead,
  todoLine,
  toolName,
} from './event-lines.ts';
import { isArmed, isCountingDown, isPaused } from './keys.ts';
import { renderMarkdown } from './markdown.ts';
import { cleanLine, cleanLines, cutToWidth, lastLines, type Page } from './page.ts';
import { type CallView, planWindow, type ViewState, type WorkerView } from './state.ts';
import * as words from './words.ts';

type Piece = string | readonly [text: string, style: Style];

/** Lines shown of the end of a text that is being written, and of a text that is held. */
const speechLines = 8;
const longestSpeech = 1200;
const heldLines = 3;
const unfoldedCalls = 3;
const unfoldedLines = 14;
/** Long enough for the widest terminal. */
const longestPiece = 500;
/** Questions are never longer than this. */
const longestPattern = 2000;

/**
 * `page`: one column narrower than the terminal. `speech`: the text that the agent has
 * begun and not finished.
 */
export function drawLiving(page: Page, state: ViewState, speech: string): ReactNode {
  // A frame as tall as the terminal scrolls it with every change, and some terminals wrap
  // when the last column is written to.
  const size = { paddingRight: 1, maxHeight: Math.max(1, state.rows - 1) };
  const activity = [
    ...drawSpeech(page, state, speech),
    ...state.workers.map((worker) => drawWorker(page, state, worker)),
    ...drawCalls(page, state),
    ...drawChecks(page, state),
  ];
  const foot = [
    ...drawDoing(page, state),
    ...drawPermission(page, state),
    ...drawCheckQuestion(page, state),
    ...drawInput(page, state),
    ...drawStatus(page, state),
  ];
  const rule = state.rows > 9 ? [drawRule(page)] : [];
  return h(
    Box,
    { flexDirection: 'column', overflow: 'hidden', justifyContent: 'flex-end', ...size },
    column(
      { flexShrink: 1, minHeight: 0, overflow: 'hidden', justifyContent: 'flex-end' },
      activity,
    ),
    column({ flexShrink: 0 }, [...rule, ...drawPlan(page, state), ...foot]),
  );
}

function column(style: Parameters<typeof Box>[0], rows: readonly ReactNode[]): ReactNode {
  const kept = rows.map((each) => h(Box, { flexShrink: 0 }, each));
  return h(Box, { flexDirection: 'column', ...style }, ...kept);
}

/**
 * Draws the pieces side by side on one row, cleaned and painted. Empty pieces are left
 * out; the row is cut at the terminal's edge.
 */
function row(page: Page, pieces: readonly Piece[], indent = 0): ReactNode {
  const parts = pieces.flatMap((piece) => {
    const [text, style] = typeof piece === 'string' ? [piece, null] : piece;
    const shown = cleanLine(text, longestPiece, page.unicode);
    return shown === '' ? [] : [style === null ? shown : page.paint(style, shown)];
  });
  return cut(page, `${' '.repeat(indent)}${parts.join(' ')}`);
}

/** Draws clean and painted text on one row. Ink's own mark for cut text is not ASCII. */
function cut(page: Page, text: string): ReactNode {
  const shown = page.unicode
    ? text
    : cutToWidth(text, page.width ?? 80, page.signs.ellipsis);
  return h(Text, { wrap: 'truncate' }, shown || ' ');
}

/**
 * Draws text that is wrapped, not cut: a human must see all of what they allow. The text
 * must be clean.
 */
function wrapped(page: Page, text: string, style: Style | null, indent = 2): ReactNode {
  const shown = style === null ? text : page.paint(style, text);
  return h(Box, { paddingLeft: indent }, h(Text, null, shown || ' '));
}

function drawRule({ unicode, color }: Page): ReactNode {
  const sides = {
    borderBottom: false,
    borderLeft: false,
    borderRight: false,
    width: '100%',
  } as const;
  return h(Box, {
    borderStyle: unicode ? 'single' : 'classic',
    borderDimColor: color,
    ...sides,
  });
}

const unicodeFrames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const asciiFrames = ['|', '/', '-', '\\'];
/** Slow enough to cost nothing, fast enough to look alive. */
const spinnerMs = 100;

/** Depends on the time alone, so that all spinners move together. */
function spinner({ unicode }: Page, now: number): string {
  const frames = unicode ? unicodeFrames : asciiFrames;
  return frames[Math.floor(now / spinnerMs) % frames.length] ?? '';
}

/** Held text is dimmed: nobody knows yet whether it is an answer (I1). */
function drawSpeech(page: Page, { held }: ViewState, speech: string): ReactNode[] {
  const { signs, paint, unicode } = page;
  const text = cleanLines(speech.slice(-longestSpeech), unicode).trim();
  const spokenLines =
    text === ''
      ? []
      : renderMarkdown(text, page, (page.width ?? 80) - 2).slice(-speechLines);
  return [
    ...spokenLines.map((line) => `${paint('dim', signs.margin)} ${line}`),
    ...lastLines(held, heldLines, unicode).map((line) =>
      paint('dim', `${signs.margin} ${line}`),
    ),
  ].map((line) => cut(page, line));
}

function drawWorker(
  page: Page,
  { now }: ViewState,
  { agentType, title, at, step }: WorkerView,
): ReactNode {
  const since = `step ${step}, ${words.formatShort(now - at)}`;
  return row(page, [
    spinner(page, now),
    'worker',
    [agentType, 'bold'],
    [since, 'dim'],
    title,
  ]);
}

function drawCalls(page: Page, state: ViewState): ReactNode[] {
  if (!state.isExpanded)
    return state.calls
      .filter(({ ended }) => ended === null)
      .map((call) => drawCall(page, state, call));
  const last = state.calls.filter(({ tool }) => !isPlanTool(tool)).slice(-unfoldedCalls);
  if (last.length === 0) return [row(page, [['no tool calls yet', 'dim']])];
  return last.flatMap((call) => [drawCall(page, state, call), ...drawBody(page, call)]);
}

function drawCall(page: Page, { now, workers }: ViewState, call: CallView): ReactNode {
  const { tool, input, ended, at, changes } = call;
  if (ended !== null)
    return cut(page, `${callLine(page, call)} ${callResult(page, ended, changes)}`);
  const worker =
    workers.find(({ workerId }) => workerId === call.workerId)?.agentType ?? '';
  const took: Piece = [words.formatShort(now - at), 'dim'];
  const argument = words.tellingArgument(tool, input);
  return row(page, [
    spinner(page, now),
    [worker, 'dim'],
    [toolName(tool), 'bold'],
    took,
    argument,
  ]);
}

/** A diff if the call changed files; otherwise the call's input and output. */
function drawBody(page: Page, { input, ended, changes }: CallView): ReactNode[] {
  const inputLines =
    input === null || input === undefined
      ? []
      : [`in: ${JSON.stringify(input).slice(0, 2000)}`];
  const output = cleanLines((ended?.output ?? '').slice(0, 4000), page.unicode).split(
    '\n',
  );
  const diff = changes.flatMap(({ diff: text }) =>
    cleanLines(text, page.unicode).split('\n'),
  );
  const lines =
    diff.length > 0
      ? diff
      : [...inputLines, ...output].filter((line) => line.trim() !== '');
  const shown = lines.slice(0, unfoldedLines).map((line) => {
    const style = diff.length === 0 ? 'dim' : (diffStyles[line.charAt(0)] ?? null);
    const text = `    ${diff.length === 0 ? cleanLine(line, longestPiece, page.unicode) : line.slice(0, longestPiece)}`;
    return cut(page, style === null ? text : page.paint(style, text));
  });
  const more = lines.length - unfoldedLines;
  return more > 0 ? [...shown, row(page, [[`and ${more} more lines`, 'dim']], 4)] : shown;
}

const diffStyles: Readonly<Record<string, Style>> = {
  '+': 'green',
  '-': 'red',
  '@': 'dim',
};

/** The running checks; ended ones stand in the lines above. */
function drawChecks(page: Page, { checks, now }: ViewState): ReactNode[] {
  return checks.map(({ check, at }) =>
    row(page, [
      spinner(page, now),
      'check',
      [words.formatShort(now - at), 'dim'],
      bareCheck(check),
    ]),
  );
}

function drawPlan(page: Page, state: ViewState): ReactNode[] {
  const { todos } = state;
  if (todos.length === 0) return [];
  const { first, shown } = planWindow(state);
  const hidden = todos.length - shown;
  const range =
    hidden === 0 ? '' : ` todos ${first + 1}-${first + shown} of ${todos.length}`;
  const position =
    state.scroll === null || hidden === 0 ? range : `${range}, Tab goes back`;
  return [
    cut(page, `${planHead(page, todos)}${page.paint('dim', position)}`),
    ...todos.slice(first, first + shown).map((todo) => cut(page, todoLine(page, todo))),
  ];
}

/** One or two lines on what the agent does or waits for. */
function drawDoing(page: Page, state: ViewState): ReactNode[] {
  const { signs } = page;
  const { wait, now, session, kind } = state;
  if (state.stopping === 'now')
    return [row(page, [[`${signs.error} stopping at once`, 'red']])];
  if (state.stopping === 'after-step')
    return [
      row(page, [
        [`${signs.error} stopping after this step; Ctrl-C again stops at once`, 'yellow'],
      ]),
    ];
  if (state.permissions.length > 0 || state.checkQuestion !== null) return [];
  const mark: Piece = [signs.waiting, 'yellow'];
  if (isPaused(state)) {
    const keyHint =
      kind === 'attach' ? 'r resumes' : 'Enter goes on, Ctrl-C ends the run';
    return [
      row(page, [mark, [session?.words ?? 'paused by you', 'yellow'], [keyHint, 'dim']]),
    ];
  }
  if (wait !== null && isCountingDown(state)) {
    const timeLeft = words.formatElapsed(
      Math.ceil(((wait.until ?? now) - now) / 1000) * 1000,
    );
    const keyHint =
      kind === 'attach' ? 'press any key to stop' : 'press any key to pause';
    return [
      row(page, [mark, [timeLeft, 'bold'], [keyHint, 'yellow']]),
      row(page, [[wait.sentence, 'dim']], 2),
    ];
  }
  if (wait !== null) return [row(page, [mark, 'waiting:', wait.sentence])];
  if (session !== null) {
    const sign: Piece =
      session.state === 'running' ? spinner(page, now) : [signs.notice, 'yellow'];
    const waits = session.waits
      .slice(0, 3)
      .map((each) => row(page, [['waits for:', 'dim'], each], 2));
    return [row(page, [sign, session.words]), ...waits];
  }
  if (state.outcome !== null) return [row(page, ['ended:', [state.outcome, 'bold']])];
  const isBusy =
    state.calls.some(({ ended }) => ended === null) || state.workers.length > 0;
  const thought = state.held === '' ? 'thinking' : 'deciding about the answer';
  return [row(page, [spinner(page, now), [isBusy ? 'working' : thought, 'dim']])];
}

/** An open permission as the printed lines show it, and what each key grants. */
function drawPermission(page: Page, state: ViewState): ReactNode[] {
  const [permission] = state.permissions;
  if (permission === undefined) return [];
  // A long one was already printed above in full.
  const lines = wantedLines(
    page,
    permission,
    isShort(permission.subject) ? undefined : 2,
  );
  const others = state.permissions.length - 1;
  const offers = permission.choices.map((choice) => permissionAnswers[choice]);
  const keys = offers.map(([letter, means]) => `[${letter}] ${means}`);
  const enterHint = state.kind === 'run' ? ['then Enter'] : [];
  const style = isArmed(state, state.now) ? 'bold' : 'dim';
  return [
    ...lines.map((line) => cut(page, line)),
    ...(others === 0
      ? []
      : [row(page, [[`${formatCount(others, 'other question')} after it`, 'dim']], 2)]),
    h(
      Box,
      { flexWrap: 'wrap' },
      ...[...keys, ...enterHint].map((text) => wrapped(page, text, style)),
    ),
  ];
}

function drawCheckQuestion(page: Page, { checkQuestion }: ViewState): ReactNode[] {
  if (checkQuestion === null) return [];
  const question = showControls(
    page,
    checkQuestion.slice(0, longestPattern).replaceAll('\n', ' '),
  );
  const drawnQuestion = wrapped(
    page,
    `${page.paint('yellow', '?')} ${question}`,
    'bold',
    0,
  );
  return [
    h(Box, { maxHeight: 4, overflow: 'hidden' }, drawnQuestion),
    row(page, [['y, n, or say what is wrong; Enter alone leaves it open', 'dim']], 2),
  ];
}

/**
 * The line that the human writes. It takes up to three rows; a longer text shows its end.
 */
function drawInput(page: Page, { kind, input, queued }: ViewState): ReactNode[] {
  if (kind === 'attach') return [];
  const { prompt, cursor } = page.signs;
  if (input.text === '') {
    const hint =
      queued > 0
        ? `${formatCount(queued, 'message')} to join at the next step`
        : 'type to steer, Enter sends';
    return [
      cut(
        page,
        `${page.paint('bold', `${prompt} ${cursor}`)} ${page.paint('dim', hint)}`,
      ),
    ];
  }
  const before = cleanTyped(
    page,
    input.text.slice(0, input.cursor).slice(-longestPattern),
  );
  const after = cleanTyped(page, input.text.slice(input.cursor).slice(0, longestPiece));
  const line = `${page.paint('bold', prompt)} ${before}${page.paint('bold', cursor)}${after}`;
  const end = {
    overflow: 'hidden',
    justifyContent: 'flex-end',
    flexDirection: 'column',
  } as const;
  return [h(Box, { maxHeight: 3, ...end }, h(Text, null, line))];
}

/** Spaces at the edges are kept, because the cursor stands behind them. */
function cleanTyped(page: Page, text: string): string {
  const start = /^\s/u.test(text) ? ' ' : '';
  const end = /\S\s+$/u.test(text) ? ' ' : '';
  return `${start}${cleanLine(text, longestPattern, page.unicode)}${end}`;
}

function drawStatus(page: Page, state: ViewState): ReactNode[] {
  const { usage, startedAt, now, step, continuations, todos, isExpanded } = state;
  const status = [
    state.session === null ? '' : nameSeen(state.session, 40),
    startedAt === null ? '' : words.formatElapsed(now - startedAt),
    step === 0 ? '' : `step ${step}`,
    continuations === 0 ? '' : words.sentBack(continuations),
    usage === null
      ? ''
      : `${words.formatTokens(usage.inputTokens)} in, ${words.formatTokens(usage.outputTokens)} out`,
    words.describeCost(usage?.cost ?? null),
    state.model ?? '',
  ];
  const fold = `Ctrl-O ${isExpanded ? 'folds' : 'unfolds'} tool calls`;
  const scroll = todos.length === 0 ? '' : `${page.signs.scroll} plan`;
  const keys =
    state.kind === 'attach'
      ? ['p pause', 'r resume', 'x stop', 'q leave', fold, scroll]
      : ['Ctrl-C stops', fold, scroll];
  return [status, keys].map((parts) => {
    const line = parts.filter((part) => part !== '').join(` ${page.signs.separator} `);
    return row(page, [[line, 'dim']]);
  });
}
