// The ledger: every plan change, appended with actor, time and the hash of the one before (V4).
// Finds damage and naive edits of the chain and of the todos. It cannot find an edit by someone who rebuilds it all.
import type { Actor, Todo } from './todo.ts';

export type LedgerChange =
  | 'created'
  | 'started'
  | 'completed'
  | 'cancelled'
  | 'blocked'
  | 'reopened'
  | 'reworded'
  | 'edited'
  | 'dropped'
  | 'restored'
  | 'cancelled-unexplained'
  | 'claim-idle'
  | 'end-idle'
  | 'toggled'
  | 'duplicate-write'
  | 'delegated'
  | 'worker-ended'
  | 'check-passed'
  | 'check-failed'
  | 'checks-edited'
  | 'refused';

/** What core emits; the engine gives it a place in the chain. */
export interface LedgerDraft {
  readonly planId: string;
  readonly sessionId: string;
  readonly host: string;
  readonly actor: Actor;
  readonly at: number;
  readonly change: LedgerChange;
  readonly todoId: string | null;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
}

export interface LedgerEntry extends LedgerDraft {
  readonly sequence: number;
  readonly previousHash: string;
  readonly hash: string;
}

export type HashFunction = (text: string) => string;

export const ledgerStart = '0';

/** The text that is hashed: fixed field order, so that the same entry always has the same hash. */
function canonicalEntry(draft: LedgerDraft, sequence: number, previousHash: string): string {
  const detail = Object.keys(draft.detail)
    .sort()
    .map((key) => [key, draft.detail[key]]);
  return JSON.stringify([
    previousHash,
    sequence,
    draft.planId,
    draft.sessionId,
    draft.host,
    draft.actor,
    draft.at,
    draft.change,
    draft.todoId,
    detail,
  ]);
}

export function linkEntry(
  draft: LedgerDraft,
  last: { readonly sequence: number; readonly hash: string } | null,
  hash: HashFunction,
): LedgerEntry {
  const sequence = (last?.sequence ?? 0) + 1;
  const previousHash = last?.hash ?? ledgerStart;
  return { ...draft, sequence, previousHash, hash: hash(canonicalEntry(draft, sequence, previousHash)) };
}

export type LedgerReport =
  | { readonly intact: true; readonly length: number; readonly head: string }
  | { readonly intact: false; readonly brokenAt: number; readonly sentence: string };

/** Walks one plan's chain from its start and names the first broken link. */
export function verifyLedger(entries: Iterable<LedgerEntry>, hash: HashFunction): LedgerReport {
  let sequence = 0;
  let head = ledgerStart;
  for (const entry of entries) {
    if (entry.sequence !== sequence + 1) {
      return broken(sequence + 1, `entry ${sequence + 1} is missing; found ${entry.sequence} instead`);
    }
    if (entry.previousHash !== head) {
      return broken(entry.sequence, `entry ${entry.sequence} does not follow from the one before it`);
    }
    if (hash(canonicalEntry(entry, entry.sequence, entry.previousHash)) !== entry.hash) {
      return broken(entry.sequence, `entry ${entry.sequence} was changed after it was written`);
    }
    sequence = entry.sequence;
    head = entry.hash;
  }
  return { intact: true, length: sequence, head };
}

function broken(brokenAt: number, sentence: string): LedgerReport {
  return { intact: false, brokenAt, sentence };
}

/** What an outcome depends on, noted with each change of a todo. A running check is still a claim. */
export function todoState(todo: Todo): string {
  const verification = todo.verification === 'running' ? 'claimed' : todo.verification;
  const proofs = todo.evidence.map(
    ({ check, fingerprint, flaky }) =>
      `${check} on ${fingerprint ?? 'unknown files'}${flaky ? ', flaky' : ''}`,
  );
  const unexplained = todo.status === 'cancelled' && todo.reason === null ? ['unexplained'] : [];
  const idle = todo.idleEnd ? ['idle'] : [];
  return [todo.status, verification, ...unexplained, ...idle, ...todo.checks, ...proofs].join(' ');
}

/**
 * Does the plan, as it was loaded, agree with its ledger? Finds todos that were changed, added or removed behind the
 * ledger's back. What does not fit, in words; null: all of it does.
 */
export function findDamage(
  entries: readonly LedgerEntry[],
  plan: readonly Todo[],
  hash: HashFunction,
): string | null {
  const chain = verifyLedger(entries, hash);
  if (!chain.intact) return `in its ledger, ${chain.sentence}`;
  const noted = new Map<string, unknown>();
  for (const { todoId, change, detail } of entries) {
    if (todoId === null || detail['state'] === undefined) continue;
    // A todo that was put into the store by hand gets entries too once it is worked on; only its beginning is missing.
    if (!noted.has(todoId) && change !== 'created')
      return `todo ${todoId} is on its ledger without having been created`;
    // An edit between two honest changes would be written into the ledger as if it had been one of them.
    const was = detail['was'];
    if (was !== undefined && was !== noted.get(todoId))
      return `todo ${todoId} was changed between two entries of its ledger`;
    noted.set(todoId, detail['state']);
  }
  if (noted.size !== plan.length) return `its ledger knows ${noted.size} todos, and there are ${plan.length}`;
  const changed = plan.find((todo) => noted.get(todo.id) !== todoState(todo));
  return changed === undefined ? null : `todo ${changed.id} is not as its ledger says`;
}
