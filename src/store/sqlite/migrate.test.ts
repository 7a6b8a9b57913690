import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dump, save } from '../../../test/contracts/dump.ts';
import { anEvent, aSession, aTodo } from '../../../test/support/builders.ts';
import { type Migration, migrations, newestLayout } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore } from './sqlite-store.ts';

const clock = { now: () => 7 };
const addColour = "ALTER TABLE todos ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-migrate-'));
  path = join(directory, 'store.db');
});
afterEach(() => rmSync(directory, { recursive: true }));

const known = newestLayout(migrations);
const open = (steps: readonly Migration[] = migrations) =>
  openSqliteStore({ path, clock, migrations: steps });

async function ask(sql: string): Promise<unknown[]> {
  const database = await openDatabase(path);
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

async function fillKnownVersion(): Promise<Awaited<ReturnType<typeof dump>>> {
  const store = await open();
  await save(store, { state: { ...aSession(), plan: [aTodo(), aTodo()] } });
  await store.append([anEvent.activitySeen()]);
  const content = await dump(store);
  await store.close();
  return content;
}

describe('migrations', () => {
  it('V7: a store of an older layout is brought forward with everything that is in it', async () => {
    const before = await fillKnownVersion();
    const store = await open([...migrations, addColour, 'CREATE TABLE extra (id TEXT)']);
    expect(await dump(store)).toEqual(before);
    await store.close();
    expect(await ask('SELECT DISTINCT colour FROM todos')).toMatchObject([
      { colour: 'blue' },
    ]);
    expect(await ask('PRAGMA user_version')).toMatchObject([{ user_version: known + 2 }]);
    const versions = [known, known + 1, known + 2].map((version) => ({
      key: `version ${version} since`,
    }));
    expect(await ask('SELECT key FROM meta ORDER BY key')).toMatchObject(versions);
  });

  it('V7: whoever opens an older store learns that it was brought forward, and only then', async () => {
    let migrated = 0;
    const onMigrated = () => {
      migrated += 1;
    };
    const openAndClose = async (steps: readonly Migration[]) => {
      const store = await openSqliteStore({ path, clock, migrations: steps, onMigrated });
      await store.close();
    };
    await openAndClose(migrations);
    await openAndClose(migrations);
    expect(migrated).toBe(0);
    await openAndClose([...migrations, addColour]);
    await openAndClose([...migrations, addColour]);
    expect(migrated).toBe(1);
  });

  it('V7: a migration that fails leaves the store exactly as it was', async () => {
    const before = await fillKnownVersion();
    await expect(
      open([...migrations, addColour, 'CREATE TABLE broken (']).then(() => 'opened'),
    ).rejects.toMatchObject({
      code: 'store-unavailable',
    });
    expect(await ask('PRAGMA user_version')).toMatchObject([{ user_version: known }]);
    expect(
      await ask("SELECT name FROM pragma_table_info('todos') WHERE name = 'colour'"),
    ).toEqual([]);
    const store = await open();
    expect(await dump(store)).toEqual(before);
    await store.close();
  });

  it.each([1, 5])(
    'V7: a store of the unpublished layout %i is refused with its path and left as it is',
    async (layout) => {
      await fillKnownVersion();
      await ask(`PRAGMA user_version = ${layout}`);
      const before = readFileSync(path);
      await expect(open()).rejects.toMatchObject({
        code: 'store-older',
        message: `The store was made by an unpublished version: move it away (${path}). \`untildone init\` offers that at a terminal.`,
      });
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  it('V7: a store of a newer layout is refused with a sentence that says what to do', async () => {
    await (await open([...migrations, addColour])).close();
    await expect(open()).rejects.toMatchObject({
      code: 'store-newer',
      message: `The store at ${path} was written by a newer untildone (layout ${known + 1}, this one knows ${known}): update untildone, or set UNTILDONE_HOME to another directory.`,
    });
    expect(await ask('PRAGMA user_version')).toMatchObject([{ user_version: known + 1 }]);
  });

  it('V7: a process that has the store open writes nothing once a newer one has changed the layout', async () => {
    const old = await open();
    const newer = await open([...migrations, addColour]);
    const policy = (text: string) => ({ policies: new Map([['hash', text]]) });
    await expect(old.record(policy('old'))).rejects.toMatchObject({
      code: 'store-newer',
    });
    await expect(old.policy('hash')).rejects.toMatchObject({ code: 'store-newer' });
    await newer.record(policy('new'));
    expect(await newer.policy('hash')).toBe('new');
    await Promise.all([old.close(), newer.close()]);
  });

  it('V7: another program’s database is refused and left alone', async () => {
    const foreign = await openDatabase(path);
    foreign.exec('CREATE TABLE notes (text TEXT)');
    foreign.close();
    await expect(open()).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('a database of another program'),
    });
    expect(await ask('SELECT name FROM sqlite_schema')).toMatchObject([
      { name: 'notes' },
    ]);
    expect(await ask('PRAGMA journal_mode')).toMatchObject([{ journal_mode: 'delete' }]);
  });

  it('V7: whoever opens a new store while another process is making it waits for that', async () => {
    const maker = await openDatabase(path);
    maker.exec('BEGIN IMMEDIATE');
    const opening = open();
    await new Promise((resolve) => setTimeout(resolve, 20));
    maker.exec('ROLLBACK');
    maker.close();
    const store = await opening;
    await store.record({ policies: new Map([['hash', 'policy']]) });
    await store.close();
  });

  it('V7: a new store is opened by many at once in one process too', async () => {
    const stores = await Promise.all(Array.from({ length: 10 }, () => open()));
    await Promise.all(
      stores.map((store, index) =>
        store.record({ policies: new Map([[`${index}`, 'policy']]) }),
      ),
    );
    expect(await ask('SELECT count(*) AS count FROM policies')).toMatchObject([
      { count: 10 },
    ]);
    await Promise.all(stores.map((store) => store.close()));
  });
});
