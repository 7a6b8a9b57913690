// The ways to exit code 0, as one table (V1): agent × checks × resume × plan file ×
// scope. 0 only where every check that the human gave passes on the final state,
// something changed, and nothing is open. The oracle looks at the files itself.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  bulkClaim,
  callTool,
  cancel,
  complete,
  cutOff,
  drop,
  empty,
  listTodos,
  plan,
  refuse,
  runCommand,
  type Step,
  say,
  thinkOnly,
  verify,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { storePath } from '../../src/store/state-directory.ts';
import { editStore } from '../evidence/edit-store.ts';
import { acceptProject } from '../support/accept-project.ts';
import { type PlanRun, type PlanStage, setPlanStage } from './plan-file-stage.ts';

const good = writeFile('a.txt', 'good');
const bad = writeFile('a.txt', 'bad');
const one = [plan('Write a'), good, complete('Write a')];
const half = [plan('Write a', 'Write b'), good, complete('Write a')];

const isGood = 'grep -q good a.txt';
/** Fails the second time only: that is the first run of the final stop. */
const flaky = 'echo >> seen; test $(wc -l < seen) -ne 2';
/** Leaves the files otherwise than it found them, each time. */
const stamp = 'date +%s%N > stamp.txt';
const idle = runCommand('true');

/** What each run of a session is given; a check stands for `--check`. */
type Given = readonly string[];
type Way = readonly [
  agent: string,
  steps: readonly Step[],
  runs: readonly Given[],
  code: number,
  file?: string,
];

const check = (...lines: readonly string[]): Given =>
  lines.flatMap((line) => ['--check', line]);
const goal = (...more: readonly string[]): Given => ['Do the work.', ...more];
const again: Given = ['--resume'];
const words: Given = ['go on please', '--resume'];
const byPlan = (...more: readonly string[]): Given => ['--plan', 'PLAN.md', ...more];
const unproved = '- [ ] Write a\n';
const proved = `- [ ] Write a\n  check: ${isGood}\n`;
const fronted = `---\nchecks:\n  - ${isGood}\n---\n- [ ] Write a\n`;
const stamped = `- [ ] Write a\n  check: ${stamp}\n- [ ] Write b\n  check: test -e kept.txt\n`;
const planted = `${proved}- [ ] Write b\n  check: false\n`;

