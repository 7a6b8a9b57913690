// Which of the files that say what is checked differ from what they were at the human's message (V2). What they say
// now counts from the next message on; here it is only told.
import type { Policy } from '../core/config/policy.ts';
import { digestFile } from '../engine/digest-file.ts';

export function editedSources({ sources = [] }: Pick<Policy, 'sources'>): string[] {
  return sources.filter(({ path, digest }) => digestFile(path) !== digest).map(({ path }) => path);
}
