// Adds lines to a plain text file (git's list of excluded files) and takes them out again. Other lines stay as they
// are, with their line ends.
import type { Edited, LineEdit } from './edit.ts';

export function applyLineEdits(text: string, edits: readonly LineEdit[]): Edited {
  let result = text;
  for (const { text: line } of edits) {
    if (linesOf(result).includes(line)) continue;
    const endOfLine = result.includes('\r\n') ? '\r\n' : '\n';
    const gap = result === '' || result.endsWith('\n') ? '' : endOfLine;
    result = `${result}${gap}${line}${endOfLine}`;
  }
  return { ok: true, text: result, kept: [] };
}

export function removeLineEdits(text: string, edits: readonly LineEdit[]): Edited {
  const gone = new Set(edits.map(({ text: line }) => line));
  const left = text.split(/(?<=\n)/).filter((line) => !gone.has(line.trimEnd()));
  return { ok: true, text: left.join(''), kept: [] };
}

function linesOf(text: string): string[] {
  return text.split('\n').map((line) => line.trimEnd());
}
