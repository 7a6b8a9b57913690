// The command as a process of its own: exit codes, pipes that close, full disks, signals.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../test/support/command-bench.ts';
import { openDatabase } from '../store/sqlite/open-database.ts';
import { storePath } from '../store/state-directory.ts';

const program = fileURLToPath(new URL('bin.ts', import.meta.url));

let bench: CommandBench;

beforeAll(async () => {
  bench = createCommandBench();
  const host = await bench.host({ sessionId: 'alpha-0001' });
  await host.open();
  await host.says('Work');
  // More than a pipe holds, so that a reader who leaves is noticed.
  await host.plans(
    ...Array.from(
      { length: 3000 },
      (_, index) => `A todo with quite some words, number ${index}`,
    ),
  );
  await host.stops();
});

afterAll(() => bench.close());

function environment(extra: Record<string, string> = {}) {
  return { PATH: process.env['PATH'], ...bench.env, ...extra };
}

function shell(command: string, extra: Record<string, string> = {}) {
  const text = command.replaceAll('untildone', `"${process.execPath}" "${program}"`);
  return spawnSync('bash', ['-c', text], {
    encoding: 'utf8',
    cwd: bench.project,
    env: environment(extra),
  });
}

describe('as a process', () => {
  it.each([
    ['untildone --version', 0],
    ['untildone', 0],
    ['untildone why', 0],
    ['untildone why nobody', 1],
    ['untildone no-such-command', 2],
    ['UNTILDONE_MODE=loud untildone config', 2],
  ])('%s exits %i without a stack trace', (command, code) => {
    const { status, stderr } = shell(command);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(code);
  });

  it('a reader that leaves early is no error: | head -1', () => {
    const { stdout, stderr } = shell(
      'set -o pipefail; untildone plan show | head -1; echo "exit $?"',
    );
    expect(stderr).toBe('');
    expect(stdout).toBe(
      'Plan of session alpha-0001 “Work”: 3000 todos: 3000 open\nexit 0\n',
    );
  });

  it('an output that cannot be written is one sentence and exits 1', () => {
    const { status, stderr } = shell('untildone status >/dev/full');
    expect(stderr).toBe('untildone: The output failed (ENOSPC).\n');
    expect(status).toBe(1);
  });

  it('no colour in a pipe, colour on a terminal, none with NO_COLOR', () => {
    const painted = '\u001b[';
    expect(shell('untildone status').stdout).not.toContain(painted);
    const onTerminal = "script -qec 'untildone status' /dev/null </dev/null";
    expect(shell(onTerminal, { TERM: 'xterm' }).stdout).toContain(painted);
    expect(shell(onTerminal, { TERM: 'xterm', NO_COLOR: '1' }).stdout).not.toContain(
      painted,
    );
  });

  it('Ctrl-C ends it at once while it waits for another writer, and nothing was written', async () => {
    const store = await bench.store();
    const writer = await openDatabase(storePath(bench.env));
    writer.exec('BEGIN IMMEDIATE');
    const child = spawn(process.execPath, [program, 'stop', 'alpha'], {
      env: environment(),
      cwd: bench.project,
    });
    try {
      await storeIsOpen(child.pid ?? 0);
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      expect(await ended).toEqual([null, 'SIGINT']);
    } finally {
      child.kill('SIGKILL');
      writer.exec('ROLLBACK');
      writer.close();
    }
    const session = await store.state('alpha-0001');
    expect(session?.latch).toBeNull();
  });
});

/** Waits until the process has the store open, and so stands at its lock. */
async function storeIsOpen(id: number): Promise<void> {
  for (let waited = 0; waited < 15_000; waited += 20) {
    if (openFiles(id).some((file) => file.endsWith('untildone.db-wal'))) return;
    await sleep(20);
  }
  throw new Error('The command never opened the store.');
}

function openFiles(id: number): string[] {
  try {
    const folder = `/proc/${id}/fd`;
    return readdirSync(folder).map((descriptor) =>
      readlinkSync(`${folder}/${descriptor}`),
    );
  } catch {
    // Safe: a file was closed while we looked; the next look sees the rest.
    return [];
  }
}
