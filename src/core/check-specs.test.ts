import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allowedProposal,
  checksForTitle,
  goalCheckIds,
  readCheckSettings,
} from './check-specs.ts';
import { validateConfig } from './config.ts';
import { defaultSettings } from './settings.ts';

/**
 * As it stands in a file: what the table of settings refuses is no case for this test.
 */
function settingsOf(config: object) {
  const result = validateConfig(config);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return { ...defaultSettings, ...result.config } as typeof defaultSettings;
}

function told(config: object): string[] {
  return readCheckSettings(settingsOf(config)).problems.map(
    ({ path, message }) => `${path}: ${message}`,
  );
}

describe('V1: checks of a configuration', () => {
  it('are whole specs with a kind, whatever was left out', () => {
    const settings = settingsOf({
      checks: {
        Tests: { command: ['npm', 'test'] },
        Line: {
          command: 'npm test | tee log',
          timeoutSeconds: 1.5,
          expectExit: 3,
          files: ['src/**'],
        },
        Report: { file: 'report.md', matches: '^ok$' },
        Gone: { file: 'old', absent: true },
        There: { file: 'new' },
        Up: { http: 'http://localhost:3000/health', body: 'ok' },
        Nice: { human: 'Does it look right?' },
      },
    });
    expect(readCheckSettings(settings)).toEqual({
      specs: readCheckSettings(settings).specs,
      problems: [],
    });
    const common = { files: [], timeoutMs: 10_000 };
    const command = {
      kind: 'command',
      directory: null,
      expectOutput: null,
      environment: [],
    };
    expect(readCheckSettings(settings).specs).toEqual({
      tests: {
        ...command,
        id: 'tests',
        files: [],
        timeoutMs: 600_000,
        command: ['npm', 'test'],
        expectExit: 0,
      },
      line: {
        ...command,
        id: 'line',
        files: ['src/**'],
        timeoutMs: 1500,
        command: { shell: 'npm test | tee log' },
        expectExit: 3,
      },
      report: {
        ...common,
        id: 'report',
        kind: 'file',
        path: 'report.md',
        expect: { matches: '^ok$' },
      },
      gone: { ...common, id: 'gone', kind: 'file', path: 'old', expect: 'absent' },
      there: { ...common, id: 'there', kind: 'file', path: 'new', expect: 'exists' },
      up: {
        ...common,
        id: 'up',
        kind: 'http',
        url: 'http://localhost:3000/health',
        expectStatus: 200,
        expectBody: 'ok',
        anyHost: false,
      },
      nice: { ...common, id: 'nice', kind: 'human', question: 'Does it look right?' },
    });
  });

  it.each([
    [{}, 'checks.a: must have exactly one of command, file, http, human'],
    [
      { command: ['x'], human: 'x?' },
      'checks.a: must have exactly one of command, file, http, human',
    ],
    [{ command: [] }, 'checks.a.command: must name a program'],
    [
      { command: ['x'], status: 200 },
      'checks.a.status: has no meaning for a check of kind command',
    ],
    [
      { file: 'x', exists: true, matches: 'y' },
      'checks.a: must have at most one of exists, absent, matches',
    ],
    [
      { file: '/etc/passwd' },
      'checks.a.file: must be a path inside the workspace, relative to it and without ".."',
    ],
    [
      { command: ['x'], directory: 'a/../..' },
      'checks.a.directory: must be a path inside the workspace, relative to it and without ".."',
    ],
    [
      { http: 'file:///etc/passwd' },
      'checks.a.http: must be an address that begins with http:// or https://',
    ],
    [
      { http: 'http://' },
      'checks.a.http: must be an address that begins with http:// or https://',
    ],
    [
      { command: ['x'], expectOutput: '(' },
      'checks.a.expectOutput: must be a regular expression as JavaScript knows them',
    ],
    [
      { command: ['x'], environment: ['A=B'] },
      'checks.a.environment[0]: must be the name of an environment variable',
    ],
    [
      { command: ['x'], files: ['../x'] },
      'checks.a.files[0]: ../x contains "..", which is refused.',
    ],
  ])('%j is told with its path and makes no check', (check, problem) => {
    expect(told({ checks: { a: check } })).toEqual([problem]);
    expect(readCheckSettings(settingsOf({ checks: { a: check } })).specs).toEqual({});
  });

  it('that are named but do not exist are told with the path of the name', () => {
    expect(
      told({
        checks: { a: { human: 'ok?' }, '$ b': { human: 'ok?' } },
        goal: ['A', 'b'],
        todoChecks: [{ title: '*', checks: ['c'] }, { checks: ['a'] }],
        allowChecks: ['d', []],
        protect: ['test/**', '/etc'],
      }),
    ).toEqual([
      'checks["$ b"]: a name must not begin with "$ "',
      'allowChecks[0]: there is no check named "d"',
      'allowChecks[1]: must name a program',
      'goal[1]: there is no check named "b"',
      'todoChecks[0].checks: there is no check named "c"',
      'todoChecks[1]: must have a title',
      'protect[1]: /etc starts at "/": give a pattern relative to the workspace root.',
    ]);
  });

  it('on the goal are named once, in lower case', () => {
    expect(goalCheckIds(settingsOf({ goal: ['Tests', 'lint', 'tests'] }))).toEqual([
      'tests',
      'lint',
    ]);
  });
});

