// As a user gets it: the packed package out of a registry by npx, in a home and projects
// that nobody has used before, with the commands of the README and no others. At the end
// every file that init touched is as it was.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  complete,
  plan,
  say,
  script,
  startScriptedModel,
  untilAllDone,
  writeFile,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { changedFiles, type FileTexts, readFileTexts } from '../harness/file-texts.ts';
import { processesOf } from '../harness/processes-of.ts';
import { createProject, type Project } from '../harness/project.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { publishPackage } from '../registry/publish-package.ts';
import { type Registry, startRegistry } from '../registry/start-registry.ts';
import { startClaude } from './claude.ts';

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const { version } = JSON.parse(
  readFileSync(fromHere('../../../package.json'), 'utf8'),
) as {
  readonly version: string;
};
const path = [fromHere('node_modules/.bin'), process.env['PATH'] ?? '/usr/bin:/bin'].join(
  delimiter,
);
const titles = ['alpha', 'beta'];

/** Says after each todo that everything is done. */
const quitter = script('quitter', [
  plan(...titles),
  untilAllDone((title) => [
    writeFile(`${title}.txt`, title),
    complete(title),
    say('Everything is done.'),
  ]),
]);

interface DoctorReport {
  readonly healthy: boolean;
  readonly hosts: readonly {
    readonly host: string;
    readonly scopes: readonly string[];
    readonly findings: readonly { readonly name: string; readonly level: string }[];
  }[];
}

let first: Project;
let second: Project;
let registry: Registry;

beforeAll(async () => {
  const made = createProject();
  const { home } = made;
  // No UNTILDONE_HOME: the state directory is where it is for everyone.
  const inherited = Object.entries(made.environment).filter(
    ([name]) => name !== 'UNTILDONE_HOME',
  );
  const environment = { ...Object.fromEntries(inherited), PATH: path };
  first = { ...made, environment, state: join(home, '.local', 'state', 'untildone') };
  const other = createProject();
  second = { ...other, home, environment, state: first.state };
  registry = await startRegistry(registryHome(), path);
  await publishPackage(registry, join(made.root, 'publisher'), path);
  writeFileSync(join(home, '.npmrc'), `registry=${registry.url}\n`);
}, 90_000);

function registryHome(): string {
  return join(first.root, 'registry');
}

afterAll(async () => {
  await registry?.close();
  second?.remove();
  first?.remove();
});

async function npx(
  { directory, environment }: Project,
  ...words: readonly string[]
): Promise<string> {
  const { stdout } = await promisify(execFile)('npx', ['untildone', ...words], {
    cwd: directory,
    env: environment,
    timeout: 60_000,
  });
  return stdout;
}

/** One turn of `claude -p`; the continuations that the model received. */
async function runClaude(project: Project): Promise<readonly string[]> {
  const model = await startScriptedModel({ scripts: [quitter] });
  const claude = startClaude(project, model, { prompt: 'Do it.' });
  try {
    const { code } = await claude.ended;
    expect(code, claude.printed()).toBe(0);
    return continuationsIn(model.requests);
  } finally {
    claude.end();
    await model.close();
  }
}

/** Everything in the project and the home but npm's own cache. */
function lookAt(project: Project): FileTexts {
  return new Map([
    ...readFileTexts(project.directory),
    ...readFileTexts(project.home, ['.npm']),
  ]);
}

/** Which scopes it recognises, and every finding that is not plainly right. */
async function askDoctor(project: Project): Promise<object> {
  const { healthy, hosts } = JSON.parse(
    await npx(project, 'doctor', '--json'),
  ) as DoctorReport;
  const host = hosts.find((one) => one.host === 'claude-code');
  const remarks = host?.findings
    .filter(({ level }) => level !== 'ok')
    .map(({ name }) => name);
  return { healthy, scopes: host?.scopes, remarks };
}

/** What the person reads about a run that was continued once and then let go. */
async function expectRunOnRecord(project: Project): Promise<void> {
  expect(project.files()).toEqual(titles.map((title) => `${title}.txt`));
  expect(await npx(project, 'status')).toContain('ended: claimed');
  expect(await npx(project, 'why')).toMatch(
    /: may stop: claimed\. .*\n +rule +nothing-open/,
  );
}

/**
 * Claude Code writes this file by itself as well; the folders of this test have our name
 * in their path.
 */
function stateOfHost({ home }: Project): string {
  const text = readFileSync(join(home, '.claude.json'), 'utf8');
  return [first, second].reduce((rest, { root }) => rest.replaceAll(root, ''), text);
}

describe('out of a registry, in a fresh home', () => {
  it('init, claude, doctor, status, why, uninstall: the diff of every file that init touched is empty', async () => {
    const before = lookAt(first);
    await npx(first, 'init', 'claude-code');
    const touched = changedFiles(before, lookAt(first));
    expect(touched.filter((file) => !file.startsWith(first.state))).toEqual([
      join(first.home, '.claude.json'),
      join(first.directory, '.claude/settings.local.json'),
      join(first.directory, '.git/info/exclude'),
    ]);
    expect(registry.requests()).toContain(
      `200 GET /untildone/-/untildone-${version}.tgz`,
    );
    expect(stateOfHost(first)).toContain('untildone');

    expect(await runClaude(first)).toEqual([
      expect.stringContaining('1/2 completed, 1 remaining'),
    ]);
    expect(await askDoctor(first)).toEqual({
      healthy: true,
      scopes: ['project'],
      remarks: [],
    });
    await expectRunOnRecord(first);

    await npx(first, 'init', 'claude-code', '--uninstall');
    const different = changedFiles(before, lookAt(first)).filter((file) =>
      touched.includes(file),
    );
    expect(different, 'which Claude Code writes itself').toEqual([
      join(first.home, '.claude.json'),
    ]);
    expect(stateOfHost(first)).not.toContain('untildone');
    expect(existsSync(join(first.directory, '.claude'))).toBe(false);
  });

  it('--shared: the committed command is fetched by npx, holds the agent, is known to doctor and goes again', async () => {
    const settings = '.claude/settings.json';
    mkdirSync(join(second.directory, '.claude'));
    second.write(settings, '{\n    "includeCoAuthoredBy" : false }  \n');
    const before = lookAt(second);
    await npx(second, 'init', 'claude-code', '--shared');
    const touched = changedFiles(before, lookAt(second));
    expect(touched.filter((file) => !file.startsWith(second.state))).toEqual([
      join(second.directory, settings),
      join(second.directory, '.mcp.json'),
    ]);
    const commands = second.read(settings)?.match(/"command": "[^"]*"/g);
    expect(new Set(commands)).toEqual(
      new Set([
        `"command": "npx -y --fetch-retries=0 untildone@${version} hook claude-code"`,
      ]),
    );

    expect(await runClaude(second)).toEqual([
      expect.stringContaining('1/2 completed, 1 remaining'),
    ]);
    expect(await askDoctor(second), 'nobody has trusted the folder').toEqual({
      healthy: true,
      scopes: ['shared'],
      remarks: ['grants'],
    });
    await expectRunOnRecord(second);

    await npx(second, 'init', 'claude-code', '--shared', '--uninstall');
    expect(
      changedFiles(before, lookAt(second)).filter((file) => touched.includes(file)),
    ).toEqual([]);
    expect(stateOfHost(second)).not.toContain('untildone');
  });

  it('nothing is left running, the registry included', async () => {
    await registry.close();
    await waitUntil(
      'every process ended',
      () => processesOf(first.home, registryHome()).length === 0,
    );
  });
});
