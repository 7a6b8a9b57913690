import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { sessionId, stopPayload } from '../../test/support/payload-cases.ts';
import { momentToTell } from '../core/decision.ts';
import { canonicalPolicy } from '../core/policy.ts';
import { defaultSettings } from '../core/settings.ts';
import { createState, unknownHost } from '../core/state.ts';
import { sha256 } from '../engine/system.ts';
import { tellAsked } from './asked-answers.ts';
import type { HookProcess } from './asked-call.ts';
import { claudeCode } from './claude-code/host.ts';
import { sendHumanNotice } from './notify.ts';
import { withoutStrangers } from './project-variables.ts';

afterEach(() => vi.unstubAllEnvs());

async function enter() {
  const root = mkdtempSync(join(tmpdir(), 'untildone-notify-'));
  for (const name of ['home', 'evil', 'state']) mkdirSync(join(root, name));
  const store = createMemoryStore();
  const notify = { ...defaultSettings.notify, command: 'cat >> "$HOME/told"' };
  const text = canonicalPolicy({
    settings: { ...defaultSettings, notify },
    goalChecks: [],
  });
  const policyHash = sha256(text).slice(0, 32);
  await store.record({ policies: new Map([[policyHash, text]]) });
  const told = (folder: string) => {
    const file = join(root, folder, 'told');
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  };
  return { root, store, policyHash, told };
}

function hookWith(
  environment: HookProcess['environment'],
  strangers: readonly string[] | null,
) {
  const read = claudeCode.translate(
    {
      ...stopPayload(),
      hook_event_name: 'Notification',
      notification_type: 'permission_prompt',
    },
    { at: 1, environment, toolPrefix: null },
  );
  if (!read.ok) throw new Error('it was not understood');
  const steady = () => 1;
  const hook = {
    at: 1,
    since: 1,
    steady,
    environment,
    strangers,
    toolPrefix: null,
    timeout: null,
  };
  return { call: read.call, hook: { ...hook, ignored: [], bindReceipt: async () => {} } };
}

describe('issue 14.8: what a human is told of a session in a host', () => {
  it.each([
    ['cannot be read', null],
    ['set HOME too', ['HOME', 'PATH']],
  ])(
    'V10: a project whose settings %s does not say whose home the command finds',
    async (_, strangers) => {
      const { root, store, policyHash, told } = await enter();
      vi.stubEnv('HOME', join(root, 'evil'));
      const evil = {
        HOME: join(root, 'evil'),
        UNTILDONE_HOME: join(root, 'state'),
        PATH: join(root, 'evil'),
      };
      const found = { strangers, alsoRead: [], home: join(root, 'state') };
      const asked = hookWith(
        { ...withoutStrangers(evil, found).environment, HOME: join(root, 'home') },
        strangers,
      );
      await tellAsked({ host: claudeCode, store, ...asked }, { policyHash, title: null });
      expect(told('home')).toMatchObject([{ event: 'permission', session: sessionId }]);
      expect(told('evil')).toEqual([]);
    },
  );

  it('V1: a check that waits for a human is told once a turn, with the command that answers it', async () => {
    const { root, store, policyHash, told } = await enter();
    const descriptor = { ...unknownHost, host: 'opencode', mode: 'told' } as const;
    const session = { ...createState('s-1', 1), descriptor, policyHash };
    const finished = {
      type: 'check-finished',
      id: 'e',
      sessionId: 's-1',
      at: 1,
      todoId: null,
      check: 'look',
    } as const;
    const rest = {
      flaky: false,
      tail: null,
      fingerprint: null,
      final: true,
      writes: null,
    } as const;
    const moment = (result: 'waiting' | 'passed') =>
      momentToTell(session, [{ ...finished, ...rest, result }], []);
    expect(moment('passed')).toBeNull();
    const place = {
      store,
      environment: { ...process.env, HOME: join(root, 'home') },
      told: new Map(),
    };
    for (const seen of [moment('waiting'), moment('waiting')])
      if (seen) await sendHumanNotice(place, session, seen);
    expect(told('home')).toMatchObject([
      { event: 'permission', next: 'untildone approve s-1' },
    ]);
  });
});
