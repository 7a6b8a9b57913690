// Which rows of the plan an event touches, and those rows once the engine has loaded them by index.
// decide() sees nothing else of the plan, so that its cost does not grow with the list.
import type { LedgerDraft } from './ledger.ts';
import type { Todo } from './todo.ts';

export interface Needs {
  /** Every row, in order: only a whole-list write may ask for this. */
  readonly plan: boolean;
  /** Rows by our id or by the host's own key. */
  readonly ids: readonly string[];
  /** Rows that are not completed or cancelled, by normalised title. */
  readonly titleKeys: readonly string[];
  /** Rows at these 1-based positions, for inserting between two. */
  readonly positions: readonly number[];
  /** How many open rows, next first (T5). */
  readonly next: number;
  /** How many dropped rows that no continuation has named yet. */
  readonly dropped: number;
  /** How many open rows whose check failed. */
  readonly failed: number;
  readonly inProgress: number;
  /** How many completed rows whose own checks have not passed (claimed or running). */
  readonly unverified: number;
  /** Was this workspace fingerprint seen before in this session? */
  readonly fingerprint: string | null;
}

export interface Rows {
  readonly plan: readonly Todo[];
  readonly byId: readonly Todo[];
  readonly byTitle: readonly Todo[];
  /** By 1-based position; positions beyond the plan's end are missing. */
  readonly atPosition: Readonly<Record<number, Todo>>;
  readonly next: readonly Todo[];
  readonly dropped: readonly Todo[];
  readonly failed: readonly Todo[];
  readonly inProgress: readonly Todo[];
  readonly unverified: readonly Todo[];
  readonly fingerprintSeen: boolean;
}

export const noNeeds: Needs = {
  plan: false,
  ids: [],
  titleKeys: [],
  positions: [],
  next: 0,
  dropped: 0,
  failed: 0,
  inProgress: 0,
  unverified: 0,
  fingerprint: null,
};

export const noRows: Rows = {
  plan: [],
  byId: [],
  byTitle: [],
  atPosition: {},
  next: [],
  dropped: [],
  failed: [],
  inProgress: [],
  unverified: [],
  fingerprintSeen: false,
};

/** What decide() wants written; stores apply it in the same transaction that loaded the rows. */
export interface RowChanges {
  readonly created: readonly Todo[];
  readonly updated: readonly Todo[];
  readonly ledger: readonly LedgerDraft[];
  /** Workspace fingerprints seen for the first time. */
  readonly fingerprints: readonly string[];
}

export const noRowChanges: RowChanges = { created: [], updated: [], ledger: [], fingerprints: [] };
