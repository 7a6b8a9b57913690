// Finds words that look like names of environment variables in the sources of hooks and
// of the programs that hooks start.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const sources = fileURLToPath(new URL('../../src/', import.meta.url));
/** The program of the hooks, and the programs that a hook starts and that outlive it. */
const programs = ['hook', 'check-runner', 'notify'];

/** Other programs install and drive hosts. */
const isLoadedByHooks = (path: string) =>
  !/\/hosts\/(?:install\/|[\w-]+\/(?:install|drive)\.ts$)/u.test(path);

function filesOf(path: string, known: Set<string>): Set<string> {
  if (known.has(path)) return known;
  known.add(path);
  const text = readFileSync(path, 'utf8');
  // `import type` loads nothing, but the declared names count here.
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
  const files = programs.reduce(
    (all, name) => filesOf(join(sources, `programs/${name}.ts`), all),
    new Set<string>(),
  );
  const found = new Map<string, string[]>();
  for (const path of files)
    for (const [word] of withoutComments(readFileSync(path, 'utf8')).matchAll(
      /\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*\b/gu,
    ))
      found.set(word, [...(found.get(word) ?? []), path.slice(sources.length)]);
  return found;
}
