// Picks from the output of a failed check the lines that tell a person what failed (V1). The same lines stand in the texts
// to agents, on the screen and in the record. It never judges whether a check failed: its exit status has done that.
import { stripTerminalControls } from './safe-text.ts';

/** Marks of test programs, and words that programs put before what went wrong. Capitals matter: "0 failed" is no failure. */
const mark =
  /[✖✗✘✕×]|\bFAIL(?:ED|URES?)?\b|\bnot ok\b|(?:Error|Exception)\b|\berrors?(?:\[\w+\])?(?=[ :]|$)|\bERROR\b|\bfatal:|\bpanic(?:ked)?\b|^E {2}|^\s*● /u;
/** What was expected and what was there: told below the mark, so the line before it says nothing more. */
const detail =
  /^\s*(?:error|[Ee]xpected|[Rr]eceived|[Aa]ctual|[Gg]ot|[Ww]ant(?:ed)?|left|right)\b *:|^\s*expect\(/u;
/** It only says that something follows. */
const announces = /(?::|\|-)\s*$|^\s*--- FAIL:/u;
const passed = /^\s*(?:[✓✔√]|ok\b|PASS\b|--- PASS)|\.\.\. ok$|\bPASSED\b/u;
/** Rulers and headings, frames of a stack, counts, fields that repeat the message, and npm's words about any failed script. */
const noise =
  /^\s*[=\-_⎯─]{4}|^\s*---$|^=== |^\s*\^[\^~ ]*$|^\s*✖ failing tests:$|^\s*at |^\s*(?:# |ℹ )|^\s*(?:name|code|type|failureType|operator): |^npm (?:error|ERR!)|\b(?:0|no) (?:errors?|failures?)\b/u;
/** The name of a test is printed when it fails, and again above its failure. */
const named = /^\s*(?:[✖✗✘✕×●]|FAIL\b)/u;
const duration = / \(?[\d.]+ ?m?s\)?$/u;

/** More of one line tells nobody more, and must not take time. */
const longestLine = 2000;
/** An output is kept much shorter; what comes from elsewhere may not be. */
const longestOutput = 65_536;
/** After a line that announces something. */
const followed = 3;
/** Thousands of failures have one cause, and the first ones show it. */
const mostPicked = 400;

/** At most `most` lines that say something, without terminal controls: those that failed, else the last ones. */
export function pickFailedLines(output: string, most: number): string[] {
  const lines = linesOf(output);
  const failed = failedLines(lines);
  return failed.length > 0 ? failed.slice(0, most) : lines.filter((line) => line.trim() !== '').slice(-most);
}

/** Of a check that failed: what the system saw is the first line of its `tail`, and what it printed are the others. */
type Failure = Readonly<{ name: string; tail: string | null }>;

export function readFailure(tail: string): Readonly<{ seen: string; output: string }> {
  const [seen = '', ...printed] = tail.split('\n');
  return { seen, output: printed.join('\n') };
}

/** For each the name of the first one that printed the same; null: it is the first, or it printed nothing. */
export function findSameOutput(failed: readonly Failure[]): (string | null)[] {
  const names = new Map<string, string>();
  return failed.map(({ name, tail }) => {
    const key = tail === null ? '' : outputKey(readFailure(tail).output);
    const same = names.get(key) ?? null;
    if (key !== '' && same === null) names.set(key, name);
    return same;
  });
}

/** What an output prints anew each time: how long it took, when that was, and addresses in memory. */
const changing =
  /\b\d+(?:\.\d+)?(?: ?(?:[mµn]?s|secs?|seconds?|min|m)\b|%)|\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d:\d\d(?:\.\d+)?|\b0x[\da-f]+\b|(?<=duration_ms:? )[\d.]+/giu;

/** An output by which the same one is known again. Empty: nothing was printed. */
export function outputKey(output: string): string {
  return linesOf(output)
    .map((line) => line.slice(0, longestLine).replace(changing, ''))
    .join('\n')
    .trim();
}

function linesOf(output: string): string[] {
  const broken = output.slice(-longestOutput).replace(/\r\n?|[\v\f\u0085\u2028\u2029]/gu, '\n');
  return stripTerminalControls(broken.replaceAll('\t', '    '))
    .split('\n')
    .map((line) => line.trimEnd());
}

/**
 * The lines with a mark, the line before each, what stands below the name of a test, and what a line announces. No name
 * stands there twice.
 */
export function failedLines(whole: readonly string[]): string[] {
  const lines = whole.map((line) => line.slice(0, longestLine));
  const picked = new Set<number>();
  const isUsable = (index: number): boolean => {
    const line = lines[index] ?? '';
    return line.trim() !== '' && !noise.test(line) && !passed.test(line);
  };
  lines.forEach((line, index) => {
    if (!isUsable(index)) return;
    const isMarked = mark.test(line);
    if (!isMarked && !detail.test(line)) return;
    if (isMarked && !detail.test(line) && isUsable(index - 1)) picked.add(index - 1);
    picked.add(index);
    if (nameOf(line) !== null && indentOf(lines[index + 1] ?? '') > indentOf(line) && isUsable(index + 1))
      picked.add(index + 1);
    for (const next of announced(lines, index)) if (isUsable(next)) picked.add(next);
  });
  // "expected: 4" without any mark may be anything: then the end of the output says more.
  const first = [...picked].sort((one, other) => one - other).slice(0, mostPicked);
  const all = first.map((index) => lines[index] ?? '');
  const isFailure = all.some((line) => mark.test(line));
  return isFailure ? withoutRepeatedNames(all) : [];
}

const indentOf = (line: string): number => line.search(/\S/u);

function announced(lines: readonly string[], from: number): number[] {
  const found: number[] = [];
  for (let last = from; found.length < followed && announces.test(lines[last] ?? ''); ) {
    last += 1;
    while (lines[last]?.trim() === '') last += 1;
    if (last < lines.length) found.push(last);
  }
  return found;
}

/** Without the time that the test took. In two steps: one pattern for both takes hours on hostile lines. */
function nameOf(line: string): string | null {
  const [start] = named.exec(line) ?? [];
  if (start === undefined) return null;
  return line.slice(start.length).trim().replace(duration, '') || null;
}

/** The last one stands above what was wrong. */
function withoutRepeatedNames(lines: readonly string[]): string[] {
  const names = lines.map(nameOf);
  return lines.filter((_, index) => {
    const own = names[index] ?? null;
    return own === null || !names.slice(index + 1).some((later) => later?.endsWith(own));
  });
}
