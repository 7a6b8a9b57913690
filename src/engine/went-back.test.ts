// P43: a store file is restored to an earlier state while a session lives, in every kind
// of host.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { anEvent } from '../../test/support/builders.ts';
import { defaultSettings } from '../core/settings.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
} from '../simulated/simulated-clock.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { Store } from './store.ts';
import { sha256 } from './system.ts';

let directory: string;
let store: Store;
const clock = createSimulatedClock();
const identifiers = createSequentialIdentifiers();
const path = () => join(directory, 'store.db');

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-back-'));
  store = await openSqliteStore({ path: path() });
});

afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

/** Closed before it is copied, so that all is in one file. */
async function reopen(copy: (copyOf: string) => void): Promise<void> {
  await store.close();
  copy(`${path()}.copy`);
  store = await openSqliteStore({ path: path() });
}
const keep = () => reopen((copy) => copyFileSync(path(), copy));
const putBack = () => reopen((copy) => copyFileSync(copy, path()));

function enter(mode: 'asked' | 'told', goalChecks: readonly string[] = []) {
  const policy = () => ({
    settings: { ...defaultSettings, countdownSeconds: 0 },
    goalChecks,
  });
  return createScriptedHost({ mode, store, clock, identifiers, hash: sha256, policy });
}

const words = {
  messageId: 'w',
  turnId: 'w',
  agent: null,
  fingerprint: null,
  policyHash: null,
};
const loss = 'the store was restored to an earlier state, or lost';

describe.each(['asked', 'told'] as const)('a store that went back (%s)', (mode) => {
  beforeEach(async () => {
    const host = enter(mode);
    await host.open();
    await host.says('work');
    await keep();
    await enter(mode).plans('write the parser');
    await putBack();
  });

  it('P43: is noticed at the next event, and told once', async () => {
    const host = enter(mode);
    const { state } = await host.happens({ type: 'activity-seen' });
    expect(state.recordBroken).toContain(loss);
    expect(host.notices.map(({ message }) => message).join()).toContain(loss);
    await host.happens({ type: 'activity-seen' });
    expect(host.notices).toHaveLength(1);
  });

  it('P43: words of the human that came in between do not hide it', async () => {
    const host = enter(mode);
    const { state } = await host.says('go on');
    expect(state.recordBroken).toContain(loss);
    const { decision } = await host.stops();
    expect(decision?.outcome).toBe('claimed');
    expect(decision?.sentence).toContain(loss);
  });

  it('P43: words after the notice and before a stop do not mend it; those after the stop that told it do', async () => {
    const host = enter(mode);
    await host.happens({ type: 'activity-seen' });
    expect((await host.says('go on')).state.recordBroken).toContain(loss);
    await store.append([
      {
        type: 'human-spoke',
        id: 'w',
        sessionId: host.sessionId,
        at: clock.now(),
        text: 'all',
        ...words,
      },
    ]);
    expect((await host.stops()).decision?.sentence).toContain(loss);
    expect((await host.says('and now?')).state.recordBroken).toBeNull();
  });
});

it('P43: calls behind a lost change, which have no mark of their own, do not hide it', async () => {
  const host = enter('asked');
  await host.open();
  await host.says('work');
  await keep();
  const later = enter('asked');
  await later.plans('write the docs');
  expect((await later.happens({ type: 'activity-seen' })).state.recordBroken).toBeNull();
  await later.happens({ type: 'tool-ended', tool: 'bash', access: 'write', error: null });
  await putBack();
  const { state } = await enter('asked').happens({ type: 'activity-seen' });
  expect(state.recordBroken).toContain(loss);
});

it('P43: a store that is overwritten in place is noticed by the process that has it open', async () => {
  const host = enter('told');
  await host.open();
  await host.says('work');
  await keep();
  const living = enter('told');
  await living.plans('write the docs');
  const other = await openSqliteStore({ path: path() });
  const file = new DatabaseSync(path());
  file.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  file.close();
  copyFileSync(`${path()}.copy`, path());
  await other.append([anEvent.activitySeen({ id: 'elsewhere', sessionId: 'another' })]);
  await other.close();
  const { state } = await living.happens({ type: 'activity-seen' });
  expect(state.plan).toEqual([]);
  expect(state.recordBroken).toContain(loss);
});

describe('a store that is as it was', () => {
  it('P43: is believed when it is opened again, archived and brought back', async () => {
    const host = enter('asked');
    await host.open();
    await host.says('work');
    await keep();
    await store.archive(Number.MAX_SAFE_INTEGER, 10);
    const { state } = await enter('asked').happens({ type: 'activity-seen' });
    expect(state.recordBroken).toBeNull();
  });

  it('P43: hostile names of sessions have marks of their own, inside the folder', async () => {
    for (const sessionId of ['../../escape', 'a/b', '', '.', 'x'.repeat(5000), 'nul\0'])
      await store.append([
        { type: 'activity-seen', id: `${sessionId}!`, sessionId, at: 1 },
      ]);
    const went = (id: string) =>
      store.step(id, ({ wentBack }) => ({ result: wentBack() }));
    expect(await went('../../escape')).toBe(false);
    rmSync(path());
    await store.close();
    for (const name of ['-wal', '-shm']) rmSync(path() + name, { force: true });
    store = await openSqliteStore({ path: path() });
    for (const sessionId of ['../../escape', 'a/b', '', '.', 'x'.repeat(5000), 'nul\0'])
      expect(await went(sessionId), sessionId).toBe(true);
    expect(await went('another')).toBe(false);
  });
});
