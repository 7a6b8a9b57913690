// The tests of one host, inside the network that run-host-tests.ts made for it:
// `run-one-host.ts HOST REPORT …`. It writes its counts, the result of each story and
// whom the host tried to call into the report.
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { openEar } from './loopback.ts';

export interface HostResult {
  readonly host: string;
  readonly version: string;
  readonly passed: number;
  readonly failed: number;
  /** Whom it tried to call outside; empty: nobody, or nobody listened. */
  readonly loud: readonly string[];
  /** By the name of the test: how the promise was kept, or "broken". */
  readonly stories: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/** Told in CI too, beside the suite. */
const quickFiles = [
  'suite',
  'framework',
  'example',
  'types',
  'attach',
  'registry',
  'drive',
  'requests',
];

const [host = '', report = '', ...words] = process.argv.slice(2);
const began = Date.now();
const only =
  words.find((word) => word.startsWith('--only='))?.slice('--only='.length) ?? null;
const isSample = words.includes('--sample');
const ear = process.env['UNTILDONE_HOST_ISOLATED'] === '1' ? await openEar() : null;
const names = isSample ? `@(${quickFiles.join('|')})` : '*';
const vitest = await startVitest('test', [`test/hosts/${host}/`], {
  root: fileURLToPath(new URL('../../..', import.meta.url)),
  config: false,
  watch: false,
  include: [`test/hosts/${host}/${names}.test.ts`],
  exclude: ['**/node_modules/**'],
  globalSetup: ['test/support/temporary-root.ts'],
  // Each test is a host, a model, hooks and checks: more than two at a time would measure
  // the machine.
  pool: 'forks',
  maxWorkers: Number(process.env['UNTILDONE_HOST_WORKERS'] ?? 2),
  testTimeout: 120_000,
  ...(only === null ? {} : { testNamePattern: only }),
});
const tests = vitest.state
  .getTestModules()
  .flatMap((module) => [...module.children.allTests()]);
const count = (state: string) =>
  tests.filter((test) => test.result().state === state).length;
const unclean =
  vitest.state.getUnhandledErrors().length + (only === null ? count('skipped') : 0);
const stories = tests
  .filter(({ module }) => basename(module.moduleId) === 'suite.test.ts')
  .filter((test) => test.result().state !== 'skipped')
  .map((test) => [
    test.name,
    test.result().state === 'passed' ? (test.meta().kept ?? 'kept') : 'broken',
  ]);
const result: HostResult = {
  host,
  version: '',
  passed: count('passed'),
  failed: count('failed') + unclean,
  loud: ear?.heard() ?? [],
  stories: Object.fromEntries(stories),
  seconds: Math.round((Date.now() - began) / 1000),
};
await vitest.close();
ear?.close();
writeFileSync(report, JSON.stringify(result));
