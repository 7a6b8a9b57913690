// One check that is given in several places is one check (V1). Each run of it writes a
// line into a log, between marks for the parts of the story. Real checks, a real store,
// the scripted model.
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  complete,
  runCommand,
  type Step,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { acceptProject } from '../support/accept-project.ts';
import { checkResults, type PlanStage, setPlanStage } from './plan-file-stage.ts';

const log = 'runs.log';
const mark = (part: string): Step => runCommand(`echo ${part} >> ../${log}`);
const script = '#!/bin/sh\necho run >> ../runs.log\ngrep -q good alpha.txt\n';

/** How often the check ran in each part: `before 1, claim 1`. */
function countRuns({ root }: PlanStage): string {
  const parts: [name: string, runs: number][] = [['before', 0]];
  for (const line of readFileSync(join(root, '..', log), 'utf8')
    .trim()
    .split('\n')) {
    const last = parts.at(-1);
    if (line !== 'run') parts.push([line, 0]);
    else if (last !== undefined) last[1] += 1;
  }
  return parts.map(([name, runs]) => `${name} ${runs}`).join(', ');
}

const story: readonly Step[] = [
  mark('claim'),
  writeFile('alpha.txt', 'good'),
  complete('Write alpha'),
  writeFile('alpha.txt', 'bad'),
  mark('failing-stop'),
  say('It is done.'),
  mark('second-claim'),
  writeFile('alpha.txt', 'good'),
  complete('Write alpha'),
  mark('passing-stop'),
  say('It is done.'),
];

const planOf = (check: string) =>
  `---\nchecks:\n  - ${JSON.stringify(check)}\n---\n- [ ] Write alpha\n  - check: ${check}\n`;

async function setStage(
  settings: object,
  planText: string,
  steps = story,
): Promise<PlanStage> {
  const files = {
    'check.sh': script,
    'alpha.txt': 'bad',
    'untildone.json': JSON.stringify(settings),
    'PLAN.md': planText,
  };
  const stage = await setPlanStage({ steps, files, afterwards: say('It is done.') });
  chmodSync(join(stage.root, 'check.sh'), 0o755);
  acceptProject(stage.state, stage.root);
  return stage;
}

describe('V1: one check in three places', () => {
  it.each([
    ['words', ['./check.sh']],
    ['a line', './check.sh'],
  ])(
    'V1: written as %s in untildone.json, it runs once before the start, once at a stop where it passes, and twice at one where it fails',
    async (_, command) => {
      const settings = {
        checks: { tests: { command, timeoutSeconds: 900 } },
        goal: ['tests'],
      };
      const stage = await setStage(settings, planOf('`./check.sh`'));
      const told = await stage.run(['--plan', 'PLAN.md', '--check', './check.sh']);
      expect(told).toMatchObject({ code: 0, ended: { outcome: 'done' } });
      expect(countRuns(stage)).toBe(
        'before 1, claim 1, failing-stop 2, second-claim 1, passing-stop 1',
      );
      expect(new Set(checkResults(told)), 'it has one name').toEqual(
        new Set(['$ ./check.sh: passed', '$ ./check.sh: failed']),
      );
      expect(told.events.filter(({ type }) => type === 'baseline')).toHaveLength(1);
      expect(told.todos).toMatchObject([{ checks: ['$ ./check.sh'] }]);
    },
  );

  it('V1: a plan file that names it finds the check that --check gives as a line', async () => {
    const settings = { checks: { tests: { command: ['./check.sh'] } }, goal: ['tests'] };
    const stage = await setStage(settings, planOf('tests'));
    const argv = ['--plan', 'PLAN.md', '--check', './check.sh'];
    expect(await stage.run(argv)).toMatchObject({ code: 0 });
    expect(countRuns(stage)).toBe(
      'before 1, claim 1, failing-stop 2, second-claim 1, passing-stop 1',
    );
  });

  it.each([
    ['the folder', { directory: 'sub' }],
    ['the names of variables', { environment: ['CI'] }],
    ['the wanted exit status', { expectExit: 3 }],
    ['the files', { files: ['alpha.txt'] }],
  ])('V1: two checks that differ in %s stay two', async (_, field) => {
    const settings = {
      checks: { tests: { command: ['./check.sh'], ...field } },
      goal: ['tests'],
    };
    const stage = await setStage(settings, '- [ ] Write alpha\n');
    const told = await stage.run([
      '--plan',
      'PLAN.md',
      '--check',
      './check.sh',
      '--max-continuations=1',
    ]);
    const baseline = told.events.flatMap((event) =>
      event.type === 'baseline' ? [event.check] : [],
    );
    expect(baseline).toEqual(['tests', '$ ./check.sh']);
  });

  it('V1: --resume --check gives a known check another name, and the check keeps its results', async () => {
    const settings = { checks: { tests: { command: ['./check.sh'] } }, goal: ['tests'] };
    const stopped = say('It is done.');
    // The first run ends after one continuation.
    const steps = [stopped, stopped, mark('claim'), ...story.slice(1, 3), mark('stop')];
    const stage = await setStage(
      settings,
      '- [ ] Write alpha\n  - check: tests\n',
      steps,
    );
    const first = await stage.run(['--plan', 'PLAN.md']);
    expect(first).toMatchObject({
      ended: { outcome: 'stagnant' },
      todos: [{ checks: ['tests'] }],
    });
    const second = await stage.run(['--resume', '--check', './check.sh']);
    expect(second).toMatchObject({ code: 0, ended: { outcome: 'done' } });
    expect(second.todos).toMatchObject([
      { checks: ['$ ./check.sh'], verification: 'passed' },
    ]);
    expect(countRuns(stage)).toBe('before 1, claim 1, stop 1');
    expect(second.events.filter(({ type }) => type === 'baseline')).toEqual([]);
  });
});
