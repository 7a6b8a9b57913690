// A store that 0.1.0 wrote (test/contracts/store-0.1.0.sql, a dump of its file) is opened
// and goes on: sessions that are archived, in a countdown, with old events in the inbox,
// and one that somebody had edited.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaySession } from '../../../test/support/replay-session.ts';
import { findDamage } from '../../core/ledger.ts';
import type { Policy } from '../../core/policy.ts';
import { defaultSettings } from '../../core/settings.ts';
import { createRuntime } from '../../engine/runtime.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, sha256, systemClock } from '../../engine/system.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';

const dump = fileURLToPath(
  new URL('../../../test/contracts/store-0.1.0.sql', import.meta.url),
);

let directory: string;
let store: Store;
/** Titles of each plan in the order in which 0.1.0 showed them. */
let plans: Map<string, string[]>;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-0-1-0-'));
  const path = join(directory, 'store.db');
  const database = await openDatabase(path);
  database.exec(readFileSync(dump, 'utf8'));
  const todos = ['todos', 'archived_todos'].flatMap((table) =>
    database.prepare(`SELECT plan_id, body FROM ${table} ORDER BY rank, rowid`).all(),
  );
  database.close();
  plans = new Map();
  for (const { plan_id: planId, body } of todos) {
    const titles = plans.get(String(planId)) ?? [];
    plans.set(String(planId), [
      ...titles,
      (JSON.parse(String(body)) as { title: string }).title,
    ]);
  }
  store = await openSqliteStore({ path });
});
afterEach(async () => {
  await store.close();
  rmSync(directory, { recursive: true });
});

function openRuntime() {
  const policy: Policy = { settings: defaultSettings, goalChecks: [] };
  return createRuntime({
    store,
    clock: systemClock,
    identifiers: createIdentifiers(),
    hash: sha256,
    policy: () => policy,
  });
}

const seen = (sessionId: string) =>
  openRuntime().handle({
    type: 'activity-seen',
    id: `new ${sessionId}`,
    sessionId,
    at: Date.now(),
  });

describe('a store of 0.1.0', () => {
  it('V7: every plan is there in its order, and its ledger verifies, the archived one’s too', async () => {
    expect((await store.sessions({ limit: 10 })).map(({ id }) => id).sort()).toEqual([
      'asked',
      'edited',
      'told',
    ]);
    expect(plans.get('asked')).toHaveLength(4);
    for (const id of ['asked', 'told', 'archived']) {
      const { state } = await seen(id);
      expect(state.plan.map(({ title }) => title)).toEqual(plans.get(id));
      expect(findDamage(await store.ledger(id), state.plan, sha256)).toBeNull();
      expect(Object.keys(state)).not.toContain('counts');
    }
  });

  it('V4: a session that was whole is whole, and one that was edited is found', async () => {
    for (const id of ['asked', 'told', 'archived'])
      expect((await seen(id)).state.recordBroken).toBeNull();
    expect((await seen('edited')).state.recordBroken).toBe(
      'its session is not as it was saved',
    );
  });

  it('V5: events that wait in the inbox under their old names are applied', async () => {
    expect(
      (await store.events({ sessionId: 'asked', waiting: true })).map(
        ({ event }) => event.id,
      ),
    ).toEqual(['waiting-1', 'waiting-2']);
    const { state } = await seen('asked');
    expect(state.waits.compacting).toBe(false);
    const applied = await store.events({ sessionId: 'asked', after: 0, limit: 1000 });
    expect(applied.slice(-3).map(({ event }) => event.type)).toEqual([
      'wait-started',
      'wait-ended',
      'activity-seen',
    ]);
  });

  it('V5: a countdown goes on', async () => {
    const { due } = await store.timers('instance of told', Number.MAX_SAFE_INTEGER, 10);
    const state = await store.state('told');
    expect(due).toEqual([{ sessionId: 'told', ...state?.timer }]);
    expect(state?.parked).not.toBeNull();
  });

  it('V6: recorded events are replayed, and the recorded answers come out again', async () => {
    for (const id of ['asked', 'told', 'archived']) {
      await seen(id);
      const { events, recorded, again } = await replaySession(store, id);
      expect(events).toBeGreaterThan(5);
      expect(recorded.length).toBeGreaterThan(0);
      expect(again, id).toEqual(recorded);
    }
  });

  it('V4: tokens, decisions and what was sent are as they were', async () => {
    expect(await store.usage('asked')).toMatchObject([
      { inputTokens: 10, outputTokens: 5, cost: 0.1 },
    ]);
    expect((await store.decisions('asked', 10)).map(({ sequence }) => sequence)).toEqual([
      2, 1,
    ]);
    const outbox = await store.outbox({ sessionId: 'told' });
    expect(outbox).toMatchObject([{ state: 'observed' }]);
  });
});
