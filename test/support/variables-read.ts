// The names in the sources that look like variables of an environment: of what a hook runs, and of the programs that it starts.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('../../src/', import.meta.url));
/** What hosts start for a hook, and what outlives it. */
const programs = ['hook.ts', 'check-runner.ts', 'notify.ts'];

/** Hosts are installed and driven by other programs. */
const isLoadedByHooks = (path: string) =>
  !/\/hosts\/(?:install\/|[\w-]+\/(?:install|drive)\.ts$)/u.test(path);

function filesOf(path: string, known: Set<string>): Set<string> {
  if (known.has(path)) return known;
  known.add(path);
  const text = readFileSync(path, 'utf8');
  // With `import type` nothing is loaded, but what is declared there is read here.
  const imported = Array.from(
    text.matchAll(/(?:from|import\()\s*'(\.[^']+\.ts)'/gu),
    ([, file = '']) => file,
  );
  return imported
    .map((file) => join(dirname(path), file))
    .filter(isLoadedByHooks)
    .reduce((all, file) => filesOf(file, all), known);
}

const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, '').replaceAll(/(^|\s)\/\/.*$/gmu, '');

/** Words in capitals, each with the files in which it stands. */
export function wordsInCapitals(): ReadonlyMap<string, readonly string[]> {
  const files = programs.reduce((all, file) => filesOf(join(sources, file), all), new Set<string>());
  const found = new Map<string, string[]>();
  for (const path of files)
    for (const [word] of withoutComments(readFileSync(path, 'utf8')).matchAll(
      /\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*\b/gu,
    ))
      found.set(word, [...(found.get(word) ?? []), path.slice(sources.length)]);
  return found;
}
