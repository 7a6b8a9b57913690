// What a file tool did to a file, as a human wants to see it: lines added and removed,
// and a diff that is bounded in size and in time. For showing only: nothing is decided by
// it.
import { displayName } from '../../core/safe-text.ts';

export type FileChange = Readonly<{
  /** As the tool shows it. */
  path: string;
  /** null: there was no such file. */
  before: string | null;
  after: string;
}>;

/** A screen or two; who wants more has the file. */
const longestDiff = 6000;
/** Two big files with nothing in common take seconds to compare. */
const compareMs = 200;
const comparedLength = 400_000;

export async function describeChange({ path, before, after }: FileChange) {
  const about = { path: displayName(path), isNew: before === null };
  const old = before ?? '';
  const isSmall = old.length + after.length <= comparedLength;
  const { structuredPatch } = await import('diff');
  const patch = isSmall
    ? structuredPatch('', '', old, after, '', '', { context: 2, timeout: compareMs })
    : undefined;
  if (patch === undefined)
    return { ...about, added: linesOf(after), removed: linesOf(old), diff: '' };
  const lines = patch.hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines,
  ]);
  const counted = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  const whole = lines.join('\n');
  const diff =
    whole.length <= longestDiff ? whole : `${whole.slice(0, longestDiff)}\n(cut)`;
  return { ...about, added: counted('+'), removed: counted('-'), diff };
}

function linesOf(text: string): number {
  return text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
