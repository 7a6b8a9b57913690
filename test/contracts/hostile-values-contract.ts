// Contract: whatever text or number comes in comes out again, and is only ever data.
import { describe, expect, it } from 'vitest';
import { noNeeds } from '../../src/core/rows.ts';
import {
  aLedger,
  aLedgerDraft,
  anEvent,
  anOutboxRow,
  aSession,
  aStoredDecision,
  aTodo,
  builtAt,
} from '../support/builders.ts';
import { dump } from './dump.ts';
import type { StoreUnderTest } from './store-contract.ts';

const texts: Readonly<Record<string, string>> = {
  'a NUL': 'before\0after',
  'another NUL': 'before\0other',
  'a lone high surrogate': 'x\ud800y',
  'a lone low surrogate': 'x\udc00y',
  'the replacement character': 'x\ufffdy',
  'the JSON form of a NUL': '"before\\u0000after"',
  SQL: `'); DROP TABLE todos; --`,
  'quotation marks': `"`,
  nothing: '',
  'an emoji and a combining mark': '👩‍👩‍👧 e\u0301',
  'a terminal escape': '\u001b]0;title\u0007',
  'a megabyte': 'é'.repeat(500_000),
};

const hash = (text: string): string => `hash of ${text}`;

export function describeHostileValues({ store }: StoreUnderTest): void {
  describe('hostile values', () => {
    for (const [name, text] of Object.entries(texts)) {
      it(`T6: ${name} comes back unchanged from every place that holds text`, async () => {
        const session = aSession({
          id: text,
          descriptor: { ...aSession().descriptor, host: text, instance: text, directory: text },
        });
        const todo = aTodo({
          id: text,
          planId: text,
          sessionId: text,
          turnId: text,
          hostKey: text,
          title: text,
          titleKey: text,
        });
        const event = anEvent.humanSpoke({ id: `${text}1`, sessionId: text, text });
        const ledger = aLedger(
          [aLedgerDraft({ planId: text, sessionId: text, host: text, detail: { [text]: text } })],
          hash,
        );
        await store().transact(async (tx) => {
          await tx.saveSession(session);
          await tx.createTodo(todo);
          await tx.addEvent(event);
          await tx.addDecision(aStoredDecision({ sessionId: text, turnId: text }));
          await tx.addLedgerEntries(ledger);
          await tx.addFingerprint(text, text, 1);
          await tx.saveTimer(text, text, { purpose: 'due', dueAt: 1, epoch: 1 });
          await tx.saveOutbox(anOutboxRow({ sessionId: text, instance: text, text }));
          await tx.savePolicy(text, text);
        });
        const after = await dump(store(), text, text, text);
        expect(after.session).toEqual(session);
        expect(after.todos).toEqual([todo]);
        expect(after.pending).toEqual([event]);
        expect(after.ledger).toEqual(ledger);
        expect(after.timers).toEqual([{ sessionId: text, purpose: 'due', dueAt: 1, epoch: 1 }]);
        expect(after.openOutbox).toEqual([anOutboxRow({ sessionId: text, instance: text, text })]);
        expect(after.decisions[0]?.turnId).toBe(text);
        await store().read(async (reader) => {
          expect(await reader.policy(text)).toBe(text);
          expect(await reader.findTodo(text)).toEqual(todo);
          expect(await reader.findTodosByTurn(text)).toEqual([todo]);
          expect(await reader.sessions({ host: text, directory: text, limit: 9 })).toEqual([session]);
          const rows = await reader.rows(
            { ...session, planId: text },
            { ...noNeeds, ids: [text], titleKeys: [text], fingerprint: text },
          );
          expect(rows.byId).toEqual([todo]);
          expect(rows.byTitle).toEqual([todo]);
          expect(rows.fingerprintSeen).toBe(true);
        });
      });
    }

    it('T6: texts that look alike to a database stay different', async () => {
      const ids = Object.values(texts);
      await store().transact(async (tx) => {
        for (const id of ids) {
          await tx.saveSession(aSession({ id }));
          await tx.createTodo(aTodo({ id, titleKey: id }));
        }
      });
      await store().read(async (reader) => {
        for (const id of ids) {
          expect((await reader.session(id))?.id).toBe(id);
          const rows = await reader.rows(aSession(), { ...noNeeds, titleKeys: [id] });
          expect(rows.byTitle.map((todo) => todo.id)).toEqual([id]);
        }
      });
    });

    it('T1: big, small and broken numbers keep their value', async () => {
      const numbers = [0, -1, 0.1 + 0.2, 2 ** 31, 2 ** 53 - 1, 2 ** 60, 1e300, -1e300, 5e-324];
      const todos = numbers.map((order) => aTodo({ order, createdAt: order }));
      await store().transact(async (tx) => {
        await tx.createTodos(todos);
        for (const epoch of numbers) {
          await tx.saveOutbox(anOutboxRow({ epoch, createdAt: epoch }));
          await tx.addEvent(anEvent.timerFired({ at: epoch, epoch, dueAt: epoch }));
          await tx.saveTimer(`timer ${epoch}`, 'instance-1', { purpose: 'due', dueAt: epoch, epoch });
        }
      });
      const sorted = [...numbers].sort((one, other) => one - other);
      const after = await dump(store());
      expect(after.todos.map(({ order }) => order)).toEqual(sorted);
      expect(after.outbox.map(({ epoch }) => epoch)).toEqual(sorted);
      expect(after.pending.map(({ at }) => at)).toEqual(sorted);
      const due = await store().read(async (reader) => reader.dueTimers('instance-1', 1e301, 99));
      expect(due.map(({ dueAt }) => dueAt)).toEqual(sorted);
      expect(due.map(({ epoch }) => epoch)).toEqual(sorted);
    });

    it('T1: times of today compare exactly to the millisecond', async () => {
      await store().transact(async (tx) =>
        tx.saveTimer('session-1', 'instance-1', { purpose: 'due', dueAt: builtAt, epoch: 1 }),
      );
      expect(await store().read(async (reader) => reader.dueTimers('instance-1', builtAt - 1, 9))).toEqual(
        [],
      );
      expect(await store().read(async (reader) => reader.dueTimers('instance-1', builtAt, 9))).toHaveLength(
        1,
      );
    });
  });
}
