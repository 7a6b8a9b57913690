// Folds work into the account of reference.ts: tool calls, fingerprints, changed rows,
// results of checks; and says what of it was progress (G7).
import type { Step } from '../../src/core/decision.ts';
import type { Event } from '../../src/core/events.ts';
import type { State } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import type { Reference } from './reference.ts';

const isFinal = (todo: Todo | undefined): boolean =>
  todo !== undefined &&
  todo.status === 'completed' &&
  (todo.checks.length === 0 || todo.verification === 'passed');
const isOpen = (todo: Todo): boolean =>
  todo.status === 'pending' || todo.status === 'in_progress';

/**
 * Tool calls and fingerprints; true: a tree that nobody saw before, after a call that can
 * write (any, where none is seen).
 */
export function work(reference: Reference, event: Event, human: boolean): boolean {
  const { message } = reference;
  if (event.type === 'session-opened') reference.blind = !event.descriptor.seesTools;
  if (event.type === 'tool-ended') reference.heard = true;
  if (event.type === 'tool-started' && event.access !== 'todo' && event.access !== 'read')
    message.running += 1;
  if (event.type === 'tool-ended' && event.access !== 'todo') {
    reference.calls += 1;
    message.calls += 1;
    if (event.access !== 'read') {
      reference.writes = true;
      reference.writesEver += 1;
      message.wrote = true;
      message.unlooked = true;
      message.running -= 1;
    }
  }
  const limitEnded =
    reference.limitedUntil !== null && event.at >= reference.limitedUntil;
  if (limitEnded && (human || event.type === 'tool-ended')) {
    reference.limited = false;
    reference.limitedUntil = null;
  }
  if (human)
    reference.writes =
      event.type === 'human-spoke' && event.fingerprint === null && reference.writes;
  const looks =
    event.type === 'workspace-seen' ||
    event.type === 'stop-attempted' ||
    (event.type === 'human-spoke' && human);
  const tree = looks ? event.fingerprint : null;
  reference.tree = tree ?? reference.tree;
  if (tree !== null) {
    reference.treeWrites = reference.writesEver;
    message.unlooked = false;
    if (!reference.blind && !message.wrote && message.running <= 0)
      message.treeThen ??= tree;
  }
  if (tree === null || reference.trees.has(tree)) return false;
  const isBaseline = reference.trees.size === 0;
  reference.trees.add(tree);
  const byAgent = reference.writes || reference.blind;
  reference.writes = false;
  return !isBaseline && byAgent;
}

export function rowsChanged(
  reference: Reference,
  event: Event,
  { state }: Step,
): { strong: boolean; weak: boolean } {
  let strong = false;
  let weak = false;
  for (const row of state.plan) {
    const before = reference.rows.get(row.id);
    if (before === row) continue;
    reference.rows.set(row.id, row);
    if (before === undefined) {
      weak = true;
      const { calls, stopSeen: late } = reference;
      reference.births.set(row.id, { calls, late });
    }
    // A check of something that is open again proves nothing any more.
    if (row.status !== 'completed') reference.unreported.delete(`${row.id}:own`);
    const birth = reference.births.get(row.id);
    if (isFinal(row) && !isFinal(before) && !reference.finals.has(row.id)) {
      if (!birth?.late || birth.calls < reference.calls) {
        reference.finals.add(row.id);
        strong = true;
      }
    }
    if (row.verification === 'passed' && !reference.passes.has(row.id)) {
      reference.passes.add(row.id);
      strong = true;
    }
    if (row.status === 'in_progress' && before?.status !== 'in_progress') weak = true;
    if (
      row.status === 'completed' &&
      before?.status !== 'completed' &&
      row.checks.length > 0
    )
      weak = true;
    const isBlockedAnew = row.status === 'blocked' && row.reason !== before?.reason;
    if (row.status === before?.status && !isBlockedAnew) continue;
    const byAgent = 'actor' in event && event.actor === 'agent';
    const isDropped = row.status === 'cancelled' && row.reason === null;
    const { ended } = reference.message;
    if (isOpen(row) || !byAgent || isDropped) ended.delete(row.id);
    else ended.set(row.id, row.status === 'completed' ? 'claims' : 'ends');
  }
  return { strong, weak };
}

/**
 * What checks leave behind is no work, if there was none before; who sees no calls knows
 * it from now on.
 */
function leave(reference: Reference, left: string | null): void {
  const { baseline, tree, treeWrites, writesEver, blind } = reference;
  if (left === null) return;
  if (blind) {
    reference.tree = left;
    reference.trees.add(left);
  }
  const isIdle = !blind && writesEver === baseline?.writes;
  if (
    baseline !== null &&
    (isIdle || (treeWrites === writesEver && tree === baseline.tree))
  ) {
    baseline.tree = left;
    baseline.writes = writesEver;
  }
}

export function checks(reference: Reference, before: State, event: Event): boolean {
  if (event.type === 'check-started' && event.todoId === null)
    reference.goal.set(event.check, 'running');
  if (event.type === 'checks-overdue') reference.overdue = true;
  if (event.type === 'baseline-seen') {
    reference.baseline ??= {
      tree: event.fingerprint,
      writes: reference.writesEver,
      checks: new Map(),
    };
    leave(reference, event.fingerprint);
    const { checks: first } = reference.baseline;
    for (const { check, result } of event.checks)
      if (!first.has(check)) first.set(check, result);
  }
  if (event.type === 'final-run-ended') reference.unreported.delete(`end:${event.stop}`);
  if (event.type !== 'check-finished') return false;
  // While an agent works on that was told to wait, nobody knows who wrote.
  if (before.finalRun?.overdue !== true) leave(reference, event.tree ?? null);
  reference.unreported.delete(`${event.todoId}:${event.check}`);
  if (event.todoId !== null) return false;
  if (event.result === 'waiting') reference.goal.delete(event.check);
  else
    reference.goal.set(
      event.check,
      event.result === 'passed' && event.flaky ? 'flaky' : event.result,
    );
  const key = `goal:${event.check}`;
  const first = event.result === 'passed' && !reference.passes.has(key);
  if (first) reference.passes.add(key);
  return first;
}
