// Does the same to many things, some at a time, and stops early when the signal comes.

/** Enough to keep the disk busy, few enough for every limit on open files. */
const atOnce = 32;

export async function inBatches<Item>(
  items: readonly Item[],
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length && !signal.aborted; at = next++) await work(items[at] as Item);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
}
