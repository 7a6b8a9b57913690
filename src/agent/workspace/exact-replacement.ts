// The pure part of edit_file: finds the old text exactly once (or everywhere, if asked) and replaces it.
// It never guesses: text that only nearly fits is reported with its place, not replaced.

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}
export type Replacing =
  | { ok: true; text: string; lines: readonly number[] }
  | { ok: false; reason: 'absent'; similarLine: number | null }
  | { ok: false; reason: 'ambiguous'; lines: readonly number[]; isMore: boolean };

/** Enough to tell a model where it is; a file of one repeated letter must not cost a second. */
const countedOccurrences = 1000;

export function replaceExactly(text: string, replacement: Replacement): Replacing {
  const fitted = fitLineEnds(text, replacement);
  const step = fitted.all ? fitted.oldText.length : 1;
  const found = findOccurrences(
    text,
    fitted.oldText,
    step,
    fitted.all ? Number.POSITIVE_INFINITY : countedOccurrences,
  );
  if (found.length === 0)
    return { ok: false, reason: 'absent', similarLine: findSimilarLine(text, fitted.oldText) };
  const lines = lineNumbers(text, found);
  if (found.length > 1 && !fitted.all) {
    return { ok: false, reason: 'ambiguous', lines, isMore: found.length === countedOccurrences };
  }
  let replaced = '';
  let from = 0;
  for (const at of found) {
    replaced += text.slice(from, at) + fitted.newText;
    from = at + fitted.oldText.length;
  }
  return { ok: true, text: replaced + text.slice(from), lines };
}

/** Models see and send lines without carriage returns: in a file that has them throughout, they are put back. */
function fitLineEnds(text: string, replacement: Replacement): Replacement {
  const hasThemThroughout = text.includes('\r\n') && !/(?:^|[^\r])\n/u.test(text);
  if (!hasThemThroughout) return replacement;
  const { oldText, newText, all } = replacement;
  return { oldText: withCarriageReturns(oldText), newText: withCarriageReturns(newText), all };
}

function withCarriageReturns(text: string): string {
  return text.replace(/\r?\n/gu, '\r\n');
}

function findOccurrences(text: string, wanted: string, step: number, most: number): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1 && found.length < most; at = text.indexOf(wanted, at + step))
    found.push(at);
  return found;
}

function lineNumbers(text: string, offsets: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return offsets.map((offset) => {
    for (let at = text.indexOf('\n', from); at !== -1 && at < offset; at = text.indexOf('\n', from)) {
      line += 1;
      from = at + 1;
    }
    return line;
  });
}

/** The line at which the same words stand with other white space: the usual reason for a miss. */
function findSimilarLine(text: string, wanted: string): number | null {
  const wantedLines = wanted.trim().split('\n').map(squeeze);
  const lines = text.split('\n').map(squeeze);
  const at = lines.findIndex((_, first) =>
    wantedLines.every((line, offset) => lines[first + offset] === line),
  );
  return at === -1 || wantedLines.join('') === '' ? null : at + 1;
}

function squeeze(line: string): string {
  return line.replace(/\s+/gu, ' ').trim();
}
