import { describe, expect, it } from 'vitest';
import { editedAt as at, edit } from '../../test/properties/edit-plan.ts';
import { aSession, aTodo } from '../../test/support/builders.ts';
import type { TodoChanges } from './events.ts';
import { defaultSettings, type Settings } from './settings.ts';
import { countPlan } from './state.ts';
import type { Todo } from './todo.ts';

const work = { ...aSession().work, calls: 1 };

function shown({ state, reply, ledger }: ReturnType<typeof edit>) {
  return {
    state,
    reply,
    ledger: ledger.map(({ change }) => change),
    todo: reply.changed.at(-1),
  };
}

function complete(
  row: Partial<Todo>,
  status: 'completed' | 'cancelled',
  outcome: string,
  todoId = 't1',
) {
  const plan = [aTodo({ id: 't1', title: 'Build', ...row })];
  const change = {
    type: 'todo-completed',
    actor: 'agent',
    todoId,
    status,
    outcome,
  } as const;
  return shown(edit(plan, change, defaultSettings, { work }));
}

function update(
  row: Partial<Todo>,
  changes: TodoChanges,
  others: readonly Todo[] = [],
  settings: Settings = defaultSettings,
  todoId = 't1',
) {
  const plan = [aTodo({ id: 't1', title: 'Build', ...row }), ...others];
  const change = { type: 'todo-updated', actor: 'agent', todoId, changes } as const;
  return shown(edit(plan, change, settings, { work }));
}

describe('completeTodo', () => {
  it('M3: completes with an outcome, as a claim', () => {
    const { todo, ledger, state } = complete({}, 'completed', 'It works.');
    expect(todo).toMatchObject({
      status: 'completed',
      outcome: 'It works.',
      verification: 'claimed',
      completedAt: at,
    });
    expect(ledger).toEqual(['completed']);
    expect(countPlan(state.plan)).toMatchObject({
      pending: 0,
      completed: 1,
      uncovered: 1,
    });
  });

  it('M3: cancels with the outcome as its reason', () => {
    expect(complete({}, 'cancelled', 'no need').todo).toMatchObject({
      status: 'cancelled',
      reason: 'no need',
    });
  });

  it("M3: finds a todo by the host's id", () => {
    expect(complete({ hostKey: '7' }, 'completed', 'It works.', '7').todo?.id).toBe('t1');
  });

  it.each([
    ['an unknown id', 'unknown-id', {}, 'completed', 'It works.', 'nobody'],
    ['a missing outcome', 'no-outcome', {}, 'completed', ' \n', 't1'],
    ['a missing reason to cancel', 'no-outcome', {}, 'cancelled', '', 't1'],
    [
      'a completed todo',
      'already-final',
      { status: 'completed' },
      'completed',
      'It works.',
      't1',
    ],
    [
      'a todo that passed',
      'already-final',
      { status: 'completed', verification: 'passed', checks: ['unit'] },
      'cancelled',
      'x',
      't1',
    ],
    [
      'a claim whose check is due',
      'already-final',
      { status: 'completed', verification: 'claimed', checks: ['unit'] },
      'completed',
      'x',
      't1',
    ],
    [
      'a cancelled todo',
      'already-final',
      { status: 'cancelled', reason: 'no need' },
      'completed',
      'x',
      't1',
    ],
  ] as const)(
    'M3: %s changes nothing and is answered with a sentence',
    (_what, code, row, status, outcome, id) => {
      const { reply, ledger } = complete(row as Partial<Todo>, status, outcome, id);
      expect(reply).toMatchObject({
        applied: false,
        changed: [],
        refused: [{ index: null, code }],
      });
      expect(reply.refused[0]?.sentence).toMatch(/Nothing changed\.$/u);
      expect(ledger).toEqual([]);
    },
  );

  it('G7: the first final of a todo zeroes the counters it may, a second one does not', () => {
    const counters = { stagnant: 2, continuations: 5, total: 9 };
    const done = {
      type: 'todo-completed',
      actor: 'agent',
      todoId: 't1',
      status: 'completed',
      outcome: 'ok',
    } as const;
    const first = edit([aTodo({ id: 't1' })], done, defaultSettings, { counters });
    expect(first.state.counters).toEqual({ stagnant: 0, continuations: 0, total: 9 });
    const second = edit([aTodo({ id: 't1', finalAt: 3 })], done, defaultSettings, {
      counters,
    });
    expect(second.state.counters).toEqual(counters);
  });
});

