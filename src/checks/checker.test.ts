import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aSession, aTodo } from '../../test/support/builders.ts';
import { createMemoryStore } from '../../test/support/memory-store.ts';
import { type CheckSpec, createCommandCheck } from '../core/check-specs.ts';
import type { Event, EventOf } from '../core/events.ts';
import { canonicalPolicy, type Policy } from '../core/policy.ts';
import { defaultSettings } from '../core/settings.ts';
import type { State } from '../core/state.ts';
import { digestFile } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { sha256, systemClock } from '../engine/system.ts';
import { createScriptedHost } from '../simulated/scripted-host.ts';
import { createSequentialIdentifiers } from '../simulated/simulated-clock.ts';
import { type CheckerOptions, createChecker, runQueue } from './checker.ts';
import { protectPolicy } from './protected-paths.ts';

let directory: string;
let store: Store;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'untildone-checker-'));
  store = createMemoryStore();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const shell = (id: string, line: string): CheckSpec =>
  createCommandCheck(id, { shell: line });
const identifiers = createSequentialIdentifiers();

async function sessionWith(
  policy: Partial<Policy>,
  changes: Partial<State> = {},
): Promise<State> {
  const text = canonicalPolicy({ settings: defaultSettings, goalChecks: [], ...policy });
  const policyHash = sha256(text).slice(0, 32);
  await store.record({ policies: new Map([[policyHash, text]]) });
  const session = aSession({ policyHash, ...changes });
  return { ...session, descriptor: { ...session.descriptor, directory } };
}

function checkerWith(options: Partial<CheckerOptions> = {}) {
  let started = 0;
  const checker = createChecker({
    store,
    clock: systemClock,
    identifiers,
    startRunner: (folder, holder) => {
      started += 1;
      const environment = { PATH: process.env['PATH'] };
      void runQueue({
        store,
        clock: systemClock,
        directory: folder,
        holder,
        environment,
      });
    },
    signal: () => new AbortController().signal,
    ...options,
  });
  return { checker, started: () => started };
}

type Asked = readonly { readonly todoId: string | null; readonly check: string }[];

async function run(
  session: State,
  checks: Asked,
  options: Partial<CheckerOptions> = {},
  stop: string | null = 'stop-1',
): Promise<{ events: Event[]; finished: EventOf<'check-finished'>[] }> {
  const events: Event[] = [];
  await checkerWith(options).checker.run(
    session,
    { checks, stop },
    async (event) => void events.push(event),
  );
  return { events, finished: events.filter((event) => event.type === 'check-finished') };
}

const goal = (check: string) => [{ todoId: null, check }];

