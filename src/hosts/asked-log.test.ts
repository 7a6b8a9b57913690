import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepLogShort } from './asked.ts';

let state: string;
let database: DatabaseSync;
const logBytes = () => statSync(join(state, 'untildone.db-wal')).size;

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'untildone-log-'));
  database = new DatabaseSync(join(state, 'untildone.db'));
  // No end of the log but ours.
  database.exec(
    'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE words (word TEXT)',
  );
});

afterEach(() => {
  database.close();
  rmSync(state, { recursive: true });
});

function writeWords(bytes: number): void {
  database.prepare('INSERT INTO words VALUES (?)').run('x'.repeat(bytes));
}

describe('the log of the store', () => {
  it('V7: that grew long is copied into the store, and nothing is lost', async () => {
    writeWords(1_500_000);
    await keepLogShort({ UNTILDONE_HOME: state });
    expect(logBytes()).toBe(0);
    expect(database.prepare('SELECT length(word) AS length FROM words').get()).toEqual({
      length: 1_500_000,
    });
  });

  it('that is short is left alone: copying waits for the disk', async () => {
    writeWords(100_000);
    const before = logBytes();
    await keepLogShort({ UNTILDONE_HOME: state });
    expect(logBytes()).toBe(before);
  });

  it('in which another process writes is left to the next call, without waiting', async () => {
    writeWords(1_500_000);
    const before = logBytes();
    database.exec('BEGIN IMMEDIATE');
    await keepLogShort({ UNTILDONE_HOME: state });
    expect(logBytes()).toBe(before);
    database.exec('ROLLBACK');
  });

  it('that does not exist is not made', async () => {
    const nowhere = join(state, 'nowhere');
    await keepLogShort({ UNTILDONE_HOME: nowhere });
    expect(existsSync(nowhere)).toBe(false);
  });
});