describe('updateTodo', () => {
  it('M4: starts, blocks with a reason, and sets back', () => {
    expect(update({}, { status: 'in_progress' }).todo).toMatchObject({
      status: 'in_progress',
      startedAt: at,
    });
    expect(update({}, { status: 'blocked', reason: 'no key' }).todo).toMatchObject({
      status: 'blocked',
      reason: 'no key',
    });
    expect(update({ status: 'in_progress' }, { status: 'pending' }).todo?.status).toBe(
      'pending',
    );
  });

  it('M4: blocking needs a reason', () => {
    for (const reason of [undefined, ' ']) {
      const { reply } = update({}, { status: 'blocked', reason });
      expect(reply).toMatchObject({ applied: false, refused: [{ code: 'no-reason' }] });
    }
  });

  it('M4: words change without the status, and a status with the words, as one row', () => {
    const edited = update(
      {},
      { context: 'why', completionCriteria: 'it runs', priority: 'high' },
    );
    expect(edited.todo).toMatchObject({
      context: 'why',
      completionCriteria: 'it runs',
      priority: 'high',
      status: 'pending',
    });
    expect(edited.ledger).toEqual(['edited']);
    const both = update({}, { title: 'Build it', status: 'in_progress' });
    expect(both.reply.changed).toMatchObject([
      { title: 'Build it', titleKey: 'build it', status: 'in_progress' },
    ]);
    expect(both.ledger).toEqual(['reworded', 'started']);
  });

  it('M4: an update that changes nothing writes nothing', () => {
    const { reply, ledger } = update(
      {},
      { status: 'pending', title: 'Build', priority: 'medium' },
    );
    expect([reply.applied, reply.refused, ledger]).toEqual([false, [], []]);
  });

  it.each([
    ['no-title', { title: '  ' }],
    ['title-too-long', { title: 'x'.repeat(4097) }],
  ])('T6: %s refuses the whole update, its status included', (code, changes) => {
    const { reply, ledger } = update({}, {
      status: 'in_progress',
      ...changes,
    } as TodoChanges);
    expect(reply).toMatchObject({ applied: false, refused: [{ code }] });
    expect(ledger).toEqual([]);
  });

  it('T7: a second todo in progress is reported where the setting allows one', () => {
    const other = aTodo({ id: 't2', title: 'Ship', status: 'in_progress' });
    expect(update({}, { status: 'in_progress' }, [other]).reply.notices).toEqual([
      expect.stringContaining('"Ship"'),
    ]);
    const several = { ...defaultSettings, singleInProgress: false };
    expect(update({}, { status: 'in_progress' }, [other], several).reply.notices).toEqual(
      [],
    );
    expect(update({}, { status: 'in_progress' }).reply.notices).toEqual([]);
  });

  it('hostile titles and ids reach the sentences without their controls', () => {
    const row = { title: 'evil\u001b[31m\ntitle' };
    const replies = [
      update(row, { status: 'blocked' }).reply,
      update(row, {}, [], defaultSettings, 'no\u001b[2Jbody\n').reply,
    ];
    for (const { sentence } of replies.flatMap(({ refused }) => refused)) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that none is left is what this looks at
      expect(sentence).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/u);
    }
  });
});

describe('V10: checks of a file that the human names anew', () => {
  const passed = { check: 'unit', fingerprint: 'tree-1', flaky: false };
  const proved = {
    status: 'completed',
    verification: 'passed',
    checks: ['unit'],
    evidence: [passed],
    failureTail: 'It failed.',
  } as const;
  const name = (
    row: Partial<Todo>,
    checks: readonly string[],
    actor: 'file' | 'agent' = 'file',
  ) => {
    const plan = [aTodo({ id: 't1', title: 'Build', ...row })];
    const change = {
      type: 'todo-updated',
      actor,
      todoId: 't1',
      changes: { checks },
    } as const;
    return shown(edit(plan, change, defaultSettings, { work }));
  };

  it.each([
    ['a claim is open to a check that came', ['unit', 'lint'], 'claimed', [passed]],
    ['it stays proved by a check that stays', ['unit'], undefined, undefined],
    ['it is a claim again without any', [], 'claimed', []],
  ] as const)('V10: %s', (_what, checks, verification, evidence) => {
    const { todo } = name(proved, checks);
    if (verification === undefined) expect(todo).toBeUndefined();
    else
      expect(todo).toMatchObject({ checks, verification, evidence, failureTail: null });
  });

  it('V10: of two checks that passed one is taken, and the other still proves it', () => {
    const two = [passed, { ...passed, check: 'lint' }];
    const { todo, ledger } = name(
      { ...proved, checks: ['unit', 'lint'], evidence: two },
      ['lint'],
    );
    expect(todo).toMatchObject({
      checks: ['lint'],
      verification: 'passed',
      evidence: [{ check: 'lint' }],
    });
    expect(ledger).toEqual(['edited']);
  });

  it('V10: an open todo forgets the failure of a check that is gone', () => {
    const failed = {
      ...proved,
      status: 'in_progress',
      verification: 'failed',
      evidence: [],
    } as const;
    expect(name(failed, ['lint']).todo).toMatchObject({
      verification: 'none',
      failureTail: null,
    });
  });

  it('V3: what an agent says about checks is ignored', () => {
    expect(name(proved, [], 'agent').todo).toBeUndefined();
  });
});