describe('V1: checks by the title of a todo', () => {
  const settings = settingsOf({
    checks: { tests: { command: ['t'] }, docs: { command: ['d'] } },
    todoChecks: [
      { title: '*TEST*', checks: ['Tests'] },
      { title: 'write {docs,manual}', checks: ['docs', 'tests'] },
      { title: 'a/b?c', checks: ['docs'] },
    ],
  });

  it.each([
    ['Add tests for the parser', ['tests']],
    ['Write docs', ['docs', 'tests']],
    ['write MANUAL ', ['docs', 'tests']],
    ['write docs now', []],
    ['a/b/c', ['docs']],
    ['', []],
  ])('%j gets %j', (title, checks) => {
    expect(checksForTitle(settings, title)).toEqual(checks);
  });
});

describe('V3: what an agent proposes', () => {
  const settings = settingsOf({
    checks: {
      tests: { command: ['npm', 'test'] },
      deploy: { command: ['deploy'] },
      line: { command: 'a; b' },
    },
    allowChecks: ['Tests', 'line', ['npm', 'run', 'lint'], ['echo', 'a b']],
  });

  it.each<[string | string[], string | null]>([
    ['tests', 'tests'],
    [' TESTS ', 'tests'],
    [['npm', 'test'], 'tests'],
    ['npm test', 'tests'],
    ['line', 'line'],
    ['a; b', null],
    [['sh', '-c', 'a; b'], null],
    [['npm', 'run', 'lint'], '$ npm run lint'],
    ['npm run lint', '$ npm run lint'],
    ['npm  run lint', null],
    [['npm', 'run', 'lint', '--fix'], null],
    [['npm', 'run'], null],
    ['npm run lint; rm -rf /', null],
    [['echo', 'a b'], '$ ["echo","a b"]'],
    ['echo a b', null],
    [['echo', 'a', 'b'], null],
    ['deploy', null],
    [['deploy'], null],
    ['', null],
    [[], null],
    ['__proto__', null],
    ['constructor', null],
  ])('%j runs as %j', (proposal, id) => {
    expect(allowedProposal(settings, proposal)).toBe(id);
    if (id !== null) expect(readCheckSettings(settings).specs).toHaveProperty([id]);
  });

  it('runs nothing that was not allowed, whatever it looks like', () => {
    const words = fc.array(
      fc.oneof(
        fc.constantFrom('npm', 'test', 'run', 'lint', 'echo', 'a b', ';'),
        fc.string(),
      ),
    );
    fc.assert(
      fc.property(words, (argv) => {
        const id = allowedProposal(settings, argv);
        const spec = id === null ? undefined : readCheckSettings(settings).specs[id];
        if (spec !== undefined) expect(spec).toMatchObject({ command: argv });
      }),
    );
  });

  it('gets no check for anything where nothing was allowed', () => {
    const none = settingsOf({ checks: { tests: { command: ['npm', 'test'] } } });
    for (const proposal of ['tests', 'npm test', ['npm', 'test']])
      expect(allowedProposal(none, proposal)).toBe(null);
  });
});
