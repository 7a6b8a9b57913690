// `init` over a store that an unpublished version made: it offers to move it away.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createInstallBench,
  type InstallBench,
} from '../../../test/support/install-bench.ts';
import { makeOlderStore, olderStoreSentence } from '../../../test/support/older-store.ts';
import { asOrdinaryUser } from '../../../test/support/ordinary-user.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';

let bench: InstallBench;
let path: string;

beforeEach(async () => {
  bench = createInstallBench({ git: true });
  path = join(bench.state, 'untildone.db');
  await makeOlderStore(path);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});

afterEach(() => {
  vi.restoreAllMocks();
  bench.close();
});

const asked = () => String(vi.mocked(process.stderr.write).mock.calls);

const day = '2027-01-15';
const suffixes = ['', '-marks', '-shm', '-spool', '-wal'];
const names = () => readdirSync(bench.state).filter((name) => name.includes('.db'));
const stores = () => names().filter((name) => name.endsWith('.db'));
const isInstalled = () => existsSync(join(bench.home, '.claude/settings.json'));

/** What each of them says tells where it is. */
function addFilesBeside() {
  for (const suffix of ['-wal', '-shm']) writeFileSync(path + suffix, suffix);
  for (const suffix of ['-marks', '-spool']) {
    mkdirSync(path + suffix);
    writeFileSync(join(path + suffix, 'session-1'), suffix);
  }
}

describe('init over a store that an unpublished version made', () => {
  it('V7: after a yes at a terminal the store and all beside it have a name with the day, and the host is set up', async () => {
    addFilesBeside();
    const before = readFileSync(path);
    const { code, out, err } = await bench.initAnswering('y', 'claude-code', '--user');
    const moved = join(bench.state, `untildone-${day}.db`);
    expect(err).toContain(olderStoreSentence(path));
    expect(asked()).toContain('Move it away, with the files beside it? [y: yes;');
    expect(out).toContain(`The store was moved to ${moved}.`);
    expect(code).toBe(0);
    expect(isInstalled()).toBe(true);
    const names = readdirSync(bench.state).filter((name) => name.includes('.db'));
    expect(names.sort()).toEqual(
      suffixes.map((suffix) => `untildone-${day}.db${suffix}`),
    );
    expect(readFileSync(moved).equals(before)).toBe(true);
    expect(readFileSync(`${moved}-wal`, 'utf8')).toBe('-wal');
    expect(readFileSync(join(`${moved}-spool`, 'session-1'), 'utf8')).toBe('-spool');
    await (await openSqliteStore({ path })).close();
  });

  it('V7: a name that anything has already is not taken', async () => {
    writeFileSync(join(bench.state, `untildone-${day}.db`), 'an earlier one');
    mkdirSync(join(bench.state, `untildone-${day}-2.db-marks`));
    const { out } = await bench.initAnswering('yes', 'claude-code', '--user');
    const moved = join(bench.state, `untildone-${day}-3.db`);
    expect(out).toContain(`The store was moved to ${moved}.`);
    const earlier = readFileSync(join(bench.state, `untildone-${day}.db`), 'utf8');
    expect(earlier).toBe('an earlier one');
  });

  it.each(['n', ''])(
    'V7: after the answer "%s" the store stays, and the host is set up',
    async (answer) => {
      addFilesBeside();
      const { code, out } = await bench.initAnswering(answer, 'claude-code', '--user');
      expect(code).toBe(0);
      expect(out).toContain('The store was left where it is.');
      expect([stores(), isInstalled()]).toEqual([['untildone.db'], true]);
      expect(readFileSync(`${path}-wal`, 'utf8')).toBe('-wal');
    },
  );

  it('V7: without a terminal the sentence is said, nothing is moved, and the host is set up', async () => {
    const { code, err } = await bench.init('claude-code', '--user');
    expect(code).toBe(0);
    expect(err).toContain(olderStoreSentence(path));
    expect(asked()).toBe('');
    expect([stores(), isInstalled()]).toEqual([['untildone.db'], true]);
  });

  it('V7: without a host to set up the store is moved all the same', async () => {
    const { out } = await bench.initAnswering('y');
    expect(out).toContain('The store was moved to');
    expect(stores()).toEqual([`untildone-${day}.db`]);
  });

  it('V7: --dry-run only says it; --uninstall says nothing', async () => {
    const dry = await bench.initAnswering('y', 'claude-code', '--user', '--dry-run');
    expect(dry.err).toContain(olderStoreSentence(path));
    const taken = await bench.initAnswering('y', 'claude-code', '--user', '--uninstall');
    expect(taken.err).toBe('');
    expect(stores()).toEqual(['untildone.db']);
  });

  it('V7: if the store cannot be moved, what lies beside it goes back, and why is told', async () => {
    addFilesBeside();
    const before = names();
    // With the sticky bit, a user may rename only what is theirs: all but the store.
    if (process.geteuid?.() === 0) {
      execFileSync('chown', ['-R', '65534', bench.root]);
      for (const place of [bench.state, path]) chownSync(place, 0, 0);
      chmodSync(path, 0o644);
      chmodSync(bench.state, 0o1777);
    } else chmodSync(bench.state, 0o500);
    const { err } = await asOrdinaryUser(() =>
      bench.initAnswering('y', 'claude-code', '--user'),
    );
    chmodSync(bench.state, 0o700);
    expect(err).toMatch(/The store at \S+ cannot be moved \((?:EPERM|EACCES)\)\./u);
    expect(names()).toEqual(before);
  });

  it('V7: programs of other versions, which would make such a store again, are renewed', async () => {
    mkdirSync(join(bench.state, 'bin', '0.0.1'), { recursive: true });
    writeFileSync(join(bench.state, 'bin', '0.0.1', 'hook.js'), '// of 0.0.1');
    const { err } = await bench.initAnswering('y', 'claude-code', '--user');
    // From source there may be no built programs to copy: then that is what is said.
    expect(err).toMatch(/hosts start .*(?:were renewed to|cannot be renewed)/u);
  });

  it('V7: nothing is said where the store is of today, damaged, or not there', async () => {
    await bench.initAnswering('y', 'claude-code', '--user');
    for (const text of [null, 'This is no database. '.repeat(100)]) {
      if (text !== null) writeFileSync(path, text);
      const { code, err } = await bench.init('claude-code', '--user');
      expect({ code, err }).toEqual({ code: 0, err: '' });
    }
  });
});
