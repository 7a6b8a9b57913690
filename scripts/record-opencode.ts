// Makes docs/hosts/opencode.svg from a real session of OpenCode in a real terminal (tmux), with our plugin installed by
// `init` and a scripted model behind it. Usage: npm run build && npm run test:hosts -- opencode --only=types (which
// installs the host), then npm run record:opencode
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
import { createProject } from '../test/hosts/harness/project.ts';
import { waitUntil } from '../test/hosts/harness/wait-until.ts';
import { hostEnvironment, program, seedHome, settleFolder } from '../test/hosts/opencode/opencode.ts';
import { drawTerminal } from './terminal-picture.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const columns = 100;
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
  scripts: [script('quitter', [plan(...titles), untilAllDone(perTodo)])],
});
const environment = { ...hostEnvironment(project), TERM: 'xterm-256color', COLORTERM: 'truecolor' };
const tmux = (...words: string[]): string =>
  spawnSync('tmux', ['-L', 'untildone-picture', ...words], { encoding: 'utf8', env: environment }).stdout;
const screen = (...words: string[]): string => tmux('capture-pane', '-p', ...words);

try {
  seedHome(project);
  settleFolder(project.directory, project, model, { plugins: [] });
  execFileSync(process.execPath, [join(root, 'dist/bin.js'), 'init', 'opencode'], {
    cwd: project.directory,
    env: environment,
  });
  const size = ['-x', String(columns), '-y', '64'];
  tmux('new-session', '-d', ...size, '-c', project.directory, program);
  await waitUntil('OpenCode to start', () => screen().includes('Ask anything'), 60);
  tmux('send-keys', '-l', 'Write a greeting with a test; note the change.');
  await waitUntil('the words to be typed', () => screen().includes('note the change.'));
  tmux('send-keys', 'Enter');
  // The second countdown: the agent has said twice that all is done, and went on once.
  await waitUntil('the countdown', () => /Resuming in \d s, 1 todo remaining/.test(screen()), 60);
  const lines = screen('-e').split('\n');
  const from = lines.findIndex((line) => line.includes('Write a greeting with'));
  const until = lines.findLastIndex((line) => line.includes('▣')) + 1;
  const picture = drawTerminal('untildone in OpenCode', columns, lines.slice(from, until).join('\n'));
  writeFileSync(join(root, 'docs/hosts/opencode.svg'), picture.svg);
  process.stdout.write(`docs/hosts/opencode.svg: ${picture.lines} lines\n`);
  await waitUntil('the outcome', () => screen().includes('untildone: claimed'), 60);
} finally {
  tmux('kill-server');
  await model.close();
  project.remove();
}
