// A Stop hook as hosts start it, while another process holds the store.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { stopPayload } from '../../test/support/payload-cases.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';

const file = fileURLToPath(new URL('../hook.ts', import.meta.url));

it('fail-open: a stop waits for a locked store only until two seconds before its own timeout', async () => {
  const state = mkdtempSync(join(tmpdir(), 'untildone-patience-'));
  onTestFinished(() => rmSync(state, { recursive: true }));
  await (await openUserStore({ UNTILDONE_HOME: state })).close();
  const other = new DatabaseSync(join(state, 'untildone.db'));
  other.exec('BEGIN IMMEDIATE');
  onTestFinished(() => other.close());
  const env = { PATH: process.env['PATH'], HOME: state, UNTILDONE_HOME: state };
  const hook = spawn(process.execPath, ['--no-warnings', file, 'claude-code', '--timeout=6'], { env });
  const begun = performance.now();
  let said = '';
  hook.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  hook.stdin.end(JSON.stringify({ ...stopPayload(), cwd: state }));
  const [code] = await once(hook, 'close');
  expect(code).toBe(0);
  expect(JSON.parse(said)).toEqual({ systemMessage: expect.stringMatching(/may stop.*was locked/) });
  expect(performance.now() - begun, 'the host would have broken it off').toBeLessThan(6000);
}, 30_000);
