// What a session is taken up with (V1, V2, P40): the checks that the human gave stay, whatever is said or written
// meanwhile, until the human names others.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complete, plan, say, writeFile } from '../../src/scripted-model/index.ts';
import { acceptProject } from '../support/accept-project.ts';
import { checkResults, type PlanStage, runPlan, setPlanStage } from './plan-file-stage.ts';

const finished = say('It is done.');
/** The first run ends after one continuation; the second one begins with a file. */
const secondRun = [finished, finished, writeFile('beta.txt', 'more')];
const work = [plan('Write alpha'), writeFile('alpha.txt', 'bad'), complete('Write alpha'), ...secondRun];
const wants = ['--check', 'grep -q good alpha.txt'];

describe('P36: the checks of a run survive --resume', () => {
  for (const words of [['--resume'], ['go on please', '--resume']]) {
    it(`V1: run ${words.join(' ')} is not done while the check of the first message fails`, async () => {
      const stage = await setPlanStage({ steps: work, afterwards: finished });
      expect((await stage.run(['Write it.', ...wants])).ended?.outcome).toBe('stagnant');
      const second = await stage.run(words);
      expect(second.ended?.outcome).toBe('stagnant');
      expect(checkResults(second).join()).toContain('grep -q good alpha.txt: failed');
    });
  }

  it('V1: --resume --check takes the place of the checks that were given, and the ledger says so', async () => {
    const stage = await setPlanStage({ steps: work, afterwards: finished });
    await stage.run(['Write it.', ...wants]);
    const second = await stage.run(['--resume', '--check', 'grep -q bad alpha.txt']);
    expect(checkResults(second).join()).not.toContain('grep -q good');
    expect(checkResults(second).join()).toContain('grep -q bad alpha.txt: passed');
    expect(second.ended?.failedChecks).toEqual([]);
    const replaced = second.ledger.filter(({ change }) => change === 'checks-edited');
    expect(replaced).toMatchObject([{ actor: 'human' }]);
    expect(replaced[0]?.detail['checks']).toContain('grep -q bad alpha.txt');
    const heard = stage
      .requests()
      .at(-1)
      ?.messages.map(({ text }) => text);
    expect(heard?.join('\n')).toContain('From now on the work is checked by `grep -q bad alpha.txt`.');

    // And that is the session's now.
    expect(checkResults(await stage.run(['--resume'])).join()).not.toContain('grep -q good');
  });

  it('V2: protected paths stay as they were at the first message', async () => {
    const steps = [
      plan('Write alpha'),
      writeFile('kept.txt', 'edited'),
      complete('Write alpha'),
      ...secondRun,
    ];
    const files = { 'kept.txt': 'kept', 'untildone.json': '{"protect":["kept.txt"]}' };
    const stage = await setPlanStage({ steps, afterwards: finished, files });
    acceptProject(stage.state, stage.root);
    await stage.run(['Write it.', '--check', 'true']);
    const second = await stage.run(['go on please', '--resume']);
    expect(checkResults(second).join()).toContain('failed');
    expect(second.ended?.outcome).not.toBe('done');
  });
});

describe('P40: a check that appears in the plan file later', () => {
  const planned = '- [ ] Write alpha\n  check: grep -q good alpha.txt\n';
  const planted = `${planned}- [ ] Write beta\n  check: touch planted.txt\n`;
  const isPlanted = ({ root }: PlanStage) => existsSync(join(root, 'planted.txt'));

  it('P40: is not run by --resume with words and is told', async () => {
    const stage = await setPlanStage({
      steps: [
        writeFile('PLAN.md', planted),
        writeFile('alpha.txt', 'bad'),
        finished,
        finished,
        complete('Write beta'),
      ],
      afterwards: finished,
      files: { 'PLAN.md': planned },
    });
    await stage.run(runPlan);
    const second = await stage.run(['go on please', '--resume']);
    expect(isPlanted(stage)).toBe(false);
    expect(second.err).toContain('they are not run: `$ touch planted.txt`');
    expect(second.todos.map(({ title }) => title)).toEqual(['Write alpha', 'Write beta']);
    expect(second.todos[1]?.checks).toEqual([]);
    await stage.run(['--resume']);
    expect(isPlanted(stage)).toBe(false);
  });
});
