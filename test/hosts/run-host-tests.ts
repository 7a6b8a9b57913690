// `npm run test:hosts [-- HOST…] [--only=TEXT]`: installs the pinned hosts and runs the
// tests of each in a network of its own, three hosts at a time; without a name, every
// host. The last line counts. A skipped test is a failure as well, and so is a host that
// tried to reach anything but loopback.
//   --sample    what CI has time for: the stories that are marked so, and the files that are quick
//   --latest    the newest published version of the hosts that are named, in a folder of its own
//   --record    writes docs/hosts/results.json, from which the tables in docs/hosts are made
//   --isolated  fails where a network of its own cannot be had, instead of saying so and going on
import { spawn } from 'node:child_process';
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  installHost,
  installLatest,
  installRegistry,
  pinnedVersion,
} from './harness/install-host.ts';
import { isolated, whyNotIsolated } from './harness/loopback.ts';
import type { HostResult } from './harness/run-one-host.ts';

/**
 * More than there are cores: a host waits for the model, for hooks and for countdowns
 * most of its time.
 */
const atOnce = 3;
const resultsFile = fileURLToPath(
  new URL('../../docs/hosts/results.json', import.meta.url),
);
const runner = fileURLToPath(new URL('harness/run-one-host.ts', import.meta.url));

// Every folder with tests; the others serve them. Those with most files begin, so that
// none of them is left over at the end.
const files = globSync('*/*.test.ts', { cwd: import.meta.dirname }).map((file) =>
  dirname(file),
);
const weight = (host: string) => files.filter((one) => one === host).length;
const known = [...new Set(files)].sort(
  (one, other) => weight(other) - weight(one) || (one < other ? -1 : 1),
);

const words = process.argv.slice(2);
const named = words.filter((word) => !word.startsWith('-'));
const has = (flag: string) => words.includes(flag);
const wrong =
  named.find((name) => !known.includes(name)) ??
  words.find(
    (word) =>
      /^-/.test(word) && !/^--(only=.*|sample|latest|record|isolated)$/.test(word),
  );
if (wrong !== undefined)
  fail(
    `"${wrong}" is neither a host with tests nor an option. Hosts: ${known.join(', ')}.`,
  );
if (has('--latest') && named.length === 0)
  fail('Name the hosts whose newest version is to be tested.');
if (has('--record') && words.some((word) => /^--(only|sample|latest)/.test(word)))
  fail('Only a whole run of the pinned hosts is recorded.');

function fail(sentence: string): never {
  console.error(sentence);
  process.exit(2);
}

const hosts = named.length > 0 ? named : known;
const scratch = mkdtempSync(join(tmpdir(), 'untildone-hosts-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
const obstacle = whyNotIsolated(scratch);
if (obstacle !== null) {
  console.error(
    `The hosts run without a network of their own, so nobody sees whom they call: ${obstacle}`,
  );
  if (has('--isolated')) process.exit(1);
}
installRegistry();

const waiting = [...hosts];
const results: HostResult[] = [];
await Promise.all(Array.from({ length: Math.min(atOnce, hosts.length) }, work));

async function work(): Promise<void> {
  for (let host = waiting.shift(); host !== undefined; host = waiting.shift())
    results.push(await run(host));
}

async function run(host: string): Promise<HostResult> {
  const folder = join(scratch, host);
  mkdirSync(folder);
  const latest = has('--latest') ? installLatest(host, join(folder, 'latest')) : null;
  if (latest === null) installHost(host);
  const version = latest?.version ?? pinnedVersion(host);
  if (latest !== null)
    console.log(`${host}: tested with ${pinnedVersion(host)}, this is ${version}`);
  const report = join(folder, 'report.json');
  const command = [process.execPath, '--no-warnings', runner, host, report, ...words];
  const [program, ...rest] = obstacle === null ? isolated(folder, command) : command;
  const isAlone = hosts.length === 1;
  const child = spawn(program!, rest, {
    stdio: ['ignore', isAlone ? 'inherit' : 'pipe', isAlone ? 'inherit' : 'pipe'],
    env: {
      ...process.env,
      ...(latest === null ? {} : { UNTILDONE_LATEST_HOST: latest.folder }),
      ...(has('--sample') ? { UNTILDONE_HOST_SAMPLE: '1' } : {}),
      // The longest would run on when all others have ended.
      UNTILDONE_HOST_WORKERS: isAlone || host === known[0] ? '2' : '1',
      ...(obstacle === null ? { UNTILDONE_HOST_ISOLATED: '1' } : {}),
    },
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk;
    });
  await new Promise((resolve) => child.once('close', resolve));
  // Whole, since several hosts run at a time.
  if (printed !== '') console.log(printed);
  return { ...readResult(report, host), version };
}

function readResult(report: string, host: string): HostResult {
  try {
    return JSON.parse(readFileSync(report, 'utf8')) as HostResult;
  } catch {
    // Safe: it counts as failed.
    console.error(`The tests of ${host} did not come to their end.`);
    return { host, version: '', passed: 0, failed: 1, loud: [], stories: {}, seconds: 0 };
  }
}

if (has('--record')) record();
const sum = (count: (result: HostResult) => number) =>
  results.reduce((total, one) => total + count(one), 0);
for (const { host, version, passed, failed, loud, seconds } of results) {
  const quiet = loud.length === 0 ? '' : `; not quiet: ${loud.join(', ')}`;
  console.log(
    `${host} ${version}: ${passed} passed, ${failed} failed in ${seconds} s${quiet}`,
  );
}
const failed = sum((one) => one.failed + (one.loud.length > 0 ? 1 : 0));
if (failed > 0 || results.some(({ passed }) => passed === 0)) process.exitCode = 1;
console.log(
  `hosts (${hosts.join(', ')}): ${sum(({ passed }) => passed)} passed, ${failed} failed`,
);

/** What each story showed in each host; hosts that did not run keep what they have. */
function record(): void {
  const date = new Date().toISOString().slice(0, 10);
  const before = JSON.parse(readFileSync(resultsFile, 'utf8')) as Record<string, object>;
  const now = results
    .filter(({ stories }) => Object.keys(stories).length > 0)
    .map(({ host, version, stories }) => [host, { version, date, stories }] as const);
  const all = Object.entries({ ...before, ...Object.fromEntries(now) });
  const sorted = Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(resultsFile, `${JSON.stringify(sorted, null, 2)}\n`);
}
