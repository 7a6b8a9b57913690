// The foot of the living part: what it waits for, what it asks, the human's line, what it took so far, the keys.
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { count } from '../print.ts';
import { describeCost, formatElapsed, formatTokens } from '../run-output/describe-amounts.ts';
import { displayWidth, splitAtWidth } from '../run-output/display-width.ts';
import type { Page } from '../run-output/page.ts';
import { describeCover, hiddenLines, isShort, seen } from '../run-output/permission-lines.ts';
import { isArmed, isCountingDown, isPaused } from './key-press.ts';
import { spinnerAt } from './spinner.ts';
import { lineWidth, type Piece, partsLine, styledLine } from './styled-line.ts';
import type { PermissionView, ViewState } from './view-state.ts';

/** What it does or waits for, in one or two lines. */
export function drawDoing(page: Page, state: ViewState): string[] {
  const { signs } = page;
  const { wait, now, session } = state;
  if (state.stopping === 'now')
    return [
      styledLine(page, [
        [signs.error, 'red'],
        ['stopping at once', 'red'],
      ]),
    ];
  if (state.stopping === 'after-step') {
    const words = 'stopping after this step; Ctrl-C again stops at once';
    return [
      styledLine(page, [
        [signs.error, 'yellow'],
        [words, 'yellow'],
      ]),
    ];
  }
  if (state.permissions.length > 0 || state.checkQuestion !== null) return [];
  if (isPaused(state)) return pausedLines(page, state);
  if (wait !== null && isCountingDown(state)) {
    const left = formatElapsed(Math.ceil(((wait.until ?? now) - now) / 1000) * 1000);
    const key = state.kind === 'attach' ? 'press any key to stop' : 'press any key to pause';
    return [
      styledLine(page, [
        [signs.waiting, 'yellow'],
        [left, 'bold'],
        [key, 'yellow'],
      ]),
      styledLine(page, [[wait.sentence, 'dim']], 2),
    ];
  }
  if (wait !== null) return [styledLine(page, [[signs.waiting, 'yellow'], 'waiting:', wait.sentence])];
  if (session !== null) return sessionLines(page, state);
  if (state.outcome !== null) return [styledLine(page, ['ended:', [state.outcome, 'bold']])];
  const isBusy = state.calls.some(({ ended }) => ended === null) || state.workers.length > 0;
  const word = isBusy ? 'working' : state.held === '' ? 'thinking' : 'deciding about the answer';
  return [styledLine(page, [spinnerAt(page, now), [word, 'dim']])];
}

function pausedLines(page: Page, { kind, session }: ViewState): string[] {
  const how = kind === 'attach' ? 'r resumes' : 'Enter goes on, Ctrl-C ends the run';
  const words = session?.words ?? 'paused by you';
  return [
    styledLine(page, [
      [page.signs.waiting, 'yellow'],
      [words, 'yellow'],
      [how, 'dim'],
    ]),
  ];
}

function sessionLines(page: Page, { session, now }: ViewState): string[] {
  if (session === null) return [];
  const sign: Piece = session.state === 'running' ? spinnerAt(page, now) : [page.signs.notice, 'yellow'];
  return [
    styledLine(page, [sign, session.words]),
    ...session.waits.slice(0, 3).map((wait) => styledLine(page, [['waits for:', 'dim'], wait], 2)),
  ];
}

/** Nobody is asked about more than this. */
const longestPattern = 2000;

/** A permission, with what each key grants. */
export function drawPermission(page: Page, state: ViewState): string[] {
  const [asked] = state.permissions;
  if (asked === undefined) return [];
  const others = state.permissions.length - 1;
  const more = others === 0 ? '' : `(${count(others, 'other question')} after it)`;
  const armed = isArmed(state, state.now);
  const style = armed ? 'bold' : 'dim';
  return [
    styledLine(page, [['?', 'yellow'], ['permission:', 'bold'], [asked.tool, 'bold'], more]),
    ...subjectLines(page, asked.subject),
    // Wrapped, not cut: a pattern that is not seen whole must not be granted.
    ...choicesOf(page, asked, state).flatMap((text) =>
      page.entry({ mark: '', indent: 2, hang: 4, text, style }),
    ),
  ];
}

