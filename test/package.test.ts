// Holds package.json and its lock to what the package promises: nothing is installed
// beside it, a fresh clone installs the same versions everywhere, and what is bundled
// shows its licence.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import {
  packageFolder,
  thirdPartyLicenses,
} from '../scripts/build/third-party-licenses.ts';
import { type NamedProgram, namedPrograms } from '../scripts/named-programs.ts';
import { missingRows, platformOf } from '../scripts/package/complete-lock.ts';
import { linksOf } from './docs/fences.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const manifest = readJson('package.json');
/** For people with the repository, and not in the package. */
const forContributors = new Set(['CONTRIBUTING.md', 'docs/architecture.md']);
/** They install what only they need. */
const testFolders = globSync('test/{frameworks,hosts/*}/package.json', { cwd: root })
  .map((path) => dirname(path))
  .sort();

describe('package.json', () => {
  it('installs nothing beside itself: no dependencies, and every peer is optional', () => {
    expect(manifest.dependencies).toBeUndefined();
    expect(manifest.optionalDependencies).toBeUndefined();
    for (const peer of Object.keys(manifest.peerDependencies)) {
      expect(manifest.peerDependenciesMeta[peer], peer).toEqual({ optional: true });
    }
  });

  it('names only scripts whose files exist, and so do the tables of named programs', () => {
    const programs = Object.values(namedPrograms).flatMap(Object.values<NamedProgram>);
    const words = programs.flatMap(({ runs, first }) => [...runs, first ?? '']);
    const commands = [...Object.values(manifest.scripts), ...words].join('\n');
    const files =
      commands.match(/(?<!\S)(?:\.ci|scripts|bench|test|node_modules)\/\S+/g) ?? [];
    expect(files).toContain('scripts/build/build.ts');
    expect(files).toContain('bench/hosts/hook-cost.ts');
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it('has a script for each table of named programs', () => {
    for (const name of Object.keys(namedPrograms))
      expect(manifest.scripts[name]).toMatch(new RegExp(`run-named\\.ts ${name}$`));
  });

  it('first-use 28: carries the pages that help texts name, and every link in them leads to something packed', () => {
    // What is in dist/ depends on the last build; no page links to it.
    const output = execFileSync(
      'npm',
      ['pack', '--dry-run', '--json', '--ignore-scripts'],
      {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    const packed: string[] = JSON.parse(output)[0].files.map(
      ({ path }: { path: string }) => path,
    );
    expect(packed).toContain('docs/README.md');
    expect(packed).toContain('docs/reference/commands.md');
    expect(
      packed.filter((path) => /^docs\/(architecture|decisions|\.vitepress)/.test(path)),
    ).toEqual([]);
    const dead = packed
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) =>
        linksOf(readFileSync(join(root, page), 'utf8')).map((link) => [
          page,
          posix.join(dirname(page), link),
        ]),
      )
      .filter(
        ([, target]) =>
          !packed.some((path) => path === target || path.startsWith(`${target}/`)),
      )
      // The README is the first page of the repository too.
      .filter(([page, target]) => page !== 'README.md' || !forContributors.has(target!))
      .map(([page, target]) => `${page} → ${target}`);
    expect(dead).toEqual([]);
  });

  it('pins every development dependency to one version, and so does each folder of tests', () => {
    const pinned = [
      manifest.devDependencies,
      ...testFolders.map((folder) => readJson(`${folder}/package.json`).dependencies),
    ].flatMap(Object.entries<string>);
    const loose = pinned.filter(
      ([, range]) => !/^\d+\.\d+\.\d+(-alpha\.\d+)?$/.test(range),
    );
    expect(loose).toEqual([]);
  });

  it('has the zod that the frameworks have, since its types must fit theirs', () => {
    const { dependencies } = readJson('test/frameworks/package.json');
    expect(dependencies.zod).toBe(manifest.devDependencies.zod);
  });
});

describe('what the package shows', () => {
  function namesOf(source: string): string[] {
    const lists = readFileSync(join(root, source), 'utf8').matchAll(
      /export (?:type )?\{([^}]*)\}/g,
    );
    return [...lists].flatMap(([, list = '']) =>
      list.split(',').flatMap((name) => name.replace('type ', '').trim() || []),
    );
  }

  // A name that joins them stays for years: who needs it?
  it.each([
    [
      'src/index.ts',
      'Checker Clock Decision ErrorCode Event Explanation Outcome PartialSettings Policy Reason Session SessionOptions SessionTool Settings State StopAnswer StopAttempt Store Todo ToldEvent UntildoneError continuationMarker createState decide defaultSettings exitCodes openSession openSqliteStore parseEvent stopRules',
    ],
    [
      'src/guard/index.ts',
      'GuardTransformOptions StopAnswer StopFacts createGuard sessionGuard toTransform',
    ],
    [
      'src/simulated/index.ts',
      'Happening ScriptedHost ScriptedHostOptions SimulatedClock createScriptedHost createSequentialIdentifiers createSimulatedClock',
    ],
    [
      'src/tools/index.ts',
      'TodoToolName ToolFormat todoToolFormat as toolsFor toolFormats',
    ],
  ])('15: %s shows these names and no internals', (source, names) => {
    expect(namesOf(source).sort().join(' ')).toBe(names);
  });

  it.each([
    '01-first-plan',
    '02-ai-sdk',
    '03-durable-plan',
    '06-ai-sdk-stream',
    '07-langchain',
    '08-openai-agents',
    '09-mastra',
    '10-claude-agent-sdk',
    '11-deepagents',
  ])('15: examples/%s.ts has at most 1,400 characters of code', (name) => {
    expect(countCode([join(root, `examples/${name}.ts`)])).toBeLessThanOrEqual(1400);
  });

  it.each(globSync('src/frameworks/*/', { cwd: root }))(
    '15: %s has at most 5,000 characters of code',
    (folder) => {
      const cwd = join(root, folder);
      const sources = globSync('*.ts', { cwd, exclude: ['*.test.ts'] });
      const paths = sources.map((name) => join(cwd, name));
      expect(countCode(paths)).toBeLessThanOrEqual(5000);
    },
  );
});

/** Characters without comments, indentation and blank lines: lines can be packed. */
function countCode(paths: readonly string[]): number {
  const lines = paths.flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  const code = lines
    .map((line) => line.trim())
    .filter((line) => !/^(\/\/|\/?\*)/.test(line));
  return code.join('').length;
}

describe.each(['.', ...testFolders])('the lock in %s', (folder) => {
  const path = join(folder, 'package-lock.json');

  it('names no registry', () => {
    expect(readFileSync(join(root, path), 'utf8')).not.toMatch(
      /"resolved"|https?:\/\/[^"]*registry/,
    );
  });

  it('lists the optional packages of every platform, so that npm ci takes it (npm run chores -- lock)', () => {
    expect(missingRows(readJson(path).packages)).toEqual({});
  });
});

describe('completing the lock', () => {
  it('reads the platform from the name', () => {
    expect(platformOf('@biomejs/cli-darwin-arm64')).toEqual({
      os: ['darwin'],
      cpu: ['arm64'],
    });
    expect(platformOf('@rolldown/binding-linux-arm64-musl')).toEqual({
      os: ['linux'],
      cpu: ['arm64'],
      libc: ['musl'],
    });
    expect(platformOf('@rolldown/binding-wasm32-wasi')).toEqual({ cpu: ['wasm32'] });
    expect(platformOf('left-pad')).toBeNull();
  });

  it('refuses to invent a row for a package that names no platform or no exact version', () => {
    expect(() =>
      missingRows({ a: { optionalDependencies: { 'left-pad': '1.0.0' } } }),
    ).toThrow('left-pad');
    expect(() =>
      missingRows({ a: { optionalDependencies: { 'x-linux-x64': '^1.0.0' } } }),
    ).toThrow('x-linux-x64');
  });
});

describe('licences of bundled code', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'untildone-licences-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  function install(name: string, files: Record<string, string>): void {
    const folder = join(scratch, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    const text = JSON.stringify({ name, version: '1.2.3', license: 'MIT' });
    for (const [file, content] of Object.entries({ 'package.json': text, ...files })) {
      writeFileSync(join(folder, file), content);
    }
  }

  it('finds the innermost package of a bundled file', () => {
    expect(packageFolder('src/core/x.ts')).toBeNull();
    expect(packageFolder('node_modules/zod/v4/index.js')).toBe('node_modules/zod');
    expect(packageFolder('node_modules/a/node_modules/@b/c/x.js')).toBe(
      'node_modules/a/node_modules/@b/c',
    );
  });

  it('shows each text once, and fails when a bundled package has none', () => {
    install('shown', { 'LICENSE.md': 'You may.' });
    install('@scope/silent', {});
    install('alike', { LICENSE: 'You may.' });
    const inputs = ['shown/a.js', 'shown/b.js', 'alike/c.js'].map(
      (file) => `node_modules/${file}`,
    );
    const licences = thirdPartyLicenses(scratch, [...inputs, 'src/x.ts']);
    expect(licences.match(/You may\./g)).toHaveLength(1);
    expect(licences.match(/^(?:alike|shown) /gm)).toHaveLength(2);
    expect(() =>
      thirdPartyLicenses(scratch, ['node_modules/@scope/silent/a.js']),
    ).toThrow('@scope/silent');
  });
});
