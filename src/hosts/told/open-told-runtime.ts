// Opens a told runtime under the first name that no living process holds. A program that starts again takes the name
// of its dead predecessor, and with it the countdowns; a second copy beside it gets a name of its own, and takes over
// what the other leaves behind if that one dies.
import type { Runtime } from '../../engine/runtime.ts';
import { createToldRuntime, type ToldRuntime, type ToldRuntimeOptions } from './told-runtime.ts';

/** More copies of one program than anyone runs beside each other; beyond that a name is made up, and dies with it. */
const mostCopies = 20;

export interface OpenedToldRuntime {
  readonly runtime: ToldRuntime;
  /** What sessions of this process must name as their instance. */
  readonly instance: string;
}

export async function openToldRuntime(options: ToldRuntimeOptions): Promise<OpenedToldRuntime> {
  const taken: Runtime[] = [];
  for (let copy = 1; ; copy++) {
    const suffix = copy <= mostCopies ? `${copy}` : options.identifiers.next();
    const instance = copy === 1 ? options.instance : `${options.instance}#${suffix}`;
    const runtime = createToldRuntime({ ...options, instance });
    const attached = await runtime.attach();
    if (attached || copy > mostCopies) return { runtime: withOthers(runtime, taken), instance };
    // It goes on trying: a name that looks held may be that of a process which is gone, or will be.
    taken.push(runtime);
  }
}

function withOthers(runtime: ToldRuntime, others: readonly Runtime[]): ToldRuntime {
  return {
    ...runtime,
    async dispose() {
      await runtime.dispose();
      // What is planned under another name is not ours to cancel: its process may live.
      for (const other of others) await other.detach();
    },
  };
}
