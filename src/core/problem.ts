// Says what is wrong with a value from outside. Quotes of the value are short, on one
// line and safe for a terminal.

/** One problem, and where it is. */
export interface Problem {
  /**
   * Such as `agents.build.mode`, `UNTILDONE_MODE` or `--mode`; empty: the whole value.
   */
  readonly path: string;
  readonly message: string;
}

/** Takes a problem. A function is called only if someone will read its words. */
export type Report = (
  path: string | (() => string),
  message: string | (() => string),
) => void;

/** Collects problems up to a limit, because a file can be wrong in a million places. */
export function collectProblems(most = 100) {
  const kept: Problem[] = [];
  let more = 0;
  const report: Report = (path, message) => {
    if (kept.length >= most) more += 1;
    else kept.push({ path: toWords(path), message: toWords(message) });
  };
  const remainder = () => ({
    path: '',
    message: `${more} more ${more === 1 ? 'problem' : 'problems'}`,
  });
  const problems = (): readonly Problem[] => (more === 0 ? kept : [...kept, remainder()]);
  return { report, problems };
}

function toWords(words: string | (() => string)): string {
  return typeof words === 'string' ? words : words();
}

/** A problem as one sentence. */
export function problemSentence({ path, message }: Problem): string {
  return path === '' ? message : `${path}: ${message}`;
}

/** As long as names may be, so that no accepted name is cut. */
const longestKey = 100;

/**
 * A path with one more key: `agents.build`. A key that is no plain word is quoted:
 * `agents["my agent"]`.
 */
export function joinPath(path: string, key: string): string {
  if (!/^[\w$-]{1,100}$/.test(key)) return `${path}[${quoteText(key, longestKey)}]`;
  return path === '' ? key : `${path}.${key}`;
}

const longestExcerpt = 40;

/** Quotes enough of a value to find it, never the whole value. */
export function excerpt(value: unknown): string {
  if (typeof value === 'string') return quoteText(value, longestExcerpt);
  if (value === undefined) return 'nothing';
  if (Array.isArray(value))
    return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (value === null || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Quotes at most `longest` code points of a text. */
export function quoteText(text: string, longest: number): string {
  // A code point has at most two units, so a huge text costs nothing.
  const points = [...text.slice(0, 2 * longest + 2)];
  const shown =
    points.length > longest ? `${points.slice(0, longest).join('')}…` : points.join('');
  return makePrintable(JSON.stringify(shown));
}

/** Escapes every character that must not reach a terminal. */
export function makePrintable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}

/** Longer keys are no typing errors, and comparing them costs time. */
const longestTypo = 64;

/** The name that was probably meant; null: a wrong suggestion is worse than none. */
export function closestName(written: string, known: readonly string[]): string | null {
  if (written.length > longestTypo) return null;
  const lower = written.toLowerCase();
  let best: string | null = null;
  // If a third of the letters is wrong, it is still a typing error.
  let bestDistance = Math.max(1, Math.floor(lower.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(lower, name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Ends a sentence with a full stop, unless it has a mark already. */
export const withFullStop = (sentence: string) =>
  /[.!?…]$/u.test(sentence) ? sentence : `${sentence}.`;

/** Adds the name that was probably meant to a sentence. */
export function didYouMean(
  sentence: string,
  written: string,
  known: readonly string[],
): string {
  const closest = closestName(written, known);
  return closest === null ? sentence : `${sentence}; did you mean "${closest}"?`;
}

/** The number of typing errors between two words; two swapped letters are one. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced =
        (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwapped =
        from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && isSwapped ? (before[column - 2] ?? 0) + 1 : replaced;
      current.push(
        Math.min(
          replaced,
          swapped,
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
        ),
      );
    }
    before = previous;
    previous = current;
  }
  return previous[to.length] ?? 0;
}
