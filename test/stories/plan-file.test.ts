// `run --plan`: the agent works through a human's Markdown file. The file follows the
// work, and the human may edit it at any time. What an agent gains by editing it
// (nothing) is in plan-file-edits.test.ts.
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { complete, fail, say, writeFile } from '../../src/scripted-model/index.ts';
import {
  checkResults,
  document,
  honestWork,
  kinds,
  notices,
  runPlan,
  setPlanStage,
  single,
  ticked,
  writeAlpha,
} from './plan-file-stage.ts';

const files = { 'PLAN.md': document };

/** Does it once, when the step of this number begins. */
function atStep(step: number, act: () => void): (event: AgentEvent) => void {
  return (event) => {
    if (event.type === 'step-started' && event.step === step) act();
  };
}

describe('an honest agent', () => {
  it('V1: works through the file to done; each box is ticked in its step, and no other byte is touched', async () => {
    const stage = await setPlanStage({ steps: honestWork, files });
    const boxes: string[] = [];
    const told = await stage.run(runPlan, (event) => {
      if (event.type === 'step-started')
        boxes.push(
          stage
            .read('PLAN.md')
            .match(/^\* \[.\]/gm)
            ?.join('') ?? '',
        );
    });
    expect(told).toMatchObject({ code: 0, err: '', ended: { outcome: 'done' } });
    expect(stage.read('PLAN.md')).toBe(ticked);
    expect([...new Set(boxes)]).toEqual(['* [ ]* [ ]', '* [x]* [ ]', '* [x]* [x]']);
    expect(
      told.ledger.filter(({ change }) => change === 'created').map(({ actor }) => actor),
    ).toEqual(['file', 'file']);
    // Our own ticks are no edit and make nothing stale: what was checked last is not
    // checked again.
    expect(
      checkResults(told).filter((line) => line.endsWith('beta.txt: passed')),
    ).toHaveLength(1);
    expect(notices(told)).not.toContain('was changed');
    expect(told.events[0]).toMatchObject({ goal: 'Work through the plan in PLAN.md.' });
    expect(readdirSync(stage.root).sort()).toEqual([
      '.git',
      'PLAN.md',
      'alpha.txt',
      'beta.txt',
    ]);
  });

  it('V1: a goal is said beside the file', async () => {
    const stage = await setPlanStage({ steps: [], afterwards: say('Well.'), files });
    const told = await stage.run(['Write in English.', ...runPlan]);
    const goal = 'Write in English.\n\nWork through the plan in PLAN.md.';
    expect(told.events[0]).toMatchObject({ goal });
    expect(JSON.stringify(stage.requests()[0]?.messages)).toContain(
      JSON.stringify(goal).slice(1, -1),
    );
  });

  it('V1: one that only says so finds its box empty, the failure quoted, and the run not done', async () => {
    const stage = await setPlanStage({
      steps: [complete('Write alpha')],
      afterwards: say('It is written.'),
      files: { 'PLAN.md': single },
    });
    const told = await stage.run(runPlan);
    expect(told.ended?.outcome).toBe('stagnant');
    expect(kinds(told)).toEqual(['failed-check']);
    expect(told.todos).toMatchObject([{ status: 'in_progress', verification: 'failed' }]);
    expect(stage.read('PLAN.md')).toBe(single);
  });

  it('V1: what was completed before a failure is ticked when the run ends', async () => {
    const stage = await setPlanStage({
      steps: [writeAlpha, complete('Write alpha'), fail(401, { times: 9 })],
      files,
    });
    const told = await stage.run(runPlan);
    expect(told).toMatchObject({ code: 1, ended: { outcome: 'failed' } });
    expect(stage.read('PLAN.md')).toBe(
      document.replace('* [ ] Write alpha', '* [x] Write alpha'),
    );
  });

  it('C3: so it is after Ctrl-C, and --resume goes on with the file', async () => {
    // The runner of the checks is then a process, as people have it: it outlives the run
    // and leaves no lease behind.
    const [, started = ''] = process.argv;
    process.argv[1] = fileURLToPath(new URL('../../src/cli/bin.ts', import.meta.url));
    onTestFinished(() => {
      process.argv[1] = started;
    });
    const stage = await setPlanStage({ steps: honestWork, files });
    const interrupt = (event: AgentEvent): void => {
      if (event.type === 'tool-started' && event.tool === 'complete_todo')
        process.emit('SIGINT');
    };
    const first = await stage.run(runPlan, interrupt);
    expect(first).toMatchObject({ code: 130, ended: { outcome: 'aborted' } });
    const half = document.replace('* [ ] Write alpha', '* [x] Write alpha');
    expect(stage.read('PLAN.md')).toBe(half);
    stage.write('PLAN.md', half.replace('The end', '* [ ] Write gamma\r\n\r\nThe end'));
    const second = await stage.run(['--resume']);
    expect(second.ended?.todos).toMatchObject([
      { title: 'Write alpha', status: 'completed', verification: 'passed' },
      { title: 'Write beta', status: 'completed', verification: 'passed' },
      { title: 'Write gamma', status: 'pending' },
    ]);
    expect(stage.read('PLAN.md')).toContain('* [ ] Write gamma');
    expect(stage.read('PLAN.md')).toContain('* [x] Write beta');
  });

  it('C3: read-only changes no byte of the file, although a todo is completed', async () => {
    const stage = await setPlanStage({
      steps: [complete('Write alpha'), say('It is there.')],
      files: { 'PLAN.md': document, 'alpha.txt': 'good' },
      mode: 'read-only',
    });
    expect((await stage.run(runPlan)).todos[0]).toMatchObject({
      title: 'Write alpha',
      status: 'completed',
    });
    expect(stage.read('PLAN.md')).toBe(document);
  });
});

