// {a,b} in a glob: one pattern becomes several. Bounded, since ten pairs of braces are already a thousand.

export const mostAlternatives = 100;

/** Null when there are more than `mostAlternatives`. A brace that nothing closes stands for itself. */
export function expandBraces(pattern: string): string[] | null {
  const queue = [pattern];
  const expanded: string[] = [];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const braces = findBraces(next);
    if (braces === null) expanded.push(next);
    else queue.push(...braces.alternatives.map((alternative) => braces.before + alternative + braces.after));
    if (queue.length + expanded.length > mostAlternatives) return null;
  }
  return expanded.reverse();
}

interface Braces {
  readonly before: string;
  readonly alternatives: readonly string[];
  readonly after: string;
}

/** The first outermost pair of braces that holds a comma. */
function findBraces(pattern: string): Braces | null {
  let depth = 0;
  let open = -1;
  let commas: number[] = [];
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') {
      depth += 1;
      if (depth === 1) {
        open = at;
        commas = [];
      }
    } else if (character === ',' && depth === 1) commas.push(at);
    else if (character === '}' && depth > 0) {
      depth -= 1;
      if (depth === 0 && commas.length > 0) return cutAt(pattern, open, commas, at);
    }
  }
  return null;
}

function cutAt(pattern: string, open: number, commas: readonly number[], close: number): Braces {
  const starts = [open, ...commas];
  const ends = [...commas, close];
  return {
    before: pattern.slice(0, open),
    alternatives: starts.map((start, index) => pattern.slice(start + 1, ends[index])),
    after: pattern.slice(close + 1),
  };
}
