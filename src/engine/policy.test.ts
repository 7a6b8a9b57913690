import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aSession } from '../../test/support/builders.ts';
import { parseFlags } from '../core/config.ts';
import { defaultSettings } from '../core/settings.ts';
import {
  createPolicies,
  findUserConfigDirectory,
  type PolicyResult,
  type PolicySources,
  policyProblemSentence,
  readPolicy,
} from './policy.ts';
import { sha256 } from './system.ts';
import type { Accepted } from './trust.ts';

let root: string;
let project: string;
let userFile: string;
let projectFile: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'untildone-policy-'));
  project = join(root, 'project');
  userFile = join(root, 'config', 'untildone', 'untildone.json');
  projectFile = join(project, 'untildone.json');
  mkdirSync(join(project, '.git'), { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    typeof content === 'string' || Buffer.isBuffer(content)
      ? content
      : JSON.stringify(content),
  );
}

function read(sources: Partial<PolicySources> = {}): PolicyResult {
  return readPolicy({
    projectDirectory: project,
    userConfigDirectory: dirname(userFile),
    environment: {},
    accepted: 'all',
    ...sources,
  });
}

function told(result: PolicyResult): readonly string[] {
  return result.ok ? [] : result.problems.map(policyProblemSentence);
}

function settingsOf(result: PolicyResult) {
  expect(told(result)).toEqual([]);
  return result.ok ? result.policy.settings : defaultSettings;
}

describe('C1: where the policy comes from', () => {
  it('is the defaults where nobody says anything', () => {
    expect(read()).toMatchObject({
      ok: true,
      policy: { settings: defaultSettings, goalChecks: [] },
      files: [],
      warnings: [],
    });
  });

  it('is flags over environment over project file over user file', () => {
    write(userFile, { ceiling: 1, maxTodos: 1, maxStagnant: 1, circuitAfter: 1 });
    write(projectFile, { ceiling: 2, maxTodos: 2, maxStagnant: 2 });
    const result = read({
      environment: { UNTILDONE_CEILING: '3', UNTILDONE_MAX_TODOS: '3' },
      flags: parseFlags(['--ceiling=4']),
    });
    expect(settingsOf(result)).toEqual({
      ...defaultSettings,
      ceiling: 4,
      maxTodos: 3,
      maxStagnant: 2,
      circuitAfter: 1,
    });
    expect(result).toMatchObject({
      origins: {
        ceiling: 'flag',
        maxTodos: 'environment',
        maxStagnant: 'project',
        circuitAfter: 'user',
        mode: 'default',
      },
      files: [
        { origin: 'user', path: userFile },
        { origin: 'project', path: projectFile },
      ],
    });
  });

  it('takes the nearest file above a folder of the project', () => {
    write(projectFile, { ceiling: 7 });
    mkdirSync(join(project, 'a', 'b'), { recursive: true });
    expect(settingsOf(read({ projectDirectory: join(project, 'a', 'b') })).ceiling).toBe(
      7,
    );
    write(join(project, 'a', 'untildone.json'), { ceiling: 8 });
    expect(settingsOf(read({ projectDirectory: join(project, 'a', 'b') })).ceiling).toBe(
      8,
    );
  });

  it('does not look above the root of the repository', () => {
    write(join(root, 'untildone.json'), { ceiling: 7 });
    expect(settingsOf(read()).ceiling).toBe(500);
    rmSync(join(project, '.git'), { recursive: true });
    expect(settingsOf(read()).ceiling).toBe(7);
  });

  it('knows the root of a worktree, where .git is a file', () => {
    write(join(root, 'untildone.json'), { ceiling: 7 });
    rmSync(join(project, '.git'), { recursive: true });
    write(join(project, '.git'), 'gitdir: elsewhere');
    expect(settingsOf(read()).ceiling).toBe(500);
  });

  it('gets along without a project, a user or a folder that exists', () => {
    expect(read({ projectDirectory: null, userConfigDirectory: null })).toMatchObject({
      ok: true,
      files: [],
    });
    expect(read({ projectDirectory: join(project, 'gone', 'for', 'good') }).ok).toBe(
      true,
    );
    write(join(project, 'file'), 'x');
    expect(read({ userConfigDirectory: join(project, 'file') }).ok).toBe(true);
  });

  it('follows a link to a file and tolerates a byte order mark', () => {
    write(join(root, 'real.json'), '\uFEFF{"ceiling": 9}');
    symlinkSync(join(root, 'real.json'), projectFile);
    expect(settingsOf(read()).ceiling).toBe(9);
  });

  it('passes warnings on, with a policy and without one', () => {
    const environment = { UNTILDONE_COLOUR: 'red' };
    expect(read({ environment }).warnings).toEqual([
      { path: 'UNTILDONE_COLOUR', message: 'is not a setting and is ignored' },
    ]);
    write(projectFile, '');
    expect(read({ environment })).toMatchObject({
      ok: false,
      warnings: [{ path: 'UNTILDONE_COLOUR' }],
    });
  });
});

