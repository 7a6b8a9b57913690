import { describe, expect, it } from 'vitest';
import { aSession, aTodo } from '../../test/support/builders.ts';
import { PlanDraft, type StatusRequest, setStatus } from './plan.ts';
import { writeList } from './reconcile.ts';
import { defaultSettings } from './settings.ts';
import type { State } from './state.ts';
import type { Actor, Todo } from './todo.ts';

const at = 5000;
const withWork: State = { ...aSession(), work: { ...aSession().work, calls: 1 } };

function set(
  todo: Partial<Todo>,
  request: StatusRequest,
  actor: Actor = 'agent',
  session: State = withWork,
) {
  return setStatus(aTodo(todo), request, session, actor, at);
}

function drop(todo: Todo, when: number) {
  const draft = new PlanDraft({ ...aSession(), plan: [todo] }, 'agent', when);
  writeList(draft, [], defaultSettings);
  const { state, ledger } = draft.finish().edited;
  return state.plan[0] === todo
    ? null
    : { todo: state.plan[0] as Todo, change: ledger[0]?.change };
}

describe('setStatus', () => {
  it('V1: completing is a claim, with its outcome and time', () => {
    expect(
      set(
        { status: 'in_progress', startedAt: 7 },
        { status: 'completed', outcome: 'It works.' },
      ),
    ).toMatchObject({
      change: 'completed',
      todo: {
        status: 'completed',
        verification: 'claimed',
        outcome: 'It works.',
        completedAt: at,
        startedAt: 7,
      },
    });
    expect(set({}, { status: 'completed' })?.todo.startedAt).toBe(at);
  });

  it('says null where nothing would change', () => {
    expect(set({ status: 'completed' }, { status: 'completed' })).toBe(null);
    expect(set({}, { status: 'pending' })).toBe(null);
    expect(set({ status: 'blocked', reason: 'no key' }, { status: 'blocked' })).toBe(
      null,
    );
    expect(
      set(
        { status: 'blocked', reason: 'no key' },
        { status: 'blocked', reason: 'no key' },
      ),
    ).toBe(null);
    expect(
      set(
        { status: 'cancelled', reason: 'no need' },
        { status: 'cancelled', reason: 'other' },
      ),
    ).toBe(null);
  });

  it('T2: reopening clears completedAt, reason and evidence, and keeps what happened first', () => {
    const completed = {
      status: 'completed',
      verification: 'passed',
      completedAt: 9,
      finalAt: 9,
      startedAt: 8,
    } as const;
    expect(set(completed, { status: 'pending' })).toMatchObject({
      change: 'toggled',
      todo: {
        status: 'pending',
        completedAt: null,
        verification: 'none',
        finalAt: 9,
        startedAt: 8,
      },
    });
    expect(
      set({ status: 'blocked', reason: 'no key' }, { status: 'in_progress' }),
    ).toMatchObject({
      change: 'reopened',
      todo: { status: 'in_progress', reason: null, startedAt: at },
    });
  });

  it('G7: only the first start is a start; going to and fro is toggling', () => {
    expect(set({}, { status: 'in_progress' })).toMatchObject({
      change: 'started',
      todo: { startedAt: at },
    });
    expect(set({ startedAt: 3 }, { status: 'in_progress' })).toMatchObject({
      change: 'toggled',
      todo: { startedAt: 3 },
    });
    expect(
      set({ status: 'in_progress', startedAt: 3 }, { status: 'pending' })?.change,
    ).toBe('toggled');
  });

  it('T2: a failed check stays with the todo while it is only moved between open statuses', () => {
    const failed = {
      status: 'in_progress',
      verification: 'failed',
      startedAt: 3,
    } as const;
    expect(set(failed, { status: 'pending' })?.todo.verification).toBe('failed');
  });

  it('T2: cancelling an open todo without a reason drops it; with a reason it is final', () => {
    expect(set({}, { status: 'cancelled' })).toMatchObject({
      change: 'dropped',
      todo: { status: 'pending', droppedAt: at },
    });
    expect(set({}, { status: 'cancelled', reason: 'no need' })).toMatchObject({
      change: 'cancelled',
      todo: { status: 'cancelled', reason: 'no need', completedAt: at },
    });
  });

  it('T2: a blocked todo cancelled without a reason is cancelled-unexplained; a completed one stays completed', () => {
    expect(
      set({ status: 'blocked', reason: 'no key' }, { status: 'cancelled' }),
    ).toMatchObject({
      change: 'cancelled-unexplained',
      todo: { status: 'cancelled', reason: null },
    });
    expect(set({ status: 'completed' }, { status: 'cancelled' })).toBe(null);
  });

  it('a reason given later explains an unexplained cancellation', () => {
    expect(
      set({ status: 'cancelled' }, { status: 'cancelled', reason: 'no need' }),
    ).toMatchObject({
      change: 'cancelled',
      todo: { reason: 'no need' },
    });
  });

  it('a human needs no reason', () => {
    expect(set({}, { status: 'cancelled' }, 'human')).toMatchObject({
      change: 'cancelled',
      todo: { status: 'cancelled', reason: 'cancelled by the human' },
    });
  });

  it('T2: blocked always carries a reason', () => {
    expect(set({}, { status: 'blocked', reason: 'no key' })?.todo).toMatchObject({
      status: 'blocked',
      reason: 'no key',
    });
    expect(set({}, { status: 'blocked' })?.todo.reason).toBe('no reason given');
    expect(
      set({ status: 'blocked', reason: 'a' }, { status: 'blocked', reason: 'b' })?.todo
        .reason,
    ).toBe('b');
  });

  it.each(['completed', 'blocked', 'cancelled'] as const)(
    'V4: %s by an agent remembers the epoch, and open again it is forgotten',
    (status) => {
      const request = { status, reason: 'because' };
      const session = { ...aSession(), epoch: 7 };
      const ended = set({}, request, 'agent', session);
      expect(ended).toMatchObject({ change: status, todo: { endedIn: 7 } });
      expect(set({}, request, 'human', session)).toMatchObject({
        change: status,
        todo: { endedIn: null },
      });
      expect(
        set(ended?.todo ?? {}, { status: 'pending' }, 'agent', session)?.todo.endedIn,
      ).toBeNull();
    },
  );

  it('V4: dropped, then mentioned again: restored with the same status', () => {
    expect(set({ droppedAt: 3, droppedNamedAt: 4 }, { status: 'pending' })).toMatchObject(
      {
        change: 'restored',
        todo: { status: 'pending', droppedAt: null, droppedNamedAt: null },
      },
    );
  });

  it.each(['completed', 'cancelled', 'blocked', 'in_progress'] as const)(
    'V4: %s settles a drop',
    (status) => {
      expect(
        set({ droppedAt: 3, droppedNamedAt: 4 }, { status, reason: 'because' })?.todo,
      ).toMatchObject({
        droppedAt: null,
        droppedNamedAt: null,
      });
    },
  );
});

describe('drop', () => {
  it('V4: the first omission drops, a second one before a continuation named it does nothing', () => {
    const first = drop(aTodo({}), at);
    expect(first).toMatchObject({
      change: 'dropped',
      todo: { status: 'pending', droppedAt: at },
    });
    expect(drop(first!.todo, at + 1)).toBe(null);
  });

  it('V4: an omission after it was named makes it cancelled-unexplained', () => {
    expect(drop(aTodo({ droppedAt: 3, droppedNamedAt: 4 }), at)).toMatchObject({
      change: 'cancelled-unexplained',
      todo: { status: 'cancelled', reason: null, completedAt: at, droppedAt: null },
    });
  });

  it('V4: what is not open cannot be dropped', () => {
    for (const status of ['completed', 'cancelled', 'blocked'] as const) {
      expect(drop(aTodo({ status, reason: 'because' }), at)).toBe(null);
    }
  });
});
