// The ledger: every change of a plan, with the hash of the entry before (V4). It shows
// naive edits, and not those of someone who rebuilds all of it.
import type { Actor, Todo } from './todo.ts';

/** What happened to a todo or to the plan. */
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

/** An entry before it has its place in the chain. */
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

/** An entry of the chain. */
export type LedgerEntry = LedgerDraft &
  Readonly<{ sequence: number; previousHash: string; hash: string }>;
/** Hashes a text; the engine brings it along. */
export type HashFunction = (text: string) => string;
/** The hash that the first entry follows. */
export const ledgerStart = '0';

/**
 * The text that is hashed. Its fields have a fixed order, so that the same entry always
 * has the same hash.
 */
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

type LastEntry = Pick<LedgerEntry, 'sequence' | 'hash'>;

/** Adds an entry to the chain; `last` null: it is the first one. */
export function linkEntry(
  draft: LedgerDraft,
  last: LastEntry | null,
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

/** Whether the chain is intact, or its first broken entry and why. */
export type LedgerReport =
  | Readonly<{ intact: true; length: number; head: string }>
  | Readonly<{ intact: false; brokenAt: number; sentence: string }>;

/** Follows the chain from the start and stops at the first broken entry. */
export function verifyLedger(
  entries: Iterable<LedgerEntry>,
  hash: HashFunction,
): LedgerReport {
  let sequence = 0;
  let head = ledgerStart;
  for (const entry of entries) {
    sequence += 1;
    if (entry.sequence !== sequence)
      return reportBreak(
        sequence,
        `entry ${sequence} is missing; found ${entry.sequence} instead`,
      );
    if (entry.previousHash !== head)
      return reportBreak(
        sequence,
        `entry ${sequence} does not follow from the one before it`,
      );
    if (hash(canonicalEntry(entry, sequence, head)) !== entry.hash)
      return reportBreak(sequence, `entry ${sequence} was changed after it was written`);
    head = entry.hash;
  }
  return { intact: true, length: sequence, head };
}

function reportBreak(brokenAt: number, sentence: string): LedgerReport {
  return { intact: false, brokenAt, sentence };
}

/**
 * The part of a todo that an outcome depends on, as a text. A running check is still a
 * claim.
 */
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

/** Says which todo was changed, added or removed without the ledger. Null: all fits. */
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
    // A todo that was put into the store by hand has no entry about its creation.
    if (!noted.has(todoId) && change !== 'created')
      return `todo ${todoId} is on its ledger without having been created`;
    // Without this test, an edit between two honest changes would pass as one of them.
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
