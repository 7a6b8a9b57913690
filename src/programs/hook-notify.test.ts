// Being told of a session in Claude Code, by the hook as hosts start it: bundled, with
// the program that outlives it.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import { openNoticeServer } from '../../test/support/notice-server.ts';
import {
  promptPayload,
  sessionId,
  stopPayload,
  toolPayload,
} from '../../test/support/payload-cases.ts';

const bundles = mkdtempSync(join(tmpdir(), 'untildone-bundle-'));
let home: string;
let project: string;
let told: string;

beforeAll(async () => {
  for (const group of ['quick-program', 'late', 'program'] as const)
    await bundle(group, bundles);
}, 60_000);
afterAll(() => rmSync(bundles, { recursive: true }));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-home-'));
  project = join(home, 'project');
  told = join(home, 'told.txt');
  mkdirSync(project);
});

/** In the human's own configuration. */
function want(notify: object, more: object = {}): void {
  mkdirSync(join(home, '.config/untildone'), { recursive: true });
  writeFileSync(
    join(home, '.config/untildone/untildone.json'),
    JSON.stringify({ notify, ...more }),
  );
}

function call(payload: object, environment = {}): string {
  const words = [join(bundles, 'plugin/programs/hook.js'), 'claude-code'];
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    UNTILDONE_HOME: join(home, 'state'),
    ...environment,
  };
  const input = JSON.stringify({ ...payload, cwd: project });
  return spawnSync(process.execPath, words, { env, input, encoding: 'utf8' }).stdout;
}

function turn(environment = {}): string {
  call(promptPayload('Fix "it"; $(touch x)'), environment);
  call(toolPayload('Edit', 'edit-1', {}, {}), environment);
  return call(stopPayload(), environment);
}

const asked = {
  ...stopPayload(),
  hook_event_name: 'Notification',
  message: 'Claude needs your permission',
};
const seen = () => (existsSync(told) ? readFileSync(told, 'utf8') : '');
const command = 'cat >> "$HOME/told.txt"';

describe('issue 14.8: a session in Claude Code', () => {
  it('tells of its question by a program that the hook does not wait for', async () => {
    const { url, posted } = await openNoticeServer();
    want({ command: `sleep 1; ${command}`, webhook: url, on: ['permission', 'paused'] });
    call(promptPayload('Fix "it"; $(touch x)'));
    call({ ...asked, notification_type: 'idle_prompt' });
    const began = performance.now();
    call({ ...asked, notification_type: 'permission_prompt' });
    const took = performance.now() - began;
    expect(seen()).toBe('');
    await vi.waitFor(() => expect(posted).toHaveLength(1), 10_000);
    expect(JSON.parse(posted[0]?.body ?? '')).toMatchObject({
      event: 'permission',
      outcome: null,
      session: sessionId,
      host: 'claude-code',
      next: null,
      title: 'Fix "it"; $(touch x)',
    });
    await vi.waitFor(() => expect(seen()).toContain('"event":"permission"'), 10_000);
    expect(took).toBeLessThan(4000);
  }, 30_000);

  it('tells of its end once', async () => {
    want({ command }, { checks: { ok: { command: ['true'] } }, goal: ['ok'] });
    turn();
    await vi.waitFor(() => expect(seen()).toContain('"outcome"'), 10_000);
    expect(seen().trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(seen())).toMatchObject({
      event: 'outcome',
      title: 'Fix "it"; $(touch x)',
      directory: project,
      next: `untildone why ${sessionId}`,
    });
  }, 30_000);

  it('what fails is a line in the log of hooks, without the address', async () => {
    const { url } = await openNoticeServer(500);
    want({ webhook: url });
    call(promptPayload('Fix it'));
    call({ ...asked, notification_type: 'permission_prompt' });
    const log = join(home, 'state/hook.log');
    await vi.waitFor(
      () => expect(readFileSync(log, 'utf8')).toContain('answered with status 500'),
      10_000,
    );
    expect(readFileSync(log, 'utf8')).not.toContain('t0ken');
  }, 30_000);

  it('V10: a project sets neither the command nor where it is looked for', async () => {
    const evil = join(project, 'bin');
    mkdirSync(evil);
    mkdirSync(join(project, '.claude'));
    writeFileSync(join(evil, 'tell-me'), `#!/bin/sh\ntouch "${home}/raised"\n`, {
      mode: 0o755,
    });
    const strangers = {
      PATH: `${evil}:${process.env['PATH']}`,
      UNTILDONE_NOTIFY_COMMAND: `touch "${home}/raised"`,
    };
    writeFileSync(
      join(project, '.claude/settings.json'),
      JSON.stringify({ env: strangers }),
    );
    writeFileSync(
      join(project, 'untildone.json'),
      JSON.stringify({ notify: { command: 'tell-me' } }),
    );
    want({ command: `tell-me; ${command}` });
    call(promptPayload('Fix it'), strangers);
    call({ ...asked, notification_type: 'permission_prompt' }, strangers);
    await vi.waitFor(() => expect(seen()).toContain('"event":"permission"'), 10_000);
    expect(existsSync(join(home, 'raised'))).toBe(false);
  }, 30_000);
});
