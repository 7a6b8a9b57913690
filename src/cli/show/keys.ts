// What a key means in the live view: (state, key) → state and acts. Pure; the acts are carried out by whoever owns
// the session. Letters belong to the human's line in a run, and are commands where nothing can be written (`attach`).
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { emptyInput, type InputView, type PermissionView, planWindow, type ViewState } from './state.ts';

type MoveKey = 'up' | 'down' | 'left' | 'right' | 'page-up' | 'page-down' | 'home' | 'end';

/** One key, or a piece of text that was pasted or arrived at once. */
export interface KeyPress {
  readonly name: 'text' | 'enter' | 'escape' | 'backspace' | 'delete' | 'tab' | MoveKey;
  /** What was typed; for control keys the letter. */
  readonly text: string;
  readonly isControl: boolean;
}

export type ViewAct =
  | { readonly act: 'interrupt' }
  | { readonly act: 'say'; readonly text: string }
  | { readonly act: 'answer'; readonly requestId: string; readonly remembered: PermissionChoice }
  /** The answer to a check that only a human can answer. */
  | { readonly act: 'reply'; readonly text: string }
  | { readonly act: 'pause' | 'resume' | 'stop' | 'quit' };

export interface Pressed {
  readonly state: ViewState;
  readonly acts: readonly ViewAct[];
}

/**
 * A question that comes up while someone types takes no key before this much quiet: a letter meant for the line must
 * not grant anything. Too long only feels slow.
 */
const quietMs = 700;

const permissionKeys: Readonly<Record<string, PermissionChoice>> = {
  y: 'once',
  s: 'session',
  a: 'always',
  n: 'no',
};

export function pressKey(state: ViewState, key: KeyPress, now: number): Pressed {
  if (key.isControl && key.text === 'c')
    return only(state, state.kind === 'attach' ? { act: 'quit' } : { act: 'interrupt' });
  if (key.isControl && key.text === 'o') return quiet({ ...state, isExpanded: !state.isExpanded });
  const scrolled = scroll(state, key);
  if (scrolled !== null) return quiet(scrolled);
  return state.kind === 'attach' ? pressAttached(state, key, now) : pressRunning(state, key, now);
}

/** Counts down to something that happens by itself. */
export function isCountingDown({ wait, now, stopping }: ViewState): boolean {
  return wait !== null && wait.until !== null && wait.until > now && stopping === 'no';
}

export function isPaused({ wait, session }: ViewState): boolean {
  return wait?.reason === 'paused-by-human' || session?.state === 'paused';
}

/** Whether the question takes keys: nothing is being written, and it has been seen for a moment. */
export function isArmed({ input, permissions: [first] }: ViewState, now: number): boolean {
  if (first === undefined || input.text !== '') return false;
  return now - Math.max(first.askedAt, input.typedAt) >= quietMs;
}

function pressAttached(state: ViewState, { name, text, isControl }: KeyPress, now: number): Pressed {
  const letter = name === 'text' && !isControl ? text : '';
  if (letter === 'q' || name === 'escape') return only(state, { act: 'quit' });
  if (letter === 'p') return only(state, { act: 'pause' });
  if (letter === 'r') return only(state, { act: 'resume' });
  // Not `s`: that grants something where a permission is asked for.
  if (letter === 'x') return only(state, { act: 'stop' });
  const [asked] = state.permissions;
  const answer = asked === undefined ? null : permissionAnswer(asked, letter);
  if (asked !== undefined && answer !== null && isArmed(state, now))
    return only(state, { act: 'answer', requestId: asked.requestId, remembered: answer });
  return isCountingDown({ ...state, now }) ? only(state, { act: 'stop' }) : quiet(state);
}

function pressRunning(state: ViewState, key: KeyPress, now: number): Pressed {
  const [asked] = state.permissions;
  if (asked !== undefined && state.input.text === '' && key.name === 'text' && !key.isControl) {
    const answer = permissionAnswer(asked, key.text);
    if (answer !== null && isArmed(state, now))
      return only(state, { act: 'answer', requestId: asked.requestId, remembered: answer });
    // A key that came too early, or is no answer, may be the start of a message; its time keeps the question quiet.
  }
  if (key.name === 'enter') return enter(state);
  const input = editLine(state.input, key, now);
  const next = input === state.input ? state : { ...state, input };
  const holds = isCountingDown({ ...state, now }) && !isPaused(state);
  return holds ? only(next, { act: 'pause' }) : quiet(next);
}

