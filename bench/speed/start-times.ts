// Starts Node with different words in turns, within one run, and prints what each costs
// beside the first, a bare Node: wall time (medians) and processor time (means; it swings
// less where other work runs). It judges nothing.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { median } from '../../test/support/prefix-share.ts';

type Place = Readonly<{ cwd: string; env: NodeJS.ProcessEnv }>;

export function start(words: readonly string[], place: Place): number {
  const began = performance.now();
  const { status, stderr } = spawnSync(process.execPath, words, {
    ...place,
    input: '',
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - began;
}

/**
 * Of the processes that were waited for, in milliseconds; Linux counts in hundredths of a
 * second.
 */
function processorTime(): number {
  const text = readFileSync('/proc/self/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

export function printTimes(
  kinds: Readonly<Record<string, readonly string[]>>,
  runs: number,
  place: Place,
): void {
  const rows = Object.entries(kinds).map(([name, words]) => {
    // The first start of each fills the caches of the system.
    start(words, place);
    return { name, words, wall: [] as number[], processor: 0 };
  });
  for (let index = 0; index < runs; index += 1) {
    for (const row of rows) {
      const before = processorTime();
      row.wall.push(start(row.words, place));
      row.processor += processorTime() - before;
    }
  }
  const [bare] = rows;
  console.log(`to the end of the process, ${runs} runs each:`);
  for (const { name, wall, processor } of rows) {
    const middle = median(wall) ?? 0;
    const base = median(bare?.wall ?? []) ?? 1;
    console.log(
      `  ${name.padEnd(24)} ${middle.toFixed(0).padStart(4)} ms, ${(middle / base).toFixed(2)} of bare Node;` +
        ` processor ${(processor / runs).toFixed(0).padStart(4)} ms, ${(processor / (bare?.processor || 1)).toFixed(2)}`,
    );
  }
}
