// What a key means in the live view: (state, key) → state and acts. Pure; the acts are carried out by whoever owns
// the session. Letters belong to the human's line in a run, and are commands where nothing can be written (`attach`).
import type { EventOf, PermissionChoice } from '../../agent/agent-event.ts';
import { emptyInput, type InputView, planWindow, type ViewState } from './state.ts';

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
  return now - Math.max(first.at, input.typedAt) >= quietMs;
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

function permissionAnswer({ choices }: EventOf<'permission-asked'>, letter: string): PermissionChoice | null {
  const answer = permissionKeys[letter.toLowerCase()];
  return answer !== undefined && choices.includes(answer) ? answer : null;
}

/** The keys that move the plan; null: another key. */
function scroll(state: ViewState, { name }: KeyPress): ViewState | null {
  // Back to the current todo.
  if (name === 'tab') return { ...state, scroll: null };
  const { first, shown, last } = planWindow(state);
  const isWriting = state.input.text !== '';
  const rows: Readonly<Partial<Record<KeyPress['name'], number>>> = {
    ...{ up: first - 1, down: first + 1, 'page-up': first - shown, 'page-down': first + shown },
    ...(isWriting ? {} : { home: 0, end: last }),
  };
  const row = rows[name];
  return row === undefined ? null : { ...state, scroll: Math.min(last, Math.max(0, row)) };
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
function editLine(input: InputView, { name, text, isControl }: KeyPress, now: number): InputView {
  const { text: line, cursor } = input;
  const [before, after] = [line.slice(0, cursor), line.slice(cursor)];
  const back = cursor === 0 ? 0 : (graphemes.segment(line).containing(cursor - 1)?.index ?? 0);
  const ahead = cursor + (graphemes.segment(line).containing(cursor)?.segment.length ?? 0);
  const kept = before.replace(/\S+\s*$/u, '');
  const added = name === 'text' ? text.slice(0, Math.max(0, longestLine - line.length)) : '';
  const edits: Readonly<Record<string, readonly [line: string, cursor: number]>> = isControl
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
        ...{ left: [line, back], right: [line, ahead], home: [line, 0], end: [line, line.length] },
        escape: ['', 0],
      };
  const key = isControl ? text : name;
  const edited = Object.hasOwn(edits, key) ? edits[key] : undefined;
  return edited === undefined ? input : { text: edited[0], cursor: edited[1], typedAt: now };
}
