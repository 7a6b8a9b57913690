// Prints how many files a reader opens to follow one event through the product, by four
// walks that are really taken from source: a file counts when one of its functions was
// called on the way. Usage: npm run chores -- walks [--list]
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { Session as Inspector } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createChecker, startRunner } from '../../src/checks/checker.ts';
import { createCommandCheck } from '../../src/core/check-specs.ts';
import { defaultSettings } from '../../src/core/settings.ts';
import { createRuntime } from '../../src/engine/runtime.ts';
import {
  systemClock as clock,
  createIdentifiers,
  sha256,
} from '../../src/engine/system.ts';
import {
  after,
  plan,
  say,
  script,
  startScriptedModel,
} from '../../src/scripted-model/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { storePath } from '../../src/store/state-directory.ts';
import { anEvent } from '../../test/support/builders.ts';
import { createPluginCase, sessionId, todo } from '../../test/support/opencode-case.ts';
import {
  createPayload,
  promptPayload,
  startPayload,
  stopPayload,
} from '../../test/support/payload-cases.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'untildone-walks-'));
const environment = {
  PATH: process.env['PATH'] ?? '',
  HOME: home,
  UNTILDONE_HOME: join(home, 'state'),
};

/** A folder to work in, under git as most are. */
function createWorkspace(name: string): string {
  const folder = join(home, name);
  mkdirSync(folder);
  spawnSync('git', ['init', '--quiet'], { cwd: folder });
  writeFileSync(join(folder, 'readme.md'), 'A project.');
  return folder;
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly ranges: readonly { readonly count: number; readonly startOffset: number }[];
  }[];
}

/**
 * What starts at 0 is the module as a whole, which runs when it is loaded: no step of a
 * walk. A later take leaves it out.
 */
function filesCalled(scripts: readonly ScriptCoverage[]): Set<string> {
  const here = `${pathToFileURL(root).href.replace(/\/$/u, '')}/src/`;
  const called = scripts
    .filter(({ url }) => url.startsWith(here))
    .filter(({ functions }) =>
      functions.some(
        ({ ranges: [whole] }) =>
          whole !== undefined && whole.startOffset > 0 && whole.count > 0,
      ),
    );
  return new Set(called.map(({ url }) => `src/${url.slice(here.length)}`));
}

/** What processes wrote that were started with NODE_V8_COVERAGE. */
function filesOfProcesses(folder: string): Set<string> {
  const reports = readdirSync(folder).filter((name) => name.startsWith('coverage-'));
  return new Set(
    reports.flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as {
        result: ScriptCoverage[];
      };
      return [...filesCalled(result)];
    }),
  );
}

/** Files whose functions are called in this process while `work` goes on. */
async function during(work: () => Promise<void>): Promise<Set<string>> {
  const inspector = new Inspector();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', {
    callCount: true,
    detailed: false,
  });
  await inspector.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  inspector.disconnect();
  return filesCalled(result);
}

/** A Stop hook of Claude Code with a todo open: stdin → stdout. */
function stopHook(): Set<string> {
  const coverage = join(home, 'hook');
  const cwd = createWorkspace('hooked');
  const call = (payload: object, traced = false): string => {
    const run = spawnSync(
      process.execPath,
      ['--no-warnings', join(root, 'src/programs/hook.ts'), 'claude-code'],
      {
        cwd,
        input: JSON.stringify(payload),
        encoding: 'utf8',
        env: traced ? { ...environment, NODE_V8_COVERAGE: coverage } : environment,
      },
    );
    return run.stdout;
  };
  const place = { cwd };
  call(startPayload('startup', place));
  call(promptPayload('Do it.', place));
  call(createPayload('1', 'one', place));
  const answer = call(stopPayload(place), true);
  if (!answer.includes('TODO CONTINUATION'))
    throw new Error(`The hook did not continue: ${answer}`);
  return filesOfProcesses(coverage);
}

/**
 * OpenCode falls idle with todos open; the countdown passes, and the continuation is in
 * the session.
 */
async function idleToInjection(): Promise<Set<string>> {
  const plugin = await createPluginCase({ directory: createWorkspace('opencode') });
  await plugin.host.says(sessionId, 'do it');
  await plugin.host.writesTodos(sessionId, [todo('one'), todo('two')]);
  await plugin.settle();
  const files = await during(async () => {
    await plugin.host.answers(sessionId, 'All done!');
    await plugin.host.idles(sessionId);
    await plugin.rest();
  });
  const [decision] = await plugin.decisions();
  if (decision?.decision.answer !== 'continue')
    throw new Error('The plugin did not continue.');
  await plugin.close();
  return files;
}

