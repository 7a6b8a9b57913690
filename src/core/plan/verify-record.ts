// Does the plan agree with its ledger? Finds rows that were changed, added or removed behind the ledger's back, and
// counts that do not fit the rows (V4). It cannot find an edit by someone who rebuilds the whole chain.
import { type HashFunction, type LedgerEntry, verifyLedger } from '../ledger.ts';
import type { PlanCounts } from '../session.ts';
import type { Todo } from '../todo.ts';
import { recount } from './tally.ts';

/** What an outcome depends on, as the ledger notes it with each change. A running check is still a claim. */
export function rowState(todo: Todo): string {
  const verification = todo.verification === 'running' ? 'claimed' : todo.verification;
  const proofs = todo.evidence.map(
    ({ check, fingerprint, flaky }) =>
      `${check} on ${fingerprint ?? 'unknown files'}${flaky ? ', flaky' : ''}`,
  );
  const unexplained = todo.status === 'cancelled' && todo.reason === null ? ['unexplained'] : [];
  const idle = todo.idleEnd ? ['idle'] : [];
  return [todo.status, verification, ...unexplained, ...idle, ...todo.checks, ...proofs].join(' ');
}

/** What does not fit, in words; null: all of it does. */
export function findDamage(
  entries: readonly LedgerEntry[],
  todos: readonly Todo[],
  counts: PlanCounts,
  hash: HashFunction,
): string | null {
  const chain = verifyLedger(entries, hash);
  if (!chain.intact) return `in its ledger, ${chain.sentence}`;
  const noted = new Map<string, unknown>();
  for (const { todoId, detail } of entries) {
    if (todoId !== null && detail['state'] !== undefined) noted.set(todoId, detail['state']);
  }
  if (noted.size !== todos.length)
    return `its ledger knows ${noted.size} todos, and there are ${todos.length}`;
  const changed = todos.find((todo) => noted.get(todo.id) !== rowState(todo));
  if (changed !== undefined) return `todo ${changed.id} is not as its ledger says`;
  const fresh = recount(todos);
  const key = (Object.keys(fresh) as (keyof PlanCounts)[]).find((name) => fresh[name] !== counts[name]);
  return key === undefined
    ? null
    : `the session counts ${counts[key]} todos as ${key}, and there are ${fresh[key]}`;
}