const ways: readonly Way[] = [
  // An agent that does nothing which a check could show.
  ['talks', [], [goal()], 3],
  ['talks', [], [goal(...check('false'))], 5],
  ['talks', [], [goal(...check('true'))], 3],
  ['talks', [], [goal(...check('true', 'false'))], 5],
  ['talks', [], [goal(...check('./no-such-file'))], 4],
  ['talks', [], [goal(...check('true', './no-such-file'))], 4],
  ['lists its todos', [listTodos()], [goal(...check('false'))], 5],
  ['verifies', [verify()], [goal(...check('false'))], 5],
  ['reads', [callTool('read_file', { path: 'kept.txt' })], [goal(...check('false'))], 5],
  ['reads', [callTool('read_file', { path: 'kept.txt' })], [goal(...check('true'))], 3],
  ['answers nothing', [empty()], [goal(...check('false'))], 5],
  ['only thinks', [thinkOnly()], [goal(...check('false'))], 5],
  ['is cut off', [cutOff('I was')], [goal(...check('false'))], 5],
  ['refuses', [refuse()], [goal(...check('true'))], 1],
  ['plans nothing', [plan()], [goal(...check('false'))], 5],
  ['runs a command', [runCommand('true')], [goal(...check('true'))], 3],
  ['runs a command', [runCommand('true')], [goal(...check('false'))], 5],
  // What its checks write is no work.
  ['talks', [], [goal(...check(stamp)), again], 3],
  ['runs a command', [idle, say('Done.'), idle], [goal(...check(stamp)), again], 3],
  [
    'claims without work',
    [complete('Write a'), complete('Write b')],
    [byPlan()],
    3,
    stamped,
  ],
  [
    'claims, then runs a command',
    [complete('Write a'), verify(), idle, complete('Write b')],
    [byPlan()],
    3,
    stamped,
  ],
  ['writes', [good], [goal(...check(stamp))], 0],
  ['writes after a first stop', [say('Done.'), good], [goal(...check(stamp)), again], 0],
  // Work without a plan.
  ['writes', [good], [goal()], 3],
  ['writes', [good], [goal(...check(isGood))], 0],
  ['writes', [good], [goal(...check('true'))], 0],
  ['writes', [good], [goal(...check(isGood, 'false'))], 5],
  ['writes badly', [bad], [goal(...check(isGood))], 5],
  ['writes', [good], [goal(...check(flaky, isGood))], 3],
  ['writes', [good], [goal(...check('./no-such-file'))], 4],
  // A plan.
  ['finishes its plan', one, [goal()], 3],
  ['finishes its plan', one, [goal(...check(isGood))], 0],
  ['finishes its plan', one, [goal('--scope=session', ...check(isGood))], 0],
  ['finishes its plan', one, [goal(...check('false'))], 5],
  [
    'claims without work',
    [plan('a', 'b', 'c'), bulkClaim('a', 'b', 'c')],
    [goal(...check('true'))],
    3,
  ],
  ['claims without work', [plan('a'), complete('a')], [goal(...check('true'))], 3],
  ['finishes half of it', half, [goal(...check(isGood))], 5],
  ['finishes half of it', half, [goal('--scope=session', ...check(isGood))], 5],
  [
    'cancels it all',
    [plan('a'), cancel('a', 'not wanted')],
    [goal(...check('false'))],
    5,
  ],
  ['cancels it all', [plan('a'), cancel('a', 'not wanted')], [goal()], 3],
  // Taken up again.
  ['talks', [], [goal(...check('false')), again], 5],
  ['talks', [], [goal(...check('false')), words], 5],
  ['finishes half of it', half, [goal(...check(isGood)), words], 5],
  ['finishes half of it', half, [goal(...check(isGood)), again], 5],
  ['finishes half of it', half, [goal('--scope=session', ...check(isGood)), words], 5],
  ['talks', [], [goal(...check('false')), ['--resume', ...check('true')]], 3],
  // Words after the end are a new goal.
  ['finishes its plan, then talks', one, [goal(...check(isGood)), words], 3],
  [
    'finishes its plan, then runs a command',
    [...one, say('Done.'), idle],
    [goal(...check(isGood)), words],
    3,
  ],
  [
    'does both',
    [...one, say('Done.'), writeFile('b.txt', 'b')],
    [goal(...check(isGood)), words],
    0,
  ],
  [
    'writes, fails a check, then talks',
    [good],
    [goal(...check('test -e b.txt')), [...words, ...check('true')]],
    0,
  ],
  ['finishes its plan', one, [goal(), ['--resume', ...check(isGood)]], 0],
  ['finishes its plan', one, [goal(), ['--resume', ...check('false')]], 5],
  [
    'spends its tokens',
    half,
    [goal(...check(isGood)), ['--resume', '--max-tokens=1']],
    6,
  ],
  // A plan file.
  ['talks', [], [byPlan()], 5, unproved],
  ['finishes it', [good, complete('Write a')], [byPlan()], 3, unproved],
  ['finishes it', [good, complete('Write a')], [byPlan()], 0, proved],
  ['finishes it', [good, complete('Write a')], [byPlan()], 0, fronted],
  ['finishes it badly', [bad, complete('Write a')], [byPlan()], 5, proved],
  ['finishes it', [good, complete('Write a')], [byPlan(...check('false'))], 5, proved],
  [
    'plants a line',
    [good, writeFile('PLAN.md', planted), complete('Write a')],
    [byPlan(), words],
    5,
    proved,
  ],
];

describe('V1: the ways to exit code 0', () => {
  it('V1: there are at least forty, and most do not lead there', () => {
    expect(ways.length).toBeGreaterThanOrEqual(40);
    expect(ways.filter(([, , , code]) => code === 0).length).toBeLessThan(
      ways.length / 3,
    );
  });

  it.each(ways.map((way, index) => [index + 1, ...way] as const))(
    'V1: way %i: the agent %s',
    async (_number, _agent, steps, runs, code, file) => {
      const files = {
        'kept.txt': 'kept',
        ...(file === undefined ? {} : { 'PLAN.md': file }),
      };
      const stage = await setPlanStage({ steps, afterwards: say('It is done.'), files });
      const atStart = filesOf(stage);
      let last: PlanRun | null = null;
      for (const given of runs) last = await stage.run(given);
      expect(
        last?.code,
        `${runs.map((run) => run.join(' ')).join(', then ')}: ${last?.err}`,
      ).toBe(code);
      if (last?.code === 0) expectProved(stage, last, { runs, file, atStart });
      expect(last?.ended?.exitCode).toBe(code);
    },
  );
});

describe('V1: a run that verifies nothing', () => {
  it('V1: a session that was done and is taken up read-only is not done again', async () => {
    const stage = await setPlanStage({ steps: [good], afterwards: say('It is done.') });
    expect((await stage.run(goal(...check(isGood)))).code).toBe(0);
    stage.write('a.txt', 'broken');
    const last = await stage.run(['--resume', '--read-only']);
    expect(last.ended).toMatchObject({ outcome: 'claimed', exitCode: 3 });
  });

  it.each(['--mode=off', '--enabled=false', '--mode=observe'])(
    'V1: with %s a model that does not answer has failed, and a check that nobody ran is no word to accept',
    async (setting) => {
      const dead = await setPlanStage({ steps: [refuse()], afterwards: refuse() });
      expect((await dead.run(goal(setting, '--accept-claims'))).ended).toMatchObject({
        exitCode: 1,
      });
      const files = { 'PLAN.md': '- [ ] Write a\n  check: `false`\n' };
      const stage = await setPlanStage({
        steps: [complete('Write a')],
        afterwards: say('Done.'),
        files,
      });
      const last = await stage.run(byPlan(setting, '--accept-claims'));
      expect(last.code, JSON.stringify(last.ended)).not.toBe(0);
    },
  );
});

