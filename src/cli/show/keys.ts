// What a key means in the live view: (state, key) → state and acts. Pure; the acts are
// carried out by whoever owns the session. Letters belong to the human's line in a run,
// and are commands where nothing can be written (`attach`).
import type { Key } from 'ink';
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { isNearAnswer, readPermission } from '../ask-at-terminal.ts';
import { emptyInput, type InputView, planWindow, type ViewState } from './state.ts';

/** By the names that Ink has for them. */
export const namedKeys = [
  ...([
    'return',
    'escape',
    'backspace',
    'delete',
    'tab',
    'upArrow',
    'downArrow',
  ] as const),
  ...(['leftArrow', 'rightArrow', 'pageUp', 'pageDown', 'home', 'end'] as const),
] satisfies readonly (keyof Key)[];

/** One key, or a piece of text that was pasted or arrived at once. */
export interface KeyPress {
  readonly name: 'text' | (typeof namedKeys)[number];
  /** What was typed; for control keys the letter. */
  readonly text: string;
  readonly isControl: boolean;
}

export type ViewAct =
  /** Ctrl-C: ends the run, or only the look at one that runs elsewhere. */
  | { readonly act: 'interrupt' }
  | { readonly act: 'say'; readonly text: string }
  | {
      readonly act: 'answer';
      readonly requestId: string;
      readonly remembered: PermissionChoice;
    }
  /** The answer to a check that only a human can answer. */
  | { readonly act: 'reply'; readonly text: string }
  | { readonly act: 'pause' | 'resume' | 'stop' };

/**
 * Carries acts out; what is not in it is not for this session. A sentence that comes back
 * is told: it says why not.
 */
export type Hand = { readonly [Act in ViewAct as Act['act']]?: (act: Act) => unknown };

export function perform(hand: Hand, act: ViewAct): unknown {
  // The table pairs each act with what takes exactly that act; the compiler cannot follow
  // the pairing.
  return (hand[act.act] as ((act: ViewAct) => unknown) | undefined)?.(act);
}

type Pressed = Readonly<{ state: ViewState; acts: readonly ViewAct[] }>;
const pressed = (state: ViewState, ...acts: readonly ViewAct[]): Pressed => ({
  state,
  acts,
});

/**
 * A question takes no answer before it was seen for this long: what was meant for an
 * older one must grant nothing.
 */
const seenMs = 700;

export function pressKey(state: ViewState, key: KeyPress, now: number): Pressed {
  if (key.isControl && key.text === 'c') return pressed(state, { act: 'interrupt' });
  if (key.isControl && key.text === 'o')
    return pressed({ ...state, isExpanded: !state.isExpanded });
  const scrolled = scroll(state, key);
  if (scrolled !== null) return pressed(scrolled);
  return state.kind === 'attach'
    ? pressAttached(state, key, now)
    : pressRunning(state, key, now);
}

/** Counts down to something that happens by itself. */
export function isCountingDown({ wait, now, stopping }: ViewState): boolean {
  return wait !== null && wait.until !== null && wait.until > now && stopping === 'no';
}

export function isPaused({ wait, session }: ViewState): boolean {
  return wait?.reason === 'paused-by-human' || session?.state === 'paused';
}

/** Whether the question takes an answer. */
export function isArmed({ permissions: [first] }: ViewState, now: number): boolean {
  return first !== undefined && now - first.at >= seenMs;
}

function pressAttached(
  state: ViewState,
  { name, text, isControl }: KeyPress,
  now: number,
): Pressed {
  const letter = name === 'text' && !isControl ? text : '';
  // Not `s`: that grants something where a permission is asked for.
  const acts = { p: 'pause', r: 'resume', x: 'stop', q: 'interrupt' } as const;
  const act = name === 'escape' ? 'interrupt' : acts[letter as keyof typeof acts];
  if (act !== undefined) return pressed(state, { act });
  const answer = letter.length === 1 ? answerOf(state, letter, now) : null;
  if (answer !== null) return pressed(state, answer);
  return isCountingDown({ ...state, now })
    ? pressed(state, { act: 'stop' })
    : pressed(state);
}

function pressRunning(state: ViewState, key: KeyPress, now: number): Pressed {
  if (key.name === 'return') return enter(state, now);
  const input = editLine(state.input, key);
  const next = input === state.input ? state : { ...state, input };
  const holds = isCountingDown({ ...state, now }) && !isPaused(state);
  return holds ? pressed(next, { act: 'pause' }) : pressed(next);
}

/**
 * A letter alone answers nothing: "stop" and "always ask me" begin with letters that
 * would grant something (S7).
 */
function enter(state: ViewState, now: number): Pressed {
  const text = state.input.text.trim();
  const emptied = { ...state, input: emptyInput };
  if (state.checkQuestion !== null) return pressed(emptied, { act: 'reply', text });
  const answer = answerOf(state, text, now);
  if (answer !== null) return pressed(emptied, answer);
  // Meant as an answer, so it is no message to the agent: it stays in the line.
  const isMeant = readPermission(text) !== null || isNearAnswer(text);
  if (state.permissions.length > 0 && isMeant) return pressed(state);
  const said: readonly ViewAct[] = text === '' ? [] : [{ act: 'say', text }];
  return pressed(
    emptied,
    ...said,
    ...(isPaused(state) ? [{ act: 'resume' } as const] : []),
  );
}

/** What answers the first question; null: this does not, or it takes no answer yet. */
function answerOf(state: ViewState, said: string, now: number): ViewAct | null {
  const [asked] = state.permissions;
  const remembered = readPermission(said);
  if (asked === undefined || remembered === null || !isArmed(state, now)) return null;
  return asked.choices.includes(remembered)
    ? { act: 'answer', requestId: asked.requestId, remembered }
    : null;
}

/** The keys that move the plan; null: another key. */
function scroll(state: ViewState, { name }: KeyPress): ViewState | null {
  // Back to the current todo.
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

/** A pasted file is not a message; what is longer is cut. */
const longestLine = 10_000;
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * Letters in, cursor moved, words taken away; by whole characters: an emoji of several
 * code points is one step.
 */
function editLine(input: InputView, { name, text, isControl }: KeyPress): InputView {
  const { text: line, cursor } = input;
  const before = line.slice(0, cursor);
  const after = line.slice(cursor);
  const back =
    cursor === 0 ? 0 : (graphemes.segment(line).containing(cursor - 1)?.index ?? 0);
  const ahead =
    cursor + (graphemes.segment(line).containing(cursor)?.segment.length ?? 0);
  const kept = before.replace(/\S+\s*$/u, '');
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
          w: [kept + after, kept.length],
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
