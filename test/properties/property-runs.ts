// How many random sequences a property gets, and what they looked like: printed, so that
// the figure in the docs can be checked, and asserted, so that a generator that has
// shrunk is noticed.
import fc from 'fast-check';
import { expect } from 'vitest';
import type { HostMode } from '../../src/core/events.ts';
import { type Life, live, type Setup, setupOf } from './run-sequence.ts';

/**
 * For nights: UNTILDONE_PROPERTY_RUNS=500000. A planted defect shows up within a few
 * hundred sequences, or not at all.
 */
export function propertyRuns(byDefault: number): number {
  if (process.env['UNTILDONE_MUTATION'] !== undefined) return Math.min(byDefault, 300);
  const wanted = Number(process.env['UNTILDONE_PROPERTY_RUNS'] ?? 20_000);
  return Math.ceil((byDefault * wanted) / 20_000);
}

/**
 * The same sequences in every ordinary run, so that a red test is the doing of a change;
 * nights look for new ones.
 */
export const propertySeed: { readonly seed?: number } = process.env[
  'UNTILDONE_PROPERTY_RUNS'
]
  ? {}
  : { seed: 20_260_101 };

/** fast-check's default size is far shorter than the life of a session. */
const longestSequence = 180;
/**
 * What "long enough to get into trouble" means: half of the sequences have at least this
 * many events.
 */
const wantedMedian = 80;

const numbers = fc.array(fc.integer({ min: 0, max: 2 ** 45 }), {
  minLength: 1,
  maxLength: longestSequence,
  size: 'max',
});
const setupNumber = fc.integer({ min: 0, max: 2 ** 40 });

export interface Lives {
  readonly sequences: number;
  readonly medianLength: number;
  readonly events: number;
  readonly continuations: number;
  /** Outcomes `done` of runs that answer for their goal (V1). */
  readonly proved: number;
}

/**
 * Lives through `runs` random sequences; `look` sees each of them after its invariants
 * held throughout.
 */
export function assertLives(
  runs: number,
  setup: (number: number) => Setup,
  look: (life: Life, setup: Setup) => void = () => {},
): Lives {
  const lengths: number[] = [];
  let continuations = 0;
  let proved = 0;
  fc.assert(
    fc.property(setupNumber, numbers, (number, sequence) => {
      const chosen = setup(number);
      const life = live(chosen, sequence);
      lengths.push(life.events.length);
      continuations += life.continuations;
      if (chosen.descriptor.judgesGoal)
        proved += life.decisions.filter(({ outcome }) => outcome === 'done').length;
      look(life, chosen);
    }),
    // Without bias every length is as likely as any other; with it, half of the sequences
    // would be short.
    { numRuns: runs, plugins: [fc.unbiased()], ...propertySeed },
  );
  lengths.sort((a, b) => a - b);
  return {
    sequences: lengths.length,
    medianLength: lengths[Math.floor(lengths.length / 2)] ?? 0,
    events: lengths.reduce((sum, length) => sum + length, 0),
    continuations,
    proved,
  };
}

/** The invariants over one kind of host, with the figures of the run on one line. */
export function assertInvariants(mode: HostMode, byDefault: number): void {
  const started = performance.now();
  const lives = assertLives(propertyRuns(byDefault), (number) => setupOf(number, mode));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `properties (${mode}): ${lives.sequences} sequences, median length ${lives.medianLength} events, ` +
      `${lives.events} events, ${lives.continuations} continuations, ${lives.proved} proved runs, ${seconds} s`,
  );
  expect(lives.medianLength).toBeGreaterThanOrEqual(wantedMedian);
  // A generator that never gets anything continued would prove nothing about
  // continuations.
  expect(lives.continuations).toBeGreaterThan(lives.sequences);
  // Nor would one that never gets to the end prove anything about `done`.
  expect(lives.proved).toBeGreaterThan(lives.sequences / 4);
}