function enter(state: ViewState): Pressed {
  const text = state.input.text.trim();
  const emptied = { ...state, input: { ...emptyInput, typedAt: state.input.typedAt } };
  if (state.checkQuestion !== null) return only(emptied, { act: 'reply', text });
  const said: readonly ViewAct[] = text === '' ? [] : [{ act: 'say', text }];
  return { state: emptied, acts: isPaused(state) ? [...said, { act: 'resume' }] : said };
}

function permissionAnswer({ choices }: PermissionView, letter: string): PermissionChoice | null {
  const answer = permissionKeys[letter.toLowerCase()];
  return answer !== undefined && choices.includes(answer) ? answer : null;
}

/** The keys that move the plan; null: another key. */
function scroll(state: ViewState, { name }: KeyPress): ViewState | null {
  const { first, shown, last } = planWindow(state);
  const to = (row: number): ViewState => ({ ...state, scroll: Math.min(last, Math.max(0, row)) });
  const isWriting = state.input.text !== '';
  switch (name) {
    case 'up':
      return to(first - 1);
    case 'down':
      return to(first + 1);
    case 'page-up':
      return to(first - shown);
    case 'page-down':
      return to(first + shown);
    case 'home':
      return isWriting ? null : to(0);
    case 'end':
      return isWriting ? null : to(last);
    // Back to the current todo.
    case 'tab':
      return { ...state, scroll: null };
    default:
      return null;
  }
}

function only(state: ViewState, act: ViewAct): Pressed {
  return { state, acts: [act] };
}

function quiet(state: ViewState): Pressed {
  return { state, acts: [] };
}

/** A pasted file is not a message; what is longer is cut. */
const longestLine = 10_000;
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Letters in, cursor moved, words taken away; by whole characters: an emoji of several code points is one step. */
function editLine(input: InputView, key: KeyPress, now: number): InputView {
  const edited = key.isControl ? editByControl(input, key.text) : editByKey(input, key);
  return edited === null ? input : { ...edited, typedAt: now };
}

function editByKey(input: InputView, { name, text }: KeyPress): InputView | null {
  const { text: line, cursor } = input;
  switch (name) {
    case 'text': {
      const added = text.slice(0, Math.max(0, longestLine - line.length));
      return at(input, line.slice(0, cursor) + added + line.slice(cursor), cursor + added.length);
    }
    case 'backspace':
      return at(input, line.slice(0, before(line, cursor)) + line.slice(cursor), before(line, cursor));
    case 'delete':
      return at(input, line.slice(0, cursor) + line.slice(after(line, cursor)), cursor);
    case 'left':
      return at(input, line, before(line, cursor));
    case 'right':
      return at(input, line, after(line, cursor));
    case 'home':
      return at(input, line, 0);
    case 'end':
      return at(input, line, line.length);
    case 'escape':
      return emptyInput;
    default:
      return null;
  }
}

/** As shells have it: to the start, to the end, the line gone, a word gone. */
function editByControl(input: InputView, letter: string): InputView | null {
  const { text: line, cursor } = input;
  if (letter === 'a') return at(input, line, 0);
  if (letter === 'e') return at(input, line, line.length);
  if (letter === 'u') return at(input, line.slice(cursor), 0);
  if (letter === 'k') return at(input, line.slice(0, cursor), cursor);
  if (letter === 'w') {
    const kept = line.slice(0, cursor).replace(/\S+\s*$/u, '');
    return at(input, kept + line.slice(cursor), kept.length);
  }
  return null;
}

function at(input: InputView, text: string, cursor: number): InputView {
  return { ...input, text, cursor };
}

function before(line: string, cursor: number): number {
  return cursor === 0 ? 0 : (graphemes.segment(line).containing(cursor - 1)?.index ?? 0);
}

function after(line: string, cursor: number): number {
  const found = graphemes.segment(line).containing(cursor);
  return found === undefined ? line.length : found.index + found.segment.length;
}
