// Attempts by what a repository brings and an agent may edit (V10): the project's file,
// the settings of a host, the plan file, and names of programs in git's configuration.
// Each has a folder of its own. Whatever is run leaves `raised` behind.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  complete,
  plan,
  runCommand,
  say,
  writeFile,
} from '../../src/scripted-model/index.ts';
import {
  createPayload,
  promptPayload,
  stopPayload,
  toolPayload,
} from '../support/payload-cases.ts';
import { type Row, sentenceOf } from './attempt.ts';
import { daemon, inFile, quote, sayAsHuman } from './command-attempts.ts';
import type { Stage } from './stage.ts';

interface TrustAttempt {
  readonly way: Row['way'];
  readonly attempt: string;
  /**
   * What the human was told, or who refused it; null: nothing, which is a failure as
   * well.
   */
  make(stage: Stage): Promise<string | null> | string | null;
}

const file = 'untildone.json';
const permissionAsked = {
  hook_event_name: 'Notification',
  notification_type: 'permission_prompt',
};
const marked = (stage: Stage): string => join(stage.project, 'raised');
const touch = (stage: Stage): string => `touch ${quote(marked(stage))}`;
const bringChecks = (stage: Stage): void =>
  stage.write(
    file,
    JSON.stringify({ checks: { x: { command: touch(stage) } }, goal: ['x'] }),
  );

export async function makeAttempt(
  stage: Stage,
  { way, attempt, make }: TrustAttempt,
): Promise<Row> {
  const told = await make(stage);
  const isRun = existsSync(marked(stage));
  const happened = isRun ? 'It was run.' : (told ?? 'Nobody was told, or it was obeyed.');
  return { way, attempt, happened, raised: isRun || told === null };
}

/** One call of Claude Code's hook: what it tells the human, and what the agent. */
function hook(
  stage: Stage,
  payload: object,
  environment: Readonly<Record<string, string>> = {},
) {
  const { stdout } = spawnSync('sh', ['-c', `${stage.untildone} hook claude-code`], {
    cwd: stage.project,
    env: { PATH: process.env['PATH'], HOME: stage.home, ...environment },
    input: JSON.stringify({ ...payload, cwd: stage.project }),
    encoding: 'utf8',
  });
  const said = JSON.parse(stdout);
  return {
    human: String(said.systemMessage ?? ''),
    agent: String(said.hookSpecificOutput?.additionalContext ?? ''),
  };
}

/** A message, an edit and a stop. */
function turn(stage: Stage, id: string, work: () => void = () => {}, environment = {}) {
  const own = { prompt_id: id };
  const prompt = hook(stage, promptPayload('Do it', own), environment);
  work();
  hook(stage, toolPayload('Edit', `edit-${id}`, {}, {}, own), environment);
  const stop = hook(stage, stopPayload(own), environment);
  return { prompt, stop };
}

/** Told at the message and at the stop, without the path of this run. */
function pendingTold(...said: readonly { readonly human: string }[]): string | null {
  const sentences = said.map(
    ({ human }) =>
      /untildone\.json (?:asks for|no longer has) .*? until you (?:do|accept that too)/u.exec(
        human,
      )?.[0] ?? null,
  );
  return sentences.includes(null)
    ? null
    : `Not run. Told at the message and at the stop: ${sentences.at(-1)}.`;
}

/** Returns what was said to the human. */
function accept(stage: Stage): string {
  const said = sayAsHuman(stage, 'trust --yes');
  if (!existsSync(join(stage.state, 'trust.json')))
    throw new Error(`The human's yes was not taken: ${said}`);
  return said;
}

/** From the shell of an agent that may run everything. */
const trustCommand = (
  way: Row['way'],
  attempt: string,
  line: (call: string, out: string) => string,
): TrustAttempt => ({
  way,
  attempt,
  async make(stage) {
    bringChecks(stage);
    const [out] = (
      await stage.run(
        [runCommand(line(stage.untildone, 'out.txt')), say('Done.')],
        '--auto',
      )
    ).outputs;
    const path = join(stage.state, 'trust.json');
    const isTaken = existsSync(path) && readFileSync(path, 'utf8').includes('raised');
    const said = sentenceOf(
      existsSync(join(stage.project, 'out.txt')) ? readOut(stage) : (out ?? ''),
    );
    return isTaken || said === '' ? null : `Refused: ${said}`;
  },
});

