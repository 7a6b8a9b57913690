// How much two titles overlap, by character bigrams, so that it works in every language (V4).

export type Bigrams = ReadonlyMap<string, number>;

export function bigrams(text: string): Bigrams {
  const characters = [...text];
  const counts = new Map<string, number>();
  if (characters.length === 1) counts.set(text, 1);
  for (let i = 0; i + 1 < characters.length; i++) {
    const pair = `${characters[i]}${characters[i + 1]}`;
    counts.set(pair, (counts.get(pair) ?? 0) + 1);
  }
  return counts;
}

/** 0 to 1 (Dice coefficient) over normalised titles. */
export function titleOverlap(a: string, b: string): number {
  return bigramOverlap(bigrams(a), bigrams(b));
}

/** The same for titles that are compared more than once. */
export function bigramOverlap(left: Bigrams, right: Bigrams): number {
  let size = 0;
  let shared = 0;
  for (const [pair, count] of left) {
    size += count;
    shared += Math.min(count, right.get(pair) ?? 0);
  }
  for (const count of right.values()) size += count;
  return size === 0 ? 0 : (2 * shared) / size;
}

/** Half: rewording keeps most of a title's letters, replacing a hard todo with an easy one does not. */
export const rewordedOverlap = 0.5;
