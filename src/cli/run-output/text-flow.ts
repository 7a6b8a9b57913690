// Lays text out in lines while it is still arriving: soft wrapping, a margin before every line, at most one blank line
// in a row. It shows the same whatever the pieces were, and never takes back what it showed.
import { displayWidth, splitAtWidth } from './display-width.ts';

export interface TextFlow {
  /** Clean text: no control character but line breaks. */
  push(text: string): void;
  /** Shows the word that was waiting for its end. The next text starts a new block; the caller ends the line. */
  end(): void;
}

export interface FlowOptions {
  /** Columns without the margin, asked for whenever something is placed; null: lines are not wrapped. */
  readonly width: number | null;
  readonly margin: string;
  readonly emit: (text: string) => void;
}

/** Scripts that are written without spaces may be wrapped at any letter. */
const tokens =
  /\n|[ ]+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]|[^ \n\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]{1,256}/gu;
const unspaced = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]$/u;
/** A word is held until it ends, but a heap of combining marks has no width and never ends. */
const longestHeld = 4096;
/** Wide enough for any honest indentation. */
const widestSpace = 200;

export function createTextFlow(options: FlowOptions): TextFlow {
  const { margin, emit } = options;
  let isEmpty = true;
  let column = 0;
  let spaces = 0;
  let breaks = 0;
  let word = '';

  function breakLine(): void {
    emit(`\n${margin}`);
    column = 0;
  }

  function place(text: string): void {
    if (text === '') return;
    const { width } = options;
    if (isEmpty) {
      // After an interruption the rest of a line starts at the margin; a new line keeps its indentation.
      if (breaks === 0) spaces = 0;
      emit(margin);
    } else if (breaks > 0) {
      if (breaks > 1) emit(`\n${margin.trimEnd()}`);
      breakLine();
    }
    const taken = displayWidth(text);
    const fits = width === null || column + spaces + taken <= width;
    if (!fits && column > 0) {
      breakLine();
      spaces = 0;
    }
    const gap = Math.min(spaces, width === null ? widestSpace : Math.max(0, width - taken));
    emit(' '.repeat(gap) + text);
    column += gap + taken;
    isEmpty = false;
    spaces = 0;
    breaks = 0;
  }

  function placeWord(): void {
    place(word);
    word = '';
  }

  function grow(part: string): void {
    const { width } = options;
    word += part;
    if (width === null || word.length > longestHeld) placeWord();
    while (width !== null && displayWidth(word) > width) {
      const [head, rest] = splitAtWidth(word, width);
      place(head);
      word = rest;
    }
  }

  return {
    push(text) {
      for (const [token] of text.matchAll(tokens)) {
        if (token === '\n') {
          placeWord();
          breaks += 1;
          spaces = 0;
        } else if (token.startsWith(' ')) {
          placeWord();
          spaces += token.length;
        } else if (unspaced.test(token)) {
          placeWord();
          place(token);
        } else grow(token);
      }
    },
    end() {
      placeWord();
      isEmpty = true;
      column = 0;
      spaces = 0;
      breaks = 0;
    },
  };
}
