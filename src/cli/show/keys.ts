// Says what a key means in the live view: (state, key) → state and acts. Pure: the owner
// of the session performs the acts. In a run, letters belong to the human's line; in
// `attach`, where nobody can write, they are commands.
import type { Key } from 'ink';
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { isNearAnswer, readPermission } from '../ask-at-terminal.ts';
import { emptyInput, type InputView, planWindow, type ViewState } from './state.ts';

/** The names are Ink's. */
export const namedKeys = [
  'return',
  'escape',
  'backspace',
  'delete',
  'tab',
  'upArrow',
  'downArrow',
  'leftArrow',
  'rightArrow',
  'pageUp',
  'pageDown',
  'home',
  'end',
] as const satisfies readonly (keyof Key)[];

/** One key, or a text that was pasted or whose letters arrived together. */
export interface KeyPress {
  readonly name: 'text' | (typeof namedKeys)[number];
  /** The typed text; for control keys the letter. */
  readonly text: string;
  readonly isControl: boolean;
}

export type ViewAct =
  /** Ctrl-C: ends the run; in `attach` it only stops watching. */
  | { readonly act: 'interrupt' }
  | { readonly act: 'say'; readonly text: string }
  | {
      readonly act: 'answer';
      readonly requestId: string;
      readonly remembered: PermissionChoice;
    }
  /** The human's answer to a check. */
  | { readonly act: 'reply'; readonly text: string }
  | { readonly act: 'pause' | 'resume' | 'stop' };

/**
 * Performs acts. An act that is missing is not possible in this session. A returned
 * sentence says why an act was refused, and the human sees it.
 */
export type Hand = { readonly [Act in ViewAct as Act['act']]?: (act: Act) => unknown };

export function performKey(hand: Hand, act: ViewAct): unknown {
  // The table pairs each act with what takes exactly that act; the compiler cannot follow
  // the pairing.
  return (hand[act.act] as ((act: ViewAct) => unknown) | undefined)?.(act);
}

type KeyResult = Readonly<{ state: ViewState; acts: readonly ViewAct[] }>;
const keyResult = (state: ViewState, ...acts: readonly ViewAct[]): KeyResult => ({
  state,
  acts,
});

/**
 * How long a question must be on the screen before it takes an answer: an answer to the
 * question before must not grant anything.
 */
const minimumShownMs = 700;

/** Returns the state after a key and the acts that it asks for. */
export function pressKey(state: ViewState, key: KeyPress, now: number): KeyResult {
  if (key.isControl && key.text === 'c') return keyResult(state, { act: 'interrupt' });
  if (key.isControl && key.text === 'o')
    return keyResult({ ...state, isExpanded: !state.isExpanded });
  const scrolled = scrollPlan(state, key);
  if (scrolled !== null) return keyResult(scrolled);
  return state.kind === 'attach'
    ? pressAttached(state, key, now)
    : pressRunning(state, key, now);
}

/** Whether a countdown runs to something that happens by itself. */
export function isCountingDown({ wait, now, stopping }: ViewState): boolean {
  return wait !== null && wait.until !== null && wait.until > now && stopping === 'no';
}

/** Whether a human has paused the session. */
export function isPaused({ wait, session }: ViewState): boolean {
  return wait?.reason === 'paused-by-human' || session?.state === 'paused';
}

/** Whether the first question takes an answer yet. */
export function isArmed({ permissions: [first] }: ViewState, now: number): boolean {
  return first !== undefined && now - first.at >= minimumShownMs;
}

function pressAttached(
  state: ViewState,
  { name, text, isControl }: KeyPress,
  now: number,
): KeyResult {
  const letter = name === 'text' && !isControl ? text : '';
  // `s` is not used: it grants something if a permission is asked for.
  const acts = { p: 'pause', r: 'resume', x: 'stop', q: 'interrupt' } as const;
  const act = name === 'escape' ? 'interrupt' : acts[letter as keyof typeof acts];
  if (act !== undefined) return keyResult(state, { act });
  const answer = letter.length === 1 ? findAnswer(state, letter, now) : null;
  if (answer !== null) return keyResult(state, answer);
  return isCountingDown({ ...state, now })
    ? keyResult(state, { act: 'stop' })
    : keyResult(state);
}

