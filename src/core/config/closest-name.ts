// Finds the known name that someone probably meant, for "did you mean".
// It suggests nothing when nothing is near: a wrong suggestion is worse than none.

/** Longer keys are no slips of a known name, and comparing them costs time. */
const longestTypo = 64;

export function closestName(written: string, known: readonly string[]): string | null {
  if (written.length > longestTypo) return null;
  const lower = written.toLowerCase();
  let best: string | null = null;
  // A third of the letters wrong is still a slip; more is another word.
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

/** Insertions, deletions and replacements that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
