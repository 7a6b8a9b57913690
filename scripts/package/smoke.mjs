// Runs inside a folder where the packed package is the only one installed, on any Node
// that it supports. It uses what a user would: the command and the entries. Anything
// unexpected ends it with an error.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(join(process.cwd(), 'package.json'));
const manifest = JSON.parse(
  readFileSync(require.resolve('untildone/package.json'), 'utf8'),
);

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

/** They are for a framework, which the user brings and which is not installed here. */
const frameworks = ['./ai-sdk', './claude-agent-sdk', './langchain', './openai-agents'];

for (const entry of Object.keys(manifest.exports)) {
  const specifier = entry.replace(/^\./, manifest.name);
  if (frameworks.includes(entry)) {
    await assert.rejects(
      import(specifier),
      { code: 'ERR_MODULE_NOT_FOUND' },
      `${specifier} needs its framework`,
    );
  } else if (entry.endsWith('.json')) {
    assert.equal(typeof require(specifier), 'object', `${specifier} is JSON`);
  } else {
    const exported = await import(specifier);
    assert.ok(Object.keys(exported).length > 0, `${specifier} exports something`);
  }
}

// Something real: a plan in a store on disk, an agent that stops too early, and the
// answer it gets.
const { openSession } = await import('untildone');
const home = mkdtempSync(join(tmpdir(), 'untildone-smoke-'));
const session = await openSession({
  goal: 'build it',
  store: join(home, 'store.db'),
  directory: home,
});
await session.tools.create_todo.execute({
  items: [{ title: 'write the parser' }, { title: 'write the tests' }],
});
const { answer, text } = await session.stop({ text: 'All done!' });
assert.equal(answer, 'continue');
assert.match(text ?? '', /write the parser/);
await session.close();

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
