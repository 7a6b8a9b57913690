// When a turn ends, a person sees one line of ours in the terminal of Claude Code, and
// none in `claude -p`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  always,
  complete,
  plan,
  type Script,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { acceptProject } from '../../support/accept-project.ts';
import { openTerminal } from '../../view/terminal.ts';
import { hostProgram } from '../harness/install-host.ts';
import { createHostProject, install, openBench } from '../harness/real-host-stage.ts';
import { filesCheck } from '../harness/stories/story.ts';
import { claudeCode } from './real-host.ts';

const names = ['alpha', 'beta'];
const perTodo = (title: string) => [
  writeFile(`${title}.txt`, title),
  complete(title),
  say('Everything is done.'),
];
const worker = script('worker', [
  plan(...names),
  untilAllDone(perTodo),
  always(say('Done.')),
]);
const stubborn = script('stubborn', [plan('parser', 'docs'), always(say('I am done.'))]);

/**
 * The state file of Claude Code after a person has answered the questions of the first
 * start.
 */
const answered = (directory: string) => ({
  hasCompletedOnboarding: true,
  theme: 'dark',
  customApiKeyResponses: { approved: ['dummy'], rejected: [] },
  projects: {
    [directory]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true },
  },
});

async function openInTerminal(story: Script) {
  const model = await startScriptedModel({ scripts: [story] });
  onTestFinished(() => model.close());
  const project = createHostProject(claudeCode, model);
  onTestFinished(() => project.remove());
  project.write('untildone.json', JSON.stringify(filesCheck(names)));
  acceptProject(project.state, project.directory);
  await install(claudeCode, project);
  writeFileSync(
    join(project.home, '.claude.json'),
    JSON.stringify(answered(project.directory)),
  );
  const { directory } = project;
  // In a terminal it would look for its marketplace of plugins.
  const quiet = { CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1' };
  const environment = { ...project.environment, ...quiet };
  const terminal = openTerminal({ columns: 220, rows: 50, directory, environment });
  onTestFinished(() => terminal.close());
  terminal.run(
    hostProgram('claude-code', 'claude'),
    'Do it.',
    '--permission-mode',
    'acceptEdits',
  );
  return terminal;
}

describe('the end of a turn', () => {
  it('C4: done is one line in the terminal', async () => {
    const terminal = await openInTerminal(worker);
    const screen = await terminal.sees(
      'Stop says: untildone: done: files passed, sent back once',
      90_000,
    );
    expect(screen.match(/untildone: /gu)).toHaveLength(1);
  });

  it('C4: not done is one line in the terminal, with what is open', async () => {
    const terminal = await openInTerminal(stubborn);
    await terminal.sees(
      'Stop says: untildone: not done: 2 of 2 todos open, sent back 3 times (stagnant).',
      90_000,
    );
    await terminal.sees('Open: “parser”, “docs”.');
  });

  it('C4: `claude -p` prints nothing of ours and exits with 0; `status --exit-code` tells how it ended', async () => {
    const bench = openBench({
      ...claudeCode,
      turn: ({ text, conversation }) => ({
        words: [
          '-p',
          text,
          '--allowedTools',
          'Bash,Write,Edit',
          '--session-id',
          conversation,
        ],
      }),
    });
    let told = '';
    const played = await bench.play({
      scripts: [stubborn],
      async drive({ say: says, untildone }) {
        await says('Do it.');
        told = await untildone('status', '--exit-code').catch(
          ({ code, stdout }) => `${code}: ${stdout}`,
        );
      },
    });
    expect(played.turns).toMatchObject([{ exitCode: 0, stdout: 'I am done.\n' }]);
    expect(played.turns[0]?.printed).not.toContain('untildone');
    expect(told).toMatch(
      /^5: not done: 2 of 2 todos open, sent back 3 times \(stagnant\)\./u,
    );
  });
});
