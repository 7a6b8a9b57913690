import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { save } from '../../../test/contracts/dump.ts';
import { aSession, aTodo } from '../../../test/support/builders.ts';
import { asOrdinaryUser } from '../../../test/support/ordinary-user.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Store } from '../../engine/store.ts';
import { migrateStore, migrations, newestLayout } from './migrate.ts';
import {
  createConnection,
  isBusy,
  openDatabase,
  prepareFile,
  toStoreError,
} from './open-database.ts';
import { createSqliteStore, openSqliteStore } from './sqlite-store.ts';

const clock = { now: () => 0 };
let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-failures-'));
  path = join(directory, 'store.db');
});
afterEach(() => {
  chmodSync(directory, 0o700);
  rmSync(directory, { recursive: true });
});

const open = (file = path) => openSqliteStore({ path: file, clock });

async function writeStore(todos = 500): Promise<void> {
  const store = await open();
  const plan = Array.from({ length: todos }, () =>
    aTodo({ context: 'context '.repeat(20) }),
  );
  await save(store, { state: { ...aSession(), plan } });
  await store.close();
}

/**
 * Opens, reads everything and writes: a damaged store must say so at one of these, and
 * never anything else.
 */
async function useStore(): Promise<void> {
  const store = await open();
  try {
    await store.todos({ planId: 'session-1' });
    await store.step('session-1', ({ state }) => ({
      result: null,
      state: {
        ...aSession({ epoch: 1 }),
        plan: (state?.plan ?? []).map((todo) => ({ ...todo, status: 'completed' })),
      },
    }));
  } finally {
    await store.close();
  }
}

describe('a damaged store', () => {
  it('V5: a file that is no database is told, and left as it is', async () => {
    const garbage =
      'This is not a database, but it is long enough to look like one. '.repeat(200);
    writeFileSync(path, garbage);
    await expect(open()).rejects.toMatchObject({
      code: 'store-corrupt',
      message: expect.stringMatching(/is damaged; move it .* out of the way/u),
    });
    expect(readFileSync(path, 'utf8')).toBe(garbage);
  });

  it('V5: a file that was cut off is told', async () => {
    await writeStore();
    truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096);
    await expect(useStore()).rejects.toMatchObject({ code: 'store-corrupt' });
  });

  it('V5: a page full of flipped bits is told, wherever it lies', async () => {
    await writeStore();
    const sound = join(directory, 'sound.db');
    copyFileSync(path, sound);
    const { pages, size } = await pagesOfTodos();
    expect(pages.length).toBeGreaterThan(10);
    for (const page of [
      1,
      pages[0]!,
      pages[Math.floor(pages.length / 2)]!,
      pages.at(-1)!,
    ]) {
      const bytes = readFileSync(sound);
      for (let index = (page - 1) * size; index < page * size; index += 1)
        bytes[index]! ^= 0xff;
      writeFileSync(path, bytes);
      await expect(useStore()).rejects.toMatchObject({ code: 'store-corrupt' });
    }
  });

  it('V5: a row whose JSON was damaged is told instead of guessed at', async () => {
    await writeStore(1);
    const database = await openDatabase(path);
    database.exec(`UPDATE todos SET body = substr(body, 1, 20)`);
    database.close();
    await expect(useStore()).rejects.toMatchObject({ code: 'store-corrupt' });
  });

  async function pagesOfTodos(): Promise<{ pages: number[]; size: number }> {
    const database = await openDatabase(path);
    const rows = database
      .prepare("SELECT pageno FROM dbstat WHERE name = 'todos' AND pagetype = 'leaf'")
      .all();
    const size = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
    database.close();
    return { pages: rows.map((row) => Number(row['pageno'])), size };
  }
});

describe('a full disk', () => {
  it('V5: a transaction that finds no room is told and undone as a whole; smaller ones go on', async () => {
    await writeStore(0);
    const store = await openWithRoomFor(5);
    const many = Array.from({ length: 500 }, () => aTodo({ context: 'x'.repeat(1000) }));
    await expect(
      save(store, { state: { ...aSession(), plan: many } }),
    ).rejects.toMatchObject({
      code: 'store-full',
      message: expect.stringContaining('the disk is full'),
    });
    expect(await store.todos({ planId: 'session-1' })).toEqual([]);
    await save(store, { state: { ...aSession(), plan: [aTodo()] } });
    expect(await store.todos({ planId: 'session-1' })).toHaveLength(1);
    await store.close();
  });

  it('V5: a migration that finds no room leaves no half-made store behind', async () => {
    writeFileSync(path, '');
    const connection = createConnection(await openDatabase(path), path, 100);
    connection.exec('PRAGMA max_page_count = 10');
    const failed = migrateStore(connection, migrations, 0).catch((error: unknown) =>
      toStoreError(error, path),
    );
    expect(await failed).toMatchObject({ code: 'store-full' });
    expect(connection.rows('SELECT name FROM sqlite_schema')).toEqual([]);
    connection.close();
    await (await open()).close();
  });

  /** The limit belongs to the connection, so that the store is put on one that has it. */
  async function openWithRoomFor(spare: number): Promise<Store> {
    const connection = createConnection(await openDatabase(path), path, 100);
    const pages = Number(connection.value('PRAGMA page_count'));
    connection.exec(`PRAGMA max_page_count = ${pages + spare}`);
    return createSqliteStore(connection, newestLayout(migrations), clock);
  }
});

