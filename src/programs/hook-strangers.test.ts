// V10: no variable that a project's own settings of its host set switches us off. The
// hook is started as hosts start it, with recorded payloads, for each host that has such
// settings.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundle } from '../../scripts/build/bundle.ts';
import { acceptProject } from '../../test/support/accept-project.ts';
import * as gemini from '../../test/support/gemini-payloads.ts';
import * as claude from '../../test/support/payload-cases.ts';
import * as qwen from '../../test/support/qwen-payloads.ts';
import { wordsInCapitals } from '../../test/support/variables-read.ts';
import { hosts as table } from '../hosts/hosts.ts';
import { writeHookCommand } from '../hosts/install/files.ts';
import { isReadAtStart, isReadByUs, startVariables } from '../hosts/project-variables.ts';

type Fields = Readonly<Record<string, unknown>>;
interface HostCase {
  readonly name: string;
  /** Path of its settings in the project. */
  readonly file: string;
  /** The text of settings that set these variables. */
  readonly write: (variables: Readonly<Record<string, string>>) => string;
  /** Makes the text of settings unreadable for us. */
  readonly damage: (text: string) => string;
  /** As the host starts each hook, whatever the project says. */
  readonly environment: (project: string) => Readonly<Record<string, string>>;
  readonly prompt: Fields;
  readonly work: Fields;
  readonly stop: Fields;
}

const inJson = (env: object) => JSON.stringify({ env });
const inDotEnv = (variables: object) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('');

const cases: readonly HostCase[] = [
  {
    name: 'claude-code',
    file: '.claude/settings.json',
    write: inJson,
    damage: (text) => `${text}//`,
    environment: (project) => ({
      CLAUDE_PROJECT_DIR: project,
      CLAUDE_CODE_SESSION_ID: claude.sessionId,
      CLAUDE_CODE_ENTRYPOINT: 'cli',
      AI_AGENT: 'claude-code_2-1-325_harness',
    }),
    prompt: claude.promptPayload('Do it'),
    work: claude.toolPayload('Edit', 'edit-1', {}, {}),
    stop: claude.stopPayload(),
  },
  {
    name: 'gemini-cli',
    file: '.env',
    write: inDotEnv,
    damage: (text) => text + '\n'.repeat(1_100_000),
    environment: (project) => ({
      GEMINI_PROJECT_DIR: project,
      GEMINI_SESSION_ID: gemini.sessionId,
    }),
    prompt: gemini.promptPayload('Do it'),
    work: gemini.toolPayload('write_file', '09.000', {}, {}),
    stop: gemini.stopPayload(),
  },
  {
    name: 'qwen-code',
    file: '.qwen/settings.json',
    write: inJson,
    damage: (text) => `${text}}`,
    environment: (project) => ({
      QWEN_PROJECT_DIR: project,
      QWEN_CODE_SESSION_ID: qwen.qwenSession,
    }),
    prompt: qwen.qwenPrompt('Do it'),
    work: qwen.qwenTool('edit', 'edit-1', {}, ''),
    stop: qwen.qwenStop(),
  },
];

const adapters = new Map(
  await Promise.all(
    table.map(async ({ name, asked }) => [name, await asked?.()] as const),
  ),
);

const bundles = mkdtempSync(join(tmpdir(), 'untildone-bundle-'));
let home: string;
let project: string;
let state: string;

beforeAll(async () => {
  for (const group of ['quick-program', 'late'] as const) await bundle(group, bundles);
}, 60_000);
afterAll(() => rmSync(bundles, { recursive: true }));

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'untildone-home-'));
  [project, state] = [join(home, 'project'), join(home, 'state')];
  for (const folder of ['.git', '.claude', '.qwen', 'evil'])
    mkdirSync(join(project, folder), { recursive: true });
  // As `init` copies it: the folder that holds our own program counts as our state
  // directory.
  mkdirSync(state, { mode: 0o700 });
  cpSync(join(bundles, 'plugin/programs'), join(state, 'bin/here'), { recursive: true });
  writeFileSync(join(project, 'evil/false'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  writeFileSync(
    join(project, 'evil/preload.cjs'),
    "require('node:fs').writeSync(1, '{}'); process.exit(0);",
  );
  writeFileSync(
    join(project, 'evil/openssl.cnf'),
    'nodejs_conf = all\n[all]\nproviders = nothing\n',
  );
  writeFileSync(
    join(project, 'untildone.json'),
    JSON.stringify({ checks: { never: { command: ['false'] } }, goal: ['never'] }),
  );
  acceptProject(state, project);
});

