// The line that a human writes in the live view: letters in, cursor moved, words taken away. Pure, and by whole
// characters: an emoji of several code points is one step.
import type { KeyPress } from './key-press.ts';
import { emptyInput, type InputView } from './view-state.ts';

/** A pasted file is not a message; what is longer is cut. */
const longestLine = 10_000;
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

export function editLine(input: InputView, key: KeyPress, now: number): InputView {
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
