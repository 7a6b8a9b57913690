// As a user gets it: the packed package out of a registry, by the host itself ("plugin":
// ["untildone"]) or by npx and init, in a home that nobody has used before. At the end
// every file that init touched is as it was.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ScriptedModel,
  startScriptedModel,
} from '../../../src/scripted-model/index.ts';
import { continuationsIn } from '../harness/continuations.ts';
import { changedFiles, type FileTexts, readFileTexts } from '../harness/file-texts.ts';
import { processesOf } from '../harness/processes-of.ts';
import { createProject, type Project } from '../harness/project.ts';
import { quitter } from '../harness/stories/story.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { publishPackage } from '../registry/publish-package.ts';
import { type Registry, startRegistry } from '../registry/start-registry.ts';
import { openConversation } from './conversation.ts';
import { seedHome, settleFolder } from './opencode.ts';
import { openOurRecord } from './our-record.ts';
import { runOpencode } from './run.ts';
import { startServe } from './serve.ts';
import { hasty } from './stage.ts';

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
const files = titles.map((title) => `${title}.txt`);
/**
 * The host's own package is there already; all else it may fetch, from our registry
 * alone.
 */
const online = { npm_config_offline: 'false' };

let project: Project;
let model: ScriptedModel;
let registry: Registry;

beforeAll(async () => {
  const made = createProject();
  // No UNTILDONE_HOME: the state directory is where it is for everyone.
  const inherited = Object.entries(made.environment).filter(
    ([name]) => name !== 'UNTILDONE_HOME',
  );
  // The host is quiet also when our own commands start it.
  const environment = {
    ...Object.fromEntries(inherited),
    PATH: path,
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  };
  project = {
    ...made,
    environment,
    state: join(made.home, '.local', 'state', 'untildone'),
  };
  seedHome(project);
  model = await startScriptedModel({ scripts: [quitter('quitter', ...titles)] });
  registry = await startRegistry(registryHome(), path);
  await publishPackage(registry, join(made.root, 'publisher'), path);
  writeFileSync(join(made.home, '.npmrc'), `registry=${registry.url}\n`);
}, 90_000);

function registryHome(): string {
  return join(project.root, 'registry');
}

afterAll(async () => {
  await registry?.close();
  await model?.close();
  project?.remove();
});

/**
 * A folder of its own with the settings that a person has, and a plugin in them only
 * where it is named.
 */
function createFolder(name: string, plugin: readonly string[]): string {
  const directory = join(project.root, 'folders', name);
  settleFolder(directory, project, model, { config: hasty, opencode: { plugin } });
  return directory;
}

async function npx(directory: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('npx', ['untildone', ...words], {
    cwd: directory,
    env: project.environment,
    timeout: 60_000,
  });
  return stdout;
}

/** One turn of `opencode run`: the continuations that the model received. */
async function runHost(directory: string): Promise<readonly string[]> {
  const given = { directory, prompt: '[script:quitter] Do it.', environment: online };
  const { exitCode, printed, requests } = await runOpencode(project, model, given);
  expect(exitCode, printed).toBe(0);
  return continuationsIn(requests);
}

/** One turn in a session of `opencode serve`, with its countdown. */
async function serveHost(directory: string): Promise<readonly string[]> {
  const before = model.requests.length;
  const serve = await startServe(project, { environment: online });
  const record = openOurRecord(project);
  try {
    const conversation = await openConversation(serve, directory);
    await conversation.say('[script:quitter] Do it.');
    await record.settled(conversation.id, 60);
    return continuationsIn(model.requests.slice(before));
  } finally {
    await record.close();
    await serve.end();
  }
}

const once = [expect.stringContaining('1/2 completed, 1 remaining')];

function expectWorkDone(directory: string): void {
  for (const file of files) expect(existsSync(join(directory, file)), file).toBe(true);
}

/**
 * Everything in the folder and the home but what npm and the host keep for themselves.
 */
