// What `run` calls done (V1): the checks that the human gave are always due, and how they
// stood before the first model call is known. Real checks, a real store, the scripted
// model.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as model from '../../src/scripted-model/index.ts';
import {
  complete,
  plan,
  runCommand,
  type Step,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { checkResults, type PlanRun, setPlanStage } from './plan-file-stage.ts';

const talk = say('I fixed it.');
const inThreeSeconds = (step: Step) => model.after(3000, step);
/**
 * A check that is slow before the work alone: what comes later need not be waited for.
 */
const slowOnce = (slow: string, then: string) =>
  `test -e ../began || { touch ../began; ${slow}; }; ${then}`;

/** How each check stood before the first model call: "name: result". */
function stoodBefore({ events }: PlanRun): readonly string[] {
  return events.flatMap((event) =>
    event.type === 'baseline' ? [`${event.check}: ${event.result}`] : [],
  );
}

function isBeforeFirstStep({ events }: PlanRun): boolean {
  const last = events.findLastIndex(({ type }) => type === 'baseline');
  return last >= 0 && last < events.findIndex(({ type }) => type === 'step-started');
}

describe('P35: an agent that only talks', () => {
  it('P35: is held by a check that fails, and never exits with 0', async () => {
    const stage = await setPlanStage({ steps: [], afterwards: talk });
    const told = await stage.run(['Fix it.', '--check', 'false']);
    expect(told).toMatchObject({ code: 5, ended: { outcome: 'stagnant' } });
    expect(stoodBefore(told).join()).toMatch(/false: failed/);
    expect(isBeforeFirstStep(told)).toBe(true);
    expect(checkResults(told).join()).toMatch(/false: failed/);
    for (const words of [['--resume'], ['go on', '--resume']])
      expect(await stage.run(words)).toMatchObject({ code: 5 });
  });

  it('P46: is claimed where the check passed before and nothing changed', async () => {
    const stage = await setPlanStage({ steps: [], afterwards: talk });
    const told = await stage.run(['Fix it.', '--check', 'true']);
    expect(told).toMatchObject({
      code: 3,
      ended: { outcome: 'claimed', reason: 'no-change' },
    });
    expect(stoodBefore(told).join()).toMatch(/true: passed/);
    expect(await stage.run(['--resume', '--accept-claims'])).toMatchObject({ code: 0 });
  });

  it('P46: a file that the check itself writes is no change', async () => {
    const stage = await setPlanStage({ steps: [], afterwards: talk });
    const told = await stage.run(['Fix it.', '--check', 'echo seen > seen.txt']);
    expect(told).toMatchObject({ code: 3, ended: { reason: 'no-change' } });
  });

  it('V1: without a check it just answered: claimed, and how to get to done is said', async () => {
    const stage = await setPlanStage({ steps: [], afterwards: talk });
    const told = await stage.run(['Fix it.']);
    expect(told).toMatchObject({
      code: 3,
      ended: { outcome: 'claimed', reason: 'no-plan' },
    });
    expect(told.ended?.sentence).toContain('nothing to verify');
  });

  it('V1: work without a plan is done when a check that failed before passes now', async () => {
    const stage = await setPlanStage({
      steps: [writeFile('a.txt', 'good')],
      afterwards: talk,
    });
    const told = await stage.run(['Write it.', '--check', 'grep -q good a.txt']);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
  });
});

describe('P44: a check that cannot start', () => {
  const wants = ['--check', './verify.sh'];

  it('P44: is a warning before the first model call, and blocked if it still cannot start at the end', async () => {
    const stage = await setPlanStage({
      steps: [writeFile('a.txt', 'a')],
      afterwards: talk,
    });
    const told = await stage.run(['Do it.', ...wants]);
    expect(stoodBefore(told).join()).toMatch(/verify.sh: cannot-start/);
    expect(isBeforeFirstStep(told)).toBe(true);
    expect(told).toMatchObject({
      code: 4,
      ended: { outcome: 'blocked', reason: 'check-cannot-start' },
    });
  });

  it('P44: an agent that writes it is done', async () => {
    const steps = [runCommand('printf "#!/bin/sh\\n" > verify.sh; chmod +x verify.sh')];
    const stage = await setPlanStage({ steps, afterwards: talk });
    expect(await stage.run(['Do it.', ...wants])).toMatchObject({
      code: 0,
      ended: { outcome: 'done' },
    });
  });
});

describe('V1: the baseline of a session', () => {
  it('V1: is taken once; a resumed run looks only at checks that are new', async () => {
    const stage = await setPlanStage({
      steps: [writeFile('a.txt', 'a')],
      afterwards: talk,
    });
    await stage.run(['Do it.', '--check', 'test -e b.txt']);
    mkdirSync(join(stage.root, 'b.txt'));
    const second = await stage.run(['--resume']);
    expect(stoodBefore(second)).toEqual([]);
    expect(second).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    const third = await stage.run(['--resume', '--check', 'test -e c.txt']);
    expect(stoodBefore(third).join()).toMatch(/test -e c.txt: failed/);
    expect(third).toMatchObject({ code: 5 });
  });

  it('V1: a check that takes longer than baselineSeconds holds nobody up', async () => {
    const steps = [writeFile('a.txt', 'a')];
    const stage = await setPlanStage({ steps, afterwards: talk });
    const told = await stage.run([
      'Do it.',
      '--baseline-seconds=1',
      '--check',
      slowOnce('sleep 2', 'test -e a.txt'),
    ]);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(stoodBefore(told), 'nobody knows how it stood before the work').toEqual([]);
  });

  it('V1: it is told while the agent thinks; nothing can have written by then', async () => {
    const stage = await setPlanStage({
      steps: [inThreeSeconds(writeFile('a.txt', 'a'))],
      afterwards: talk,
    });
    const told = await stage.run([
      'Do it.',
      '--baseline-seconds=1',
      '--check',
      slowOnce('sleep 2', 'test -e a.txt'),
    ]);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(stoodBefore(told).join()).toMatch(/test -e a.txt: failed/);
    const at = (type: string) => told.events.findIndex((event) => event.type === type);
    expect(at('step-started')).toBeLessThan(at('baseline'));
    expect(at('baseline')).toBeLessThan(at('tool-started'));
  });

  it('V1: what such a check writes is no work', async () => {
    const check = [
      '--baseline-seconds=1',
      '--check',
      slowOnce('sleep 2', 'echo x > seen.txt'),
    ];
    const stage = await setPlanStage({
      steps: [runCommand('sleep 4')],
      afterwards: talk,
    });
    const told = await stage.run(['Do it.', ...check]);
    expect(told).toMatchObject({ code: 3, ended: { reason: 'no-change' } });
    const early = await setPlanStage({
      steps: [inThreeSeconds(runCommand('true'))],
      afterwards: talk,
    });
    const seen = await early.run(['Do it.', ...check]);
    expect(stoodBefore(seen).join()).toMatch(/: passed/);
    expect(seen).toMatchObject({ code: 3, ended: { reason: 'no-change' } });
  });

  it('V1: checks behind it are not begun: they would see work that is half done', async () => {
    const steps = [runCommand('touch half.txt; sleep 3; rm half.txt')];
    const stage = await setPlanStage({ steps, afterwards: talk });
    const checks = [
      '--check',
      slowOnce('sleep 2', 'true'),
      '--check',
      'test ! -e half.txt',
    ];
    const told = await stage.run(['Do it.', '--baseline-seconds=1', ...checks]);
    expect(stoodBefore(told)).toEqual([]);
    expect(told).toMatchObject({ code: 3, ended: { reason: 'no-change' } });
  });

  const slow = slowOnce('sleep 3 & wait', 'rmdir lock');
  const locked = `mkdir lock || exit 1; trap "rmdir lock; exit 1" TERM; ${slow}; test -e a.txt`;

  it('V1: it is over before the final run, which may need the same lock', async () => {
    const stage = await setPlanStage({
      steps: [writeFile('a.txt', 'a')],
      afterwards: talk,
    });
    const told = await stage.run(['Do it.', '--baseline-seconds=1', '--check', locked]);
    expect(checkResults(told)).toEqual([expect.stringMatching(/: passed$/)]);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
  });

  it('V1: and before the check of a claim', async () => {
    const files = { 'a.txt': 'a', 'PLAN.md': `- [ ] Write a\n  check: \`${locked}\`\n` };
    const stage = await setPlanStage({
      steps: [complete('Write a')],
      afterwards: talk,
      files,
    });
    const told = await stage.run(['--plan', 'PLAN.md', '--baseline-seconds=1']);
    expect(checkResults(told).join()).not.toMatch(/failed/);
    expect(told).toMatchObject({ code: 3, ended: { reason: 'no-change' } });
  });
});

describe('P36: words at a resume', () => {
  it('P36: join the plan: its open todos stay held', async () => {
    const steps = [
      plan('Write a', 'Write b'),
      writeFile('a.txt', 'a'),
      complete('Write a'),
    ];
    const stage = await setPlanStage({ steps, afterwards: talk });
    expect(await stage.run(['Write them.', '--check', 'true'])).toMatchObject({
      code: 5,
    });
    const second = await stage.run(['go on', '--resume']);
    expect(second).toMatchObject({ code: 5, ended: { leftOver: [] } });
    expect(second.ended?.todos.map(({ status }) => status)).toEqual([
      'completed',
      expect.any(String),
    ]);
  });

  it('P36: do not double the todos of a plan file', async () => {
    const files = { 'PLAN.md': '- [ ] Write a\n- [ ] Write b\n' };
    const stage = await setPlanStage({
      steps: [writeFile('a.txt', 'a'), complete('Write a')],
      afterwards: talk,
      files,
    });
    await stage.run(['--plan', 'PLAN.md', '--check', 'true']);
    const second = await stage.run(['go on please', '--resume']);
    expect(second.ended).toMatchObject({ outcome: 'stagnant', leftOver: [] });
    expect(second.ended?.todos.map(({ title }) => title)).toEqual(['Write a', 'Write b']);
  });
});

describe('the agent’s commands', () => {
  it('V1: a command that failed is shown as failed, and is a result to the model', async () => {
    const steps = [runCommand('echo no; exit 3'), runCommand('true')];
    const stage = await setPlanStage({ steps, afterwards: talk });
    const told = await stage.run(['Do it.']);
    const ended = told.events.flatMap((event) =>
      event.type === 'tool-ended' ? [event] : [],
    );
    expect(ended.map(({ ok }) => ok)).toEqual([false, true]);
    expect(ended[0]?.output).toContain('Exit code 3.');
  });
});
