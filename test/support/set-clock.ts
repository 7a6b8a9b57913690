// Sets the clock of the process that it is called in: a file says by how many
// milliseconds, read anew each time. Timers run on, as they do when a machine's clock is
// set.
import { readFileSync } from 'node:fs';

export function setClock(file: string): void {
  const RealDate = Date;

  function skewMs(): number {
    try {
      return Number(readFileSync(file, 'utf8'));
    } catch {
      // Safe: nobody has set it yet.
      return 0;
    }
  }

  class SetDate extends RealDate {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(SetDate.now());
      else super(...(given as [number]));
    }

    static override now(): number {
      return RealDate.now() + skewMs();
    }
  }

  globalThis.Date = SetDate as DateConstructor;
}