describe('C1: a broken configuration is a value with a clear sentence', () => {
  it('tells the problems of all sources at once and applies none of them', () => {
    write(userFile, '{\n  "mode": "off", // quiet\n}');
    write(projectFile, { agents: { build: { ceiling: 'x' } }, mode: 'off' });
    const result = read({
      environment: { UNTILDONE_MODE: 'on' },
      flags: parseFlags(['--scope=plan']),
    });
    expect(result).not.toHaveProperty('policy');
    expect(told(result)).toEqual([
      `${userFile} is not valid JSON: line 3, column 1: there is a comma too many before this bracket`,
      `${projectFile}: agents.build.ceiling: must be a whole number from 1 to 100000, got "x"`,
      'UNTILDONE_MODE: must be one of off, observe, enforce, got "on"',
      '--scope: must be one of session, turn, got "plan"',
    ]);
    expect(result.files).toHaveLength(2);
  });

  it('does not fall back to a file further up when the nearest one is broken', () => {
    write(projectFile, { ceiling: 7 });
    write(join(project, 'a', 'untildone.json'), '{');
    expect(read({ projectDirectory: join(project, 'a') }).ok).toBe(false);
  });

  it.each([
    ['', 'is empty; write {} or remove the file'],
    ['[]', 'the configuration must be an object with settings, got an empty list'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'must be text in UTF-8'],
    [Buffer.from('\uFEFF{}', 'utf16le'), 'must be text in UTF-8'],
    [`{}${' '.repeat(1_048_575)}`, 'is larger than 1048576 bytes'],
  ])('refuses the content of case %#', (content, message) => {
    write(projectFile, content);
    expect(told(read())).toEqual([`${projectFile} ${message}`]);
  });

  it('accepts a file of exactly the largest size', () => {
    write(projectFile, `{}${' '.repeat(1_048_574)}`);
    expect(read().ok).toBe(true);
  });

  it('refuses a directory, a device and a named pipe without waiting for a writer', () => {
    mkdirSync(projectFile);
    expect(told(read())).toEqual([`${projectFile} must be a regular file`]);
    rmSync(projectFile, { recursive: true });
    symlinkSync('/dev/zero', projectFile);
    expect(told(read())).toEqual([`${projectFile} must be a regular file`]);
    rmSync(projectFile);
    execFileSync('mkfifo', [projectFile]);
    expect(told(read())).toEqual([`${projectFile} must be a regular file`]);
  });

  it('says why a file cannot be read', () => {
    symlinkSync('untildone.json', projectFile);
    expect(told(read())).toEqual([`${projectFile} cannot be read (ELOOP)`]);
  });

  it('refuses a relative or impossible directory instead of throwing', () => {
    expect(told(read({ projectDirectory: 'here' }))).toEqual([
      'the project directory must be an absolute path',
    ]);
    expect(told(read({ projectDirectory: '/a\u0000b' }))).toEqual([
      '/a\\u0000b/untildone.json cannot be read (ERR_INVALID_ARG_VALUE)',
    ]);
  });
});

describe('C1: the directory of the user', () => {
  it.each([
    [{ XDG_CONFIG_HOME: '/xdg', HOME: '/home/me' }, '/xdg/untildone'],
    [{ HOME: '/home/me' }, '/home/me/.config/untildone'],
    [{ XDG_CONFIG_HOME: '', HOME: '/home/me' }, '/home/me/.config/untildone'],
    [{ XDG_CONFIG_HOME: 'relative', HOME: '/home/me' }, '/home/me/.config/untildone'],
    [{}, `${homedir()}/.config/untildone`],
    [{ HOME: '' }, null],
  ])('is found from %j', (environment, expected) => {
    expect(findUserConfigDirectory(environment)).toBe(expected);
  });
});

