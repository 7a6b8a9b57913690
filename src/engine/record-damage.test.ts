import { describe, expect, it } from 'vitest';
import { defaultSettings } from '../core/config/settings.ts';
import type { Session } from '../core/session.ts';
import type { Todo } from '../core/todo.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import { createSequentialIdentifiers, createSimulatedClock } from '../simulated/simulated-clock.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Checker } from './host.ts';
import { seal } from './seal.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

/** Every check passes, and whatever `meanwhile` does happens just before the turn is settled. */
async function finishedWork(meanwhile: (store: Store, session: Session) => Promise<void>) {
  const clock = createSimulatedClock();
  const store = createMemoryStore();
  const checker: Checker = {
    async run(session, { checks, stop }, report) {
      const base = (name: string) => ({ id: `${name} ${stop}`, sessionId: session.id, at: clock.now() });
      for (const { todoId, check } of checks) {
        const seen = { result: 'passed', flaky: false, tail: null, fingerprint: 'tree' } as const;
        const asked = { todoId, check, final: stop !== null, writes: null };
        await report({ ...base(`${todoId} ${check}`), type: 'check-finished', ...asked, ...seen });
      }
      if (stop === null) return;
      await meanwhile(store, session);
      await report({ ...base('end'), type: 'final-run-ended', stop, edited: [] });
    },
  };
  const host = createScriptedHost({
    mode: 'asked',
    store,
    clock,
    identifiers: createSequentialIdentifiers(),
    hash: sha256,
    policy: () => ({ settings: defaultSettings, goalChecks: ['unit'] }),
    checker,
  });
  await host.open();
  await host.says('work');
  const [first = ''] = await host.plans('parse', 'test');
  await host.works();
  for (const { id } of await store.read(async (reader) => reader.todosOfPlan(host.sessionId)))
    await host.completes(id);
  const handled = await host.stops();
  const last = (await handled.checks) ?? handled;
  return { outcome: last.session.settled?.outcome, sentence: last.decision?.sentence, first };
}

async function change(store: Store, session: Session, changes: (todo: Todo) => Todo): Promise<void> {
  await store.transact(async (transaction) => {
    const [todo] = await transaction.todosOfPlan(session.planId);
    if (todo !== undefined) await transaction.updateTodo(changes(todo));
  });
}

describe('V4: a plan that was changed behind its ledger', () => {
  it('is done as long as nobody touches it', async () => {
    expect((await finishedWork(async () => {})).outcome).toBe('done');
  });

  it.each<[string, (store: Store, session: Session) => Promise<void>, string]>([
    [
      'a status',
      (store, session) => change(store, session, (todo) => ({ ...todo, status: 'cancelled', reason: 'no' })),
      'is not as its ledger says',
    ],
    [
      'a verification',
      (store, session) => change(store, session, (todo) => ({ ...todo, verification: 'passed' })),
      'is not as its ledger says',
    ],
    [
      'the checks of a todo',
      (store, session) => change(store, session, (todo) => ({ ...todo, checks: ['easy'] })),
      'is not as its ledger says',
    ],
    [
      'a row that moved away',
      (store, session) => change(store, session, (todo) => ({ ...todo, planId: 'elsewhere' })),
      'its ledger knows 2 todos, and there are 1',
    ],
    [
      'a row that nobody made',
      (store, session) =>
        store.transact(async (transaction) => {
          const [todo] = await transaction.todosOfPlan(session.planId);
          if (todo !== undefined) await transaction.createTodo({ ...todo, id: 'forged' });
        }),
      'its ledger knows 2 todos, and there are 3',
    ],
    [
      'the counts',
      (store) =>
        store.transact(async (transaction) => {
          const [session] = await transaction.sessions({ limit: 1 });
          if (session === undefined) return;
          const counts = { ...session.counts, completed: 9 };
          await transaction.saveSession(seal({ ...session, counts }, sha256));
        }),
      'counts 9 todos as completed, and there are 2',
    ],
    [
      'the session itself',
      (store) =>
        store.transact(async (transaction) => {
          const [session] = await transaction.sessions({ limit: 1 });
          if (session !== undefined) await transaction.saveSession({ ...session, epoch: session.epoch + 1 });
        }),
      'its session is not as it was saved',
    ],
    [
      'an entry of the ledger',
      (store, session) =>
        store.transact(async (transaction) => {
          const last = await transaction.lastLedgerEntry(session.planId);
          if (last === null) return;
          const forged = { ...last, sequence: last.sequence + 1, previousHash: last.hash };
          await transaction.addLedgerEntries([forged]);
        }),
      'was changed after it was written',
    ],
  ])('%s: is never done, and the reason is told', async (_what, meanwhile, sentence) => {
    const ended = await finishedWork(meanwhile);
    expect(ended.outcome).toBe('claimed');
    expect(ended.sentence).toContain('The record of the plan was changed from outside');
    expect(ended.sentence).toContain(sentence);
  });
});
