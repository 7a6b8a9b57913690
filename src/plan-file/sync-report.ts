// What became of one exchange between a plan file and a plan.
import type { PlanFile, PlanFileProblem } from './plan-file.ts';

export interface SyncTotals {
  readonly created: number;
  readonly changed: number;
  readonly dropped: number;
  /** Changes of the file that the plan did not take; each has its sentence among the notices. */
  readonly refused: number;
  /** Boxes that were ticked or emptied in the file. */
  readonly boxes: number;
  /** Sentences for the human: what was left out, refused or not written. */
  readonly notices: readonly string[];
  /** Settles when the checks of the claims that were made here are reported. */
  readonly checks: Promise<void>;
}

export type SyncReport =
  | ({
      readonly ok: true;
      readonly plan: PlanFile;
      /** Todos of the plan that no line stands for, cancelled ones aside. */
      readonly withoutLine: number;
    } & SyncTotals)
  | { readonly ok: false; readonly problems: readonly PlanFileProblem[] };

export const noTotals: SyncTotals = {
  created: 0,
  changed: 0,
  dropped: 0,
  refused: 0,
  boxes: 0,
  notices: [],
  checks: Promise.resolve(),
};

export function addTotals(one: SyncTotals, other: SyncTotals): SyncTotals {
  return {
    created: one.created + other.created,
    changed: one.changed + other.changed,
    dropped: one.dropped + other.dropped,
    refused: one.refused + other.refused,
    boxes: one.boxes + other.boxes,
    notices: [...one.notices, ...other.notices],
    checks: Promise.all([one.checks, other.checks]).then(() => undefined),
  };
}