describe('V1: checks in a configuration', () => {
  it('become specs, the goal and the protected paths of the policy', () => {
    write(userFile, { checks: { Lint: { command: ['npm', 'run', 'lint'] } } });
    write(projectFile, {
      checks: { tests: { command: ['npm', 'test'] } },
      goal: ['Tests', 'lint', 'tests'],
      protect: ['test/**'],
      allowChecks: [['make', 'docs']],
    });
    const result = read();
    expect(told(result)).toEqual([]);
    expect(result).toMatchObject({
      policy: { goalChecks: ['tests', 'lint'], protect: ['test/**'] },
      origins: { 'checks.tests': 'project', 'checks.lint': 'user' },
    });
    const checks = result.ok ? result.policy.checks : {};
    expect(Object.keys(checks ?? {}).sort()).toEqual(['$ make docs', 'lint', 'tests']);
  });

  it('of one name are never mixed: what the project says replaces all that the user said', () => {
    write(userFile, {
      checks: { tests: { command: ['npm', 'test'], environment: ['NPM_TOKEN'] } },
    });
    write(projectFile, { checks: { tests: { command: ['make', 'test'] } } });
    const result = read();
    expect(result.ok && result.policy.checks?.['tests']).toMatchObject({
      command: ['make', 'test'],
      environment: [],
    });
  });

  it('that do not fit together are told with file and path, and nothing applies', () => {
    write(userFile, { goal: ['tests'] });
    write(projectFile, {
      checks: { lint: { command: ['x'], http: 'http://localhost' } },
    });
    expect(told(read())).toEqual([
      `${projectFile}: checks.lint: must have exactly one of command, file, http, human`,
      `${userFile}: goal[0]: there is no check named "tests"`,
    ]);
    expect(told(read({ environment: { UNTILDONE_GOAL: 'nope' } }))).toContain(
      'goal[0]: there is no check named "nope"',
    );
  });
});

describe('V10: what was accepted is switched off by nothing but a human', () => {
  const wishes = {
    checks: { tests: { command: ['npm', 'test'] } },
    goal: ['tests'],
    protect: ['test/**'],
  };
  let sub: string;
  let accepted: Accepted[];

  /** As `untildone trust` does. */
  function accept(directory: string): void {
    const { key, folder, asked } = read({
      projectDirectory: directory,
      accepted,
    }).project;
    accepted = [
      ...accepted,
      { key: key ?? '', folder: folder ?? '', at: 1, config: asked },
    ];
  }

  function look(directory = sub) {
    const result = read({ projectDirectory: directory, accepted });
    const { pending, file } = result.project;
    const isTold = pending !== null;
    return {
      goal: result.ok ? result.policy.goalChecks : [],
      isTold,
      file: file?.path ?? null,
    };
  }

  beforeEach(() => {
    root = realpathSync(root);
    project = join(root, 'project');
    projectFile = join(project, 'untildone.json');
    sub = join(project, 'sub');
    mkdirSync(sub);
    accepted = [];
    write(projectFile, wishes);
    accept(sub);
    expect(look()).toEqual({ goal: ['tests'], isTold: false, file: projectFile });
  });

  it.each([
    ['an empty file nearer by', () => write(join(sub, 'untildone.json'), {}), true],
    [
      'other wishes nearer by',
      () => write(join(sub, 'untildone.json'), { mode: 'off' }),
      true,
    ],
    ['a broken file nearer by', () => write(join(sub, 'untildone.json'), '{'), true],
    [
      'the same wishes nearer by',
      () => write(join(sub, 'untildone.json'), wishes),
      false,
    ],
    ['an empty .git nearer by', () => mkdirSync(join(sub, '.git')), false],
    ['a .git file nearer by', () => write(join(sub, '.git'), 'gitdir: nowhere'), false],
    [
      'both nearer by',
      () => [mkdirSync(join(sub, '.git')), write(join(sub, 'untildone.json'), {})],
      true,
    ],
    ['.git gone', () => rmSync(join(project, '.git'), { recursive: true }), false],
    [
      '.git and the file gone',
      () => [rmSync(join(project, '.git'), { recursive: true }), rmSync(projectFile)],
      true,
    ],
    [
      'a .git nearer by and the file gone',
      () => [mkdirSync(join(sub, '.git')), rmSync(projectFile)],
      true,
    ],
  ])('%s', (_name, work, isTold) => {
    work();
    expect(look()).toMatchObject({ goal: ['tests'], isTold });
  });

  it('accepted without a repository, it stays when one is made there', () => {
    rmSync(join(project, '.git'), { recursive: true });
    accepted = [];
    accept(sub);
    mkdirSync(join(project, '.git'));
    expect(look()).toEqual({ goal: ['tests'], isTold: false, file: projectFile });
  });

  it('a nested repository has its own once that was accepted, an empty one as well', () => {
    mkdirSync(join(sub, '.git'));
    const own = { checks: { lint: { command: ['npm', 'run', 'lint'] } }, goal: ['lint'] };
    write(join(sub, 'untildone.json'), own);
    expect(look()).toMatchObject({ goal: ['tests'], isTold: true });
    accept(sub);
    expect(look()).toMatchObject({ goal: ['lint'], isTold: false });
    expect(look(project)).toMatchObject({ goal: ['tests'], isTold: false });
    mkdirSync(join(project, 'clone', '.git'), { recursive: true });
    write(join(project, 'clone', 'untildone.json'), {});
    accept(join(project, 'clone'));
    expect(look(join(project, 'clone'))).toMatchObject({ goal: [], isTold: false });
  });

  it('another accepted project lends its set to no folder that links to its .git', () => {
    const other = join(root, 'other');
    mkdirSync(join(other, '.git'), { recursive: true });
    write(join(other, 'untildone.json'), {});
    accept(other);
    symlinkSync(join(other, '.git'), join(sub, '.git'));
    expect(look()).toMatchObject({ goal: ['tests'], isTold: false });
    rmSync(join(project, '.git'), { recursive: true });
    symlinkSync(join(other, '.git'), join(project, '.git'));
    expect(look(project)).toMatchObject({ goal: ['tests'], isTold: false });
  });

  it('what nobody accepted above the root of the repository is neither told nor obeyed', () => {
    write(join(root, 'untildone.json'), { mode: 'off' });
    accepted = [];
    rmSync(projectFile);
    expect(look()).toEqual({ goal: [], isTold: false, file: null });
  });
});

