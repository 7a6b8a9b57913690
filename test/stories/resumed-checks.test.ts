// What a session is taken up with (V1, V2, P40): the checks that the human gave stay,
// whatever is said or written meanwhile, until the human names others.
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  complete,
  plan,
  say,
  verify,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { acceptProject } from '../support/accept-project.ts';
import {
  checkResults,
  notices,
  type PlanStage,
  runPlan,
  setPlanStage,
} from './plan-file-stage.ts';

const finished = say('It is done.');
/** The first run ends after one continuation; the second one begins with a file. */
const secondRun = [finished, finished, writeFile('beta.txt', 'more')];
const work = [
  plan('Write alpha'),
  writeFile('alpha.txt', 'bad'),
  complete('Write alpha'),
  ...secondRun,
];
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
    expect(heard?.join('\n')).toContain(
      'From now on the work is checked by `grep -q bad alpha.txt`.',
    );

    // And that is the session's now.
    expect(checkResults(await stage.run(['--resume'])).join()).not.toContain(
      'grep -q good',
    );
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

  it('P40, V10: counts, also for a todo that is in the plan, once --plan names the file anew', async () => {
    const unproved = '- [ ] Write alpha\n- [ ] Write beta\n';
    const check = '$ grep -q good alpha.txt';
    const stage = await setPlanStage({
      steps: [
        writeFile('alpha.txt', 'bad'),
        complete('Write alpha'),
        finished,
        finished,
        // The second run, then the third.
        finished,
        // The check that the file brings has its say before the work goes on.
        verify(),
        writeFile('alpha.txt', 'good'),
        complete('Write alpha'),
        complete('Write beta'),
      ],
      afterwards: finished,
      files: { 'PLAN.md': unproved },
    });
    expect((await stage.run(runPlan)).code).toBe(5);
    stage.write(
      'PLAN.md',
      `- [x] Write alpha\n  check: ${check.slice(2)}\n- [ ] Write beta\n`,
    );
    const kept = await stage.run(['--resume']);
    expect(kept.todos.map(({ checks }) => checks)).toEqual([[], []]);
    expect(kept.err).toContain(`they are not run: \`${check}\``);
    expect(checkResults(kept)).toEqual([]);

    const second = await stage.run(['--resume', ...runPlan]);
    expect(checkResults(second)[0]).toBe(`${check}: failed`);
    expect(checkResults(second).at(-1)).toBe(`${check}: passed`);
    const proved = {
      title: 'Write alpha',
      status: 'completed',
      verification: 'passed',
      checks: [check],
    };
    expect(second.todos).toMatchObject([
      proved,
      { title: 'Write beta', status: 'completed' },
    ]);
    expect(second.ended?.leftOver).toEqual([]);
    expect(second.ended?.outcome).toBe('claimed');
    expect(stage.read('PLAN.md')).toContain('- [x] Write alpha');
    // The next resume has it from the record, and one with the file finds nothing new in
    // it.
    for (const words of [['--resume'], ['--resume', ...runPlan]])
      expect(
        (await stage.run(words)).todos.map(({ title, checks }) => [title, checks]),
      ).toEqual([
        ['Write alpha', [check]],
        ['Write beta', []],
      ]);
  });

  it('P40, V10: a line that the named file has lost is lost, and told', async () => {
    const stage = await setPlanStage({
      steps: [finished, finished],
      afterwards: finished,
      files: { 'PLAN.md': planned },
    });
    await stage.run(runPlan);
    stage.write('PLAN.md', '- [ ] Write alpha\n');
    const kept = await stage.run(['--resume']);
    expect(kept.todos).toMatchObject([{ checks: ['$ grep -q good alpha.txt'] }]);
    expect(notices(kept)).toContain('unless `--plan` or `plan import` names it again');
    const named = await stage.run(['--resume', ...runPlan]);
    expect(named.todos).toMatchObject([{ title: 'Write alpha', checks: [] }]);
    expect(notices(named)).toContain(
      'line 1: no longer checked by $ grep -q good alpha.txt',
    );
  });
});

describe('--resume from another folder', () => {
  const steps = [
    writeFile('alpha.txt', 'bad'),
    finished,
    finished,
    writeFile('alpha.txt', 'good'),
  ];
  const begin = async () => {
    const stage = await setPlanStage({ steps, afterwards: finished });
    const first = await stage.run(['Write it.', ...wants]);
    expect(first.ended?.outcome).toBe('stagnant');
    const other = join(stage.root, '..', 'other');
    mkdirSync(join(other, '.git'), { recursive: true });
    return { stage, other, id: first.ended?.sessionId ?? '' };
  };

  it('V2: works, checks and is configured in the folder of the session, and says so', async () => {
    const { stage, other, id } = await begin();
    // What would pass, or stand in the way, in the other folder.
    writeFileSync(join(other, 'alpha.txt'), 'good');
    writeFileSync(join(other, 'untildone.json'), '{broken');
    const before = readdirSync(other);
    const { code, err, events } = await stage.run(
      ['--resume', id.slice(0, 13)],
      undefined,
      other,
    );
    expect(err).toContain(`goes on in its own folder: ${stage.root}`);
    expect(events[0]).toMatchObject({ type: 'run-started', directory: stage.root });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'check-ended', result: 'passed' }),
    );
    expect(stage.read('alpha.txt')).toBe('good');
    expect(readdirSync(other)).toEqual(before);
    expect(code).toBe(0);
  });

  it('V2: from a folder below it names a plan file from where the human stands', async () => {
    const { stage } = await begin();
    stage.write('PLAN.md', '- [ ] Write beta\n');
    mkdirSync(join(stage.root, 'below'));
    const { events, todos } = await stage.run(
      ['--resume', ...runPlan.slice(0, 1), '../PLAN.md'],
      undefined,
      join(stage.root, 'below'),
    );
    expect(events[0]).toMatchObject({ type: 'run-started', directory: stage.root });
    expect(todos.map(({ title }) => title)).toEqual(['Write beta']);
  });

  it('V2: a folder that is gone is told, with what carries the plan elsewhere', async () => {
    const { stage, other, id } = await begin();
    renameSync(stage.root, `${stage.root}-moved`);
    const { code, err, events } = await stage.run(['--resume', id], undefined, other);
    expect(code).toBe(2);
    expect(err).toContain(`works in ${stage.root}, which cannot be opened (ENOENT)`);
    expect(err).toContain(`untildone plan move ${id.slice(-6)} PLAN.md`);
    expect(events).toEqual([]);
  });
});
