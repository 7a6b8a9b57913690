// The checks that a plan file asks for, as what a policy needs: shell lines as specifications, names to be looked up
// in untildone.json. Whoever takes them into a policy answers for the file being the human's (V3).
import type { CheckSpec } from '../core/check-spec.ts';
import { shellCheck } from './check-line.ts';
import type { PlanFile } from './plan-file.ts';

export interface PlanChecks {
  /** Of the goal and of todos, each once. */
  readonly ids: readonly string[];
  readonly specs: readonly CheckSpec[];
  readonly names: readonly string[];
  readonly goalChecks: readonly string[];
}

export function planChecks({ goalChecks, items }: PlanFile): PlanChecks {
  const ids = [...new Set([...goalChecks, ...items.flatMap(({ checks }) => checks)])];
  return {
    ids,
    specs: ids.flatMap((id) => shellCheck(id) ?? []),
    names: ids.filter((id) => shellCheck(id) === null),
    goalChecks,
  };
}
