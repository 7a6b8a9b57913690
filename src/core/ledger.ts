// Every plan change with the hash of the one before (V4). Finds naive edits, not one by
// someone who rebuilds it all.
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
  | 'toggled'
  | 'duplicate-write'
  | 'delegated'
  | 'worker-ended'
  | 'check-passed'
  | 'check-failed'
  | 'checks-edited'
  | 'moved'
  | 'refused';

export type LedgerDraft = Readonly<{
  planId: string;
  sessionId: string;
  host: string;
  actor: Actor;
  at: number;
  change: LedgerChange;
  todoId: string | null;
  detail: Readonly<Record<string, string | number | boolean | null>>;
}>;

export type LedgerEntry = LedgerDraft &
  Readonly<{ sequence: number; previousHash: string; hash: string }>;
export type HashFunction = (text: string) => string;
export const ledgerStart = '0';

/** Fixed field order: the same entry always has the same hash. */
function canonicalEntry(
  draft: LedgerDraft,
  sequence: number,
  previousHash: string,
): string {
  const detail = Object.keys(draft.detail)
    .sort()
    .map((key) => [key, draft.detail[key]]);
  const { planId, sessionId, host, actor, at, change, todoId } = draft;
  return JSON.stringify([
    previousHash,
    sequence,
    planId,
    sessionId,
    host,
    actor,
    at,
    change,
    todoId,
    detail,
  ]);
}

type Last = Pick<LedgerEntry, 'sequence' | 'hash'>;

export function linkEntry(
  draft: LedgerDraft,
  last: Last | null,
  hash: HashFunction,
): LedgerEntry {
  const sequence = (last?.sequence ?? 0) + 1;
  const previousHash = last?.hash ?? ledgerStart;
  return {
    ...draft,
    sequence,
    previousHash,
    hash: hash(canonicalEntry(draft, sequence, previousHash)),
  };
}

export type LedgerReport =
  | Readonly<{ intact: true; length: number; head: string }>
  | Readonly<{ intact: false; brokenAt: number; sentence: string }>;

export function verifyLedger(
  entries: Iterable<LedgerEntry>,
  hash: HashFunction,
): LedgerReport {
  let sequence = 0;
  let head = ledgerStart;
  for (const entry of entries) {
    sequence += 1;
    if (entry.sequence !== sequence)
      return broken(
        sequence,
        `entry ${sequence} is missing; found ${entry.sequence} instead`,
      );
    if (entry.previousHash !== head)
      return broken(sequence, `entry ${sequence} does not follow from the one before it`);
    if (hash(canonicalEntry(entry, sequence, head)) !== entry.hash)
      return broken(sequence, `entry ${sequence} was changed after it was written`);
    head = entry.hash;
  }
  return { intact: true, length: sequence, head };
}

function broken(brokenAt: number, sentence: string): LedgerReport {
  return { intact: false, brokenAt, sentence };
}

/** What an outcome depends on. A running check is still a claim. */
export function todoState(todo: Todo): string {
  const verification = todo.verification === 'running' ? 'claimed' : todo.verification;
  const words: string[] = [todo.status, verification];
  if (todo.status === 'cancelled' && todo.reason === null) words.push('unexplained');
  if (todo.endedIn !== null) words.push(`in ${todo.endedIn}`);
  words.push(...todo.checks);
  for (const { check, fingerprint, flaky } of todo.evidence)
    words.push(`${check} on ${fingerprint ?? 'unknown files'}${flaky ? ', flaky' : ''}`);
  return words.join(' ');
}

/** Todos that were changed, added or removed behind the ledger's back. null: all fits. */
export function findDamage(
  entries: readonly LedgerEntry[],
  plan: readonly Todo[],
  hash: HashFunction,
) {
  const chain = verifyLedger(entries, hash);
  if (!chain.intact) return `in its ledger, ${chain.sentence}`;
  const noted = new Map<string, unknown>();
  for (const { todoId, change, detail } of entries) {
    if (todoId === null || detail['state'] === undefined) continue;
    // A todo that was put into the store by hand has no such entry.
    if (!noted.has(todoId) && change !== 'created')
      return `todo ${todoId} is on its ledger without having been created`;
    // Else an edit between two honest changes would pass for one of them.
    const was = detail['was'];
    if (was !== undefined && was !== noted.get(todoId))
      return `todo ${todoId} was changed between two entries of its ledger`;
    noted.set(todoId, detail['state']);
  }
  if (noted.size !== plan.length)
    return `its ledger knows ${noted.size} todos, and there are ${plan.length}`;
  const changed = plan.find((todo) => noted.get(todo.id) !== todoState(todo));
  return changed === undefined ? null : `todo ${changed.id} is not as its ledger says`;
}
