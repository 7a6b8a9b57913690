// The remembered fold of a session's events: a shortcut that may be lost or damaged at any time.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Event } from '../../core/events.ts';
import type { Store } from '../../engine/store.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { eventKey } from './event-key.ts';
import { readTrail } from './trail-file.ts';

const origin = { host: 'claude-code', sessionId: 's1', promptId: 'p1' };
let directory: string;
let store: Store;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-trail-'));
  store = createMemoryStore();
});

function created(number: number): Event {
  const id = eventKey(origin, 'work', `call-${number}`);
  const items = [{ id: `todo-${number}`, title: `Todo ${number}`, hostKey: `task-${number}` }];
  return { type: 'todos-created', id, sessionId: 's1', at: number, actor: 'agent', items };
}

const apply = (event: Event) => store.transact(async (transaction) => transaction.markApplied(event));
const trail = () => store.read(async (reader) => readTrail(reader, { ...origin, directory }));
const files = () => readdirSync(join(directory, 'hosts', 'claude-code'));

describe('the trail', () => {
  it('folds what was applied and what still waits', async () => {
    await apply(created(1));
    await store.transact(async (transaction) => transaction.addEvent(created(2)));
    expect(Object.keys((await trail()).list)).toEqual(['task-1', 'task-2']);
    expect(await trail()).toMatchObject({ promptId: 'p1', last: 'work' });
  });

  it('goes on where it stopped, over more events than one read brings', async () => {
    for (let number = 1; number <= 1005; number++) await apply(created(number));
    expect(Object.keys((await trail()).list)).toHaveLength(1005);
    const [file = ''] = files();
    expect(JSON.parse(readFileSync(join(directory, 'hosts', 'claude-code', file), 'utf8')).applied).toBe(
      1005,
    );
    await apply(created(2000));
    expect(Object.keys((await trail()).list)).toHaveLength(1006);
  });

  it.each([
    ['{'],
    ['{"layout":1}'],
    ['null'],
    ['{"layout":1,"sessionId":"s2","applied":9,"trail":{"list":{}}}'],
  ])('a file with %j in it is folded anew', async (content) => {
    await apply(created(1));
    await trail();
    const [file = ''] = files();
    writeFileSync(join(directory, 'hosts', 'claude-code', file), content);
    expect(Object.keys((await trail()).list)).toEqual(['task-1']);
  });

  it('a directory that cannot be written costs nothing but time', async () => {
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'a file stands here');
    await apply(created(1));
    expect(Object.keys((await trail()).list)).toEqual(['task-1']);
  });

  it('events of others, claims at the gate and a todo that was deleted are told apart', async () => {
    await apply(created(1));
    await apply({ ...created(2), id: 'mcp-call' });
    const change = (kind: 'gate' | 'work', status: 'completed' | 'cancelled'): Event => ({
      type: 'todo-updated',
      id: eventKey(origin, kind, status),
      sessionId: 's1',
      at: 5,
      actor: 'agent',
      todoId: 'task-1',
      changes: { status },
    });
    await apply(change('gate', 'completed'));
    expect((await trail()).list).toEqual({ 'task-1': { title: 'Todo 1', status: 'pending' } });
    await apply(change('work', 'cancelled'));
    expect((await trail()).list['task-1']?.status).toBe('gone');
  });
});
