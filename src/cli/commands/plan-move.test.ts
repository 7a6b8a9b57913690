import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import { hostNames } from '../../../test/support/host-named.ts';
import { createCommandCheck } from '../../core/check-specs.ts';
import type { SessionDescriptor } from '../../core/events.ts';
import { defaultSettings } from '../../core/settings.ts';
import { waitingHost } from '../../core/state.ts';
import { handOver, newSessionId, takeWaitingPlans } from '../../engine/hand-over.ts';
import type { CurrentPolicy } from '../../engine/policy.ts';
import { ownSession } from '../../engine/session-owner.ts';
import { verifyPlan } from '../../engine/session-record.ts';
import { createIdentifiers } from '../../engine/system.ts';
import type { ScriptedHost } from '../../simulated/scripted-host.ts';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

const shell = '$ npm test';
const spec = createCommandCheck(shell, { shell: 'npm test' });
/** As `run --check "npm test"` froze it. */
const policy: CurrentPolicy = () => ({
  settings: defaultSettings,
  goalChecks: [shell],
  checks: { [shell]: spec },
});
const plain: CurrentPolicy = () => ({ settings: defaultSettings, goalChecks: [] });

/**
 * Three todos; the first one has passed its check on the files `tree-1`, the agent has
 * stopped and may not go on.
 */
async function begin(
  descriptor: Partial<SessionDescriptor> = { host: 'claude-code' },
): Promise<ScriptedHost> {
  const host = await bench.host({
    sessionId: 'alpha-0001',
    descriptor,
    policy,
    checker: { run: async () => {} },
  });
  await host.open();
  await host.says('Build the parser');
  const items = ['Write it', 'Test it', 'Document it'].map((title, index) => ({
    id: `t${index + 1}`,
    title,
  }));
  const [first, ...others] = items;
  const written = {
    id: '',
    title: '',
    ...first,
    checks: [shell],
    completionCriteria: 'tests pass',
  };
  await host.happens({
    type: 'todos-created',
    actor: 'agent',
    items: [written, ...others],
  });
  await host.works();
  await host.completes('t1', 'works');
  await host.happens({
    type: 'check-finished',
    todoId: 't1',
    check: shell,
    result: 'passed',
    flaky: false,
    tail: null,
    fingerprint: 'tree-1',
    final: false,
    writes: 1,
  });
  await host.happens({ type: 'human-aborted', how: 'Escape' });
  return host;
}

async function stateOf(id: string) {
  const state = await (await bench.store()).state(id);
  if (state === null) throw new Error(`There is no session ${id}.`);
  return state;
}

async function movedId(...target: string[]): Promise<string> {
  const { out, err, code } = await bench.run(
    'plan',
    'move',
    'alpha-0001',
    ...target,
    '--json',
  );
  expect(err).toBe('');
  expect(code).toBe(0);
  return JSON.parse(out).movedTo;
}

/** A host that hears its human, as its adapter does. */
async function hears(sessionId: string, name = 'opencode', own: CurrentPolicy = plain) {
  const host = await bench.host({ sessionId, descriptor: { host: name }, policy: own });
  await host.open();
  await host.says('go on');
  const store = await bench.store();
  const { clock } = bench;
  const place = {
    store,
    clock,
    identifiers: createIdentifiers(clock),
    policy: own,
    engine: host.runtime,
  };
  const taken = await takeWaitingPlans(
    place,
    sessionId,
    (await stateOf(sessionId)).descriptor,
  );
  return { host, taken };
}

