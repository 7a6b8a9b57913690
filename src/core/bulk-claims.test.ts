import { describe, expect, it } from 'vitest';
import { createRandom } from '../../test/evidence/random.ts';
import { agentOf, honestAgents, lazyAgents } from '../../test/properties/bulk-agents.ts';
import {
  createCoreDriver,
  type DriverOptions,
  textOf,
} from '../../test/properties/core-driver.ts';
import {
  all,
  type Patch,
  stopContext,
  withCounts,
  withSession,
} from '../../test/properties/rule-context.ts';
import { dueChallenge } from './settlement.ts';

function planned(
  amount: number,
  options: DriverOptions = {},
  fingerprint: string | null = null,
) {
  const driver = createCoreDriver(options);
  driver.says('Please build it.', 'message-1', fingerprint);
  const ids = driver.plans(
    ...Array.from({ length: amount }, (_, index) => `todo ${index}`),
  );
  return {
    driver,
    ids,
    ends(status: 'completed' | 'blocked' | 'cancelled' = 'completed', which = ids) {
      for (const id of which) driver.updates(id, { status, reason: 'too hard' });
    },
  };
}

describe('a bulk claim', () => {
  it('P2 V4: three claims without any work are challenged once per human message', () => {
    const { driver, ends } = planned(3);
    ends();
    const challenged = driver.stops();
    expect(challenged.decision?.textKind).toBe('bulk-claim');
    expect(textOf(challenged)).toContain(
      '3 todos were marked completed without any other tool call,',
    );
    expect(driver.stops().decision).toMatchObject({
      answer: 'let-go',
      outcome: 'claimed',
    });
    driver.says('are you sure?');
    driver.works('read');
    expect(driver.stops().decision?.answer, 'they were claimed before this message').toBe(
      'let-go',
    );
    driver.says('then these too');
    ends('completed', driver.plans('d', 'e', 'f'));
    expect(driver.stops().decision?.textKind).toBe('bulk-claim');
  });

  it('P38: one command that changes nothing, and ten claims: challenged, with the count of the calls', () => {
    const { driver, ends } = planned(10, {}, 'tree-1');
    driver.works('unknown');
    ends();
    const text = textOf(driver.stops({ fingerprint: 'tree-1' }));
    expect(text).toContain(
      "10 todos were marked completed after 1 other tool call, and no file changed since the human's message.",
    );
    expect(driver.stops({ fingerprint: 'tree-1' }).decision?.answer).toBe('let-go');
  });

  it('P39: the work first, the finished list afterwards', () => {
    const driver = createCoreDriver();
    driver.says('Please build it.', 'message-1', 'tree-1');
    driver.works();
    driver.writes(
      ...['a', 'b', 'c'].map((content) => ({ content, status: 'completed' })),
    );
    expect(driver.stops({ fingerprint: 'tree-2' }).decision).toMatchObject({
      answer: 'let-go',
    });
    // Where nobody looked at the human's message, a call that can write counts as the
    // change.
    const unseen = createCoreDriver();
    unseen.says();
    unseen.works();
    unseen.writes(
      ...['a', 'b', 'c'].map((content) => ({ content, status: 'completed' })),
    );
    expect(unseen.stops({ fingerprint: 'tree-2' }).decision).toMatchObject({
      answer: 'let-go',
    });
  });

  it('V4: as many other calls as claims are work, one fewer is not; two claims are a coincidence', () => {
    const answers = [3, 2].map((calls) => {
      const { driver, ends } = planned(3);
      for (let call = 0; call < calls; call += 1) driver.works('read');
      ends();
      return driver.stops().decision?.answer;
    });
    expect(answers).toEqual(['let-go', 'continue']);
    const two = planned(2);
    two.ends();
    expect(two.driver.stops().decision?.answer).toBe('let-go');
  });

  it('V4: a claim that was taken back is none, nor is one by a human, nor one that its own check judges', () => {
    const back = planned(3);
    back.ends();
    back.driver.updates(back.ids[0] ?? '', { status: 'in_progress' });
    expect(back.driver.stops().decision?.textKind).toBe('standard');
    const { driver, ids } = planned(3);
    for (const todoId of ids) {
      const done = {
        type: 'todo-completed',
        todoId,
        status: 'completed',
        outcome: 'by hand',
      } as const;
      driver.happens({ ...done, actor: 'human' });
    }
    expect(driver.stops().decision?.answer).toBe('let-go');
    const checked = createCoreDriver();
    checked.says();
    for (const id of checked.plans(
      ...['a', 'b', 'c'].map((title) => ({ title, checks: ['own'] })),
    ))
      checked.completes(id);
    expect(checked.stops().decision, 'the checks run first').toMatchObject({
      answer: 'wait',
    });
  });

  it('V4: blocking and cancelling in bulk are challenged on their own account', () => {
    const { driver, ids, ends } = planned(6);
    ends('completed', ids.slice(0, 3));
    ends('blocked', ids.slice(3, 5));
    ends('cancelled', ids.slice(5));
    expect(textOf(driver.stops())).toContain('3 todos were marked completed');
    expect(driver.state.challenged).toEqual({ claims: true, ends: false });
    expect(textOf(driver.stops())).toContain(
      '3 todos were blocked or cancelled without any other tool call',
    );
    expect(driver.state.challenged).toEqual({ claims: true, ends: true });
    expect(driver.stops().decision).toMatchObject({
      reason: 'all-blocked',
      outcome: 'blocked',
    });
  });

  it('V4: an agent whose calls nobody tells of is given the benefit, declared or not', () => {
    const declared = planned(3, { descriptor: { seesTools: false } });
    declared.ends();
    expect(declared.driver.stops().decision?.answer).toBe('let-go');
    const unheard = createCoreDriver();
    unheard.says();
    unheard.happens({
      type: 'plan-written',
      actor: 'agent',
      items: ['a', 'b', 'c'].map((content) => ({
        content,
        status: 'completed',
        freshId: content,
      })),
    });
    expect(unheard.stops().decision?.answer).toBe('let-go');
  });
});

