// A check of the project failed before the agent began (P51): the agent is told so and
// how it may stop, and the human is told too.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  always,
  complete,
  pause,
  say,
  whenTold,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { createLibraryStage } from '../support/library-stage.ts';
import { openCommandLine } from './command-line.ts';
import { setPlanStage } from './plan-file-stage.ts';

const done = always(say('I fixed sum.'));
const fixes = writeFile('sum.txt', '4');
/** Also tests something else, which fails from the start. */
const tests =
  'grep -qx 4 sum.txt; test -e other.txt || { echo "not ok 2 - other"; exit 1; }';
const goal = ['Fix sum.', '--check', tests];

describe('P51: a check that failed before the work began', () => {
  it('P51: the agent is told so, and that todo_pause is the way out if mending it is not its task', async () => {
    const leaves = whenTold(
      'failed before the work began too',
      pause('The test of other is not my task.'),
    );
    const stage = await setPlanStage({
      steps: [fixes, say('I fixed sum.'), leaves],
      afterwards: done,
    });
    const { code, ended, events } = await stage.run(goal);
    const texts = events.flatMap((event) =>
      event.type === 'continuation' ? [event.text] : [],
    );
    expect(texts).toHaveLength(1);
    expect(texts[0]).toContain(
      'It failed before the work began too. If mending that is part of your task, fix the cause; if it is not, call todo_pause',
    );
    expect(texts[0]).toContain('| not ok 2 - other');
    expect(texts[0]).not.toContain('of the whole work failed. Fix the cause.');
    expect(code).toBe(7);
    expect(ended).toMatchObject({
      outcome: 'paused',
      sentence: expect.stringMatching(
        /^The agent paused: The test of other is not my task\. The check .* failed before the work began too\.$/u,
      ),
      failedChecks: [{ failedBefore: true }],
    });
  });

  it('P51: the outcome says so, whatever ends the turn', async () => {
    const stage = await setPlanStage({ steps: [fixes], afterwards: done });
    const { code, ended } = await stage.run(goal);
    expect(code).toBe(5);
    expect(ended?.sentence).toMatch(
      /^No progress after one continuation\. The check .* failed before the work began too\.$/u,
    );
  });

  it('P51: a check that passed before, or passes in the end, is not mentioned', async () => {
    const breaks = writeFile('other.txt', 'broken');
    const stage = await setPlanStage({ steps: [breaks], afterwards: done });
    const broke = await stage.run(['Do it.', '--check', 'test ! -e other.txt']);
    expect(broke.ended).toMatchObject({
      outcome: 'stagnant',
      failedChecks: [{ failedBefore: false }],
    });
    const healed = await setPlanStage({
      steps: [writeFile('other.txt', 'x')],
      afterwards: done,
    });
    const passed = await healed.run(goal);
    expect(passed.ended).toMatchObject({ outcome: 'done', failedChecks: [] });
    const said = [broke, passed].flatMap(({ events, ended }) => [
      ended?.sentence ?? '',
      ...events.map((event) => (event.type === 'continuation' ? event.text : '')),
    ]);
    expect(said.join('\n')).not.toContain('before the work began');
  });

  it('P51: the same goes for the check of a todo in a plan file', async () => {
    const files = { 'PLAN.md': `- [ ] Fix sum\n  check: \`${tests}\`\n` };
    const steps = [fixes, complete('Fix sum'), say('I fixed sum.')];
    const stage = await setPlanStage({ steps, afterwards: done, files });
    const { ended, events } = await stage.run(['--plan', 'PLAN.md']);
    const text = events.find((event) => event.type === 'continuation')?.text;
    expect(text).toContain(
      'The check of “Fix sum” failed, so it is open again.\nThe check failed before the work',
    );
    expect(ended?.sentence).toContain('failed before the work began too.');
  });

  it('P51: an agent that a program of the library holds is told so, and the program too', async () => {
    const { open, put } = createLibraryStage();
    const session = await open({ goal: 'Fix sum.', checks: [tests] });
    put('sum.txt', '4\n');
    const first = await session.stop({ text: 'I fixed sum.' });
    expect(first.text).toContain('It failed before the work began too.');
    expect(first.text).toContain('call todo_pause with this as the reason.');
    await session.tools.todo_pause.execute({
      reason: 'The test of other is not my task.',
    });
    const last = await session.stop({ text: 'I stop here.' });
    expect(last).toMatchObject({ outcome: 'paused', text: null });
    expect(last.sentence).toMatch(
      /not my task\. The check .* failed before the work began too\.$/u,
    );
    expect((await session.why())?.failedChecks).toMatchObject([{ failedBefore: true }]);
  });

  it('P51: the summary on the screen, report and why say so', async () => {
    const line = await openCommandLine({ steps: [fixes, always(say('I fixed sum.'))] });
    const check = join(line.project, 'check.sh');
    writeFileSync(check, 'echo "not ok 2 - other"\nexit 1\n');
    const { code, out } = await line.run(
      'run',
      'Fix sum.',
      '--auto',
      '--check',
      'sh check.sh',
    );
    expect(code, out).toBe(5);
    const before = 'The check "sh check.sh" failed before the work began too.';
    expect(out).toContain(`No progress after 3 continuations. ${before}`);
    const report = (await line.run('report')).out;
    expect(report).toContain('failed before the work began too');
    expect(report).toMatch(
      /\*\*failed\*\*: .*; \*\*failed before the work began too\*\*; `not ok 2 - other`/u,
    );
    const why = await line.run('why');
    expect(why.out).toContain(before);
    expect(why.out).toMatch(
      /check .* failed: it exited .* It failed before the work began too\./u,
    );
    const json = JSON.parse((await line.run('why', '--json')).out);
    expect(json.failedChecks).toMatchObject([{ failedBefore: true }]);
    expect(JSON.parse((await line.run('report', '--json')).out).checks).toMatchObject([
      { failedBefore: true },
    ]);
  });
});