describe('plan move', () => {
  it('V7: the next message in the other host takes the plan up, with its checks and what they proved', async () => {
    const first = await begin();
    const { out, code } = await bench.run('plan', 'move', 'alpha-0001', 'opencode');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'Moved 3 todos, 2 of them open, from session alpha-0001 “Build the parser” to OpenCode.',
      `next: write to OpenCode in ${bench.project}; your message takes the plan up there`,
      '',
    ]);
    // The old one lets go of it, with a sentence that says where it went.
    expect((await stateOf('alpha-0001')).plan).toEqual([]);
    const { decision } = await first.stops();
    expect(decision).toMatchObject({ answer: 'let-go', reason: 'aborted' });
    expect(decision?.sentence).toBe('You moved the plan to OpenCode: it goes on there.');
    expect((await bench.run('status', 'alpha-0001')).out).toContain(
      'its plan was moved to OpenCode',
    );

    const { host, taken } = await hears('beta-0002');
    expect(
      taken?.plan.map(({ title, status, verification }) => [title, status, verification]),
    ).toEqual([
      ['Write it', 'completed', 'passed'],
      ['Test it', 'pending', 'none'],
      ['Document it', 'pending', 'none'],
    ]);
    expect(taken?.plan[0]).toMatchObject({
      outcome: 'works',
      completionCriteria: 'tests pass',
      checks: [shell],
      hostKey: null,
      evidence: [{ check: shell, fingerprint: 'tree-1', flaky: false }],
    });
    // It is this turn's work: the agent may not stop before it is done.
    expect((await host.stops()).decision).toMatchObject({ answer: 'continue' });
    // What the human gave as a check holds here too, at the next message as well.
    for (const said of ['', 'and hurry']) {
      if (said !== '') await host.says(said);
      const session = await stateOf('beta-0002');
      const held = JSON.parse(
        (await (await bench.store()).policy(session.policyHash ?? '')) ?? '',
      );
      expect(held.goalChecks).toEqual([shell]);
      expect(held.checks[shell]).toEqual(spec);
    }
    const store = await bench.store();
    const state = await stateOf('beta-0002');
    expect(await verifyPlan(store, state.planId, state)).toMatchObject({ intact: true });
  });

  it('V7: only one session takes it, and only of that host in that folder', async () => {
    await begin();
    await movedId('opencode');
    expect((await hears('claude-2', 'claude-code')).taken).toBeNull();
    const [one, other] = await Promise.all([hears('beta-1'), hears('beta-2')]);
    const plans = [one, other].map(({ taken }) => taken?.plan.length ?? 0);
    expect(plans.toSorted()).toEqual([0, 3]);
    expect((await hears('beta-3')).taken).toBeNull();
  });

  it('V7, V5: a move that was broken off is ended by saying it again, and doubles nothing', async () => {
    const host = await begin();
    const store = await bench.store();
    const from = await stateOf('alpha-0001');
    const { clock } = bench;
    const engine = { handle: () => Promise.reject(new Error('killed')) };
    const place = {
      store,
      clock,
      identifiers: createIdentifiers(clock),
      policy: plain,
      engine,
    };
    const descriptor = {
      ...from.descriptor,
      host: waitingHost,
      instance: 'opencode',
      kind: 'other',
    } as const;
    const taker = { id: newSessionId(from), descriptor, opens: true };
    await expect(handOver(place, from, taker, 'OpenCode')).rejects.toThrow('killed');
    // The next sign of the old session, or the same words again: either way it has gone,
    // once.
    expect((await host.stops()).decision?.sentence).toContain(
      'You moved the plan to OpenCode',
    );
    for (const _ of [1, 2]) {
      const again = await bench.run('plan', 'move', 'alpha-0001', 'opencode');
      expect(again.code).toBe(1);
      expect(again.err).toContain(
        `no plan any more: you moved it to OpenCode (session ${taker.id}).`,
      );
    }
    expect((await hears('beta')).taken?.plan).toHaveLength(3);
    expect((await stateOf(taker.id)).plan).toEqual([]);
    const moves = (
      await store.events({ sessionId: 'alpha-0001', after: 0, limit: 100 })
    ).filter(({ event }) => event.type === 'plan-moved');
    expect(moves).toHaveLength(1);
  });

  it('V7: what was only claimed there is only claimed here', async () => {
    const host = await begin();
    await host.happens({ type: 'human-resumed' });
    await host.completes('t2', 'believe me');
    await host.happens({ type: 'human-aborted', how: 'Escape' });
    const { plan } = await stateOf(await movedId('opencode'));
    expect(plan[1]).toMatchObject({
      title: 'Test it',
      status: 'completed',
      verification: 'claimed',
    });
    expect(plan[1]?.evidence).toEqual([]);
  });

  it('P41: run takes it up by the command that is printed, and waits for nobody', async () => {
    await begin();
    const { out } = await bench.run('plan', 'move', 'alpha-0001', 'run');
    const id =
      /^next: untildone run --resume (moved-[0-9a-f]{10})$/mu.exec(out)?.[1] ?? '';
    expect(await stateOf(id)).toMatchObject({
      descriptor: { host: 'untildone', kind: 'main' },
    });
    expect((await bench.run('plan', 'show', id)).out).toContain('3 todos');
  });

  it('V7: a plan that waits for one host can be moved on to another', async () => {
    await begin();
    const id = await movedId('opencode');
    expect((await bench.run('status', id)).out).toContain(
      'waiting for your next message in OpenCode',
    );
    expect((await bench.run('plan', 'move', id, 'opencode')).err).toContain(
      'waits for OpenCode already',
    );
    expect((await bench.run('plan', 'move', id, 'claude-code')).code).toBe(0);
    expect((await hears('beta')).taken).toBeNull();
    expect((await hears('claude-2', 'claude-code')).taken?.plan).toHaveLength(3);
  });

  it('V7: into a file with its checks, which names the command that goes on', async () => {
    await begin();
    const { out } = await bench.run('plan', 'move', 'alpha-0001', 'PLAN.md');
    expect(out).toContain('next: untildone run --plan PLAN.md');
    expect(readFileSync(join(bench.project, 'PLAN.md'), 'utf8').split('\n')).toEqual([
      '---',
      'checks:',
      '  - "`npm test`"',
      '---',
      '',
      '- [x] Write it',
      '  - done when: tests pass',
      '  - check: `npm test`',
      '- [ ] Test it',
      '- [ ] Document it',
      '',
    ]);
    expect((await stateOf('alpha-0001')).plan).toEqual([]);
    expect((await bench.run('plan', 'log', 'alpha-0001')).out).toContain(
      'moved the plan: to PLAN.md',
    );
  });

  it('V7: a file that is there is left alone, unless it is this very move', async () => {
    await begin();
    writeFileSync(join(bench.project, 'PLAN.md'), 'mine\n');
    const refused = await bench.run('plan', 'move', 'alpha-0001', 'PLAN.md');
    expect(refused.err).toContain(
      'PLAN.md is there already; name a new file. Nothing was moved.',
    );
    expect((await stateOf('alpha-0001')).plan).toHaveLength(3);
    const lost = await bench.run('plan', 'move', 'alpha-0001', 'no/PLAN.md');
    expect(lost.err).toContain('cannot be written (ENOENT). Nothing was moved.');
  });

  it('V3: an agent is refused, and nothing moves', async () => {
    await begin();
    const asAgent = {
      whyNoHuman: async () => 'Only a human may do this, and an agent called it.',
    };
    const { code, err } = await bench.runWith(
      asAgent,
      'plan',
      'move',
      'alpha-0001',
      'OUT.md',
    );
    expect([code, err]).toEqual([
      1,
      'untildone: Only a human may do this, and an agent called it.\n',
    ]);
    expect(existsSync(join(bench.project, 'OUT.md'))).toBe(false);
    expect((await stateOf('alpha-0001')).plan).toHaveLength(3);
  });

  it('P41: one that is at work is refused, with the command that ends it', async () => {
    const host = await begin();
    await host.says('go on');
    const { err } = await bench.run('plan', 'move', 'alpha-0001', 'opencode');
    expect(err).toContain(
      'is at work in Claude Code. Wait until it stops, or `untildone stop alpha-0001` ends',
    );
  });

  it('P41: a run that lives is refused', async () => {
    await begin({ host: 'untildone' });
    const store = await bench.store();
    const owned = await ownSession({ store, clock: bench.clock }, 'alpha-0001');
    const { err } = await bench.run('plan', 'move', 'alpha-0001', 'opencode');
    expect(err).toContain(
      `runs in process ${process.pid}; \`untildone stop alpha-0001\` ends that`,
    );
    if (owned.ok) await owned.release();
    expect((await bench.run('plan', 'move', 'alpha-0001', 'opencode')).code).toBe(0);
  });

  it.each([
    [['beta', 'opencode'], 1, 'No session has an id that starts or ends with "beta".'],
    [
      ['alpha-0001', 'opncode'],
      2,
      'A plan cannot be moved to "opncode". Did you mean opencode?',
    ],
    [['alpha-0001', 'emacs'], 2, `Known are ${hostNames}, run.`],
    [
      ['alpha-0001', 'claude-code'],
      1,
      'is one of Claude Code already; go on with it there.',
    ],
    [['alpha-0001'], 2, 'See untildone plan move --help.'],
  ])('V7: wrong words get one sentence: %j', async (words, code, sentence) => {
    await begin();
    const result = await bench.run('plan', 'move', ...words);
    expect(result.err).toContain(sentence);
    expect(result.code).toBe(code);
    expect((await stateOf('alpha-0001')).plan).toHaveLength(3);
  });

  it('V7: nothing open, and a folder that is gone, are told', async () => {
    const host = await begin();
    rmSync(bench.project, { recursive: true });
    const gone = await bench.run('plan', 'move', 'alpha-0001', 'opencode');
    expect(gone.err).toContain(
      'which cannot be opened (ENOENT). `untildone plan move alpha-0001 PLAN.md`',
    );
    for (const todo of ['t2', 't3']) await host.completes(todo, 'works');
    const { err } = await bench.run('plan', 'move', 'alpha-0001', 'opencode');
    expect(err).toContain('has nothing open that could be moved.');
  });
});
