// The difference of two texts as people know it from `diff -u`, for `init --dry-run`. Settings files are small and
// changes local, so the shortest way is found by plain search; it prints nothing itself.

const contextLines = 3;

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** Null stands for a file that is not there. Empty: nothing changed. */
export function diffTexts(path: string, before: string | null, after: string | null): string[] {
  if (before === after) return [];
  const lines = compare(linesOf(before), linesOf(after));
  const head = [`--- ${before === null ? '/dev/null' : path}`, `+++ ${after === null ? '/dev/null' : path}`];
  return [...head, ...hunksOf(lines).flatMap(show)];
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return [];
  const lines = text.split('\n');
  // The last line has no end where the file does not end in one; the difference must not be lost.
  return text.endsWith('\n')
    ? lines.slice(0, -1)
    : [...lines.slice(0, -1), `${lines.at(-1)}\\ No newline at end of file`];
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const room = Math.min(before.length, after.length) - start;
  while (end < room && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (text: string): Line => ({ sign: ' ', text });
  return [
    ...before.slice(0, start).map(same),
    ...shortestWay(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ];
}

/** Beyond this many cells the middle is shown as taken out and put in whole. */
const mostCells = 4_000_000;

function shortestWay(before: readonly string[], after: readonly string[]): Line[] {
  const removed = before.map((text): Line => ({ sign: '-', text }));
  const added = after.map((text): Line => ({ sign: '+', text }));
  if (before.length * after.length > mostCells) return [...removed, ...added];
  const width = after.length + 1;
  // The longest common rest from each pair of positions on.
  const common = new Uint32Array((before.length + 1) * width);
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const place = row * width + column;
      common[place] =
        before[row] === after[column]
          ? 1 + (common[place + width + 1] ?? 0)
          : Math.max(common[place + width] ?? 0, common[place + 1] ?? 0);
    }
  }
  const lines: Line[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const place = row * width + column;
    const isSame = row < before.length && column < after.length && before[row] === after[column];
    const takesOut =
      column >= after.length ||
      (row < before.length && (common[place + width] ?? 0) >= (common[place + 1] ?? 0));
    const line = isSame
      ? ({ sign: ' ', text: before[row] ?? '' } as const)
      : takesOut
        ? removed[row]
        : added[column];
    if (line !== undefined) lines.push(line);
    if (isSame || takesOut) row += 1;
    if (isSame || !takesOut) column += 1;
  }
  return lines;
}

interface Hunk {
  readonly before: number;
  readonly after: number;
  readonly lines: readonly Line[];
}

function hunksOf(lines: readonly Line[]): Hunk[] {
  const changed = lines.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  const ranges: [number, number][] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    if (last !== undefined && index - last[1] <= 2 * contextLines) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([first, last]) => {
    const start = Math.max(0, first - contextLines);
    const earlier = lines.slice(0, start);
    return {
      before: earlier.filter(({ sign }) => sign !== '+').length,
      after: earlier.filter(({ sign }) => sign !== '-').length,
      lines: lines.slice(start, last + 1 + contextLines),
    };
  });
}

function show({ before, after, lines }: Hunk): string[] {
  const range = (start: number, other: '-' | '+'): string => {
    const length = lines.filter(({ sign }) => sign !== other).length;
    return `${length === 0 ? start : start + 1},${length}`;
  };
  return [
    `@@ -${range(before, '+')} +${range(after, '-')} @@`,
    ...lines.map(({ sign, text }) => `${sign}${text.endsWith('\r') ? text.slice(0, -1) : text}`),
  ];
}