/**
 * `untildone run`: from the model's "done" with a todo open to the request that carries
 * the continuation.
 */
async function oneStopOfRun(): Promise<Set<string>> {
  const workspace = createWorkspace('run');
  const preload = join(home, 'preload.mjs');
  writeFileSync(
    preload,
    `import { Session } from 'node:inspector/promises';
const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('message', async () => process.send((await inspector.post('Profiler.takePreciseCoverage')).result));
process.channel?.unref();
`,
  );
  let child: ChildProcess | null = null;
  let requests = 0;
  let files = new Set<string>();
  const take = () =>
    new Promise<ScriptCoverage[]>((resolve) => {
      child?.once('message', (scripts) => resolve(scripts as ScriptCoverage[]));
      child?.send('take');
    });
  // The first answer plans, the second says "done": the walk lies between that one and
  // the next request. The second comes a little later than it could, so that the counting
  // begins before it.
  const steps = [plan('one'), after(300, say('All done!')), say('I stop here.')];
  const model = await startScriptedModel({
    scripts: [script('walk', steps)],
    onRequest: () => {
      requests += 1;
      if (requests === 2) void take();
      if (requests === 3) void take().then((scripts) => (files = filesCalled(scripts)));
    },
  });
  const argv = [
    'run',
    'Do it.',
    '--model',
    'openai/scripted',
    '--json',
    '--max-stagnant=1',
  ];
  child = fork(join(root, 'src/cli/bin.ts'), argv, {
    cwd: workspace,
    execArgv: ['--no-warnings', '--import', preload],
    env: { ...environment, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${model.url}/v1` },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await new Promise((resolve) => child?.once('exit', resolve));
  await model.close();
  if (files.size === 0) throw new Error('The run made no third request.');
  return files;
}

/** A check of the goal: asked for at a stop, run by the runner, its result decided on. */
async function oneCheck(): Promise<Set<string>> {
  const workspace = createWorkspace('check');
  const coverage = join(home, 'runner');
  const env = { ...environment, NODE_V8_COVERAGE: coverage };
  const store = await openSqliteStore({ path: storePath(environment), clock });
  const spec = createCommandCheck('goal', ['true']);
  const identifiers = createIdentifiers(clock);
  const checker = createChecker({
    store,
    clock,
    identifiers,
    signal: () => new AbortController().signal,
    startRunner: (directory, holder) => {
      startRunner(directory, holder, env, join(root, 'src/programs/check-runner.ts'));
    },
  });
  const policy = {
    settings: defaultSettings,
    goalChecks: ['goal'],
    checks: { goal: spec },
  };
  const runtime = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy: () => policy,
    checker,
  });
  const base = () => ({ id: identifiers.next(), sessionId: 'checked', at: clock.now() });
  const opened = anEvent.sessionOpened(base());
  await runtime.handle({
    ...opened,
    descriptor: { ...opened.descriptor, directory: workspace },
  });
  await runtime.handle(anEvent.humanSpoke(base()));
  await runtime.handle(
    anEvent.todosCreated({ ...base(), items: [{ id: 'todo', title: 'one' }] }),
  );
  await runtime.handle(anEvent.toolEnded(base()));
  await runtime.handle(anEvent.todoCompleted({ ...base(), todoId: 'todo' }));
  const here = await during(async () => {
    const { decision } = await runtime.ask(
      anEvent.stopAttempted(base()),
      clock.now() + 60_000,
    );
    if (decision?.outcome !== 'done')
      throw new Error(`The check did not settle it: ${decision?.sentence}`);
  });
  await store.close();
  // The runner writes its report when it ends, a moment after its result.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  return new Set([...here, ...filesOfProcesses(coverage)]);
}

const walks: readonly (readonly [string, () => Set<string> | Promise<Set<string>>])[] = [
  ['A Stop hook call', stopHook],
  ['OpenCode: idle to injection', idleToInjection],
  ['One stop of `run`', oneStopOfRun],
  ['One check', oneCheck],
];

try {
  for (const [name, walk] of walks) {
    const files = [...(await walk())]
      .filter((file) => !file.startsWith('src/core/'))
      .sort();
    const around = files.filter((file) => !/^src\/(?:engine|store|checks)\//u.test(file));
    console.log(
      `${name}: ${files.length} files outside core, ${around.length} of them around the engine`,
    );
    if (process.argv.includes('--list'))
      for (const file of files) console.log(`  ${file}`);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
