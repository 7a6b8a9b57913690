import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { aLedger, aLedgerDraft, aTodo } from '../../test/support/builders.ts';
import { findDamage, type LedgerChange, type LedgerEntry, todoState } from './ledger.ts';
import type { Todo } from './todo.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A ledger whose chain is whole, as the engine would have written it. */
function ledgerOf(...changes: readonly (readonly [LedgerChange, Todo])[]): LedgerEntry[] {
  const drafts = changes.map(([change, todo]) =>
    aLedgerDraft({ change, todoId: todo.id, detail: { state: todoState(todo) } }),
  );
  return aLedger(drafts, sha256);
}

const damageOf = (entries: readonly LedgerEntry[], ...todos: readonly Todo[]) =>
  findDamage(entries, todos, sha256);

describe('a plan and its ledger', () => {
  const pending = aTodo({ id: 'todo-1', status: 'pending' });
  const completed = aTodo({ id: 'todo-1', status: 'completed', verification: 'claimed' });
  const forged = aTodo({ id: 'forged', status: 'completed', verification: 'passed' });

  it('V4: agree when every todo was created and is as its last entry says', () => {
    expect(
      damageOf(ledgerOf(['created', pending], ['completed', completed]), completed),
    ).toBeNull();
  });

  it('V4: a todo whose first entry is not its creation was put there by hand', () => {
    const entries = ledgerOf(
      ['created', pending],
      ['completed', completed],
      ['check-passed', forged],
    );
    expect(damageOf(entries, completed, forged)).toBe(
      'todo forged is on its ledger without having been created',
    );
  });

  it('V4: a todo that was edited between two honest changes is found, although it is as its last entry says', () => {
    const swapped = { ...pending, checks: ['easy'] };
    const proved = { ...completed, checks: ['easy'] };
    const drafts = [
      aLedgerDraft({ todoId: 'todo-1', detail: { state: todoState(pending) } }),
      aLedgerDraft({
        change: 'completed',
        todoId: 'todo-1',
        detail: { was: todoState(swapped), state: todoState(proved) },
      }),
    ];
    expect(damageOf(aLedger(drafts, sha256), proved)).toBe(
      'todo todo-1 was changed between two entries of its ledger',
    );
  });

  it('V4: a word about a todo that says nothing of its row needs no creation, as after a change of plans', () => {
    const ended = aLedgerDraft({ change: 'worker-ended', todoId: 'elsewhere' });
    expect(damageOf(aLedger([ended], sha256))).toBeNull();
  });

  it('V4: a claim that was made to look as if it were of an earlier message is found', () => {
    const claimed = { ...completed, endedIn: 7 };
    const entries = ledgerOf(['created', pending], ['completed', claimed]);
    expect(damageOf(entries, claimed)).toBeNull();
    expect(damageOf(entries, { ...claimed, endedIn: null })).toBe(
      'todo todo-1 is not as its ledger says',
    );
  });

  it('V4: a todo that the ledger knows and the plan no longer has was taken out', () => {
    const other = aTodo({ id: 'todo-2', status: 'pending' });
    const entries = ledgerOf(['created', pending], ['created', other]);
    expect(damageOf(entries, pending)).toBe('its ledger knows 2 todos, and there are 1');
  });
});
