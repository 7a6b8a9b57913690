// Makes docs/hosts/claude-code.svg from a real session of Claude Code in a real terminal (tmux), with our hooks
// installed by `init` and a scripted model behind it. Usage: npm run build && npm run test:hosts -- claude-code
// --only=M1 (which installs the host), then npm run record:claude-code
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  complete,
  plan,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  writeFile,
} from '../src/scripted-model/index.ts';
import { claudeEnvironment } from '../test/hosts/claude-code/claude.ts';
import { createProject } from '../test/hosts/harness/project.ts';
import { waitUntil } from '../test/hosts/harness/wait-until.ts';
import { drawTerminal } from './terminal-picture.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const columns = 100;
const key = 'sk-ant-a-dummy-key-for-the-scripted-model';
const files: Readonly<Record<string, string>> = {
  'Write the greeting': 'greet.mjs',
  'Write its test': 'greet.test.mjs',
  'Note the change': 'CHANGELOG.md',
};

const project = createProject();
const titles = Object.keys(files);
const perTodo = (title: string) => [
  writeFile(files[title] ?? title, title),
  complete(title),
  say('All done!'),
];
const model = await startScriptedModel({
  scripts: [script('quitter', [plan(...titles), untilAllDone(perTodo)], { family: 'claude-tasks' })],
});
const environment = {
  ...claudeEnvironment(project, model),
  ANTHROPIC_API_KEY: key,
  TERM: 'xterm-256color',
};
const tmux = (...words: string[]): string =>
  spawnSync('tmux', ['-L', 'untildone-picture', ...words], { encoding: 'utf8', env: environment }).stdout;
const screen = (...words: string[]): string => tmux('capture-pane', '-p', ...words);

try {
  // What a human has answered once: the theme, the key, and that this folder is theirs.
  const answered = {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [project.directory]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
  writeFileSync(join(project.home, '.claude.json'), JSON.stringify(answered));
  const program = join(root, 'dist/bin.js');
  execFileSync(process.execPath, [program, 'init', 'claude-code'], {
    cwd: project.directory,
    env: environment,
  });
  const claude = join(root, 'test/hosts/claude-code/node_modules/.bin/claude');
  const size = ['-x', String(columns), '-y', '46'];
  tmux('new-session', '-d', ...size, '-c', project.directory, `${claude} --permission-mode acceptEdits`);
  await waitUntil('Claude Code to start', () => screen().includes('accept edits on'));
  tmux('send-keys', '-l', 'Write a small greeting with a test, and note the change.');
  await waitUntil('the words to be typed', () => screen().includes('note the change.'));
  tmux('send-keys', 'Enter');
  await waitUntil('the outcome', () => screen().includes('untildone: claimed'));
  // Few fonts have the host's corner; another one stands for it.
  const shown = screen('-e', '-S', '-100').replaceAll('⎿', '└');
  const from = shown.indexOf('Write a small greeting');
  const lines = shown.slice(shown.lastIndexOf('\n', from) + 1).split('\n');
  const until = lines.findIndex((line) => line.includes('untildone: claimed')) + 1;
  const picture = drawTerminal('untildone in Claude Code', columns, lines.slice(0, until).join('\n'));
  writeFileSync(join(root, 'docs/hosts/claude-code.svg'), picture.svg);
  process.stdout.write(`docs/hosts/claude-code.svg: ${picture.lines} lines\n`);
} finally {
  tmux('kill-server');
  await model.close();
  project.remove();
}
