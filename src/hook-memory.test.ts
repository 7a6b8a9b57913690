// The hook as hosts start it, and what it remembers: a process per call over a state directory that others lock, open
// to everybody, put back or damage.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundle } from '../scripts/bundle.ts';
import { createPayload, promptPayload, stopPayload } from '../test/support/payload-cases.ts';

const bundles = mkdtempSync(join(tmpdir(), 'untildone-bundle-'));
const file = join(bundles, 'plugin/programs/hook.js');
let home: string;
let project: string;
let state: string;

beforeAll(async () => {
  for (const group of ['quick-program', 'late'] as const) await bundle(group, bundles);
});

afterAll(() => rmSync(bundles, { recursive: true }));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-home-'));
  project = join(home, 'project');
  state = join(home, 'state');
  mkdirSync(project);
});

function start(input: string | Buffer): Promise<string> {
  const env = { PATH: process.env['PATH'], HOME: home, UNTILDONE_HOME: state };
  // No mask: what is private then is private by our own word.
  const words = ['-c', 'umask 0; exec "$@"', 'sh', process.execPath, file, 'claude-code'];
  const child = spawn('/bin/sh', words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  return new Promise((resolve) => child.on('close', () => resolve(out)));
}

const call = async (payload: object) => JSON.parse(await start(JSON.stringify({ ...payload, cwd: project })));
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('the state directory', () => {
  it('safety 13f: one that others can write is refused, and the human is told at the stop', async () => {
    mkdirSync(state);
    chmodSync(state, 0o777);
    expect(await call(promptPayload('Please do it'))).toEqual({});
    const { systemMessage } = await call(stopPayload());
    expect(systemMessage).toContain(`${state} can be written by others (mode 777)`);
    expect(systemMessage).toContain(`chmod go-w ${state}`);
    for (const name of ['untildone.db', 'hook.log', 'bin'])
      expect(existsSync(join(state, name)), name).toBe(false);
    chmodSync(state, 0o755);
    await call(promptPayload('Please do it'));
    expect(existsSync(join(state, 'untildone.db'))).toBe(true);
  });

  it("safety 13f: what a hook makes in it is the user's alone, whatever the mask", async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    expect(modeOf(state)).toBe(0o700);
    expect(modeOf(join(state, 'bin'))).toBe(0o700);
    expect(modeOf(join(state, 'bin/compiled'))).toBe(0o700);
    expect(modeOf(join(state, 'untildone.db'))).toBe(0o600);
  });
});

describe('the log of the store', () => {
  const logBytes = () => statSync(join(state, 'untildone.db-wal')).size;

  it('safety 13b: a stop copies it into the store, other calls leave it', async () => {
    await call(promptPayload('Please do it'));
    await call(createPayload('1', 'Write a.txt'));
    expect(logBytes()).toBeGreaterThan(0);
    const { hookSpecificOutput } = await call(stopPayload());
    expect(hookSpecificOutput.additionalContext).toContain('Write a.txt');
    expect(logBytes()).toBe(0);
  });
});
