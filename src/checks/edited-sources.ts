// Which of the files that say what is checked differ from what they were at the human's message (V2). What they say
// now counts from the next message on; here it is only told. The boxes of a plan file are no change: we write them.
import type { Policy } from '../core/config/policy.ts';
import { digestFile, digestPlanFile } from '../engine/digest-file.ts';

export function editedSources({ sources = [] }: Pick<Policy, 'sources'>): string[] {
  return sources
    .filter(
      ({ path, digest, kind }) => digest !== (kind === 'plan' ? digestPlanFile(path) : digestFile(path)),
    )
    .map(({ path }) => path);
}
