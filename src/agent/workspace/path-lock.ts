// One writer per file at a time. A model may call several tools in one step, and they run side by side:
// without this, two edits of one file would both start from the old text and the first would be lost.

const lastByPath = new Map<string, Promise<unknown>>();

export async function withPathLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const before = lastByPath.get(path) ?? Promise.resolve();
  // The one before reported its own failure to its own caller; here only its end matters.
  const mine = before.then(work, work);
  lastByPath.set(path, mine);
  try {
    return await mine;
  } finally {
    if (lastByPath.get(path) === mine) lastByPath.delete(path);
  }
}