describe('the checker', () => {
  it('V1: a check that passes is reported with the fingerprint of the workspace, and kept as evidence', async () => {
    writeFileSync(join(directory, 'a.txt'), 'a');
    const session = await sessionWith({ checks: { ok: shell('ok', 'echo fine') } });
    const { events, finished } = await run(session, goal('ok'));
    expect(finished).toMatchObject([
      { result: 'passed', flaky: false, check: 'ok', todoId: null },
    ]);
    expect(finished[0]?.fingerprint).not.toBeNull();
    expect(events.at(-1)).toMatchObject({
      type: 'final-run-ended',
      stop: 'stop-1',
      edited: [],
    });
    const [row] = await store.evidence(session.id, 5);
    expect(row).toMatchObject({
      check: 'ok',
      result: 'passed',
      exitCode: 0,
      tail: 'fine',
    });
    const waiting = (await store.events({ sessionId: session.id, waiting: true })).map(
      ({ event }) => event,
    );
    expect(waiting, 'the session hears of it even if nobody waited').toMatchObject([
      { type: 'check-finished' },
    ]);
  });

  it('P31: a check that fails twice is reported with the end of what it printed', async () => {
    const session = await sessionWith({
      checks: { bad: shell('bad', 'echo expected 4, got 5; exit 1') },
    });
    const { finished } = await run(session, [{ todoId: 'todo-1', check: 'bad' }]);
    expect(finished).toMatchObject([{ result: 'failed', todoId: 'todo-1' }]);
    expect(finished[0]?.tail).toContain('expected 4, got 5');
  });

  it('P44: a check that cannot start is told as that, in every form; one that fails by itself is not', async () => {
    writeFileSync(join(directory, 'not-executable'), 'exit 0', { mode: 0o600 });
    const checks = {
      shell: shell('shell', './gone.sh'),
      mode: shell('mode', './not-executable'),
      program: createCommandCheck('program', ['no-such-program-anywhere']),
      fails: shell('fails', 'exit 1'),
    };
    const session = await sessionWith({ checks });
    const asked = Object.keys(checks).flatMap(goal);
    const { finished } = await run(session, asked);
    expect(finished.map(({ check, result }) => [check, result])).toEqual([
      ['shell', 'cannot-start'],
      ['mode', 'cannot-start'],
      ['program', 'cannot-start'],
      ['fails', 'failed'],
    ]);
    expect(finished[0]?.tail).toContain('gone.sh');
    const rows = await store.evidence(session.id, 9);
    expect(new Set(rows.map(({ result }) => result))).toEqual(new Set(['failed']));
  });

  it('V1: a check that fails first and then passes is flaky', async () => {
    const line = 'if [ -e seen ]; then exit 0; else touch seen; exit 1; fi';
    const session = await sessionWith({ checks: { odd: shell('odd', line) } });
    const { finished } = await run(session, goal('odd'));
    expect(finished).toMatchObject([{ result: 'passed', flaky: true }]);
  });

  it('V1: todos that have the same check share one run of it', async () => {
    const session = await sessionWith({
      checks: { once: shell('once', 'echo x >> runs') },
    });
    const todos = ['a', 'b', 'c'].map((todoId) => ({ todoId, check: 'once' }));
    const { finished } = await run(session, todos);
    expect(finished.map(({ todoId }) => todoId)).toEqual(['a', 'b', 'c']);
    expect(readFileSync(join(directory, 'runs'), 'utf8')).toBe('x\n');
  });

  it('V1: a check that no policy knows has failed, and says so', async () => {
    const { finished } = await run(await sessionWith({}), goal('ghost'));
    expect(finished[0]?.tail).toContain('no check with the name "ghost"');
  });

  it('V2: while the agent may write, a check that leaves files behind proves no state; at a stop it does', async () => {
    const session = await sessionWith({
      checks: { writes: shell('writes', 'date +%N > report.txt') },
    });
    const claimed = await run(session, [{ todoId: 'a', check: 'writes' }], {}, null);
    expect(claimed.events.map(({ type }) => type)).toEqual([
      'check-started',
      'check-finished',
    ]);
    expect(claimed.finished[0]?.fingerprint).toBeNull();
    const stopped = await run(session, [{ todoId: 'a', check: 'writes' }]);
    expect(stopped.finished[0]?.fingerprint).not.toBeNull();
  });

  it('V2: at a stop what has gone stale is run again, by the files that each check names', async () => {
    mkdirSync(join(directory, 'src'));
    writeFileSync(join(directory, 'src', 'a.ts'), '1');
    const narrow = { ...shell('narrow', 'true'), files: ['src/**'] };
    const wide = shell('wide', 'true');
    const checks = { narrow, wide };
    const session = await sessionWith({ checks });
    const first = await run(
      session,
      ['narrow', 'wide'].map((check) => ({ todoId: check, check })),
    );
    const evidence = (check: string) => {
      const seen = first.finished.find((event) => event.check === check);
      return [{ check, fingerprint: seen?.fingerprint ?? null, flaky: false }];
    };
    const passed = { status: 'completed', verification: 'passed' } as const;
    const plan = ['narrow', 'wide'].map((id) =>
      aTodo({ ...passed, id, checks: [id], evidence: evidence(id) }),
    );
    const counted: State = { ...session, plan };
    expect((await run(counted, [])).finished, 'nothing changed').toEqual([]);
    writeFileSync(join(directory, 'notes.md'), 'new');
    expect((await run(counted, [])).finished.map(({ check }) => check)).toEqual(['wide']);
    writeFileSync(join(directory, 'src', 'a.ts'), '2');
    expect((await run(counted, [])).finished.map(({ check }) => check)).toEqual([
      'narrow',
      'wide',
    ]);
  });

  it('V2: the plan file is no work: its change makes nothing stale', async () => {
    const session = await sessionWith({
      checks: { ok: shell('ok', 'true') },
      exclude: ['PLAN.md'],
    });
    const before = (await run(session, goal('ok'))).finished[0]?.fingerprint;
    writeFileSync(join(directory, 'PLAN.md'), '- [x] one');
    expect((await run(session, goal('ok'))).finished[0]?.fingerprint).toBe(before);
  });

  it('V2: files that say what is checked are compared with what they were, and told of', async () => {
    const path = join(directory, 'untildone.json');
    writeFileSync(path, '{}');
    const session = await sessionWith({ sources: [{ path, digest: digestFile(path) }] });
    expect((await run(session, [])).events).toMatchObject([{ edited: [] }]);
    writeFileSync(path, '{"goal":[]}');
    const told: string[] = [];
    const { events } = await run(session, [], {
      onEdited: (paths) => void told.push(...paths),
    });
    expect(events).toMatchObject([{ type: 'final-run-ended', edited: [path] }]);
    expect(told).toEqual([path]);
  });

  it('P27: a protected path that was changed fails the goal until it is restored', async () => {
    mkdirSync(join(directory, 'test'));
    const path = join(directory, 'test', 'a.test.ts');
    writeFileSync(path, 'strict');
    const policy = { settings: defaultSettings, goalChecks: [], protect: ['test/**'] };
    const prepared = await protectPolicy(store, policy, directory);
    if (!prepared.ok) throw new Error(prepared.error);
    const [id = ''] = prepared.policy.goalChecks;
    const session = await sessionWith(prepared.policy);
    expect((await run(session, goal(id))).finished).toMatchObject([{ result: 'passed' }]);
    writeFileSync(path, 'lenient');
    const { finished } = await run(session, goal(id));
    expect(finished).toMatchObject([{ result: 'failed' }]);
    expect(finished[0]?.tail).toContain('test/a.test.ts');
    writeFileSync(path, 'strict');
    expect((await run(session, goal(id))).finished).toMatchObject([{ result: 'passed' }]);
  });

  it('V2: the look at a stop serves the checks of that stop once, and of no other session', async () => {
    const write = (text: string) => writeFileSync(join(directory, 'a.txt'), text);
    const { checker } = checkerWith();
    write('one');
    const opened = await sessionWith({ checks: { ok: shell('ok', 'true') } });
    const fingerprint = await checker.look({ sessionId: opened.id, directory });
    expect(fingerprint).not.toBeNull();
    const passed = {
      id: 'a',
      status: 'completed',
      verification: 'passed',
      checks: ['ok'],
    } as const;
    const plan = [
      aTodo({ ...passed, evidence: [{ check: 'ok', fingerprint, flaky: false }] }),
    ];
    const session = { ...opened, plan };
    const staleFor = async (asking: State) => {
      const finished: string[] = [];
      await checker.run(asking, { checks: [], stop: 'stop-1' }, async (event) => {
        if (event.type === 'check-finished') finished.push(event.check);
      });
      return finished;
    };
    // Changed behind its back, so that the look that was kept can be told from a new one.
    write('two');
    expect(await staleFor(session)).toEqual([]);
    expect(await staleFor(session)).toEqual(['ok']);
    write('one');
    expect(await checker.look({ sessionId: session.id, directory })).toBe(fingerprint);
    write('two');
    expect(await staleFor({ ...session, id: 'other' })).toEqual(['ok']);
    expect(await staleFor(session)).toEqual(['ok']);
  });

  it('V2: a checked stop looks through the workspace twice: for its own sake, and after its check', async () => {
    const programs = mkdtempSync(join(tmpdir(), 'untildone-counted-'));
    onTestFinished(() => rmSync(programs, { recursive: true }));
    const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    const counting = `#!/bin/sh\necho "$*" >> '${programs}/calls'\nexec '${git}' "$@"\n`;
    writeFileSync(join(programs, 'git'), counting, { mode: 0o755 });
    vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    execFileSync(git, ['init', '-q'], { cwd: directory });
    writeFileSync(join(directory, 'a.txt'), 'one');
    const { checker } = checkerWith();
    const policy = {
      settings: defaultSettings,
      goalChecks: ['ok'],
      checks: { ok: shell('ok', 'true') },
    };
    const place = {
      store,
      clock: systemClock,
      identifiers,
      hash: sha256,
      policy: () => policy,
      checker,
    };
    const host = createScriptedHost({
      ...place,
      mode: 'asked',
      descriptor: { directory },
    });
    await host.open();
    await host.says('do it');
    const [todo = ''] = await host.plans('one');
    await host.works();
    await host.completes(todo);
    const fingerprint = await checker.look({ sessionId: host.sessionId, directory });
    await (await host.stops({ fingerprint })).checks;
    expect((await store.decisions(host.sessionId, 1))[0]?.decision.outcome).toBe('done');
    expect(
      readFileSync(join(programs, 'calls'), 'utf8').match(/ ls-files /gu),
    ).toHaveLength(2);
  });

  it('V1: when the waiting ends, what nobody else waits for is ended too', async () => {
    const session = await sessionWith({ checks: { slow: shell('slow', 'sleep 60') } });
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 100);
    const { events } = await run(session, goal('slow'), { signal: () => ending.signal });
    expect(events).toEqual([]);
    expect(await store.checkRuns({ directory })).toEqual([]);
  });
});