describe('V4: an unchanged workspace', () => {
  const bulk = withCounts({ completed: 5, uncovered: 5, claims: 5 });
  const work = stopContext().state.work;
  /** One call that can write ended since the message, and the last look came after it. */
  const looked = {
    ...work,
    heard: true,
    calls: 3,
    writes: 1,
    started: 1,
    writesSeen: 1,
    fingerprint: 'tree-1',
  };
  const spoken = { epoch: 1, calls: 2, writes: 0, fingerprint: 'tree-1' };
  const isDue = (...patches: Patch[]) =>
    dueChallenge(
      stopContext(bulk, withSession({ work: looked, spoken }), all(...patches)),
    ) === 'claims';

  it('is one that was seen to be the same', () => {
    expect(isDue()).toBe(true);
    expect(isDue(withSession({ work: { ...looked, fingerprint: 'tree-2' } }))).toBe(
      false,
    );
  });

  it('is not assumed where the last look came before the last call that can write, or one is running', () => {
    expect(isDue(withSession({ work: { ...looked, writesSeen: 0 } }))).toBe(false);
    expect(isDue(withSession({ work: { ...looked, started: 2 } }))).toBe(false);
  });

  it('is not assumed without a look at the message or at the stop, unless nothing could write', () => {
    const unseen = { ...spoken, fingerprint: null };
    expect(isDue(withSession({ spoken: unseen }))).toBe(false);
    expect(isDue(withSession({ work: { ...looked, fingerprint: null } }))).toBe(false);
    expect(isDue(withSession({ spoken: { ...unseen, writes: 1 } }))).toBe(true);
    expect(
      isDue(
        withSession({
          spoken: { ...unseen, writes: 1 },
          work: { ...looked, started: 2 },
        }),
      ),
    ).toBe(false);
  });

  it('may be seen late: a look before any call that can write shows how it stood at the message', () => {
    const { driver, ends } = planned(4);
    driver.works('read');
    driver.stops({ fingerprint: 'tree-1' });
    driver.works('unknown');
    ends();
    expect(driver.stops({ fingerprint: 'tree-1' }).decision?.textKind).toBe('bulk-claim');
    const other = planned(4);
    other.driver.works('unknown');
    other.driver.stops({ fingerprint: 'tree-1' });
    other.ends();
    expect(other.driver.stops({ fingerprint: 'tree-1' }).decision?.answer).toBe('let-go');
  });

  it.each([
    ['with looks at it', 'tree-1', 'tree-2'],
    ['by the calls alone', null, null],
  ])(
    'is measured from the last message: what changed before it is another turn, %s',
    (_, before, after) => {
      const { driver, ends } = planned(1, {}, before);
      driver.works();
      ends();
      driver.stops({ fingerprint: after });
      driver.says('And these.', 'message-2', after);
      ends('completed', driver.plans('b', 'c', 'd'));
      expect(driver.stops({ fingerprint: after }).decision?.textKind).toBe('bulk-claim');
    },
  );
});

describe('seeded agents', () => {
  const seeds = Array.from({ length: 1000 }, (_, index) => index + 1);

  it('P39: 1,000 honest runs (work first, one call for many, research, checks …) have no challenge', () => {
    const challenged = seeds.flatMap((seed) => {
      const told = agentOf(createRandom(seed), honestAgents);
      return told.challenges.some((times) => times > 0) ? [{ seed, ...told }] : [];
    });
    expect(challenged).toEqual([]);
  });

  it('P2 P38: 1,000 lazy runs are challenged exactly once per human message', () => {
    const others = seeds.flatMap((seed) => {
      const told = agentOf(createRandom(seed), lazyAgents);
      return told.challenges.every((times) => times === 1) ? [] : [{ seed, ...told }];
    });
    expect(others).toEqual([]);
  });
});
