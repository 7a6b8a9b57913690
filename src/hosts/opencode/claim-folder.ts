// One plugin per folder in one process: a host that loads it twice, by a loader of its own and by the package's name,
// would count everything twice. Kept where both copies find it, whatever file they come from.

const place = Symbol.for('untildone.opencode.folders');

/** Null: another copy in this process follows this folder already. Otherwise: how to give it up again. */
export function claimFolder(directory: string): (() => void) | null {
  const shared = globalThis as { [place]?: Set<string> };
  shared[place] ??= new Set();
  const folders = shared[place];
  if (folders.has(directory)) return null;
  folders.add(directory);
  return () => folders.delete(directory);
}
