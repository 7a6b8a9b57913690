// Runs asynchronous work one piece after the other, in the order in which it was handed in.
// It keeps no results and never lets one failure reach the next piece of work.

export class SerialQueue {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    // The caller holds `result` and sees its failure; the next in line only needs to know that it ended.
    this.#tail = result.then(ignore, ignore);
    return result;
  }
}

function ignore(): void {
  return;
}