function pressRunning(state: ViewState, key: KeyPress, now: number): KeyResult {
  if (key.name === 'return') return pressEnter(state, now);
  const input = editLine(state.input, key);
  const next = input === state.input ? state : { ...state, input };
  const pausesCountdown = isCountingDown({ ...state, now }) && !isPaused(state);
  return pausesCountdown ? keyResult(next, { act: 'pause' }) : keyResult(next);
}

/**
 * What Enter does with the line. A permission takes only a whole answer: "stop" and
 * "always ask me" begin with letters that would grant something (S7).
 */
function pressEnter(state: ViewState, now: number): KeyResult {
  const text = state.input.text.trim();
  const emptied = { ...state, input: emptyInput };
  if (state.checkQuestion !== null) return keyResult(emptied, { act: 'reply', text });
  const answer = findAnswer(state, text, now);
  if (answer !== null) return keyResult(emptied, answer);
  // The text was meant as an answer, so it is not sent to the agent: it stays in the
  // line.
  const isMeantAsAnswer = readPermission(text) !== null || isNearAnswer(text);
  if (state.permissions.length > 0 && isMeantAsAnswer) return keyResult(state);
  const messages: readonly ViewAct[] = text === '' ? [] : [{ act: 'say', text }];
  return keyResult(
    emptied,
    ...messages,
    ...(isPaused(state) ? [{ act: 'resume' } as const] : []),
  );
}

/**
 * The act that answers the first question. Null: the text is no answer, or the question
 * takes none yet.
 */
function findAnswer(state: ViewState, text: string, now: number): ViewAct | null {
  const [question] = state.permissions;
  const remembered = readPermission(text);
  if (question === undefined || remembered === null || !isArmed(state, now)) return null;
  return question.choices.includes(remembered)
    ? { act: 'answer', requestId: question.requestId, remembered }
    : null;
}

/** Scrolls the plan. Null: the key does not scroll. */
function scrollPlan(state: ViewState, { name }: KeyPress): ViewState | null {
  // Goes back to the current todo.
  if (name === 'tab') return { ...state, scroll: null };
  const { first, shown, last } = planWindow(state);
  const isWriting = state.input.text !== '';
  const rows: Readonly<Partial<Record<KeyPress['name'], number>>> = {
    upArrow: first - 1,
    downArrow: first + 1,
    pageUp: first - shown,
    pageDown: first + shown,
    ...(isWriting ? {} : { home: 0, end: last }),
  };
  const row = rows[name];
  return row === undefined
    ? null
    : { ...state, scroll: Math.min(last, Math.max(0, row)) };
}

/** Longer texts are cut: a pasted file is not a message. */
const longestLine = 10_000;
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Edits the human's line by whole characters: an emoji of several code points is one
 * step.
 */
function editLine(input: InputView, { name, text, isControl }: KeyPress): InputView {
  const { text: line, cursor } = input;
  const before = line.slice(0, cursor);
  const after = line.slice(cursor);
  const back =
    cursor === 0 ? 0 : (graphemes.segment(line).containing(cursor - 1)?.index ?? 0);
  const ahead =
    cursor + (graphemes.segment(line).containing(cursor)?.segment.length ?? 0);
  const withoutWord = before.replace(/\S+\s*$/u, '');
  const added =
    name === 'text' ? text.slice(0, Math.max(0, longestLine - line.length)) : '';
  const edits: Readonly<Record<string, readonly [line: string, cursor: number]>> =
    isControl
      ? // As shells have it: to the start, to the end, the line gone, a word gone.
        {
          a: [line, 0],
          e: [line, line.length],
          u: [after, 0],
          k: [before, cursor],
          w: [withoutWord + after, withoutWord.length],
        }
      : {
          text: [before + added + after, cursor + added.length],
          backspace: [line.slice(0, back) + after, back],
          delete: [before + line.slice(ahead), cursor],
          leftArrow: [line, back],
          rightArrow: [line, ahead],
          home: [line, 0],
          end: [line, line.length],
          escape: ['', 0],
        };
  const key = isControl ? text : name;
  const edited = Object.hasOwn(edits, key) ? edits[key] : undefined;
  return edited === undefined ? input : { text: edited[0], cursor: edited[1] };
}
