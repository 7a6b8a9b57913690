// Random numbers from a seed: the same seed is the same story, so that one that went
// wrong can be told again.

export interface Random {
  /** Whole, from 0 to below `end`. */
  below(end: number): number;
  /** True so often out of a hundred. */
  chance(percent: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  shuffle<Value>(values: readonly Value[]): Value[];
}

export function createRandom(seed: number): Random {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    chance: (percent) => next() * 100 < percent,
    pick(values) {
      const value = values[below(values.length)];
      if (value === undefined) throw new Error('There is nothing to pick from.');
      return value;
    },
    shuffle(values) {
      const mixed = [...values];
      for (let index = mixed.length - 1; index > 0; index -= 1) {
        const other = below(index + 1);
        [mixed[index], mixed[other]] = [mixed[other] as never, mixed[index] as never];
      }
      return mixed;
    },
  };
}

/** Runs `work` for each number from `from` on, a few at a time. */
export async function forEachSeed(
  from: number,
  count: number,
  atOnce: number,
  work: (seed: number) => Promise<void>,
): Promise<void> {
  let next = from;
  const worker = async (): Promise<void> => {
    while (next < from + count) {
      const seed = next;
      next += 1;
      await work(seed);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
