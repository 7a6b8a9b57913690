// Which changes of a host's own list count, and what a host's events say about where its
// turn stands.
import { describe, expect, it } from 'vitest';
import { createCoreDriver } from '../../test/properties/core-driver.ts';
import type { SourceKind } from './events.ts';
import {
  hostListChanges,
  isSameList,
  type ListedTodo,
  writtenItems,
} from './reconcile.ts';
import { createState } from './state.ts';

const todo = (key: string | null, title: string, status: string): ListedTodo => ({
  key,
  title,
  status,
});
const keyed = (known: readonly ListedTodo[], ...listed: ListedTodo[]) =>
  hostListChanges(known, listed, (key) => `session/${key}`);
const whole = (known: readonly ListedTodo[], ...listed: ListedTodo[]) =>
  isSameList(known, listed)
    ? []
    : [{ type: 'plan-written', items: writtenItems(listed) }];

describe('a list that is read again', () => {
  it('T6 P45: holds a todo with a status that we do not know as open, and its word is told', () => {
    const odd = todo('1', 'A', 'waiting');
    expect(keyed([], odd)).toMatchObject([
      { type: 'todos-created', items: [{ status: 'waiting' }] },
    ]);
    expect(keyed([odd], odd)).toEqual([]);
    const opened = keyed([todo('1', 'A', 'completed')], odd);
    expect(opened).toMatchObject([
      { type: 'todo-updated', changes: { status: 'pending' } },
    ]);
  });

  it('G5: has no differences when nothing moved', () => {
    expect(keyed([todo('1', 'A', 'pending')], todo('1', 'A', 'pending'))).toEqual([]);
  });

  it('G5: tells a new todo, a new status and new words', () => {
    const known = [todo('1', 'A', 'pending'), todo('2', 'B', 'pending')];
    const listed = [
      todo('1', 'A', 'completed'),
      todo('2', 'B!', 'pending'),
      todo('3', 'C', 'done'),
    ];
    expect(keyed(known, ...listed)).toEqual([
      { type: 'todo-updated', todoId: '1', changes: { status: 'completed' } },
      { type: 'todo-updated', todoId: '2', changes: { title: 'B!' } },
      {
        type: 'todos-created',
        items: [{ id: 'session/3', title: 'C', hostKey: '3', status: 'completed' }],
      },
    ]);
  });

  it('T2: an open todo that is gone was deleted; one that was finished or gone before was not', () => {
    const known = [
      todo('1', 'A', 'in_progress'),
      todo('2', 'B', 'completed'),
      todo('3', 'C', 'gone'),
    ];
    expect(keyed(known)).toEqual([
      { type: 'todo-updated', todoId: '1', changes: { status: 'cancelled' } },
    ]);
  });

  it('T2: a todo that comes back is open again', () => {
    expect(keyed([todo('1', 'A', 'gone')], todo('1', 'A', 'pending'))).toEqual([
      { type: 'todo-updated', todoId: '1', changes: { status: 'pending' } },
    ]);
  });

  it('M5 P34: without lasting keys it is a write of the whole when it differs, and nothing when it does not', () => {
    const listed = [todo(null, 'A', 'pending')];
    expect(whole([], ...listed)).toMatchObject([
      { type: 'plan-written', items: [{ content: 'A', status: 'pending' }] },
    ]);
    expect(whole(listed, ...listed)).toEqual([]);
    expect(whole(listed)).toMatchObject([{ type: 'plan-written', items: [] }]);
    expect(whole([]), 'one that was never written is empty').toEqual([]);
  });
});