/** What is allowed must be seen whole: what does not fit here was printed above. */
function subjectLines(page: Page, subject: string): string[] {
  const hidden = hiddenLines(page, subject);
  if (isShort(subject)) return [...page.entry({ mark: '', indent: 2, text: seen(page, subject) }), ...hidden];
  const start = styledLine(page, [seen(page, subject.slice(0, 500))], 2);
  const above = styledLine(page, [['that is not all of it: the whole stands above', 'red']], 2);
  return [start, above, ...hidden];
}

function choicesOf(
  page: Page,
  { choices, subject, pattern }: PermissionView,
  { input }: ViewState,
): string[] {
  if (input.text !== '') return ['Enter sends your line, Esc clears it; then y, s, a, n answer.'];
  const covers = seen(page, describeCover(subject, pattern.slice(0, longestPattern)));
  const words: Readonly<Record<PermissionChoice, string>> = {
    once: '[y] yes, this once',
    session: `[s] yes, in this session: ${covers}`,
    always: `[a] always in this folder: ${covers}`,
    no: '[n] no',
  };
  return choices.map((choice) => words[choice]);
}

export function drawCheckQuestion(page: Page, { checkQuestion }: ViewState): string[] {
  if (checkQuestion === null) return [];
  return [
    ...page
      .entry({ mark: '?', markStyle: 'yellow', text: questionWords(page, checkQuestion), style: 'bold' })
      .slice(0, 4),
    styledLine(page, [['y, n, or say what is wrong; Enter alone leaves it open', 'dim']], 2),
  ];
}

function questionWords(page: Page, question: string): string {
  return seen(page, question.slice(0, longestPattern).replaceAll('\n', ' '));
}

/** The line that the human writes; its end is shown where it is too long. */
export function drawInput(page: Page, { kind, input, queued }: ViewState): string[] {
  if (kind === 'attach') return [];
  const sign = page.unicode ? '›' : '>';
  if (input.text === '') {
    const hint =
      queued > 0 ? `${count(queued, 'message')} joins at the next step` : 'type to steer, Enter sends';
    return [
      styledLine(page, [
        [sign, 'bold'],
        [cursorSign(page), 'bold'],
        [hint, 'dim'],
      ]),
    ];
  }
  const room = Math.max(4, lineWidth(page) - 4);
  const before = tail(cleaned(page, input.text.slice(0, input.cursor)), room);
  const after = cleaned(page, input.text.slice(input.cursor));
  const shown = splitAtWidth(after, Math.max(1, room - displayWidth(before)))[0];
  const rest = displayWidth(before) + displayWidth(shown) > room ? '' : shown;
  return [`${page.paint('bold', sign)} ${before}${page.paint('bold', cursorSign(page))}${rest}`];
}

function cursorSign({ unicode }: Page): string {
  return unicode ? '▏' : '_';
}

/** Spaces at the edges count here: the cursor stands behind them. */
function cleaned(page: Page, text: string): string {
  const start = /^\s/u.test(text) ? ' ' : '';
  const end = /\S\s+$/u.test(text) ? ' ' : '';
  return `${start}${page.clip(text.slice(-2000), 2000)}${end}`;
}

function tail(text: string, width: number): string {
  let rest = text;
  while (displayWidth(rest) > width) rest = splitAtWidth(rest, displayWidth(rest) - width)[1];
  return rest;
}

export function drawStatus(page: Page, state: ViewState): string[] {
  const { usage, startedAt, now, step, continuations } = state;
  const parts = [
    state.host ?? '',
    startedAt === null ? '' : formatElapsed(now - startedAt),
    step === 0 ? '' : `step ${step}`,
    continuations === 0 ? '' : `${page.signs.continuation} ${count(continuations, 'continuation')}`,
    usage === null ? '' : `${formatTokens(usage.inputTokens)} in, ${formatTokens(usage.outputTokens)} out`,
    usage === null || usage.cost === null ? '' : describeCost(usage.cost),
    state.model ?? '',
  ];
  return [partsLine(page, parts, 'dim'), partsLine(page, keys(page, state), 'dim')];
}

function keys({ unicode }: Page, { kind, todos, isExpanded }: ViewState): string[] {
  const fold = `Ctrl-O ${isExpanded ? 'folds' : 'unfolds'} tool calls`;
  const scroll = todos.length === 0 ? '' : `${unicode ? '↑↓' : 'up/down'} plan`;
  if (kind === 'attach') return ['p pause', 'r resume', 'x stop', 'q leave', fold, scroll];
  return ['Ctrl-C stops', fold, scroll];
}
