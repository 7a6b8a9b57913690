// What a hook may wait for and load, as hosts start it: bundled, a process per call.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import { stopPayload, toolPayload } from '../../test/support/payload-cases.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';

const bundles = mkdtempSync(join(tmpdir(), 'untildone-bundle-'));
const state = join(bundles, 'state');
const file = join(bundles, 'plugin/programs/hook.js');

beforeAll(async () => {
  for (const group of ['quick-program', 'late'] as const) await bundle(group, bundles);
  await (await openUserStore({ UNTILDONE_HOME: state })).close();
}, 60_000);
afterAll(() => rmSync(bundles, { recursive: true }));

function call(
  payload: object,
  nodeOptions: readonly string[],
  ...options: readonly string[]
) {
  const env = { PATH: process.env['PATH'], HOME: bundles, UNTILDONE_HOME: state };
  const input = JSON.stringify({ ...payload, cwd: bundles });
  const words = [...nodeOptions, file, 'claude-code', ...options];
  return spawnSync(process.execPath, words, { env, input, encoding: 'utf8' });
}

it('fail-open: a stop waits for a locked store only until two seconds before its own timeout', () => {
  const other = new DatabaseSync(join(state, 'untildone.db'));
  other.exec('BEGIN IMMEDIATE');
  const begun = performance.now();
  const { stdout, status } = call(stopPayload(), [], '--timeout=6');
  const took = performance.now() - begun;
  other.close();
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    systemMessage: expect.stringMatching(/may stop.*was locked/),
  });
  expect(took, 'the host would have broken it off').toBeLessThan(6000);
}, 30_000);

it('a call that only records loads no hashes: they cost it a fifth', () => {
  const list = join(bundles, 'list.cjs');
  const loaded = join(bundles, 'loaded.txt');
  const write = `require('node:fs').writeFileSync(${JSON.stringify(loaded)}, process.moduleLoadList.join('\\n'))`;
  writeFileSync(list, `process.on('exit', () => ${write});`);
  expect(call(toolPayload('Read', 'c1', {}, {}), ['--require', list]).stdout).toBe(
    '{}\n',
  );
  expect(readFileSync(loaded, 'utf8')).not.toContain('NativeModule crypto');
});
