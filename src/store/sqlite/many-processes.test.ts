import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../core/ledger.ts';
import type { Store } from '../../engine/store.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';

const script = fileURLToPath(
  new URL('../../../test/contracts/writer-process.ts', import.meta.url),
);
const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
const clock = { now: () => 0 };

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-processes-'));
  path = join(directory, 'state', 'store.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly committed: string[];
  readonly errors: string;
}

/** Kills the process once it has reported this many transactions. */
function startWriter(
  name: string,
  count: number,
  killAfter = Number.POSITIVE_INFINITY,
): Promise<Ended> {
  const child = spawn(process.execPath, [script, path, name, String(count)]);
  let output = '';
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (output.split('\n').length - 2 >= killAfter) child.kill('SIGKILL');
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const committed = output.split('\n').filter((line) => line.startsWith(`${name}-`));
      resolve({ code, committed, errors });
    });
  });
}

async function expectIntact(store: Store): Promise<number> {
  const state = await store.state('session-1');
  const ledger = await store.ledger('session-1');
  const applied = await store.events({
    sessionId: 'session-1',
    after: 0,
    limit: 1_000_000,
  });
  const decisions = await store.decisions('session-1', 1_000_000);
  expect(verifyLedger(ledger, hash)).toMatchObject({
    intact: true,
    length: applied.length,
  });
  expect(state?.plan).toHaveLength(applied.length);
  expect(decisions).toHaveLength(applied.length);
  expect(state?.epoch).toBe(applied.length);
  expect(applied.map((stored) => stored.applied)).toEqual(
    applied.map((_, index) => index + 1),
  );
  return applied.length;
}

/** Another process in the middle of a write. */
async function holdLock(): Promise<() => void> {
  const holder = await openDatabase(path);
  holder.exec('BEGIN IMMEDIATE');
  return () => {
    holder.exec('ROLLBACK');
    holder.close();
  };
}

const aPolicy = { policies: new Map([['hash', 'policy']]) };

describe('many processes and one store', () => {
  it('V7: 8 processes open a new store at once and write 100 transactions each: nothing is lost, none is told that it is locked', async () => {
    const writers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => startWriter(`w${index}`, 100)),
    );
    expect(writers.map(({ errors }) => errors).join('')).toBe('');
    expect(writers.every(({ code }) => code === 0)).toBe(true);
    const store = await openSqliteStore({ path, clock });
    expect(await expectIntact(store)).toBe(800);
    await store.close();
  });

  it('V5: processes killed with SIGKILL lose nothing that they had committed and leave nothing half-written', async () => {
    const writers = await Promise.all(
      [3, 11, 20, 40].map((after, index) => startWriter(`k${index}`, 1000, after)),
    );
    expect(writers.map(({ code }) => code)).toEqual([null, null, null, null]);
    const store = await openSqliteStore({ path, clock });
    const reported = writers.flatMap(({ committed }) => committed);
    expect(await expectIntact(store)).toBeGreaterThanOrEqual(reported.length);
    const ids = reported.map((key) => `event ${key}`);
    expect(await store.events({ ids })).toHaveLength(ids.length);
    await store.close();
  });

  it('V7: a reader is never kept waiting by a writer that holds the lock', async () => {
    const store = await openSqliteStore({ path, clock });
    const letGo = await holdLock();
    const writing = store.record(aPolicy);
    await expect(store.state('session-1')).resolves.toBeNull();
    letGo();
    await writing;
    await store.close();
  });

  it('V7: a writer that waits for the lock never blocks the event loop of its host', async () => {
    const waiting = await openSqliteStore({ path, clock });
    const letGo = await holdLock();
    let ticks = 0;
    let longest = 0;
    let last = performance.now();
    const ticker = setInterval(() => {
      ticks += 1;
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (ticks === 10) letGo();
    }, 1);
    await waiting.record(aPolicy);
    clearInterval(ticker);
    expect(ticks).toBeGreaterThanOrEqual(10);
    // At most 50 ms in a host's event loop; the rest is room for a busy machine.
    expect(longest).toBeLessThan(300);
    await waiting.close();
  });

  it('V7: a writer that never gets the lock is told so in a sentence after the time it was given', async () => {
    const waiting = await openSqliteStore({ path, clock, busyTimeoutMs: 60 });
    const letGo = await holdLock();
    await expect(waiting.record(aPolicy)).rejects.toMatchObject({
      code: 'store-busy',
      message: expect.stringContaining('was locked by another process for 0.1 s'),
    });
    letGo();
    await expect(waiting.record(aPolicy)).resolves.toBeUndefined();
    await waiting.close();
  });
});