describe('a place that cannot be written', () => {
  it('V5: a directory without write access is told', async () => {
    chmodSync(directory, 0o555);
    await expect(
      asOrdinaryUser(() => open(join(directory, 'state', 'store.db'))),
    ).rejects.toMatchObject({
      code: 'store-read-only',
      message: expect.stringContaining('give yourself write access'),
    });
    await expect(asOrdinaryUser(() => open())).rejects.toMatchObject({
      code: 'store-read-only',
    });
  });

  it('V5: a store whose file and directory are read-only is told when it is opened or first written', async () => {
    await writeStore(1);
    chmodSync(path, 0o444);
    chmodSync(directory, 0o555);
    await expect(asOrdinaryUser(useStore)).rejects.toMatchObject({
      code: expect.stringMatching(/^store-(read-only|unavailable)$/u),
    });
    chmodSync(directory, 0o700);
    chmodSync(path, 0o600);
    await useStore();
  });

  it('V5: a path that is a directory is told', async () => {
    mkdirSync(path);
    await expect(open()).rejects.toMatchObject({
      code: 'store-unavailable',
      message: `The store at ${path} is a directory; name a file instead.`,
    });
  });

  it('V5: a path that leads through a file is told', async () => {
    writeFileSync(path, 'file');
    await expect(open(join(path, 'store.db'))).rejects.toMatchObject({
      code: 'store-unavailable',
    });
    expect(readFileSync(path, 'utf8')).toBe('file');
  });
});

describe('the place of a store', () => {
  it('V7: the directory is made for the user alone, and so are the files', async () => {
    const file = join(directory, 'a', 'b', 'store.db');
    const before = process.umask(0);
    try {
      const store = await open(file);
      await save(store, { state: aSession() });
      const mode = (name: string) => statSync(name).mode & 0o777;
      expect([mode(join(directory, 'a')), mode(join(directory, 'a', 'b'))]).toEqual([
        0o700, 0o700,
      ]);
      expect([mode(file), mode(`${file}-wal`), mode(`${file}-shm`)]).toEqual([
        0o600, 0o600, 0o600,
      ]);
      await store.close();
      expect(existsSync(`${file}-wal`)).toBe(false);
    } finally {
      process.umask(before);
    }
  });
});

describe('preparing the file', () => {
  it('V5: a file that exists is never opened, since closing it would drop the locks that this process holds', async () => {
    writeFileSync(path, '', { mode: 0o000 });
    chmodSync(directory, 0o755);
    await expect(asOrdinaryUser(async () => prepareFile(path))).resolves.toBeUndefined();
  });
});

describe('errors of the driver and the file system', () => {
  const cases: readonly [string, object, string][] = [
    ['SQLITE_BUSY', { errcode: 5 }, 'store-busy'],
    ['SQLITE_BUSY_SNAPSHOT', { errcode: 517 }, 'store-busy'],
    ['SQLITE_LOCKED', { errcode: 6 }, 'store-busy'],
    ['SQLITE_PROTOCOL', { errcode: 15 }, 'store-busy'],
    ['SQLITE_READONLY', { errcode: 8 }, 'store-read-only'],
    ['SQLITE_READONLY_DBMOVED', { errcode: 1032 }, 'store-read-only'],
    ['SQLITE_PERM', { errcode: 3 }, 'store-read-only'],
    ['SQLITE_CANTOPEN', { errcode: 14 }, 'store-unavailable'],
    ['SQLITE_CORRUPT', { errcode: 11 }, 'store-corrupt'],
    ['SQLITE_CORRUPT_INDEX', { errcode: 779 }, 'store-corrupt'],
    ['SQLITE_NOTADB', { errcode: 26 }, 'store-corrupt'],
    ['SQLITE_IOERR_SHORT_READ', { errcode: 522 }, 'store-corrupt'],
    ['SQLITE_FULL', { errcode: 13 }, 'store-full'],
    ['SQLITE_IOERR_SHMSIZE', { errcode: 4874 }, 'store-full'],
    ['SQLITE_IOERR_WRITE', { errcode: 778 }, 'store-unavailable'],
    ['the number under Bun', { errno: 13, code: 'SQLITE_FULL' }, 'store-full'],
    ['EROFS', { errno: -30, code: 'EROFS' }, 'store-read-only'],
    ['ENOSPC', { errno: -28, code: 'ENOSPC' }, 'store-full'],
    ['ENOTDIR', { errno: -20, code: 'ENOTDIR' }, 'store-unavailable'],
    ['something unknown', {}, 'store-unavailable'],
  ];
  for (const [name, details, code] of cases) {
    it(`V5: ${name} becomes ${code} with a sentence and its cause`, () => {
      const cause = Object.assign(new Error('driver says no'), details);
      const error = toStoreError(cause, path);
      expect(error).toBeInstanceOf(UntildoneError);
      expect(error).toMatchObject({ code, cause });
      expect(error.message).toMatch(/^The store at .*\. ?.*\(driver says no\)$/u);
      expect(isBusy(cause)).toBe(code === 'store-busy');
    });
  }

  it('V5: "unable to open" in a directory that is not there stays what it is, and nothing is hidden', () => {
    const cause = Object.assign(new Error('unable to open database file'), {
      errcode: 14,
    });
    expect(toStoreError(cause, join(directory, 'missing', 'store.db')).code).toBe(
      'store-unavailable',
    );
    expect(toStoreError('a text', path).message).toContain('(a text)');
    expect(toStoreError(null, path).code).toBe('store-unavailable');
  });
});
