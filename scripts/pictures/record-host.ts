// Makes docs/hosts/NAME.svg from a real session of a host in a real terminal (tmux), with
// what `init` installs and a scripted model behind it. Usage: npm run test:hosts -- NAME
// --only=types (which installs the host), then npm run chores -- record-host NAME…
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hostOf } from '../../src/hosts/hosts.ts';
import {
  complete,
  plan,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  writeFile,
} from '../../src/scripted-model/index.ts';
import { hostProgram } from '../../test/hosts/harness/install-host.ts';
import type { Project } from '../../test/hosts/harness/project.ts';
import type { RealHost } from '../../test/hosts/harness/real-host.ts';
import { createHostProject } from '../../test/hosts/harness/real-host-stage.ts';
import { waitUntil } from '../../test/hosts/harness/wait-until.ts';
import { drawTerminal } from './terminal-picture.ts';

interface Sitting {
  /**
   * Behind the program's name: a terminal session in which it may write files without
   * asking.
   */
  readonly words: readonly string[];
  /** Shown when it can be typed to. */
  readonly ready: RegExp;
  /** Shown when the picture can be taken; default: our last word. */
  readonly until?: RegExp;
  readonly rows?: number;
  /**
   * What a human has answered once: the theme, the key, and that this folder is theirs.
   */
  answer?(project: Project): void;
  readonly environment?: Readonly<Record<string, string>>;
}

const key = 'sk-ant-a-dummy-key-for-the-scripted-model';
const sittings: Readonly<Record<string, Sitting>> = {
  'claude-code': {
    words: ['--permission-mode', 'acceptEdits'],
    ready: /accept edits on/,
    environment: { ANTHROPIC_API_KEY: key },
    answer({ home, directory }) {
      const answered = {
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
        projects: {
          [directory]: {
            hasTrustDialogAccepted: true,
            hasCompletedProjectOnboarding: true,
          },
        },
      };
      writeFileSync(join(home, '.claude.json'), JSON.stringify(answered));
    },
  },
  // The second countdown: the agent has said twice that all is done, and went on once.
  opencode: {
    words: [],
    ready: /Ask anything/,
    until: /Resuming in \d s, 1 todo remaining/,
    rows: 64,
  },
  codex: {
    words: ['-s', 'workspace-write', '-a', 'never'],
    ready: /context left|for shortcuts|›/,
  },
  'gemini-cli': {
    words: ['-m', 'gemini-2.5-pro', '--approval-mode', 'yolo'],
    ready: /Type your message/,
  },
  'qwen-code': {
    words: ['--auth-type', 'openai', '--approval-mode', 'yolo'],
    ready: /Type your message/,
    // It draws on a screen of its own, which keeps nothing that has left it.
    rows: 64,
  },
  'copilot-cli': {
    words: ['--no-auto-update', '--allow-all-tools'],
    ready: /Enter @ to mention|Type|❯/,
  },
  pi: {
    words: ['--offline', '--provider', 'scripted', '--model', 'first'],
    ready: /scripted|first/,
  },
};

const root = fileURLToPath(new URL('../..', import.meta.url));
const columns = 100;
const request = 'Write a greeting with a test; note the change.';
const files: Readonly<Record<string, string>> = {
  'Write the greeting': 'greet.mjs',
  'Write its test': 'greet.test.mjs',
  'Note the change': 'CHANGELOG.md',
};
const perTodo = (title: string) => [
  writeFile(files[title] ?? title, title),
  complete(title),
  say('All done!'),
];

async function record(name: string, sitting: Sitting): Promise<void> {
  const module: object = await import(`../../test/hosts/${name}/real-host.ts`);
  const host = Object.values(module).find(
    (value): value is RealHost => value?.name === name,
  );
  if (host === undefined)
    throw new Error(`test/hosts/${name}/real-host.ts has no host of that name.`);
  const story = script('quitter', [plan(...Object.keys(files)), untilAllDone(perTodo)], {
    family: host.family ?? (name === 'claude-code' ? 'claude-tasks' : undefined),
  });
  const model = await startScriptedModel({ scripts: [story] });
  const project = createHostProject(host, model);
  const terminal = { TERM: 'xterm-256color', COLORTERM: 'truecolor' };
  const environment = { ...project.environment, ...terminal, ...sitting.environment };
  const tmux = (...words: string[]): string =>
    spawnSync('tmux', ['-L', `untildone-${name}`, ...words], {
      encoding: 'utf8',
      env: environment,
    }).stdout;
  const screen = (...words: string[]): string => tmux('capture-pane', '-p', ...words);
  const until = sitting.until ?? /untildone: claimed/;
  try {
    host.settle?.({ project, model });
    sitting.answer?.(project);
    const init = [join(root, 'dist/bin.js'), 'init', name, ...(host.initWords ?? [])];
    execFileSync(process.execPath, init, { cwd: project.directory, env: environment });
    const size = ['-x', String(columns), '-y', String(sitting.rows ?? 46)];
    const command = [hostProgram(name, host.program), ...sitting.words]
      .map((word) => `'${word}'`)
      .join(' ');
    tmux('new-session', '-d', ...size, '-c', project.directory, command);
    await waitUntil(`${name} to start`, () => sitting.ready.test(screen()), 90);
    // Some redraw themselves once more, and lose what was typed before.
    await sleep(2000);
    tmux('send-keys', '-l', request);
    await waitUntil('the words to be typed', () => screen().includes('note the change.'));
    await sleep(500);
    tmux('send-keys', 'Enter');
    await waitUntil(
      'the end',
      () => until.test(screen('-S', '-200').replace(/\s+/g, ' ')),
      120,
    );
    // Few fonts have the hosts' corner; another one stands for it.
    const lines = screen('-e', '-S', '-200').replaceAll('⎿', '└').trimEnd().split('\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are what is taken out
    const plain = lines.map((line) => line.replace(/\u001b\[[\d;]*m/g, ''));
    const from = Math.max(
      plain.findIndex((line) => line.includes('Write a greeting with')),
      0,
    );
    const last = plain.findLastIndex((line) => /untildone: |▣|remaining/.test(line));
    const title = `untildone in ${hostOf(name)?.title ?? name}`;
    const picture = drawTerminal(title, columns, lines.slice(from, last + 2).join('\n'));
    writeFileSync(join(root, `docs/hosts/${name}.svg`), picture.svg);
    console.log(`docs/hosts/${name}.svg: ${picture.lines} lines`);
  } catch (error) {
    console.error(screen());
    throw error;
  } finally {
    tmux('kill-server');
    endProcessesOf(project);
    await model.close();
    project.remove();
  }
}

/** Some hosts leave a process behind that waits for the next session. */
function endProcessesOf({ home }: Project): void {
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isIts = readFileSync(`/proc/${id}/environ`, 'utf8')
        .split('\0')
        .includes(`HOME=${home}`);
      if (isIts) process.kill(Number(id), 'SIGKILL');
    } catch {
      // Safe: it has ended in this moment, or belongs to someone else.
    }
  }
}

const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : Object.keys(sittings)) {
  const sitting = sittings[name];
  if (sitting === undefined) throw new Error(`Nobody knows how "${name}" is sat before.`);
  await record(name, sitting);
}
