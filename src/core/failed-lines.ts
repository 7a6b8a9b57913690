// Picks from the output of a failed check the lines that tell a person what failed (V1).
// The same lines stand in the texts to agents, on the screen and in the record. Nothing
// here judges whether a check failed: its exit status has done that.
import { stripTerminalControls } from './safe-text.ts';

/**
 * Marks of test programs, and words that programs print before an error. Capitals matter:
 * "0 failed" is no failure.
 */
const failureMark =
  /[✖✗✘✕×]|\bFAIL(?:ED|URES?)?\b|\bnot ok\b|(?:Error|Exception)(?=\s*(?:[:[(]|$))|\berrors?(?:\[\w+\])?(?=[ :]|$)|\bERROR\b|\bfatal:|\bpanic(?:ked)?\b|^E {2}|^\s*● /u;
/**
 * What was expected and what was there. It stands below a mark, so the line before it
 * adds nothing.
 */
const failureDetail =
  /^\s*(?:error|[Ee]xpected|[Rr]eceived|[Aa]ctual|[Gg]ot|[Ww]ant(?:ed)?|left|right)\b *:|^\s*expect\(/u;
/** A line that only says that something follows. */
const announcement = /(?::|\|-)\s*$|^\s*--- FAIL:/u;
const passedTest = /^\s*(?:[✓✔√]|ok\b|PASS\b|--- PASS)|\.\.\. ok$|\bPASSED\b/u;
/**
 * Rulers, headings, frames of a stack, counts, fields that repeat the message, and the
 * lines that npm prints about any failed script.
 */
const noise =
  /^\s*[=\-_⎯─]{4}|^\s*---$|^=== |^\s*\^[\^~ ]*$|^\s*✖ failing tests:$|^\s*at |^\s*(?:# |ℹ )|^\s*(?:name|code|type|failureType|operator): |^npm (?:error|ERR!)(?! Missing script)|\b(?:0|no) (?:errors?|failures?|FAIL(?:ED|URES?)?)\b|^Node\.js v\d/u;
/** A test program prints the name of a test when it fails, and again above the reason. */
const testNameStart = /^\s*(?:[✖✗✘✕×●]|FAIL\b)/u;
const duration = / \(?[\d.]+ ?m?s\)?$/u;

/** In characters: the rest of a longer line helps nobody, and to search it takes time. */
const longestLine = 2000;
/**
 * In characters: our own record of an output is much shorter, but a caller may pass a
 * longer text.
 */
const longestOutput = 65_536;
/** Lines that are picked below one that announces something. */
const mostAnnounced = 3;
/** Thousands of failures mostly have one cause, and the first lines show it. */
const mostPicked = 400;

/**
 * At most `most` lines without terminal controls: the first that say what failed; if none
 * does, the last of the output.
 */
export function pickFailedLines(output: string, most: number): string[] {
  const lines = splitLines(output);
  const failed = findFailedLines(lines);
  return failed.length > 0
    ? failed.slice(0, most)
    : lines.filter((line) => line.trim() !== '').slice(-most);
}

/**
 * A failed check or the todo that it is for; `tail` null: nothing is known about its
 * failure.
 */
export type CheckFailure = Readonly<{ name: string; tail: string | null }>;

/**
 * The first line of a tail says in our words how the check ended; the lines below it are
 * what the check printed.
 */
export function readFailure(
  tail: string,
): Readonly<{ sentence: string; output: string }> {
  const [sentence = '', ...printed] = tail.split('\n');
  return { sentence, output: printed.join('\n') };
}

/**
 * For each failure the name of the first one with the same output; null: it is the first,
 * or it printed nothing.
 */
export function findSameOutput(failures: readonly CheckFailure[]): (string | null)[] {
  const names = new Map<string, string>();
  return failures.map(({ name, tail }) => {
    const key = tail === null ? '' : outputKey(readFailure(tail).output);
    const same = names.get(key) ?? null;
    if (key !== '' && same === null) names.set(key, name);
    return same;
  });
}

/**
 * The parts of an output that differ in each run: durations, times of day, dates,
 * percentages and addresses in memory.
 */
const changingParts =
  /\b\d+(?:\.\d+)?(?: ?(?:[mµn]?s|secs?|seconds?|min|m)\b|%)|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d:\d\d(?:\.\d+)?|\b0x[\da-f]+\b|(?<=duration_ms:? )[\d.]+/giu;

/**
 * Two outputs with equal keys are the same except for `changingParts`. Empty: nothing was
 * printed.
 */
export function outputKey(output: string): string {
  return splitLines(output)
    .map((line) => line.slice(0, longestLine).replace(changingParts, ''))
    .join('\n')
    .trim();
}

function splitLines(output: string): string[] {
  const broken = output
    .slice(-longestOutput)
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/gu, '\n');
  return stripTerminalControls(broken.replaceAll('\t', '    '))
    .split('\n')
    .map((line) => line.trimEnd());
}

/**
 * The lines with a mark, the line before each, the line below the name of a test, and the
 * lines that such a line announces. Each name of a test stands there once. Empty: no line
 * has a mark.
 */
export function findFailedLines(output: readonly string[]): string[] {
  const lines = output.map((line) => line.slice(0, longestLine));
  const picked = new Set<number>();
  const isUsable = (index: number): boolean => {
    const line = lines[index] ?? '';
    return line.trim() !== '' && !noise.test(line) && !passedTest.test(line);
  };
  lines.forEach((line, index) => {
    if (!isUsable(index)) return;
    const isDetail = failureDetail.test(line);
    const isMarked = failureMark.test(line);
    if (!isMarked && !isDetail) return;
    if (isMarked && !isDetail && isUsable(index - 1)) picked.add(index - 1);
    picked.add(index);
    const isIndentedBelow = indentOf(lines[index + 1] ?? '') > indentOf(line);
    if (readTestName(line) !== null && isIndentedBelow && isUsable(index + 1))
      picked.add(index + 1);
    for (const next of findAnnounced(lines, index)) if (isUsable(next)) picked.add(next);
  });
  const indexes = [...picked].sort((one, other) => one - other).slice(0, mostPicked);
  const failed = indexes.map((index) => lines[index] ?? '');
  // "expected: 4" without any mark may be anything: then the end of the output says more.
  const hasMark = failed.some((line) => failureMark.test(line));
  return hasMark ? withoutRepeatedNames(failed) : [];
}

const indentOf = (line: string): number => line.search(/\S/u);

/**
 * The indexes of the lines that the line at `from` announces; a line below may announce
 * the next one.
 */
function findAnnounced(lines: readonly string[], from: number): number[] {
  const found: number[] = [];
  let index = from;
  while (found.length < mostAnnounced && announcement.test(lines[index] ?? '')) {
    index += 1;
    while (lines[index]?.trim() === '') index += 1;
    if (index < lines.length) found.push(index);
  }
  return found;
}

/**
 * The name of a test without its duration. Name and duration are read in two steps,
 * because one pattern for both takes hours on hostile lines.
 */
function readTestName(line: string): string | null {
  const [start] = testNameStart.exec(line) ?? [];
  if (start === undefined) return null;
  return line.slice(start.length).trim().replace(duration, '') || null;
}

/** Keeps the last line with each name: the reason stands below that one. */
function withoutRepeatedNames(lines: readonly string[]): string[] {
  const names = lines.map(readTestName);
  return lines.filter((_, index) => {
    const own = names[index] ?? null;
    return own === null || !names.slice(index + 1).some((later) => later?.endsWith(own));
  });
}
