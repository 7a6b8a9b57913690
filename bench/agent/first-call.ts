// How long it takes from `untildone run` without a terminal to its first call to the model, beside a bare `node -e 0` and
// a bare Node that makes one request, all in turns within one run (issue Agent, must hold 4). It judges nothing but that
// every start made its call. Usage: npm run bench:first-call [-- RUNS]
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
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

/** Milliseconds until the first request, or until the end of a process that makes none. */
function time(words: readonly string[], calls: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let taken: number | null = null;
    called = () => {
      taken ??= performance.now() - began;
    };
    const child = spawn(process.execPath, words, { cwd: project, env, stdio: 'ignore' });
    child.on('error', reject);
    child.on('close', (code) => {
      const end = performance.now() - began;
      if (calls && taken === null) reject(new Error(`It made no call and ended with ${code}.`));
      else resolve(calls ? (taken ?? end) : end);
    });
  });
}

const kinds = {
  bare: () => time(['-e', '0'], false),
  request: () => time(['-e', `fetch(${JSON.stringify(bareUrl)})`], true),
  run: () => time([program, 'run', 'Say hello.', '--json', '--model', 'openai/first'], true),
} as const;
const times: Record<keyof typeof kinds, number[]> = { bare: [], request: [], run: [] };

try {
  // The first start of each fills the caches of the system.
  for (const kind of Object.values(kinds)) await kind();
  for (let index = 0; index < runs; index++) {
    for (const [name, kind] of Object.entries(kinds)) times[name as keyof typeof kinds].push(await kind());
  }
  const [bare, request, run] = [times.bare, times.request, times.run].map((values) => median(values) ?? 0);
  print(`from the start to the first call to the model, without a terminal, ${runs} runs each (medians):`);
  print(`  node -e 0, to its end          ${bare?.toFixed(0)} ms`);
  print(`  node -e fetch, to its request  ${request?.toFixed(0)} ms`);
  print(
    `  untildone run                  ${run?.toFixed(0)} ms: ${((run ?? 0) / (bare || 1)).toFixed(2)} of bare Node, ${((run ?? 0) / (request || 1)).toFixed(2)} of bare Node with a request`,
  );
} finally {
  server.close();
  await model.close();
  rmSync(scratch, { recursive: true, force: true });
}