describe('a human who edits the file meanwhile', () => {
  it('V1: keeps every byte; a new line is a todo, and the agent is not done before it', async () => {
    const edited = document.replace(
      'The end',
      '* [ ] Write gamma\r\n  Words about it.\r\n\r\nThe new end',
    );
    const stage = await setPlanStage({
      steps: [
        ...honestWork,
        writeFile('gamma.txt', 'good'),
        complete('Write gamma'),
        say('All three are written.'),
      ],
      files,
    });
    const told = await stage.run(
      runPlan,
      atStep(3, () => stage.write('PLAN.md', edited)),
    );
    expect(kinds(told)).toEqual(['standard']);
    // Covered by the goal's check, since it has none of its own.
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(stage.read('PLAN.md')).toBe(edited.replaceAll('* [ ]', '* [x]'));
  });

  it('V1: takes a line out, and the agent goes on without it, honestly', async () => {
    const edited = document.replace(/\* \[ \] Write beta\r\n.*\r\n/, '');
    const stage = await setPlanStage({
      steps: [
        writeAlpha,
        complete('Write alpha'),
        say('Written.'),
        say('Nothing else is asked for.'),
      ],
      files,
    });
    const told = await stage.run(
      runPlan,
      atStep(2, () => stage.write('PLAN.md', edited)),
    );
    expect(kinds(told)).toEqual(['dropped-todos']);
    expect(told.ended?.outcome).toBe('claimed');
    expect(stage.read('PLAN.md')).toBe(edited.replace('* [ ]', '* [x]'));
  });

  it('V2, P40: changes a check: it counts once the file is named anew', async () => {
    const stricter = document.replace(
      'grep -q good alpha.txt',
      'grep -q better alpha.txt',
    );
    const stage = await setPlanStage({
      steps: honestWork,
      afterwards: say('Finished.'),
      files,
    });
    const first = await stage.run(
      runPlan,
      atStep(2, () => stage.write('PLAN.md', stricter)),
    );
    expect(first.ended?.outcome).toBe('done');
    const words = await stage.run(['Once more.', '--resume']);
    expect(checkResults(words).join()).not.toContain('better');
    const second = await stage.run(['--resume', ...runPlan]);
    expect(second.ended?.outcome).not.toBe('done');
    expect(checkResults(second)).toContain('$ grep -q better alpha.txt: failed');
    expect(stage.read('PLAN.md')).toBe(
      stricter.replace('* [ ] Write beta', '* [x] Write beta'),
    );
    expect(second.todos.map(({ checks }) => checks)).toEqual([
      ['$ grep -q better alpha.txt'],
      ['$ grep -q good beta.txt'],
    ]);
  });
});

describe('going on', () => {
  it('V2: --resume without a word keeps the checks of the last message, whatever the file says now', async () => {
    const stage = await setPlanStage({
      steps: [],
      afterwards: say('It is all done.'),
      files: { 'PLAN.md': single },
    });
    expect((await stage.run(runPlan)).ended?.outcome).toBe('stagnant');
    const planted = '* [ ] Write gamma\n  check: touch planted.txt\n';
    stage.write('PLAN.md', `* [x] Write alpha !high\n${planted}`);
    const second = await stage.run(['--resume']);
    expect(second.ended?.outcome).toBe('stagnant');
    expect(second.todos).toMatchObject([
      { title: 'Write alpha', checks: ['$ grep -q good alpha.txt'] },
      { title: 'Write gamma', checks: [] },
    ]);
    expect(second.todos[0]?.verification).not.toBe('passed');
    expect(notices(second)).toContain('a check that you did not allow was left out');
  });

  it('V2: a new message wants the file: without it the checks of the human would be lost', async () => {
    const stage = await setPlanStage({ steps: honestWork, files });
    await stage.run(runPlan);
    const before = stage.requests().length;
    renameSync(join(stage.root, 'PLAN.md'), join(stage.root, 'OTHER.md'));
    const second = await stage.run(['Go on.', '--resume']);
    expect(second).toMatchObject({ code: 2, ended: null });
    expect(second.err).toMatch(/The plan file .*PLAN\.md cannot be found \(ENOENT\)/);
    expect(stage.requests()).toHaveLength(before);
  });
});