function lookAt(directory: string): FileTexts {
  const own = [
    '.npm',
    '.cache',
    join('.local', 'share', 'opencode'),
    join('.local', 'state', 'opencode'),
  ];
  return new Map([...readFileTexts(directory), ...readFileTexts(project.home, own)]);
}

/** Which scopes it recognises, and every finding that is not plainly right. */
async function askDoctor(directory: string): Promise<object> {
  const { healthy, hosts } = JSON.parse(await npx(directory, 'doctor', '--json')) as {
    readonly healthy: boolean;
    readonly hosts: readonly {
      readonly host: string;
      readonly scopes: readonly string[];
      readonly findings: readonly { readonly name: string; readonly level: string }[];
    }[];
  };
  const host = hosts.find((one) => one.host === 'opencode');
  const remarks = host?.findings
    .filter(({ level }) => level !== 'ok')
    .map(({ name }) => name);
  return { healthy, scopes: host?.scopes, remarks };
}

describe('out of a registry, in a fresh home', () => {
  it('"plugin": ["untildone"]: the host installs it by itself and continues the agent, in run and in serve', async () => {
    const directory = createFolder('by-name', ['untildone']);
    expect(await runHost(directory)).toEqual(once);
    expectWorkDone(directory);
    expect(registry.requests()).toContain(
      `200 GET /untildone/-/untildone-${version}.tgz`,
    );
    const again = createFolder('by-name-again', ['untildone']);
    expect(await serveHost(again)).toEqual(once);
    expectWorkDone(again);
    expect(await askDoctor(again)).toEqual({ healthy: true, scopes: [], remarks: [] });
  });

  it('init, opencode, doctor, status, uninstall: nothing in the project, and the diff of every file is empty', async () => {
    const directory = createFolder('by-init', []);
    const before = lookAt(directory);
    await npx(directory, 'init', 'opencode');
    const touched = changedFiles(before, lookAt(directory));
    expect(touched.filter((file) => !file.startsWith(project.state))).toEqual([
      join(project.home, '.config/opencode/plugin/untildone.js'),
    ]);
    expect(await serveHost(directory)).toEqual(once);
    expectWorkDone(directory);
    expect(await askDoctor(directory)).toEqual({
      healthy: true,
      scopes: ['project'],
      remarks: [],
    });
    expect(await npx(directory, 'status')).toContain('ended: claimed');

    const elsewhere = createFolder('not-installed', []);
    expect(await runHost(elsewhere), 'a control: the host alone lets it go').toEqual([]);

    await npx(directory, 'init', 'opencode', '--uninstall');
    expect(
      changedFiles(before, lookAt(directory)).filter((file) => touched.includes(file)),
    ).toEqual([]);
    expect(existsSync(join(project.home, '.config/opencode/plugin'))).toBe(false);
  });

  it('--shared: the committed entry is fetched by the host, holds the agent, is known to doctor and goes again', async () => {
    const directory = createFolder('shared', ['./other.js']);
    writeFileSync(
      join(directory, 'other.js'),
      'export const Other = async () => ({});\n',
    );
    const settings = join(directory, 'opencode.json');
    const original = readFileSync(settings, 'utf8');
    await npx(directory, 'init', 'opencode', '--shared');
    const { plugin } = JSON.parse(readFileSync(settings, 'utf8')) as {
      readonly plugin: readonly string[];
    };
    expect(plugin).toEqual(['./other.js', `untildone@${version}`]);
    expect(await runHost(directory)).toEqual(once);
    expectWorkDone(directory);
    expect(await askDoctor(directory)).toEqual({
      healthy: true,
      scopes: ['shared'],
      remarks: [],
    });
    await npx(directory, 'init', 'opencode', '--shared', '--uninstall');
    expect(readFileSync(settings, 'utf8')).toBe(original);
  });

  it('nothing is left running, the registry included', async () => {
    await registry.close();
    await waitUntil(
      'every process ended',
      () => processesOf(project.home, registryHome()).length === 0,
    );
  });
});