/**
 * In a folder beneath an accepted file, whose check never passes. `tells`: the file there
 * differs from then on.
 */
const switchOff = (
  attempt: string,
  work: (project: string, sub: string) => void,
  tells: boolean,
): TrustAttempt => ({
  way: 'files',
  attempt,
  make(stage) {
    const sub = { ...stage, project: join(stage.project, 'sub') };
    mkdirSync(sub.project);
    stage.write(file, '{"checks":{"never":{"command":["false"]}},"goal":["never"]}');
    accept(stage);
    turn(sub, 'p1', () => work(stage.project, sub.project));
    const { prompt, stop } = turn(sub, 'p2');
    if (!stop.agent.includes('“never”') || (pendingTold(prompt) !== null) !== tells)
      return null;
    const told = tells ? ', and the human was told at the next message' : '';
    return `The accepted check holds the agent all the same${told}.`;
  },
});

const readOut = (stage: Stage): string =>
  readFileSync(join(stage.project, 'out.txt'), 'utf8');

/** Git alone runs what is planted, or the attempt proves nothing. */
function plantFsmonitor(stage: Stage, isBare: boolean): void {
  const monitor = `fsmonitor = "${touch(stage).replaceAll("'", '')}; false"`;
  if (isBare) {
    rmSync(join(stage.project, '.git'), { recursive: true });
    for (const folder of ['objects', 'refs']) mkdirSync(join(stage.project, folder));
    stage.write('HEAD', 'ref: refs/heads/main\n');
    stage.write(
      'config',
      `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\t${monitor}\n`,
    );
  } else {
    spawnSync('git', ['init', '--quiet'], { cwd: stage.project });
    stage.write('.git/config', `[core]\n\trepositoryformatversion = 0\n\t${monitor}\n`);
  }
  stage.write('kept.txt', 'x');
  spawnSync('git', ['status', '--porcelain'], {
    cwd: stage.project,
    env: { PATH: process.env['PATH'] },
  });
  if (!existsSync(marked(stage)))
    throw new Error('Git itself does not run what was planted.');
  rmSync(marked(stage));
}

const gitAttempt = (attempt: string, isBare: boolean): TrustAttempt => ({
  way: 'git',
  attempt,
  async make(stage) {
    plantFsmonitor(stage, isBare);
    const calls = [
      ['doctor'],
      ['init', 'claude-code', '--dry-run'],
      ['init', 'claude-code'],
      ['init', 'opencode', '--dry-run'],
      ['trust'],
      ['init', 'claude-code', '--uninstall'],
    ];
    for (const words of calls) {
      const { out, err } = await stage.command(...words);
      if (out + err === '') return null;
    }
    await stage.run([
      plan('Do it'),
      writeFile('a.txt', 'x'),
      complete('Do it'),
      say('Done.'),
    ]);
    turn(stage, 'p1');
    return 'Not run by `doctor`, `init`, `trust`, `run` or the hook; `git status` of a human would run it.';
  },
});

