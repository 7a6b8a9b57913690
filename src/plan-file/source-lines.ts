// The lines of a text and where each one starts, by the line ends that Markdown knows: LF, CRLF and a lone CR.
// Offsets are those of the text as it is; nothing is normalised.

export interface SourceLines {
  readonly count: number;
  /** Without its line end; empty beyond the last line. */
  text(index: number): string;
  /** Offset of the line's first character. */
  start(index: number): number;
}

export function createSourceLines(text: string): SourceLines {
  const starts = [0];
  const ends: number[] = [];
  for (const match of text.matchAll(/\r\n?|\n/g)) {
    ends.push(match.index);
    starts.push(match.index + match[0].length);
  }
  ends.push(text.length);
  return {
    count: starts.length,
    text: (index) => text.slice(starts[index] ?? text.length, ends[index] ?? text.length),
    start: (index) => starts[index] ?? text.length,
  };
}
