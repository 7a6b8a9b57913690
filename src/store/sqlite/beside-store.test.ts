import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anEvent } from '../../../test/support/builders.ts';
import { createState } from '../../core/state.ts';
import { createMarks, createSpool } from './beside-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

let directory: string;
const path = () => join(directory, 'store.db');

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-beside-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe('the mark', () => {
  it('V5: a newer one replaces all before it, longer or shorter, and its file does not stay long', () => {
    const marks = createMarks(path());
    const read = () => marks.read('session-1');
    expect(read()).toEqual([]);
    marks.set('session-1', 'a long name of an event');
    marks.set('session-1', 'short');
    expect(read()).toEqual(['short']);
    const calls = Array.from({ length: 100 }, (_, call) =>
      anEvent.activitySeen({ id: `call ${call} ${'x'.repeat(50)}` }),
    );
    marks.add(calls);
    expect(read()).toEqual(['short', ...calls.map(({ id }) => id)]);
    marks.set('session-1', 'the longest name of an event in this test');
    expect(read()).toEqual(['the longest name of an event in this test']);
    expect(statSync(`${path()}-marks/session-1`).size).toBeLessThan(100);
    marks.add([anEvent.activitySeen({ id: 'next' })]);
    expect(read()).toHaveLength(2);
  });
});

describe('the spool', () => {
  it('V5: takes so much that nobody has taken in yet, and then says no', () => {
    const spool = createSpool(path(), 150_000);
    const event = { ...anEvent.activitySeen(), id: 'x'.repeat(100_000) };
    const nothing = () => 0;
    expect(spool.add('session-1', [{ event }], nothing)).toBe(true);
    expect(spool.add('session-1', [{ event }], nothing)).toBe(false);
    const { entries = [], size = 0 } = spool.read('session-1', nothing) ?? {};
    expect(entries).toHaveLength(1);
    expect(spool.add('session-1', [{ event }], () => size)).toBe(true);
    expect(createSpool(':memory:').add('session-1', [{ event }], nothing)).toBe(false);
  });

  it('V5: a line that is still being written waits, and a file that was put back is read from its start', () => {
    const spool = createSpool(path());
    const entry = { event: anEvent.activitySeen() };
    spool.add('session-1', [entry], () => 0);
    const size = spool.read('session-1', () => 0)?.size ?? 0;
    appendFileSync(`${path()}-spool/session-1`, '{"event":');
    expect(spool.read('session-1', () => size)).toBeNull();
    expect(spool.read('session-1', () => size + 1000)?.entries).toEqual([entry]);
  });

  it('V5: policies and events of a held store are taken in together, once, and are seen before that', async () => {
    const errors: unknown[] = [];
    const options = {
      path: path(),
      busyTimeoutMs: 20,
      onSpooled: (error: unknown) => errors.push(error),
    };
    const hook = await openSqliteStore(options);
    const other = new DatabaseSync(path());
    other.exec('BEGIN IMMEDIATE');
    const event = anEvent.activitySeen();
    await hook.record({ policies: new Map([['hash', 'body']]) });
    expect(await hook.append([event])).toEqual([true]);
    await expect(
      hook.step(event.sessionId, () => ({ result: null })),
    ).rejects.toMatchObject({
      code: 'store-busy',
    });
    other.exec('ROLLBACK');
    other.close();
    await hook.close();
    expect(errors).not.toEqual([]);
    const next = await openSqliteStore({ path: path() });
    const waiting = () => next.events({ sessionId: event.sessionId, waiting: true });
    expect((await waiting()).map((row) => row.event)).toEqual([event]);
    const later = anEvent.activitySeen({ id: 'later' });
    await next.append([later]);
    expect((await waiting()).map((row) => row.event.id)).toEqual([event.id, 'later']);
    expect(await next.policy('hash')).toBe('body');
    await next.close();
  });

  it('V5: goes with a session that is archived, unless something in it was not taken in yet', async () => {
    const quick = { path: path(), busyTimeoutMs: 20, onSpooled: () => {} };
    const store = await openSqliteStore({ path: path() });
    const spoolWhileHeld = async (id: string, sessionId: string) => {
      const other = new DatabaseSync(path());
      other.exec('BEGIN IMMEDIATE');
      const hook = await openSqliteStore(quick);
      await hook.append([anEvent.activitySeen({ id, sessionId })]);
      other.exec('ROLLBACK');
      other.close();
      await hook.close();
    };
    const spooled = () => readdirSync(`${path()}-spool`);
    const save = (id: string) =>
      store.step(id, () => ({ state: createState(id, 1), result: null }));
    const waiting = async (sessionId: string) =>
      (await store.events({ sessionId, waiting: true })).map(({ event }) => event.id);
    await save('taken');
    await save('waiting');
    await spoolWhileHeld('one', 'taken');
    await spoolWhileHeld('two', 'waiting');
    await save('taken');
    expect(await store.archive(Number.MAX_SAFE_INTEGER, 10)).toBe(2);
    expect(spooled()).toEqual(['waiting']);
    await spoolWhileHeld('three', 'taken');
    await store.append([anEvent.activitySeen({ id: 'four', sessionId: 'taken' })]);
    await store.append([anEvent.activitySeen({ id: 'five', sessionId: 'waiting' })]);
    expect(await waiting('taken')).toEqual(['one', 'three', 'four']);
    expect(await waiting('waiting')).toEqual(['two', 'five']);
    await store.close();
  });

  it('V5: without leave to spool, a store that is held is an error as before', async () => {
    const store = await openSqliteStore({ path: path(), busyTimeoutMs: 20 });
    const other = new DatabaseSync(path());
    other.exec('BEGIN IMMEDIATE');
    await expect(store.append([anEvent.activitySeen()])).rejects.toMatchObject({
      code: 'store-busy',
    });
    other.close();
    await store.close();
  });
});
