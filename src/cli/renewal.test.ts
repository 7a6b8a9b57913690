import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../test/support/command-bench.ts';
import { openDatabase } from '../store/sqlite/open-database.ts';
import { storePath } from '../store/state-directory.ts';

const dump = fileURLToPath(
  new URL('../../test/contracts/store-0.1.0.sql', import.meta.url),
);
let bench: CommandBench;

beforeEach(async () => {
  bench = createCommandBench();
  mkdirSync(bench.home, { mode: 0o700 });
  const database = await openDatabase(storePath(bench.env));
  database.exec(readFileSync(dump, 'utf8'));
  database.close();
});

afterEach(() => bench.close());

describe('the first command over a store of an older version', () => {
  it('V7: says that the programs which hosts start must follow, once', async () => {
    mkdirSync(join(bench.home, 'bin', '0.1.0'), { recursive: true });
    writeFileSync(join(bench.home, 'bin', '0.1.0', 'hook.js'), '// of 0.1.0');
    const first = await bench.run('status', '--all');
    expect(first.code).toBe(0);
    // From source there may be no built programs to copy: then that is what is said.
    expect(first.err).toMatch(/hosts start .*(?:were renewed to|cannot be renewed)/u);
    expect((await bench.run('status', '--all')).err).toBe('');
  });

  it('V7: says nothing where no program was ever installed', async () => {
    const { code, err } = await bench.run('status', '--all');
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});