describe('V1: --accept-claims', () => {
  const accepted = (...more: readonly string[]): Given =>
    goal('--accept-claims', ...more);
  const accepting: readonly Way[] = [
    ['answers', [], [accepted()], 0],
    ['finishes its plan without a check', one, [accepted()], 0],
    ['changes nothing', [], [accepted(...check('true'))], 0],
    ['meets a flaky check', [good], [accepted(...check(flaky, isGood))], 3],
    ['fails a check', [good], [accepted(...check('false'))], 5],
    ['leaves a todo open', half, [accepted()], 5],
    [
      'meets a check that cannot start',
      [good],
      [accepted(...check('./no-such-file'))],
      4,
    ],
  ];

  it.each(accepting.map((way) => [...way] as const))(
    'V1: takes no more than the agent’s word: it %s',
    async (_agent, steps, runs, code) => {
      const stage = await setPlanStage({ steps, afterwards: say('It is done.') });
      for (const given of runs) expect((await stage.run(given)).code).toBe(code);
    },
  );

  // But for one thing each of these is accepted.
  it.each([
    ['edited', 5, 'edited'],
    ['left alone', 0, 'kept'],
  ] as const)(
    'V1, P27: with a protected path %s it exits with %i',
    async (_how, code, text) => {
      const files = { 'kept.txt': 'kept', 'untildone.json': '{"protect":["kept.txt"]}' };
      const steps = [good, writeFile('kept.txt', text)];
      const stage = await setPlanStage({ steps, afterwards: say('It is done.'), files });
      acceptProject(stage.state, stage.root);
      expect((await stage.run(accepted())).code).toBe(code);
    },
  );

  it.each([
    ['edited', 3, true],
    ['whole', 0, false],
  ] as const)(
    'V1, V4: with a record that is %s it exits with %i',
    async (_how, code, isEdited) => {
      const stage = await setPlanStage({ steps: one, afterwards: say('It is done.') });
      const last = await stage.run(accepted(), (event) => {
        if (!isEdited || event.type !== 'step-started' || event.step !== 4) return;
        const editor = editStore(storePath({ UNTILDONE_HOME: stage.state }));
        editor.change(
          'todos',
          () => true,
          (body) => ({ ...body, checks: ['never-given'], verification: 'passed' }),
        );
        editor.close();
      });
      expect(last.code).toBe(code);
      expect(last.ended?.outcome).toBe('claimed');
    },
  );

  it.each([
    ['left out of the list', 3, drop('Write b')],
    ['cancelled with a reason', 0, cancel('Write b', 'There is no b.')],
  ] as const)('V1, V4: with a todo %s it exits with %i', async (_how, code, step) => {
    const stage = await setPlanStage({
      steps: [...half, step, say('Done.'), step],
      afterwards: say('It is done.'),
    });
    const last = await stage.run(accepted());
    expect(last.code, JSON.stringify(last.ended)).toBe(code);
    expect(last.ended?.outcome).toBe('claimed');
  });
});

function expectProved(
  stage: PlanStage,
  last: PlanRun,
  {
    runs,
    file,
    atStart,
  }: { runs: readonly Given[]; file: string | undefined; atStart: string },
): void {
  const typed = (runs.findLast((given) => given.includes('--check')) ?? []).filter(
    (_word, index, all) => all[index - 1] === '--check',
  );
  const written = Array.from(
    file?.matchAll(/(?:check:|ks:\n {2}-) (.*)/g) ?? [],
    ([, line]) => line ?? '',
  );
  expect([...typed, ...written]).not.toEqual([]);
  for (const line of [...typed, ...written])
    expect(spawnSync('/bin/sh', ['-c', line], { cwd: stage.root }).status, line).toBe(0);
  expect(filesOf(stage)).not.toBe(atStart);
  expect(last.ended?.leftOver).toEqual([]);
  const open = last.ended?.todos.filter(
    ({ status }) => status !== 'completed' && status !== 'cancelled',
  );
  expect(open).toEqual([]);
}

/** The program and the checks write these. */
const notByTheAgent = ['.git', 'PLAN.md', 'seen', 'stamp.txt'];

function filesOf({ root }: PlanStage): string {
  const names = readdirSync(root).filter((name) => !notByTheAgent.includes(name));
  return names
    .map((name) => `${name}: ${readFileSync(join(root, name), 'utf8')}`)
    .join('\n');
}
