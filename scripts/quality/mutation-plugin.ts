// Plants one deliberate defect from test/mutations.ts while Vite loads that source file.
// It refuses to guess: an unknown id, or a text that does not occur exactly once, ends
// the run loudly.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Mutation, mutations } from '../../test/mutations.ts';

interface LoadHookPlugin {
  readonly name: string;
  readonly enforce: 'pre';
  transform(code: string, id: string): { code: string; map: null } | undefined;
}

export function findMutation(id: string): Mutation {
  const mutation = mutations.find((candidate) => candidate.id === id);
  if (!mutation) throw new Error(`No mutation is called "${id}" in test/mutations.ts.`);
  return mutation;
}

/** The source with the defect in it. Throws unless `find` occurs exactly once. */
export function applyMutation(source: string, mutation: Mutation): string {
  const occurrences = source.split(mutation.find).length - 1;
  if (occurrences !== 1) {
    throw new Error(
      `Mutation "${mutation.id}" is out of date: its text occurs ${occurrences} times in ${mutation.file}, it must occur exactly once.`,
    );
  }
  // A function, so that "$&" in the replacement stays what it says.
  return source.replace(mutation.find, () => mutation.replace);
}

/**
 * @param root the repository's root
 * @param id which mutation
 *
 * The file named by UNTILDONE_MUTATION_MARKER gets a line each time the defect was
 * planted, so that mutate.ts can tell "the tests saw it" from "the tests never loaded that
 * file".
 */
export function mutationPlugin(root: string, id: string): LoadHookPlugin {
  const mutation = findMutation(id);
  const target = join(root, mutation.file);
  return {
    name: 'untildone-mutation',
    enforce: 'pre',
    transform(code, moduleId) {
      if (moduleId.split('?')[0] !== target) return undefined;
      const mutated = applyMutation(code, mutation);
      const marker = process.env['UNTILDONE_MUTATION_MARKER'];
      if (marker) appendFileSync(marker, `${id}\n`);
      return { code: mutated, map: null };
    },
  };
}
