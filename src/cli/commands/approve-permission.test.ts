import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { readGrants } from '../../agent/workspace/remembered-grants.ts';
import { ownSession } from '../../engine/session-owner.ts';
import { notUnderstood, readPermission } from '../ask-at-terminal.ts';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

const about = {
  callId: 's/c1',
  tool: 'shell',
  subject: 'npm publish\n--now',
  pattern: '= npm publish\n--now',
};

const hiding = 'echo ok \u001b]0; touch HIDDEN; echo \u0007';
const unhidden = 'echo ok \\x1b]0; touch HIDDEN; echo \\x07';

async function addSession(...requestIds: string[]) {
  const host = await bench.host({
    sessionId: 'alpha-0001',
    descriptor: { host: 'untildone' },
  });
  await host.open();
  await host.says('Work');
  await host.plans('Publish it');
  for (const requestId of requestIds)
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId, about },
    });
  return host;
}

/** Like a session whose run is at work: this process owns it. */
async function addRun() {
  const host = await addSession();
  await ownSession({ store: await bench.store(), clock: bench.clock }, host.sessionId);
  return host;
}

async function session() {
  const found = await (await bench.store()).state('alpha-0001');
  if (found === null) throw new Error('There is no session.');
  return found;
}

describe('approve, for a permission', () => {
  it.each([
    [['--yes'], 'once', 'Allowed once: shell npm publish'],
    [
      ['--yes', '--for', 'session'],
      'session',
      'Allowed for this session: exactly npm publish',
    ],
    [
      ['--yes', '--for', 'always'],
      'always',
      'Allowed always in this folder: exactly npm publish',
    ],
    [['--reject', 'never'], 'no', 'Recorded a no to shell npm publish'],
  ])('S7: %j is on the record as %s', async (words, answer, sentence) => {
    await addSession('request-1');
    const { code, out, err } = await bench.run(
      'approve',
      '--request',
      'request',
      ...words,
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(sentence);
    const after = await session();
    expect(after.permissions.requests).toMatchObject([{ answer }]);
    expect(after.waits.permissions).toEqual([]);
    expect(after.pause).toBeNull();
    const kept = readGrants({ stateDirectory: bench.home, directory: bench.project });
    expect(kept.map(({ pattern }) => pattern)).toEqual(
      answer === 'always' ? [about.pattern] : [],
    );
  });

  it('C3: status and why show what is asked, and approve lists it when more than one thing waits', async () => {
    const host = await addSession('request-1', 'request-2');
    await host.stops();
    expect((await bench.run('status', 'alpha')).out).toContain(
      'permission for shell: npm publish\\n--now (`untildone approve`)',
    );
    expect((await bench.run('why')).out).toContain('npm publish');
    const { code, out } = await bench.run('approve');
    expect(code).toBe(2);
    expect(out).toContain('2 questions wait');
    expect(out).toContain('--request request-1');
    const json = JSON.parse((await bench.run('approve', '--json')).out);
    expect(json.permissions).toMatchObject([
      { request: 'request-1', tool: 'shell' },
      { request: 'request-2' },
    ]);
  });

  it('S7: what a terminal would hide is shown wherever it can be approved, never stripped', async () => {
    const host = await addSession();
    const hidden = { ...about, subject: hiding, pattern: `= ${hiding}` };
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'request-1', about: hidden },
    });
    await host.stops();
    const asked = await bench.run('approve', '--request', 'request-1');
    expect(asked.out).toContain(`  │ ${unhidden}\n`);
    expect(asked.out).toContain(`  s or a would allow: exactly ${unhidden}\n`);
    expect(asked.out).toContain('characters that a terminal does not show');
    expect((await bench.run('status', 'alpha')).out).toContain(
      `permission for shell: ${unhidden}`,
    );
    expect((await bench.run('why')).out).toContain(unhidden);
    const words = ['--request', 'request-1', '--yes', '--for', 'always'];
    expect((await bench.run('approve', ...words)).out).toContain(`exactly ${unhidden}`);
    expect((await bench.run('permissions')).out).toContain(`exactly ${unhidden}`);
  });

  it('S7: a long command is shown once, and what lasts covers exactly this command', async () => {
    const host = await addSession();
    const long = Array.from({ length: 30 }, (_, index) => `echo ${index}`).join('\n');
    const request = { ...about, subject: long, pattern: `= ${long}` };
    await host.happens({
      type: 'wait-started',
      wait: { kind: 'permission', requestId: 'request-1', about: request },
    });
    const { out } = await bench.run('approve', '--request', 'request-1');
    expect(out).toContain('  s or a would allow: exactly this command\n');
    expect(out.match(/echo 29/gu)).toHaveLength(1);
  });

  it.each([
    [
      ['--request', 'nobody', '--yes'],
      'has no waiting permission request like "nobody"; it has request-1.',
    ],
    [
      ['--request', 'request', '--yes', '--for', 'ever'],
      '--for takes once, session or always.',
    ],
    [['--request', 'request', '--check', 'look', '--yes'], 'Answer one at a time'],
    [['--request', 'request'], 'The input is no terminal'],
  ])('C3: %j is wrong usage and records nothing', async (words, sentence) => {
    await addSession('request-1');
    const { code, err } = await bench.run('approve', ...words);
    expect(code).toBe(2);
    expect(err).toContain(sentence);
    expect((await session()).waits.permissions).toEqual(['request-1']);
  });

  it('design: an agent must not approve itself', async () => {
    await addSession('request-1');
    const beneath = { whyNoHuman: async () => 'Only a human may do this.' };
    for (const words of [
      ['approve', '--request', 'request-1', '--yes'],
      ['say', 'go on'],
    ])
      expect((await bench.runWith(beneath, ...words)).code).toBe(1);
    const after = await session();
    expect(after.waits.permissions).toEqual(['request-1']);
    expect(after.words).toEqual([]);
  });

  it('C3: a bare Enter leaves the question open, and so does everything that is no answer', () => {
    for (const said of ['', '  ', 'yep', 'maybe', 'not', 'y y'])
      expect(readPermission(said)).toBeNull();
    expect(notUnderstood('maybe')).toBe(
      '"maybe" was not understood; answer y, s, a or n.',
    );
    expect(['y', 'S', 'always', ' no '].map(readPermission)).toEqual([
      'once',
      'session',
      'always',
      'no',
    ]);
  });
});

