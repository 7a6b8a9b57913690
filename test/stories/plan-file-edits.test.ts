// `run --plan` with an agent that edits the plan file instead of working: ticks are
// claims, checks stay, lines that are gone are dropped. Each stands beside the same edit
// by an agent that did the work.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  complete,
  runCommand,
  type Step,
  say,
  whenContinued,
  writeFile,
} from '../../src/scripted-model/index.ts';
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
  writeBeta,
} from './plan-file-stage.ts';

const files = { 'PLAN.md': document };
/** The agent's own edit of the file. */
const edit = (text: string): Step => writeFile('PLAN.md', text);

describe('an agent that edits the file instead of working', () => {
  it('V1: its tick is a claim of the file: checked, reopened, and emptied again', async () => {
    const stage = await setPlanStage({
      steps: [edit(single.replace('* [ ]', '* [x]'))],
      afterwards: say('The box is ticked.'),
      files: { 'PLAN.md': single },
    });
    const told = await stage.run(runPlan);
    expect(told.ended?.outcome).toBe('stagnant');
    expect(kinds(told)).toEqual(['failed-check']);
    expect(told.todos).toMatchObject([{ status: 'in_progress', verification: 'failed' }]);
    expect(told.ledger.map(({ actor, change }) => `${actor} ${change}`)).toEqual([
      'file created',
      'file completed',
      'system check-failed',
    ]);
    expect(stage.read('PLAN.md')).toBe(single);
  });

  it('V1: the same ticks after the work are as good as any claim', async () => {
    const stage = await setPlanStage({
      steps: [writeAlpha, writeBeta, edit(ticked), say('All boxes are ticked.')],
      files,
    });
    const told = await stage.run(runPlan);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(kinds(told)).toEqual([]);
    expect(stage.read('PLAN.md')).toBe(ticked);
  });

  const unchecked = ['* [x] Write alpha !high', '* [x] Write beta', ''].join('\n');

  it('V2: checks that it takes out of the file, the goal’s too, hold all the same', async () => {
    const stage = await setPlanStage({
      steps: [edit('* [x] Write alpha !high\n')],
      afterwards: say('Everything is done.'),
      files: { 'PLAN.md': single },
    });
    const told = await stage.run(runPlan);
    expect(told.ended?.outcome).toBe('stagnant');
    expect(told.todos).toMatchObject([{ status: 'in_progress', verification: 'failed' }]);
    expect(notices(told)).toContain(
      'the checks of a todo that is in the plan already are not changed by the file',
    );
    expect(stage.read('PLAN.md')).toBe('* [ ] Write alpha !high\n');
  });

  it('V2: with the work done the run is done, by the human’s checks, and the edit is told and on the record', async () => {
    const stage = await setPlanStage({
      steps: [writeAlpha, writeBeta, edit(unchecked), say('Done.')],
      files,
    });
    const told = await stage.run(runPlan);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(checkResults(told)).toContain('$ test -e alpha.txt: passed');
    expect(notices(told)).toContain('PLAN.md was changed since your message');
    expect(told.ledger.map(({ change }) => change)).toContain('checks-edited');
  });

  it('V2: the goal’s check of the front matter fails the run although every box is ticked', async () => {
    const open = '* [x] Look around\n';
    const stage = await setPlanStage({
      steps: [edit(open)],
      afterwards: say('Done.'),
      files: { 'PLAN.md': '---\nchecks: test -e alpha.txt\n---\n* [ ] Look around\n' },
    });
    const told = await stage.run(runPlan);
    expect(told.ended?.outcome).not.toBe('done');
    expect(checkResults(told)).toContain('$ test -e alpha.txt: failed');
  });

  const withoutBeta = [
    '* [ ] Write alpha !high',
    '  check: grep -q good alpha.txt',
    '',
  ].join('\n');

  it('V4: an item that it takes out is named once; left out again it is cancelled unexplained, never done', async () => {
    const stage = await setPlanStage({
      steps: [
        writeAlpha,
        complete('Write alpha'),
        edit(withoutBeta.replace('[ ]', '[x]')),
      ],
      afterwards: say('The plan is finished.'),
      files,
    });
    const told = await stage.run(runPlan);
    expect(kinds(told)).toEqual(['dropped-todos']);
    expect(told).toMatchObject({
      code: 3,
      ended: { outcome: 'claimed', reason: 'nothing-open' },
    });
    expect(told.todos).toMatchObject([
      { title: 'Write alpha', status: 'completed', verification: 'passed' },
      { title: 'Write beta', status: 'cancelled', reason: null },
    ]);
    expect(stage.read('PLAN.md')).toBe(withoutBeta.replace('[ ]', '[x]'));
  });

  it('V4: put back after it was named, without its check, it is the same todo and must still pass', async () => {
    const back = `${withoutBeta}* [x] Write beta\n`;
    const steps = [edit(withoutBeta), say('Finished.'), whenContinued(edit(back))];
    const lazy = await setPlanStage({ steps, afterwards: say('Finished.'), files });
    const idle = await lazy.run(runPlan);
    expect(idle.ended?.outcome).not.toBe('done');
    expect(idle.todos).toMatchObject([
      {},
      { title: 'Write beta', checks: ['$ grep -q good beta.txt'] },
    ]);
    expect(idle.todos[1]?.verification).not.toBe('passed');
    const stage = await setPlanStage({ steps: [...steps, ...honestWork], files });
    const told = await stage.run(runPlan);
    expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(told.todos).toHaveLength(2);
  });

  it('V3: a check that it writes into the file is never run', async () => {
    const planted = `${document}\r\n* [x] Something easy\r\n  check: touch planted.txt\r\n`;
    const stage = await setPlanStage({
      steps: [
        writeAlpha,
        writeBeta,
        edit(planted),
        ...honestWork.slice(1, 2),
        ...honestWork.slice(3),
      ],
      files,
    });
    const told = await stage.run(runPlan);
    expect(existsSync(join(stage.root, 'planted.txt'))).toBe(false);
    expect(notices(told)).toContain('a check that you did not allow was left out');
    expect(told.todos.at(-1)).toMatchObject({ title: 'Something easy', checks: [] });
  });

  it.each<[string, Step]>([
    ['deletes', runCommand('rm PLAN.md')],
    ['empties', edit('')],
    ['breaks', edit('- [x] Write alpha\n  - check:\n')],
    ['makes a pipe of', runCommand('rm PLAN.md; mkfifo PLAN.md')],
    ['makes a folder of', runCommand('rm PLAN.md; mkdir PLAN.md')],
  ])('V1: one that %s the file is not done', async (_word, step) => {
    const stage = await setPlanStage({
      steps: [step],
      afterwards: say('There is nothing left to do.'),
      files,
    });
    const told = await stage.run(runPlan);
    expect(told.ended?.outcome).not.toBe('done');
    expect(told.todos).toHaveLength(2);
    expect(told.todos.every(({ status }) => status !== 'completed')).toBe(true);
  });

  it('V1: a link in the place of the file leads nowhere: nothing outside is read or written', async () => {
    const stage = await setPlanStage({
      steps: [
        writeAlpha,
        complete('Write alpha'),
        runCommand('mv PLAN.md moved.md; ln -s ../theirs.md PLAN.md'),
      ],
      afterwards: say('Done.'),
      files,
    });
    const theirs = join(stage.root, '..', 'theirs.md');
    writeFileSync(theirs, document);
    const told = await stage.run(runPlan);
    expect(told.ended?.outcome).not.toBe('done');
    expect(stage.read('../theirs.md')).toBe(document);
    expect(notices(told)).toContain('is now reached through a link');
  });
});
