// Samples of the two proofs over random agents; `npm run test:extra -- evidence` runs
// all of them (must hold 1 and 3).
import { expect, it } from 'vitest';
import { honestFault } from '../evidence/honest-runs.ts';
import { forEachSeed } from '../evidence/random.ts';
import { randomFaults } from '../evidence/random-agents.ts';

const patienceMs = 180_000;

it(
  'P2 P29 P31: 20 random honest runs are neither reopened nor challenged, and end as they must',
  async () => {
    const faults: (string | null)[] = [];
    await forEachSeed(
      1,
      20,
      3,
      async (seed) => void faults.push(await honestFault(seed, 2)),
    );
    expect(faults).toHaveLength(20);
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  },
  patienceMs,
);

it(
  'V1 V2: 6 random agents: whoever is done passes the human’s checks on the final workspace',
  async () => {
    const broken: string[] = [];
    let done = 0;
    await forEachSeed(8, 6, 3, async (seed) => {
      const { run, faults } = await randomFaults(seed);
      if (run.ended.outcome === 'done') done += 1;
      broken.push(...faults.map((check) => `seed ${seed}: ${check}`));
    });
    expect(broken).toEqual([]);
    expect(done, 'a proof about runs that are done needs some').toBeGreaterThan(1);
  },
  patienceMs,
);
