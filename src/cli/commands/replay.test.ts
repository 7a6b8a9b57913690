import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  addStagnantSession,
  type CommandBench,
  createCommandBench,
} from '../../../test/support/command-bench.ts';
import type { PartialSettings } from '../../core/settings.ts';

process.env['TZ'] = 'UTC';

let bench: CommandBench;

beforeEach(() => {
  bench = createCommandBench();
});

afterEach(() => bench.close());

function policyFile(settings: PartialSettings): string {
  const path = join(bench.project, 'other.json');
  writeFileSync(path, JSON.stringify(settings));
  return path;
}

async function replay(session: string, settings: PartialSettings) {
  const { code, out, err } = await bench.run(
    'replay',
    session,
    '--policy',
    policyFile(settings),
    '--json',
  );
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

/**
 * Two stop attempts of a told host; each countdown ends in a continuation unless the mode
 * is observe.
 */
async function addToldSession(settings: PartialSettings = {}): Promise<void> {
  const host = await bench.host({ sessionId: 'told-0001', mode: 'told', settings });
  await host.runtime.attach();
  await host.open();
  await host.says('Clean up');
  await host.plans('Remove dead code', 'Rename things');
  for (let stop = 0; stop < 2; stop += 1) {
    await host.works();
    await host.stops();
    await bench.clock.advance(10_000);
    await host.happens({ type: 'activity-seen' });
  }
  await host.runtime.detach();
}

describe('V6: replay', () => {
  it('gives the same answers under the same settings, for asked and told hosts', async () => {
    await addStagnantSession(bench);
    await addToldSession();
    for (const session of ['alpha', 'told']) {
      expect(await replay(session, {})).toMatchObject({
        differences: [],
        notReproduced: 0,
      });
    }
    const { out } = await bench.run('replay', 'alpha', '--policy', policyFile({}));
    expect(out).toBe(
      'Session alpha-0001 “Build the parser”: 16 events, 6 decisions. Under the other settings no answer would differ.\n',
    );
  });

  it('shows the event, the time and both answers where they differ, and writes nothing', async () => {
    await addStagnantSession(bench);
    const before = await bench.run('status', '--json');
    const { code, out } = await bench.run(
      'replay',
      'alpha',
      '--policy',
      policyFile({ maxStagnant: 2 }),
    );
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      'Session alpha-0001 “Build the parser”: 16 events, 6 decisions. Under the other settings 1 answer would differ:',
      '  event 14, 2027-01-15 08:00:15, stop-attempted',
      '      was       sent back to work: todos open. Todos are still open: the agent is told to go on (reminder 3 of 3).',
      '      would be  may stop: stagnant. No progress after 2 continuations.',
      'Only the first difference is certain: after it the agent would have done other things.',
      '',
    ]);
    expect(await bench.run('status', '--json')).toEqual(before);
  });

  it('replays what held at the time: each message of the human brings its own policy', async () => {
    let host = await bench.host({
      sessionId: 'alpha-0001',
      settings: { maxStagnant: 1 },
    });
    await host.open();
    await host.says('Work');
    await host.plans('One', 'Two');
    await host.stops();
    await host.stops();
    host = await bench.host({ sessionId: 'alpha-0001', settings: { maxStagnant: 2 } });
    await host.says('go on');
    for (let stop = 0; stop < 3; stop += 1) await host.stops();
    const { differences, notReproduced } = await replay('alpha', { maxStagnant: 2 });
    expect(notReproduced).toBe(0);
    expect(differences).toMatchObject([
      { event: 5, was: { reason: 'stagnant' }, would: { answer: 'continue' } },
    ]);
  });

  it('C2: from observe to enforce, countdowns that were never recorded run out by themselves', async () => {
    await addToldSession({ mode: 'observe' });
    const { differences } = await replay('told', { mode: 'enforce' });
    expect(
      differences.map(({ event, type, was, would }: Record<string, Answered | null>) => [
        event,
        type,
        was?.answer ?? null,
        would?.answer ?? null,
      ]),
    ).toEqual([
      [6, 'stop-attempted', 'continue', 'wait'],
      [6, 'timer-fired', null, 'continue'],
      [10, 'stop-attempted', 'continue', 'wait'],
      [10, 'timer-fired', null, 'continue'],
    ]);
  });

  it('another countdown changes when the agent goes on, not whether', async () => {
    await addToldSession();
    for (const countdownSeconds of [0.5, 5]) {
      expect((await replay('told', { countdownSeconds })).differences).toEqual([]);
    }
  });

  it('a countdown that the human cut short would have ended under a shorter one', async () => {
    const host = await bench.host({ sessionId: 'told-0001', mode: 'told' });
    await host.open();
    await host.says('Clean up');
    await host.plans('Remove dead code');
    await host.stops();
    await bench.clock.advance(1500);
    await host.says('wait, do this first');
    expect((await replay('told', { countdownSeconds: 3 })).differences).toEqual([]);
    expect((await replay('told', { countdownSeconds: 1 })).differences).toMatchObject([
      { event: 4, type: 'timer-fired', was: null, would: { answer: 'continue' } },
    ]);
  });

  it('does not run checks: their recorded results are events', async () => {
    const host = await bench.host({
      sessionId: 'alpha-0001',
      checker: { run: async () => {} },
    });
    await host.open();
    await host.says('Work');
    const items = [{ id: 't1', title: 'Checked', checks: ['unit'] }];
    await host.happens({ type: 'todos-created', actor: 'agent', items });
    await host.works();
    await host.completes('t1');
    await host.stops();
    await host.happens({
      type: 'check-finished',
      todoId: 't1',
      check: 'unit',
      result: 'passed',
      flaky: false,
      tail: null,
      fingerprint: null,
      final: true,
      writes: null,
    });
    const { state: stopped } = await host.stops();
    const stop = stopped.finalRun?.stop ?? '';
    const { state: session } = await host.happens({
      type: 'final-run-ended',
      stop,
      edited: [],
    });
    expect(session.settled?.outcome).toBe('done');
    expect(await replay('alpha', {})).toMatchObject({
      differences: [],
      notReproduced: 0,
    });
  });

  it.each([
    ['{"mode":"loud"}', 'is wrong:\n  mode: must be one of'],
    ['{', 'is not valid JSON: line 1, column 2'],
  ])('refuses the policy %s with its path and exits 2', async (text, sentence) => {
    await addStagnantSession(bench);
    const path = policyFile({});
    writeFileSync(path, text);
    const { code, out, err } = await bench.run('replay', 'alpha', '--policy', path);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`untildone: ${path} ${sentence}`);
    expect((await bench.run('replay', 'alpha', '--policy', 'none.json')).err).toContain(
      'cannot be read (ENOENT)',
    );
    expect((await bench.run('replay', 'alpha', '--policy', '.')).err).toContain(
      'is not a regular file',
    );
  });
});

interface Answered {
  readonly answer: string;
}
