// What a key means in the live view: (state, key) → state and acts. Pure; the acts are carried out by whoever owns
// the session. Letters belong to the human's line in a run, and are commands where nothing can be written (`attach`).
import type { PermissionChoice } from '../../agent/agent-event.ts';
import { editLine } from './edit-line.ts';
import { planWindow } from './plan-window.ts';
import { emptyInput, type PermissionView, type ViewState } from './view-state.ts';

/** One key, or a piece of text that was pasted or arrived at once. */
export interface KeyPress {
  readonly name:
    | 'text'
    | 'enter'
    | 'escape'
    | 'backspace'
    | 'delete'
    | 'tab'
    | 'up'
    | 'down'
    | 'left'
    | 'right'
    | 'page-up'
    | 'page-down'
    | 'home'
    | 'end';
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
  | { readonly act: 'pause' }
  | { readonly act: 'resume' }
  | { readonly act: 'stop' }
  | { readonly act: 'quit' };

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
