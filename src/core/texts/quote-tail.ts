// Quotes the tail of a check's output for the model: every line marked as quoted, controls and tags taken out, so
// that a test's output cannot speak in our voice.
import { oneLine } from '../safe-text.ts';

/** The end of the output carries the failure; more lines cost tokens at every continuation. */
const tailLines = 15;
const lineLength = 200;

export function quoteTail(tail: string): string {
  return tail
    .split(/\r?\n/u)
    .map((line) => oneLine(line, lineLength).replaceAll('<', '‹').replaceAll('>', '›'))
    .filter((line) => line !== '')
    .slice(-tailLines)
    .map((line) => `| ${line}`)
    .join('\n');
}
