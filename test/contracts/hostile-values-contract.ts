// Contract: whatever text or number comes in comes out again, and is only ever data.
import { describe, expect, it } from 'vitest';
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
import { dump, save } from './dump.ts';
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
          descriptor: {
            ...aSession().descriptor,
            host: text,
            instance: text,
            directory: text,
          },
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
          [
            aLedgerDraft({
              planId: text,
              sessionId: text,
              host: text,
              detail: { [text]: text },
            }),
          ],
          hash,
        );
        const outbox = [anOutboxRow({ sessionId: text, instance: text, text })];
        const timer = { purpose: 'due', dueAt: 1, epoch: 1 } as const;
        const state = { ...session, plan: [todo], planId: text };
        await save(store(), {
          state,
          decisions: [aStoredDecision({ sessionId: text, turnId: text })],
          ledger,
          fingerprints: [{ fingerprint: text, at: 1 }],
          timer,
          outbox,
          policies: new Map([[text, text]]),
        });
        const message = {
          sessionId: text,
          turnId: text,
          at: 1,
          kind: 'human',
          body: text,
        } as const;
        await store().record({ messages: [message] });
        await store().append([event]);
        const after = await dump(store(), text, text, text);
        expect(after.state).toEqual(state);
        expect(after.todos).toEqual([todo]);
        expect(after.waiting).toEqual([{ applied: null, event }]);
        expect(after.ledger).toEqual(ledger);
        expect(after.timers.due).toEqual([{ sessionId: text, ...timer }]);
        expect(after.openOutbox).toEqual(outbox);
        expect(after.decisions[0]?.turnId).toBe(text);
        expect(await store().policy(text)).toBe(text);
        expect(await store().todos({ ids: [text] })).toEqual([todo]);
        expect(await store().todos({ turnId: text })).toEqual([todo]);
        expect((await store().transcript(text, 0)).messages).toEqual([
          { ...message, sequence: 1 },
        ]);
        const { plan: _, ...listed } = state;
        expect(await store().sessions({ host: text, directory: text, limit: 9 })).toEqual(
          [listed],
        );
        const seen = await store().step(text, ({ wasSeen, policy }) => ({
          result: [wasSeen(text), policy(text)],
        }));
        expect(seen).toEqual([true, text]);
      });
    }

    it('T6: texts that look alike to a database stay different', async () => {
      const ids = Object.values(texts);
      for (const id of ids)
        await save(store(), {
          state: { ...aSession({ id, planId: id }), plan: [aTodo({ id, planId: id })] },
        });
      for (const id of ids) {
        expect((await store().state(id))?.id).toBe(id);
        expect((await store().todos({ planId: id })).map((todo) => todo.id)).toEqual([
          id,
        ]);
      }
    });

    it('T1: big, small and broken numbers keep their value', async () => {
      const numbers = [
        0,
        -1,
        0.1 + 0.2,
        2 ** 31,
        2 ** 53 - 1,
        2 ** 60,
        1e300,
        -1e300,
        5e-324,
      ];
      const plan = numbers.map((order) =>
        aTodo({ order, createdAt: order, createdWork: order }),
      );
      const outbox = numbers.map((epoch) => anOutboxRow({ epoch, createdAt: epoch }));
      await save(store(), { state: { ...aSession(), plan }, outbox });
      for (const epoch of numbers) {
        await store().append([anEvent.timerFired({ at: epoch, epoch, dueAt: epoch })]);
        const state = aSession({ id: `timer ${epoch}` });
        await save(store(), { state, timer: { purpose: 'due', dueAt: epoch, epoch } });
      }
      const sorted = [...numbers].sort((one, other) => one - other);
      const after = await dump(store());
      expect(after.todos).toEqual(plan);
      expect(after.outbox.map(({ epoch }) => epoch)).toEqual(sorted);
      expect(after.waiting.map(({ event }) => event.at)).toEqual(numbers);
      const { due } = await store().timers('instance-1', 1e301, 99);
      expect(due.map(({ dueAt }) => dueAt)).toEqual(sorted);
      expect(due.map(({ epoch }) => epoch)).toEqual(sorted);
    });

    it('T1: times of today compare exactly to the millisecond', async () => {
      await save(store(), {
        state: aSession(),
        timer: { purpose: 'due', dueAt: builtAt, epoch: 1 },
      });
      expect((await store().timers('instance-1', builtAt - 1, 9)).due).toEqual([]);
      expect((await store().timers('instance-1', builtAt, 9)).due).toHaveLength(1);
    });
  });
}
