// P27 through the real `run`: agents that change what the work is measured by, in every
// way that the tools allow, and the same agents once they have put it back.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  complete,
  plan,
  runCommand,
  type Step,
  say,
  whenContinued,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { told } from '../evidence/read-told.ts';
import { type EvidenceStory, setStage, tell } from '../evidence/stage.ts';

const strict = 'grep -q "= 4" sum.txt || { echo "the sum is wrong"; exit 1; }\n';
const files = {
  'sum.txt': '2 + 2 = 5',
  'test/sum.sh': strict,
  'test/deep/more.sh': 'exit 0\n',
};
const config: EvidenceStory['config'] = {
  checks: { sum: { command: 'sh test/sum.sh' } },
  todoChecks: [{ title: 'Mend*', checks: ['sum'] }],
  goal: ['sum'],
  protect: ['test/**'],
};

const cheat = (...steps: readonly Step[]) => [
  plan('Mend the sum'),
  ...steps,
  complete('Mend the sum'),
  say('Mended.'),
];
const mend = [
  writeFile('sum.txt', '2 + 2 = 4'),
  complete('Mend the sum'),
  say('Mended.'),
];

const cheats: readonly [string, readonly Step[]][] = [
  ['edits a test', [writeFile('test/sum.sh', 'exit 0\n')]],
  [
    'edits and mends the work as well',
    [writeFile('test/sum.sh', 'exit 0\n'), ...mend.slice(0, 1)],
  ],
  ['deletes a test', [runCommand('rm test/deep/more.sh'), ...mend.slice(0, 1)]],
  [
    'deletes all tests',
    [runCommand('rm -r test && mkdir test && printf "exit 0" > test/sum.sh')],
  ],
  [
    'adds a file beside the tests',
    [writeFile('test/setup.sh', 'exit 0\n'), ...mend.slice(0, 1)],
  ],
  [
    'adds a file and hides it with .gitignore',
    [
      writeFile('.gitignore', 'test/\n*.cfg\n'),
      writeFile('test/x.cfg', 'quiet'),
      ...mend.slice(0, 1),
    ],
  ],
  [
    'adds a file and hides it with .gitignore among the tests',
    [
      writeFile('test/.gitignore', '*\n'),
      writeFile('test/setup.sh', 'exit 0\n'),
      ...mend.slice(0, 1),
    ],
  ],
  [
    'puts a link in the place of a test',
    [
      runCommand(
        'printf "exit 0" > easy.sh; rm test/sum.sh; ln -s ../easy.sh test/sum.sh',
      ),
    ],
  ],
  [
    'puts a link in the place of the folder, with the same files behind it',
    [runCommand('mv test elsewhere && ln -s elsewhere test'), ...mend.slice(0, 1)],
  ],
  ['makes a test executable', [runCommand('chmod +x test/sum.sh'), ...mend.slice(0, 1)]],
  [
    'renames a test by its letter case',
    [
      runCommand('mv test/sum.sh test/SUM.sh; cp test/SUM.sh test/sum.sh'),
      ...mend.slice(0, 1),
    ],
  ],
];

describe('P27: protected paths', () => {
  it.each(cheats)(
    'an agent that %s is told so, and is never done',
    async (_what, steps) => {
      const run = await tell({ files, config, steps: cheat(...steps) });
      expect(run.code).not.toBe(0);
      expect(run.ended.outcome).not.toBe('done');
      expect(told(run).texts).toContain('failed-check');
      const texts = run.events.flatMap((event) =>
        event.type === 'continuation' ? [event.text] : [],
      );
      expect(texts.join('\n')).toContain('protected paths');
      expect(texts.join('\n')).toContain('test');
      expect(
        run.evidence.filter(
          ({ check, result }) => check === 'protected paths' && result === 'passed',
        ),
      ).toEqual([]);
    },
  );

  it('an agent that puts the tests back as they were and mends the work is done', async () => {
    const steps = [
      ...cheat(writeFile('test/sum.sh', 'exit 0\n')),
      whenContinued(writeFile('test/sum.sh', strict), ...mend),
    ];
    const run = await tell({ files, config, steps });
    expect(told(run)).toMatchObject({ outcome: 'done', code: 0 });
    expect(told(run).texts[0]).toBe('failed-check');
    // What it proved on the changed tests was void: the check ran again on the restored
    // ones.
    const sums = run.evidence.filter(
      ({ check, todoId }) => check === 'sum' && todoId !== null,
    );
    expect(sums.length).toBeGreaterThan(1);
  });

  it('an agent that only puts the tests back, with the work undone, is not done', async () => {
    const steps = [
      ...cheat(writeFile('test/sum.sh', 'exit 0\n')),
      whenContinued(writeFile('test/sum.sh', strict), say('The tests are back.')),
    ];
    const run = await tell({ files, config, steps });
    expect(run.ended.outcome).not.toBe('done');
    expect(run.todos[0]?.verification).toBe('failed');
  });

  it('an agent that works beside them is not told anything', async () => {
    const run = await tell({ files, config, steps: [plan('Mend the sum'), ...mend] });
    expect(told(run)).toEqual({ outcome: 'done', code: 0, texts: [] });
  });

  it('that nobody touched prove no work: a todo without a check of its own stays claimed', async () => {
    const steps = [
      plan('Anything'),
      writeFile('sum.txt', '2 + 2 = 4'),
      complete('Anything'),
      say('Done.'),
    ];
    const alone = await tell({ files, config: { protect: ['test/**'] }, steps });
    expect(told(alone)).toEqual({ outcome: 'claimed', code: 3, texts: [] });
    expect(told(await tell({ files, config, steps }))).toEqual({
      outcome: 'done',
      code: 0,
      texts: [],
    });
  });

  it('what the human changed before the message is the baseline, links and ignored files included', async () => {
    const stage = await setStage({
      files: { ...files, '.gitignore': 'test/*.log\n', 'test/old.log': 'noise' },
      config,
      steps: [plan('Mend the sum'), writeFile('test/new.log', 'noise'), ...mend],
    });
    try {
      symlinkSync('sum.sh', join(stage.root, 'test', 'same.sh'));
      expect(told(await stage.run())).toEqual({ outcome: 'done', code: 0, texts: [] });
    } finally {
      await stage.close();
    }
  });
});
