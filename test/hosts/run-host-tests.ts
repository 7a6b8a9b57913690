// `npm run test:hosts [-- HOST…] [--only=TEXT]`: installs the pinned hosts and runs their tests against the scripted
// model, two at a time; without a name, every host. The last line counts, and a skipped test is a failure as well.
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { installHost, installRegistry } from './harness/install-host.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// Every folder with tests; the others serve them.
const known = [...new Set(globSync('*/*.test.ts', { cwd: import.meta.dirname }).map(dirname))].sort();
const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith('-'));
const only = words.find((word) => word.startsWith('--only='))?.slice('--only='.length) ?? null;
const unknown = named.find((name) => !known.includes(name));
if (unknown !== undefined) {
  console.error(`There are no tests of a host "${unknown}". Known: ${known.join(', ')}.`);
  process.exit(2);
}
const hosts = named.length > 0 ? named : known;
for (const host of hosts) installHost(host);
installRegistry();

const vitest = await startVitest(
  'test',
  hosts.map((host) => `test/hosts/${host}/`),
  {
    root,
    config: false,
    watch: false,
    include: ['test/hosts/*/*.test.ts'],
    exclude: ['**/node_modules/**'],
    globalSetup: ['test/support/temporary-root.ts'],
    // Each test is a host, a model, hooks and checks: more than two at a time would measure the machine.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    ...(only === null ? {} : { testNamePattern: only }),
  },
);
const states = vitest.state
  .getTestModules()
  .flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
const count = (state: string): number => states.filter((one) => one === state).length;
const unclean = vitest.state.getUnhandledErrors().length + (only === null ? count('skipped') : 0);
await vitest.close();
if (count('failed') + unclean > 0 || count('passed') === 0) process.exitCode = 1;
console.log(`hosts (${hosts.join(', ')}): ${count('passed')} passed, ${count('failed')} failed`);
