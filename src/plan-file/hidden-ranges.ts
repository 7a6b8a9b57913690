// Where in a paragraph words are not words of the author: code spans and HTML comments, which may run over lines.
// One pass, whatever the text: each closing mark is searched for once.

export interface HiddenRange {
  readonly kind: 'code' | 'comment';
  readonly from: number;
  readonly to: number;
}

export function hiddenRanges(text: string): HiddenRange[] {
  const ranges: HiddenRange[] = [];
  const closings = backtickRuns(text);
  // Once no comment ends behind here, none will.
  let mayClose = true;
  for (let at = 0; at < text.length; ) {
    const character = text[at];
    if (character === '\\') {
      at += 2;
    } else if (character === '`') {
      const length = runLength(text, at);
      const end = closings(length, at + length);
      if (end !== null) ranges.push({ kind: 'code', from: at, to: end });
      at = end ?? at + length;
    } else if (mayClose && text.startsWith('<!--', at)) {
      const end = text.indexOf('-->', at + 4);
      mayClose = end >= 0;
      if (mayClose) ranges.push({ kind: 'comment', from: at, to: end + 3 });
      at = mayClose ? end + 3 : at + 4;
    } else {
      at += 1;
    }
  }
  return ranges;
}

function runLength(text: string, from: number): number {
  let end = from;
  while (text[end] === '`') end += 1;
  return end - from;
}

/** Finds the end of the first run of exactly this length at or behind a place; asked for rising places only. */
function backtickRuns(text: string): (length: number, from: number) => number | null {
  const byLength = new Map<number, { ends: number[]; next: number }>();
  for (const match of text.matchAll(/`+/g)) {
    const { length } = match[0];
    const known = byLength.get(length) ?? { ends: [], next: 0 };
    known.ends.push(match.index + length);
    byLength.set(length, known);
  }
  return (length, from) => {
    const runs = byLength.get(length);
    if (runs === undefined) return null;
    while (runs.next < runs.ends.length && (runs.ends[runs.next] ?? 0) - length < from) runs.next += 1;
    return runs.ends[runs.next] ?? null;
  };
}
