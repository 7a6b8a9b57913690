// The long form of the proofs of the issue "Evidence": prints counts, and exits with 1 if
// a promise was broken.
// Usage: npm run test:extra -- evidence [HONEST] [RANDOM] [PROCESSES]; 0 leaves a proof
// out.
import { honestFault } from './honest-runs.ts';
import {
  killedAsker,
  killedGroup,
  killedRunner,
  manyAskers,
  manyHooks,
} from './queue-proofs.ts';
import { forEachSeed } from './random.ts';
import { randomFaults } from './random-agents.ts';

const [honest = 1000, random = 300, processes = 50] = process.argv.slice(2).map(Number);
/**
 * More would only wait for each other: a run is mostly small files and short processes.
 */
const atOnce = 3;
let broken = 0;

function tell(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

function complain(what: string): void {
  broken += 1;
  tell(`  broken: ${what}`);
}

async function proveHonest(): Promise<void> {
  let sound = 0;
  await forEachSeed(1, honest, atOnce, async (seed) => {
    const fault = await honestFault(seed);
    if (fault === null) sound += 1;
    else complain(fault);
    if (seed % 100 === 0) tell(`  … ${seed} honest runs`);
  });
  tell(
    `${honest} random honest runs: ${sound} without a reopening or a challenge and with the right outcome`,
  );
}

async function proveRandom(): Promise<void> {
  const outcomes: Record<string, number> = {};
  await forEachSeed(1, random, atOnce, async (seed) => {
    const { run, faults } = await randomFaults(seed);
    outcomes[run.ended.outcome] = (outcomes[run.ended.outcome] ?? 0) + 1;
    for (const check of faults)
      complain(`seed ${seed} is done, and the check ${check} fails`);
    if (seed % 100 === 0) tell(`  … ${seed} random agents`);
  });
  tell(`${random} random agents: ${JSON.stringify(outcomes)}`);
}

async function proveQueue(): Promise<void> {
  const proofs = {
    [`${processes} processes ask for one check`]: manyAskers(processes),
    [`${processes} hooks stop at once`]: manyHooks(processes),
    'a runner is killed': killedRunner,
    'an asker is killed': killedAsker,
    'the process group of a starter is killed': killedGroup,
  };
  for (const [name, prove] of Object.entries(proofs)) {
    const faults = await prove();
    for (const fault of faults) complain(`${name}: ${fault}`);
    tell(`${name}: ${faults.length === 0 ? 'as promised' : 'not as promised'}`);
  }
}

if (processes > 0) await proveQueue();
if (random > 0) await proveRandom();
if (honest > 0) await proveHonest();
tell(`${broken} broken promises`);
process.exitCode = broken === 0 ? 0 : 1;
