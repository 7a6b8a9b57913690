import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../simulated/simulated-clock.ts';
import { migrations } from '../store/sqlite/migrate.ts';
import { openOrCreateStore } from './open-runtime.ts';

const nextLayout = [...migrations, 'CREATE TABLE extra (id TEXT)'];
let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'untildone-renewal-'));
  await openStore(migrations);
});

afterEach(() => rmSync(home, { recursive: true }));

/** What a command says when it opens the store. */
async function openStore(steps: typeof migrations): Promise<string> {
  let said = '';
  const io = {
    stdout: { write: () => {} },
    stderr: { write: (text: string) => (said += text) },
    env: { UNTILDONE_HOME: home, HOME: home },
    cwd: home,
    isTTY: false,
    clock: createSimulatedClock(),
    whyNoHuman: async () => null,
    agentAbove: async () => null,
    agentSessions: async () => [],
  };
  await (await openOrCreateStore(io, { migrations: steps })).close();
  return said;
}

describe('the first command over a store of an older version', () => {
  it('V7: says that the programs which hosts start must follow, once', async () => {
    mkdirSync(join(home, 'bin', '0.0.1'), { recursive: true });
    writeFileSync(join(home, 'bin', '0.0.1', 'hook.js'), '// of 0.0.1');
    // From source there may be no built programs to copy: then that is what is said.
    expect(await openStore(nextLayout)).toMatch(
      /hosts start .*(?:were renewed to|cannot be renewed)/u,
    );
    expect(await openStore(nextLayout)).toBe('');
  });

  it('V7: says nothing where no program was ever installed', async () => {
    expect(await openStore(nextLayout)).toBe('');
  });
});
