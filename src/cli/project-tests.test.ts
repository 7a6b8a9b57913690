// First-use 9: how a project is tested, judged by its files, and what becomes of its
// untildone.json.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Refusal } from '../hosts/install/files.ts';
import { findTests, planChecks, schemaAddress } from './project-tests.ts';

let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-tests-')));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), text);
};
const commands = () => findTests(folder).map(({ command }) => command);
const scripts = (all: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ scripts: all });

const projects: readonly (readonly [
  string,
  Readonly<Record<string, string>>,
  readonly string[],
])[] = [
  ['nothing', {}, []],
  [
    'npm',
    { 'package.json': scripts({ test: 'vitest run', lint: 'biome', build: 'x' }) },
    ['npm test', 'npm run lint'],
  ],
  [
    'the placeholder of npm',
    { 'package.json': scripts({ test: 'echo "Error: no test specified" && exit 1' }) },
    [],
  ],
  [
    'scripts that are no texts',
    { 'package.json': scripts({ test: 5, check: '', lint: null }) },
    [],
  ],
  ['a package.json that is no JSON', { 'package.json': '{ "scripts": ' }, []],
  [
    'pnpm',
    { 'package.json': scripts({ test: 'x', check: 'y' }), 'pnpm-lock.yaml': '' },
    ['pnpm test', 'pnpm run check'],
  ],
  ['yarn', { 'package.json': scripts({ test: 'x' }), 'yarn.lock': '' }, ['yarn test']],
  [
    'bun with a script',
    { 'package.json': scripts({ test: 'x' }), 'bun.lock': '' },
    ['bun run test'],
  ],
  ['bun without one', { 'package.json': '{}', 'bun.lockb': '' }, ['bun test']],
  ['make', { Makefile: 'all: x\ntest: all\n\ttrue\ncheck := no\n' }, ['make test']],
  [
    'pytest in pyproject',
    { 'pyproject.toml': '[tool.pytest.ini_options]\n' },
    ['pytest'],
  ],
  [
    'pytest with uv',
    { 'pyproject.toml': 'dev = ["pytest>=8"]\n', 'uv.lock': '' },
    ['uv run pytest'],
  ],
  ['a pyproject without pytest', { 'pyproject.toml': '[project]\n' }, []],
  ['tox', { 'tox.ini': '' }, ['tox']],
  ['cargo', { 'Cargo.toml': '' }, ['cargo test']],
  ['go', { 'go.mod': '' }, ['go test ./...']],
  ['mix', { 'mix.exs': '' }, ['mix test']],
  [
    'gradle with its wrapper',
    { gradlew: '', 'build.gradle.kts': '' },
    ['./gradlew test'],
  ],
  ['gradle', { 'build.gradle': '' }, ['gradle test']],
  ['maven', { 'pom.xml': '' }, ['mvn test']],
  ['dotnet', { 'Shop.sln': '', 'Shop.csproj': '' }, ['dotnet test']],
  ['deno', { 'deno.json': '{}' }, ['deno test']],
  [
    'a task of deno',
    { 'deno.jsonc': '{ /* mine */ "tasks": { "test": "deno test -A" } }' },
    ['deno task test'],
  ],
  [
    'two languages',
    { 'package.json': scripts({ test: 'x' }), 'Cargo.toml': '' },
    ['npm test', 'cargo test'],
  ],
];

describe('findTests', () => {
  it.each(projects)('first-use 9: %s', (_name, files, expected) => {
    write(files);
    expect(commands()).toEqual(expected);
  });

  it('V10: no word of the project becomes part of a command, whatever its files are called and say', () => {
    write({
      'package.json': scripts({
        'test; rm -rf /': 'x',
        test: '\u001b[2J$(curl evil)',
        check: '`x`',
      }),
      'x;touch pwned.sln': '',
      Makefile: 'test;evil: \n$(shell touch pwned):\n',
    });
    expect(commands()).toEqual(['npm test', 'npm run check', 'dotnet test']);
  });

  it('a folder that is not there has no tests', () => {
    expect(findTests(join(folder, 'gone'))).toEqual([]);
  });
});

describe('planChecks', () => {
  const file = () => join(folder, 'untildone.json');

  it('first-use 9: a new file has the check and the goal, under the name that the project gives it', () => {
    write({ 'package.json': scripts({ test: 'x' }) });
    const { before, after } = planChecks(folder, ['npm test', './prove it.sh'], {});
    expect(before).toBeNull();
    expect(JSON.parse(after)).toEqual({
      checks: {
        tests: { command: 'npm test' },
        'prove-it-sh': { command: './prove it.sh' },
      },
      goal: ['tests', 'prove-it-sh'],
    });
  });

  it('first-use 9: a file that is there keeps its comments, order and layout', () => {
    const text =
      '{\n\t// mine\n\t"goal": ["lint"], // first\n\t"checks": { "lint": { "command": "biome" } }\n}\n';
    write({ 'untildone.json': text });
    const { after } = planChecks(folder, ['make test'], { mode: 'enforce' });
    expect(after).toBe(
      '{\n\t// mine\n\t"goal": ["lint", "make-test"], // first\n\t"checks": { "lint": { "command": "biome" }, "make-test": {"command":"make test"} }\n}\n',
    );
    writeFileSync(file(), after);
    expect(
      planChecks(folder, ['make test', 'biome'], {}).after,
      'a second time adds nothing',
    ).toBe(after);
  });

  it('a name that another check has is not taken', () => {
    write({ 'untildone.json': '{"checks":{"make-test":{"command":"other"}}}' });
    expect(JSON.parse(planChecks(folder, ['make test'], {}).after)).toMatchObject({
      checks: {
        'make-test': { command: 'other' },
        'make-test-2': { command: 'make test' },
      },
      goal: ['make-test-2'],
    });
  });

  it('V10: a link is left alone: it may lead to a file that is not the project’s', () => {
    write({ 'other.json': '{}' });
    symlinkSync(join(folder, 'other.json'), file());
    expect(() => planChecks(folder, ['make test'], {})).toThrow(Refusal);
    expect(readFileSync(join(folder, 'other.json'), 'utf8')).toBe('{}');
  });
});

describe('schemaAddress', () => {
  it('first-use 24: is that of the project’s own copy where it has one, and else of this copy', () => {
    expect(schemaAddress(folder) ?? 'file:///not/built/yet/dist/schema.json').toMatch(
      /^file:\/\/.*\/dist\/schema\.json$/,
    );
    mkdirSync(join(folder, 'node_modules/untildone/dist'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/untildone/dist/schema.json'), '{}');
    expect(schemaAddress(folder)).toBe('./node_modules/untildone/dist/schema.json');
  });
});
