// An agent that ignores a file hides nothing, through the real `run`: the ignore rules
// are those of the human's last message, and files that are ignored since are told (V2).
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  complete,
  plan,
  runCommand,
  type Step,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { told } from '../evidence/read-told.ts';
import { type EvidenceStory, setStage } from '../evidence/stage.ts';
import { acceptProject } from '../support/accept-project.ts';

const config = {
  checks: { alpha: { file: 'made/alpha.txt', matches: 'good' } },
  todoChecks: [{ title: '*alpha*', checks: ['alpha'] }],
};
const options = ['--auto', '--check', 'test -e made/alpha.txt'];
const good = writeFile('made/alpha.txt', 'good');

async function stageOf(story: EvidenceStory, isRepository: boolean) {
  const stage = await setStage({ config, options, ...story });
  onTestFinished(() => stage.close());
  if (isRepository) execFileSync('git', ['init', '-q'], { cwd: stage.root });
  // A repository is trusted by its own name.
  acceptProject(dirname(stage.store), stage.root);
  return stage;
}

const hidings: readonly (readonly [string, boolean, Step])[] = [
  ['the .gitignore', true, writeFile('.gitignore', 'made/\n')],
  ['a nested .gitignore', true, writeFile('made/.gitignore', '*\n')],
  ['.git/info/exclude', true, runCommand('echo made/ >> .git/info/exclude')],
  [
    'core.excludesFile',
    true,
    runCommand('echo alpha.txt > .git/x && git config core.excludesFile "$PWD/.git/x"'),
  ],
  ['a .gitignore without git', false, writeFile('.gitignore', 'made/\n')],
];

describe('V2: a file that the agent ignored', () => {
  it.each(hidings)(
    'through %s and broke after its check passed is no work done',
    async (_, isGit, hide) => {
      const steps = [
        plan('Write alpha'),
        good,
        hide,
        complete('Write alpha'),
        writeFile('made/alpha.txt', 'bad'),
        say('Written.'),
        say('Written, I said.'),
      ];
      const run = await (await stageOf({ steps }, isGit)).run();
      expect(run.ended.outcome).not.toBe('done');
      expect(run.todos[0]).toMatchObject({ verification: 'failed' });
      expect(run.ended.sentence).toContain(
        'These files are ignored only since your message, so they count: made/alpha.txt',
      );
    },
  );

  it('honestly is told with the outcome and by `why`, voids nothing, and is ignored from the next message on', async () => {
    const steps = [
      plan('Write alpha'),
      good,
      writeFile('.gitignore', 'dist/\n'),
      writeFile('dist/out.js', 'x'),
      complete('Write alpha'),
      say('Written.'),
      plan('Write alpha again'),
      good,
      writeFile('dist/out.js', 'y'),
      complete('Write alpha again'),
      say('Written.'),
    ];
    const stage = await stageOf({ steps }, true);
    const first = await stage.run();
    expect(told(first)).toEqual({ outcome: 'done', code: 0, texts: [] });
    expect(first.evidence.map(({ check }) => check).sort()).toEqual([
      '$ test -e made/alpha.txt',
      'alpha',
    ]);
    const sentence =
      'These files are ignored only since your message, so they count: dist/out.js.';
    expect(first.ended.sentence).toContain(sentence);
    expect((await stage.command('why')).out.replaceAll(/\s+/gu, ' ')).toContain(sentence);
    const second = await stage.run('Once more.');
    // Only an ignored file is new, and that is no work any more.
    expect(second.ended).toMatchObject({ outcome: 'claimed', reason: 'no-change' });
    expect(second.ended.sentence).not.toContain('Ignored');
  });
});