/** The value that a stranger would choose. */
function strangersValue(name: string): string {
  const chosen: Readonly<Record<string, string>> = {
    AI_AGENT: 'claude-code_x_agent',
    GEMINI_CLI: '1',
    QWEN_CODE: '1',
    UNTILDONE_MODE: 'off',
    UNTILDONE_HOME: state,
    NODE_OPTIONS: `--require ${join(project, 'evil/preload.cjs')}`,
    NODE_CHANNEL_FD: 'x',
    OPENSSL_CONF: join(project, 'evil/openssl.cnf'),
    TZ: 'UTC',
    PATH: `${join(project, 'evil')}:${process.env['PATH']}`,
  };
  return chosen[name] ?? join(project, 'evil');
}

/** As `init` writes it into the settings of the host. */
function hookLine({ name }: HostCase): string {
  const copy = { node: process.execPath, stateDirectory: state, version: 'here' };
  const adapter = adapters.get(name) ?? {};
  return writeHookCommand({ scope: 'user', ...copy }, name, [], startVariables(adapter));
}

/**
 * What the human is told over a turn, and the text that sends the agent on at its end.
 */
function turn(host: HostCase, variables: Readonly<Record<string, string>>, text: string) {
  writeFileSync(join(project, host.file), text);
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const env = {
    PATH: path,
    HOME: home,
    UNTILDONE_HOME: state,
    ...variables,
    ...host.environment(project),
  };
  // What the host sets for hooks overrides the project, except the mark of a harness.
  const own = 'AI_AGENT' in variables ? { ...env, AI_AGENT: variables['AI_AGENT'] } : env;
  const answers = [host.prompt, host.work, host.stop].map((payload) => {
    const input = JSON.stringify({ ...payload, cwd: project });
    const { stdout } = spawnSync('/bin/sh', ['-c', hookLine(host)], {
      env: own,
      input,
      encoding: 'utf8',
      cwd: project,
    });
    return JSON.parse(stdout);
  });
  const { reason, hookSpecificOutput } = answers[2];
  const told = answers.map(({ systemMessage = '' }) => systemMessage).join('\n');
  return { told, goesOn: reason ?? hookSpecificOutput?.additionalContext ?? '' };
}

describe.each(cases)('V10: a project’s own settings of $name', (host) => {
  const own = adapters.get(host.name)?.variables ?? [];
  const shared = [...wordsInCapitals().keys()]
    .filter(isReadByUs)
    .filter((name) => !isReadAtStart(name));
  const failed = '“never” of the whole work failed';

  it('change nothing if they set no variable that we read', () => {
    const variables = { DATABASE_URL: 'x' };
    expect(turn(host, variables, host.write(variables))).toEqual({
      told: '\n\n',
      goesOn: expect.stringContaining(failed),
    });
  }, 30_000);

  const atStart = Object.keys(startVariables(adapters.get(host.name) ?? {}));

  it.each([
    ...[...own, ...atStart].map((name) => [name, '']),
    ['NODE_OPTIONS', '--nope'],
  ])(
    'do not switch us off by %s %s, and the human is told',
    (name, value) => {
      const variables = { [name]: value || strangersValue(name) };
      const { told, goesOn } = turn(host, variables, host.write(variables));
      expect(goesOn).toContain(failed);
      expect(told).toContain(`set ${name}: that is ignored`);
    },
    30_000,
  );

  it('do not switch us off by any variable that we read, all at once', () => {
    const names = [...own, ...shared, ...atStart];
    const variables = Object.fromEntries(
      names.map((name) => [name, strangersValue(name)]),
    );
    const { told, goesOn } = turn(host, variables, host.write(variables));
    expect(goesOn).toContain(failed);
    expect(told).toMatch(
      /The host's settings in this project set \w+, .* more: that is ignored/u,
    );
  }, 30_000);

  it('do not switch us off if nobody can read them', () => {
    const names = [...own, ...shared, ...atStart];
    const variables = Object.fromEntries(
      names.map((name) => [name, strangersValue(name)]),
    );
    const { told, goesOn } = turn(host, variables, host.damage(host.write(variables)));
    expect(goesOn).toContain(failed);
    expect(told).toContain('cannot be read and may set any variable');
  }, 30_000);
});
