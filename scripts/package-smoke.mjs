// Runs inside a folder where the packed package is the only one installed, on any Node that it supports.
// It uses what a user would: the command and the entries. Anything unexpected ends it with an error.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const manifest = JSON.parse(readFileSync(require.resolve('untildone/package.json'), 'utf8'));

/** Started by the Node that runs this file, not by whichever comes first on PATH. */
function untildone(...args) {
  const command = join('node_modules', 'untildone', manifest.bin.untildone);
  return spawnSync(process.execPath, [command, ...args], { encoding: 'utf8' });
}

const version = untildone('--version');
assert.equal(version.stderr, '');
assert.equal(version.stdout, `${manifest.version}\n`);
assert.equal(version.status, 0);

const help = untildone('--help');
assert.equal(help.stderr, '');
assert.match(help.stdout, /untildone/);
assert.equal(help.status, 0);

const unknown = untildone('no-such-command');
assert.equal(unknown.status, 2, 'wrong usage exits 2');
assert.doesNotMatch(unknown.stderr, /^\s+at /m, 'a sentence, not a stack trace');

for (const entry of Object.keys(manifest.exports)) {
  const specifier = entry.replace(/^\./, manifest.name);
  if (entry.endsWith('.json')) {
    assert.equal(typeof require(specifier), 'object', `${specifier} is JSON`);
  } else {
    const exported = await import(specifier);
    assert.ok(Object.keys(exported).length > 0, `${specifier} exports something`);
  }
}

// Something real: a plan in a store on disk, an agent that stops too early, and the answer it gets.
const { createIdentifiers, createRuntime, defaultSettings, openSqliteStore, sha256, systemClock } =
  await import('untildone');
const { createScriptedHost } = await import('untildone/testing');
const home = mkdtempSync(join(tmpdir(), 'untildone-smoke-'));
const store = await openSqliteStore({ path: join(home, 'store.db'), clock: systemClock });
const host = createScriptedHost({
  mode: 'asked',
  store,
  clock: systemClock,
  identifiers: createIdentifiers(),
  hash: sha256,
  policy: () => ({ settings: defaultSettings, goalChecks: [] }),
});
assert.equal(typeof createRuntime, 'function');
await host.open();
await host.says('build it');
await host.plans('write the parser', 'write the tests');
const { answer } = await host.stops();
assert.equal(answer?.answer, 'continue');
assert.match(answer?.text ?? '', /write the parser/);
await store.close();

// The demo is the whole product: scripted model, loop, tools, store.
const demo = spawnSync(
  process.execPath,
  [join('node_modules', 'untildone', manifest.bin.untildone), 'demo', '--json'],
  { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: home } },
);
assert.equal(demo.status, 0, `the demo ran as written: ${demo.stderr}`);
assert.equal(JSON.parse(demo.stdout.trim().split('\n').at(-1)).type, 'run-ended');
rmSync(home, { recursive: true, force: true });

console.log(`the package works on Node ${process.versions.node}`);
