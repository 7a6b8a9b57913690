// What it takes from `untildone run` without a terminal to its first call to the model,
// beside a bare `node -e 0` and a bare Node that makes one request, all in turns within
// one run: wall time, and processor time, which swings less where other work runs (Linux
// only; 0 elsewhere). Medians. It judges nothing but that every start made its call.
// Usage: npm run bench -- first-call [RUNS]
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { say, script, startScriptedModel } from '../../src/scripted-model/index.ts';
import { median } from '../../test/support/prefix-share.ts';

const runs = Number(process.argv[2] ?? 20);
const program = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-first-call-')));
const project = join(scratch, 'project');
mkdirSync(join(project, '.git'), { recursive: true });

let called: () => void = () => {};
const model = await startScriptedModel({
  scripts: [script('first', [say('Hello.')])],
  keepRequests: 1,
  onRequest: () => called(),
});
const server = createServer((_request, response) => {
  called();
  response.end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = server.address();
const bareUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
const env = {
  PATH: process.env['PATH'] ?? '',
  HOME: join(scratch, 'home'),
  UNTILDONE_HOME: join(scratch, 'state'),
  OPENAI_BASE_URL: model.url,
  OPENAI_API_KEY: 'sk-first-call-0123456789',
};

/** Of a process that runs, with all its threads, in milliseconds. */
function processorTime(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return 0;
  const times = readdirSync(tasks).map((task) => {
    try {
      return Number(readFileSync(join(tasks, task, 'schedstat'), 'utf8').split(' ')[0]);
    } catch {
      // Safe: the thread has just ended; it had not done much.
      return 0;
    }
  });
  return times.reduce((sum, nanoseconds) => sum + nanoseconds / 1e6, 0);
}

interface Taken {
  readonly wall: number;
  readonly processor: number;
}

/** Until its request has arrived; `calls` false: until its end. */
function time(words: readonly string[], calls = true): Promise<Taken> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let taken: Taken | null = null;
    called = () => {
      taken ??= { wall: performance.now() - began, processor: processorTime(child.pid) };
    };
    const child = spawn(process.execPath, words, { cwd: project, env, stdio: 'ignore' });
    child.on('error', reject);
    child.on('close', (code) => {
      if (!calls) taken = { wall: performance.now() - began, processor: 0 };
      if (taken === null) reject(new Error(`It made no call and ended with ${code}.`));
      else resolve(taken);
    });
  });
}

const kinds = {
  bare: () => time(['-e', '0'], false),
  request: () => time(['-e', `fetch(${JSON.stringify(bareUrl)})`]),
  run: () => time([program, 'run', 'Say hello.', '--json', '--model', 'openai/first']),
};
const taken: Record<keyof typeof kinds, Taken[]> = { bare: [], request: [], run: [] };
const middle = (name: keyof typeof kinds, of: keyof Taken): number =>
  median(taken[name].map((each) => each[of])) ?? 0;

try {
  // The first start of each fills the caches of the system and of our own program.
  for (const kind of Object.values(kinds)) await kind();
  for (let index = 0; index < runs; index++) {
    for (const [name, kind] of Object.entries(kinds))
      taken[name as keyof typeof kinds].push(await kind());
  }
  const shown = (name: keyof typeof kinds, of: keyof Taken) =>
    `${middle(name, of).toFixed(0)} ms`;
  const ratio = (of: keyof Taken) =>
    (middle('run', of) / middle('request', of)).toFixed(2);
  print(
    `from the start to the first call to the model, without a terminal, ${runs} runs each (medians):`,
  );
  print(`  node -e 0, to its end          ${shown('bare', 'wall')}`);
  print(
    `  node -e fetch, to its request  ${shown('request', 'wall')}, processor ${shown('request', 'processor')}`,
  );
  print(
    `  untildone run                  ${shown('run', 'wall')}, processor ${shown('run', 'processor')}`,
  );
  print(
    `  of bare Node with a request    ${ratio('wall')}, processor ${ratio('processor')}`,
  );
} finally {
  server.close();
  await model.close();
  rmSync(scratch, { recursive: true, force: true });
}