describe('permissions', () => {
  it('S7: lists what was allowed for good, says what is not on record, and forgets it', async () => {
    await addSession('request-1');
    await bench.run('approve', '--request', 'request-1', '--yes', '--for', 'always');
    const listed = await bench.run('permissions');
    expect(listed.out).toContain('exactly npm publish');
    expect(listed.out).not.toContain('ignored');
    const unknown = await bench.run('permissions', '--forget', 'npm test');
    expect([unknown.code, unknown.out]).toEqual([1, '']);
    expect(unknown.err).toContain('No permission here has the pattern "npm test"');
    expect((await bench.run('permissions', '--forget-all')).out).toBe(
      'Forgot 1 permission.\n',
    );
    expect((await bench.run('permissions')).out).toBe(
      'Nothing is always allowed in this directory.\n',
    );
  });
});

describe('say', () => {
  it('T3, G6: puts the words on the record, keeps the frozen policy, and zeroes the counters', async () => {
    const host = await addRun();
    await host.stops();
    expect((await session()).counters.total).toBe(1);
    const before = (await session()).policyHash;
    const { code, out } = await bench.run('say', 'use tabs');
    expect({ code, out }).toEqual({
      code: 0,
      out: 'Said to session alpha-0001 “Work”. The agent reads it after its running step.\n',
    });
    const after = await session();
    expect(after.words.map(({ text }) => text)).toEqual(['use tabs']);
    expect(after.counters.total).toBe(0);
    expect(after.policyHash).toBe(before);
  });

  it('P20: exactly a stop word sets the latch', async () => {
    await addRun();
    expect((await bench.run('say', 'stop')).out).toContain('stopped by you');
    expect((await session()).latch).not.toBeNull();
  });

  it('C3: a session that is not at work, or a host’s, is not spoken to', async () => {
    const host = await bench.host({ sessionId: 'beta-0001' });
    await host.open();
    await host.says('Work');
    const { code, err } = await bench.run('say', 'use tabs', '--session', 'beta');
    expect(code).toBe(1);
    expect(err).toContain('say it there');
  });
});
