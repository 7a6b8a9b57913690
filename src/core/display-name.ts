// File names are chosen by strangers: a name with a newline could pose as a second result, one with
// an escape sequence could act on a terminal. Plain names are shown as they are, others as JSON strings.
import { escapeJsonLine, stripTerminalControls } from './safe-text.ts';

/** Reading the JSON string back gives the exact name, so that a model can still use it. */
export function displayName(name: string): string {
  const plain =
    stripTerminalControls(name) === name &&
    !/[\n\t\u2028\u2029"'`<>\\\p{Surrogate}]|^[\s-]|\s$|^$/u.test(name);
  if (plain) return name;
  return escapeJsonLine(JSON.stringify(name)).replace(/[<>]/gu, (bracket) =>
    bracket === '<' ? '\\u003c' : '\\u003e',
  );
}