describe('what the events of a host say', () => {
  function told() {
    const driver = createCoreDriver();
    const from = (kind: SourceKind, promptId: string | null = 'p1') => ({
      source: { kind, promptId },
    });
    return { driver, from };
  }

  it('G5: its list is the one that its own events made; a claim at the gate is not yet in it', () => {
    const { driver, from } = told();
    const items = [{ id: 's/1', title: 'A', hostKey: '1' }];
    driver.happens({ type: 'todos-created', actor: 'agent', items, ...from('work') });
    driver.plans('ours');
    expect(driver.state.hostList).toEqual([todo('1', 'A', 'pending')]);
    const update = (kind: SourceKind, status: 'completed' | 'cancelled') =>
      driver.happens({
        type: 'todo-updated',
        actor: 'agent',
        todoId: '1',
        changes: { status },
        ...from(kind),
      });
    update('gate', 'completed');
    expect(driver.state.hostList).toEqual([todo('1', 'A', 'pending')]);
    update('work', 'cancelled');
    expect(driver.state.hostList).toEqual([todo('1', 'A', 'gone')]);
  });

  it('M5: a whole list that was read stays known, whatever else is written to the plan', () => {
    const { driver, from } = told();
    const items = [{ content: 'A', status: 'pending', freshId: 'a' }];
    driver.happens({
      type: 'plan-written',
      actor: 'agent',
      items,
      ...from('list', null),
    });
    driver.writes('A', 'B');
    expect(whole(driver.state.hostList, todo(null, 'A', 'pending'))).toEqual([]);
    expect(whole(driver.state.hostList)).toHaveLength(1);
  });

  it('G2 P12: the prompt, the last thing that was done, the last error and the stops in a row are known', () => {
    const { driver, from } = told();
    driver.happens({ type: 'activity-seen', ...from('prompt') });
    const fails = {
      type: 'tool-ended',
      tool: 'bash',
      access: 'write',
      error: 'exit 1',
    } as const;
    driver.happens({ ...fails, ...from('work') });
    driver.stops(from('stop'));
    driver.stops(from('stop', null));
    driver.happens({ type: 'activity-seen', ...from('side', 'p9') });
    expect(driver.state.trail).toEqual({
      promptId: 'p1',
      last: 'stop',
      toolError: 'exit 1',
      stops: 2,
      stop: null,
    });
    driver.happens({ type: 'activity-seen', ...from('prompt', 'p2') });
    expect(driver.state.trail).toEqual({
      promptId: 'p2',
      last: 'prompt',
      toolError: null,
      stops: 0,
      stop: null,
    });
  });

  it('V5: of hooks about one stop one decides; the next stop, with the same words, is another one', () => {
    const driver = createCoreDriver();
    driver.says('go');
    driver.plans('A');
    const stop = (
      by: string,
      since: number,
      until: number,
      about = 'words',
      promptId = 'p1',
    ) => {
      const asking = { by, about, since, until };
      return (
        driver.stops({ source: { kind: 'stop', promptId, asking } }).decision?.answer ??
        null
      );
    };
    const says = (by: string, until: number) => {
      const source = {
        kind: 'stop',
        promptId: 'p1',
        asking: { by, about: 'words', since: 0, until },
      } as const;
      const { epoch } = driver.state;
      driver.happens({
        type: 'delivery-reported',
        epoch,
        news: 'sent',
        error: null,
        source,
      });
    };
    expect(stop('a', 10, 20)).toBe('continue');
    expect(stop('b', 15, 25), 'started before the other was heard of').toBeNull();
    expect(stop('c', 30, 31), 'before the answer was given').toBeNull();
    says('a', 40);
    expect(stop('d', 40, 45), 'before the answer was on the record').toBeNull();
    expect(stop('e', 45, 46), 'before another of them was heard of').toBeNull();
    expect(driver.state.trail).toMatchObject({ stops: 1, stop: { by: 'a', until: 46 } });
    expect(driver.state.counters.total).toBe(1);
    expect(stop('f', 47, 60), 'after all of them').toBe('continue');
    says('f', 61);
    expect(stop('g', 50, 62, 'other words'), 'other words').toBe('continue');
    expect(stop('g', 50, 62, 'other words'), 'one that asks again').not.toBeNull();
    expect(driver.state.trail.stops).toBe(3);
    expect(stop('h', 50, 63, 'other words', 'p2'), 'another prompt').not.toBeNull();
    driver.happens({
      type: 'tool-ended',
      tool: 'x',
      access: 'read',
      error: null,
      ...told().from('work', 'p2'),
    });
    expect(stop('i', 50, 64, 'other words', 'p2'), 'after a tool call').not.toBeNull();
  });

  it('an event that came from no host changes none of it', () => {
    const { driver } = told();
    driver.works();
    expect(driver.state.trail).toBe(createState('any', 0).trail);
    expect(driver.state.hostList).toEqual([]);
  });
});