describe('a check that a human answers', () => {
  const look: CheckSpec = {
    kind: 'human',
    id: 'look',
    question: 'Does it look right?',
    files: [],
    timeoutMs: 1000,
  };

  it('V1: waits while nobody is there, and an answer holds until the files change', async () => {
    const session = await sessionWith({ checks: { look } });
    expect((await run(session, goal('look'))).finished).toMatchObject([
      { result: 'waiting', tail: null },
    ]);
    const asked: string[] = [];
    const askHuman = async (question: string) => {
      asked.push(question);
      return { approved: true, reason: '' };
    };
    expect((await run(session, goal('look'), { askHuman })).finished).toMatchObject([
      { result: 'passed' },
    ]);
    expect((await run(session, goal('look'), { askHuman })).finished).toMatchObject([
      { result: 'passed' },
    ]);
    expect(asked).toEqual(['Does it look right?']);
    writeFileSync(join(directory, 'a.txt'), 'changed');
    expect((await run(session, goal('look'))).finished).toMatchObject([
      { result: 'waiting' },
    ]);
  });

  it('V1: a no reopens with the human’s reason', async () => {
    const session = await sessionWith({ checks: { look } });
    const askHuman = async () => ({ approved: false, reason: 'the button is blue' });
    const { finished } = await run(session, [{ todoId: 'todo-1', check: 'look' }], {
      askHuman,
    });
    expect(finished).toMatchObject([{ result: 'failed', todoId: 'todo-1' }]);
    expect(finished[0]?.tail).toContain('the button is blue');
  });
});