describe('V3: a configuration that others could have written', () => {
  it.runIf(process.geteuid?.() === 0)(
    'is refused when another user owns it, unless sudo explains it',
    () => {
      write(projectFile, { ceiling: 7 });
      chownSync(projectFile, 4711, 4711);
      expect(told(read())).toEqual([expect.stringContaining('belongs to another user')]);
      expect(told(read({ environment: { SUDO_UID: '4711' } }))).toEqual([]);
      expect(told(read({ environment: { SUDO_UID: '4712' } }))).toHaveLength(1);
    },
  );

  it.runIf(process.platform !== 'win32')(
    'is refused when anyone may write it, outside a repository',
    () => {
      write(userFile, { ceiling: 7 });
      chmodSync(userFile, 0o666);
      expect(told(read())).toEqual([expect.stringContaining('may be written by anyone')]);
      chmodSync(userFile, 0o664);
      write(projectFile, { ceiling: 7 });
      chmodSync(projectFile, 0o666);
      expect(told(read())).toEqual([]);
      rmSync(join(project, '.git'), { recursive: true });
      expect(told(read())).toEqual([expect.stringContaining('chmod o-w')]);
    },
  );
});

describe('snapshots of the policy', () => {
  const policy = { settings: defaultSettings, goalChecks: ['unit'] };

  it('V2: are found again by their hash, by any process', () => {
    const saved = new Map<string, string>();
    const key = createPolicies(() => policy, sha256).snapshot(aSession(), saved);
    const other = createPolicies(() => ({ ...policy, goalChecks: [] }), sha256);
    expect(other.byHash(key, () => null)).toBeNull();
    expect(other.byHash(key, (hash) => saved.get(hash) ?? null)).toEqual(policy);
    expect(other.byHash(key, () => null)).toEqual(policy);
  });

  it('V4: a text that does not fit its hash is no snapshot, and neither is none', () => {
    const key = 'a'.repeat(32);
    const forged = JSON.stringify({ ...policy, goalChecks: [] });
    const policies = createPolicies(() => policy, sha256);
    expect(policies.byHash(key, () => forged)).toBeNull();
    expect(policies.byHash(key, () => null)).toBeNull();
  });
});