export const trustAttempts: readonly TrustAttempt[] = [
  {
    way: 'files',
    attempt: 'a repository that brings checks of its own, under Claude Code’s hooks',
    make(stage) {
      bringChecks(stage);
      const { prompt, stop } = turn(stage, 'p1');
      return pendingTold(prompt, stop);
    },
  },
  {
    way: 'files',
    attempt:
      'the same, written by the agent of Claude Code; then the human’s next message',
    make(stage) {
      const first = turn(stage, 'p1', () => bringChecks(stage));
      const second = turn(stage, 'p2');
      return pendingTold(first.stop, second.prompt, second.stop);
    },
  },
  {
    way: 'files',
    attempt: '`"mode": "off"` in a repository’s `untildone.json`, with a todo open',
    make(stage) {
      stage.write(file, '{"mode":"off"}');
      const create = createPayload('1', 'Write the parser', { prompt_id: 'p1' });
      const { prompt, stop } = turn(stage, 'p1', () => void hook(stage, create));
      return stop.agent.includes('Write the parser') && pendingTold(prompt) !== null
        ? 'Not obeyed: the agent is sent on with its todo, and the human was told at the message.'
        : null;
    },
  },
  {
    way: 'files',
    attempt: 'an accepted `untildone.json` that the agent deletes, with its check',
    make(stage) {
      stage.write(file, '{"checks":{"never":{"command":["false"]}},"goal":["never"]}');
      accept(stage);
      turn(stage, 'p1', () => rmSync(join(stage.project, file)));
      const { prompt, stop } = turn(stage, 'p2');
      return stop.agent.includes('“never”') && pendingTold(prompt) !== null
        ? 'The accepted check holds the agent all the same, and the human was told at the next message.'
        : null;
    },
  },
  switchOff(
    '`{}` as a nearer `untildone.json`, in a folder beneath an accepted one',
    (_project, sub) => writeFileSync(join(sub, file), '{}'),
    true,
  ),
  switchOff(
    'an empty `.git` in such a folder',
    (_project, sub) => mkdirSync(join(sub, '.git')),
    false,
  ),
  switchOff(
    '`.git` beside an accepted `untildone.json` removed',
    (project) => rmSync(join(project, '.git'), { recursive: true }),
    false,
  ),
  switchOff(
    'both removed',
    (project) => {
      rmSync(join(project, '.git'), { recursive: true });
      rmSync(join(project, file));
    },
    true,
  ),
  {
    way: 'files',
    attempt:
      'a check in an accepted `untildone.json` that names the variable of a key in `environment`',
    make(stage) {
      const name = 'ANTHROPIC_API_KEY';
      const command = `touch checked; [ -z "$${name}" ] || ${touch(stage)}`;
      stage.write(
        file,
        JSON.stringify({ checks: { x: { command, environment: [name] } }, goal: ['x'] }),
      );
      const said = accept(stage);
      turn(stage, 'p1', () => {}, { [name]: 'sk-ant-0123456789' });
      const told = said.split('\n').find((line) => line.includes(`${name}: is ignored`));
      return existsSync(join(stage.project, 'checked')) && told !== undefined
        ? `The check runs without it, as \`trust\` said: ${told.replace(/^! /u, '').trim()}.`
        : null;
    },
  },
  {
    way: 'files',
    attempt:
      'a command in `notify` of an accepted `untildone.json`, and in the `env` of `.claude/settings.json`',
    make(stage) {
      const command = touch(stage);
      mkdirSync(join(stage.project, '.claude'));
      stage.write(
        file,
        JSON.stringify({
          notify: { command, webhook: 'http://127.0.0.1:9/' },
          ceiling: 9,
        }),
      );
      stage.write(
        '.claude/settings.json',
        JSON.stringify({ env: { UNTILDONE_NOTIFY_COMMAND: command } }),
      );
      const told = accept(stage)
        .split('\n')
        .find((line) => line.includes('notify.command: is ignored'));
      const environment = { UNTILDONE_NOTIFY_COMMAND: command };
      const { prompt } = turn(stage, 'p1', () => {}, environment);
      hook(stage, { ...stopPayload(), ...permissionAsked }, environment);
      // A program that nobody waits for would have run it.
      spawnSync('sleep', ['1']);
      return told !== undefined && prompt.human.includes('UNTILDONE_NOTIFY_COMMAND')
        ? `Not run. ${told.replace(/^! /u, '').trim()}; the variable is ignored and told.`
        : null;
    },
  },
  {
    way: 'files',
    attempt: '`UNTILDONE_MODE=off` in the `env` of a project’s `.claude/settings.json`',
    make(stage) {
      mkdirSync(join(stage.project, '.claude'));
      stage.write('.claude/settings.json', '{"env":{"UNTILDONE_MODE":"off"}}');
      const create = createPayload('1', 'Write the parser', { prompt_id: 'p1' });
      const environment = { UNTILDONE_MODE: 'off' };
      const { prompt, stop } = turn(
        stage,
        'p1',
        () => void hook(stage, create, environment),
        environment,
      );
      return stop.agent.includes('Write the parser') &&
        prompt.human.includes('UNTILDONE_MODE')
        ? 'Ignored and told: the agent is sent on with its todo.'
        : null;
    },
  },
  {
    way: 'files',
    attempt:
      '`COPILOT_PROJECT_DIR` and `AI_AGENT=claude-code_x_agent` there, as if another host or an agent called the hook',
    make(stage) {
      const environment = { COPILOT_PROJECT_DIR: '1', AI_AGENT: 'claude-code_x_agent' };
      mkdirSync(join(stage.project, '.claude'));
      stage.write('.claude/settings.json', JSON.stringify({ env: environment }));
      const create = createPayload('1', 'Write the parser', { prompt_id: 'p1' });
      // The host sets this itself for each hook.
      const given = { ...environment, CLAUDE_PROJECT_DIR: stage.project };
      const { prompt, stop } = turn(
        stage,
        'p1',
        () => void hook(stage, create, given),
        given,
      );
      return stop.agent.includes('Write the parser') &&
        prompt.human.includes('COPILOT_PROJECT_DIR, AI_AGENT')
        ? 'Ignored and told: the agent is sent on with its todo.'
        : null;
    },
  },
  {
    way: 'files',
    attempt: 'a repository that brings checks of its own, under `untildone run`',
    async make(stage) {
      bringChecks(stage);
      const { err } = await stage.run([
        plan('Do it'),
        writeFile('a.txt', 'x'),
        complete('Do it'),
        say('Done.'),
      ]);
      return err.includes('They are ignored until you do')
        ? 'Not run, and a warning says so.'
        : null;
    },
  },
  trustCommand(
    'commands',
    '`trust --yes`',
    (call, out) => `${inFile(`${call} trust --yes`, out)}; cat ${out}`,
  ),
  trustCommand('commands', '`run --trust`', (call, out) => {
    const model = 'OPENAI_BASE_URL=http://127.0.0.1:9/v1 OPENAI_API_KEY=sk-0123456789';
    return `${inFile(`timeout 20 env ${model} ${call} run "Do it" --trust --model openai/x`, out)}; cat ${out}`;
  }),
  trustCommand(
    'terminals',
    '`trust --yes` on a terminal of `script`',
    (call, out) =>
      `script -qec ${quote(`${call} trust --yes`)} /dev/null > ${out} 2>&1; cat ${out}`,
  ),
  trustCommand(
    'terminals',
    '`trust --yes` by a daemon: forked twice in Python, new session, own pseudo-terminal, empty environment',
    (call, out) => daemon(`${call} trust --yes`, out),
  ),
  {
    way: 'checks',
    attempt:
      'a `check:` line that the agent writes into its plan file; then `run --resume "go on"`',
    async make(stage) {
      stage.write('PLAN.md', '# Plan\n\n- [ ] Do it\n- [ ] And that\n');
      const slipped = `# Plan\n\n- [ ] Do it\n  check: ${touch(stage)}\n- [ ] And that\n`;
      const steps = [
        writeFile('PLAN.md', slipped),
        complete('Do it'),
        say('Done.'),
        say('Done.'),
      ];
      const first = await stage.run(
        steps,
        '--allow-list',
        '--plan',
        'PLAN.md',
        '--max-stagnant',
        '1',
      );
      const session = first.events[0]?.sessionId ?? '';
      const more = [complete('And that'), say('Done.')];
      const { err } = await stage.run(more, '--resume', session, '--allow-list');
      return err.includes('they are not run') ? 'Not run, and a warning says so.' : null;
    },
  },
  gitAttempt('`core.fsmonitor` in a repository’s `.git/config`', false),
  gitAttempt(
    'the same in plain files that pose as a bare repository: `HEAD`, `config`, `objects`, `refs`',
    true,
  ),
];
