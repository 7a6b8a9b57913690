// Breaks the product on purpose, one mutation of test/mutations.ts at a time, and asks
// whether a test notices. A run that could not start proves nothing: only a failed test,
// with the defect loaded, counts as killed.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutation, mutations } from '../../test/mutations.ts';
import { applyMutation, findMutation } from './mutation-plugin.ts';

/**
 * Where the tests stand that must notice: those of the heart, not those that start whole
 * programs.
 */
const testFolders = ['src/core', 'src/engine', 'src/store', 'src/tools'];
/**
 * Two processes fill two cores; more would only make the slow ones look like hung ones.
 */
const parallel = 2;
/**
 * A defect may make a loop endless. Too short would call a slow run killed, so it is
 * generous.
 */
const shortestLimitMs = 60_000;

type Verdict =
  | { readonly kind: 'killed'; readonly by: string }
  | { readonly kind: 'survived' }
  | { readonly kind: 'broken'; readonly reason: string };

interface TestRun {
  readonly failedTest: string | null;
  readonly hung: boolean;
  readonly planted: boolean;
  readonly succeeded: boolean;
  readonly complaint: string;
}

interface JsonReport {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    /** Why a file could not be loaded; empty otherwise. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
    }[];
  }[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'untildone-mutations-'));

let runs = 0;

function everywhere(): string[] {
  return testFolders.filter((folder) => existsSync(join(root, folder)));
}

/**
 * The tests beside the changed file: most defects are seen there, in a second. The slow
 * ones are left for later.
 */
function nearby(file: string): string[] {
  const folder = posix.dirname(file);
  const names = readdirSync(join(root, folder)).filter((name) =>
    name.endsWith('.test.ts'),
  );
  return names
    .filter((name) => !name.includes('properties'))
    .map((name) => `${folder}/${name}`);
}

function runTests(
  id: string | null,
  limitMs: number,
  tests: readonly string[],
): Promise<TestRun> {
  const name = `${id ?? 'unchanged'}-${++runs}`;
  const reportFile = join(scratch, `${name}.json`);
  const marker = join(scratch, `${name}.planted`);
  // Empty: nothing is planted, and the slow tests take the short way that they take with
  // a defect.
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    NO_COLOR: '1',
    UNTILDONE_MUTATION: id ?? '',
  };
  environment['UNTILDONE_MUTATION_MARKER'] = marker;
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        'run',
        '--bail',
        '1',
        '--maxWorkers',
        '1',
        '--no-isolate',
        '--reporter',
        'json',
        '--outputFile',
        reportFile,
        ...tests,
      ],
      // Its own process group, so that a hung run ends together with its workers.
      { cwd: root, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let complaint = '';
    let hung = false;
    const collect = (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-2_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const limit = setTimeout(() => {
      hung = true;
      if (child.pid) process.kill(-child.pid, 'SIGKILL');
    }, limitMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(limit);
      const report = readReport(reportFile);
      resolve({
        failedTest: firstFailure(report),
        hung,
        planted: existsSync(marker),
        succeeded: code === 0 && (report?.numPassedTests ?? 0) > 0,
        complaint: `${loadErrors(report)}${complaint}`.trim(),
      });
    });
  });
}

function readReport(file: string): JsonReport | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as JsonReport) : null;
}

function firstFailure(report: JsonReport | null): string | null {
  const results = report?.testResults.flatMap((result) => result.assertionResults) ?? [];
  return results.find((result) => result.status === 'failed')?.fullName ?? null;
}

function loadErrors(report: JsonReport | null): string {
  return (report?.testResults ?? [])
    .map((result) => result.message.slice(0, 500))
    .join('');
}

function judge(run: TestRun): Verdict {
  if (!run.planted)
    return {
      kind: 'broken',
      reason: `no test loads the file, or the run did not start.\n${run.complaint}`,
    };
  if (run.hung) return { kind: 'killed', by: 'the tests no longer end' };
  if (run.failedTest) return { kind: 'killed', by: run.failedTest };
  // No test failed although the run did not succeed: a file that no longer loads says
  // nothing about tests.
  return run.succeeded ? { kind: 'survived' } : { kind: 'broken', reason: run.complaint };
}

/** Near tests first; what they do not notice must be noticed by all of them together. */
async function tryOut({ id, file }: Mutation, limitMs: number): Promise<Verdict> {
  const near = nearby(file);
  const first = near.length > 0 ? judge(await runTests(id, limitMs, near)) : null;
  return first?.kind === 'killed'
    ? first
    : judge(await runTests(id, limitMs, everywhere()));
}

/**
 * An outdated entry is an error before anything runs, not a surprise after ten minutes.
 */
function selectMutations(ids: readonly string[]): readonly Mutation[] {
  const selected = ids.length > 0 ? ids.map(findMutation) : mutations;
  for (const mutation of selected)
    applyMutation(readFileSync(join(root, mutation.file), 'utf8'), mutation);
  return selected;
}

async function main(ids: readonly string[]): Promise<number> {
  const selected = selectMutations(ids);
  if (selected.length === 0) {
    console.error('test/mutations.ts lists no mutation, so nothing was tried.');
    return 1;
  }
  const started = Date.now();
  const unchanged = await runTests(null, 600_000, everywhere());
  if (!unchanged.succeeded) {
    console.error(
      `The tests fail without any mutation: ${unchanged.failedTest ?? unchanged.complaint}`,
    );
    return 1;
  }
  const limitMs = Math.max(shortestLimitMs, 5 * (Date.now() - started));
  const verdicts = new Map<string, Verdict>();
  const waiting = [...selected];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const verdict = await tryOut(next, limitMs);
      verdicts.set(next.id, verdict);
      console.log(describe(next, verdict));
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  const killed = [...verdicts.values()].filter(
    (verdict) => verdict.kind === 'killed',
  ).length;
  console.log(`\nMutation score: ${killed} of ${selected.length} killed`);
  return killed === selected.length ? 0 : 1;
}

function describe(mutation: Mutation, verdict: Verdict): string {
  switch (verdict.kind) {
    case 'killed':
      return `killed    ${mutation.id}  (${verdict.by})`;
    case 'survived':
      return `SURVIVED  ${mutation.id}  in ${mutation.file}: ${mutation.why}`;
    case 'broken':
      return `BROKEN    ${mutation.id}  ${verdict.reason}`;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
