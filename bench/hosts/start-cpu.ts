// How much processor time `opencode serve` takes to open a folder with these plugins,
// until it has come to rest. What the host itself needs before that is left out: it is
// the same for all and swings by more than a plugin costs.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServe } from '../../test/hosts/opencode/serve.ts';
import { createSurroundings } from '../../test/hosts/opencode/stage.ts';

/** Clock ticks of Linux, which has had 100 in a second on every machine since 2.6. */
const tickMs = 10;
/**
 * The host works on after it has answered; what a plugin does later belongs to its start
 * as well.
 */
const restMs = 2500;

export interface Start {
  /**
   * Processor time of all threads and of the processes that were waited for, in steps of
   * ten.
   */
  readonly milliseconds: number;
  /** What can be typed then, by which one sees that a plugin was loaded. */
  readonly commands: readonly string[];
}

export interface StartMeter {
  measure(plugins: readonly string[]): Promise<Start>;
  close(): Promise<void>;
}

/** One home for all: its database is made once. */
export async function createStartMeter(): Promise<StartMeter> {
  const around = await createSurroundings([]);
  return {
    async measure(plugins) {
      const directory = around.folder({ plugins });
      const serve = await startServe(around.project);
      try {
        await sleep(restMs / 2);
        const before = cpuOf(serve.pid);
        await serve.call(directory, 'GET', '/session');
        const known = await serve.call<readonly { name: string }[]>(
          directory,
          'GET',
          '/command',
        );
        await sleep(restMs);
        return {
          milliseconds: cpuOf(serve.pid) - before,
          commands: known.map(({ name }) => name),
        };
      } finally {
        await serve.crash();
      }
    },
    close: () => around.close(),
  };
}

function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold blanks; utime to cstime are
  // 11 to 14 behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
}
