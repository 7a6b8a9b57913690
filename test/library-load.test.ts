// Must hold 3 of the library: what a program loads that imports it, read from Node's
// loader, with the files as the build writes them.
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../scripts/build/bundle.ts';
import { entries } from '../scripts/build/entries.ts';
import { filesBelow, loadedModules, packagesOf } from './support/loaded-modules.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
// The temporary folder goes with the run of the tests.
const base = realpathSync(mkdtempSync(join(tmpdir(), 'library-load-')));
const place = {
  cwd: base,
  env: { PATH: process.env['PATH'], HOME: base, UNTILDONE_HOME: join(base, 'state') },
};
const library = join(base, 'library');
const view = join(base, 'view');

/** By file, as the bundler writes it: the sources in it. */
const sources = new Map<string, readonly string[]>();

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'));
  for (const [group, folder] of [
    ['library', library],
    ['view', view],
  ] as const) {
    const { outputs } = await bundle(group, folder);
    for (const [file, { inputs }] of Object.entries(outputs))
      sources.set(relative(base, join(root, file)), Object.keys(inputs));
  }
}, 120_000);

/** What a user of the framework has brought, and nothing else. */
const brought: Readonly<Record<string, readonly string[]>> = {
  'ai-sdk': ['ai'],
  langchain: ['langchain', 'zod'],
  'openai-agents': ['@openai/agents'],
  'claude-agent-sdk': ['zod'],
};

const ofCommandLine = /^src\/(?:cli|agent|mcp|hosts\/install)\/|node_modules/;

/** What such a program has no business to load; empty: it loads what it should. */
function superfluous(
  program: string,
  allowed: readonly string[] = [],
): readonly string[] {
  const loaded = loadedModules(program, place);
  const files = filesBelow(base, loaded);
  // Without it, a build that writes elsewhere would pass unseen.
  if (files.length === 0) throw new Error('Nothing of ours was loaded.');
  const strangers = files
    .flatMap((file) => sources.get(file) ?? [])
    .filter((file) => ofCommandLine.test(file));
  const drawing = packagesOf(loaded).filter((name) =>
    ['commander', 'ink', 'react'].includes(name),
  );
  const packages = packagesOf(loaded, base).filter((name) => !allowed.includes(name));
  return [...new Set([...strangers, ...drawing, ...packages])];
}

const from = (folder: string, name: string) => JSON.stringify(join(folder, `${name}.js`));

describe('Library 3: nothing of the command line is loaded', () => {
  it.each(entries.filter(({ group }) => group === 'library'))(
    'by untildone/$output',
    ({ output }) => {
      expect(
        superfluous(`await import(${from(library, output)});`, brought[output]),
      ).toEqual([]);
    },
  );

  it('by a session that is opened, holds an agent to a check and is closed', () => {
    const held = `
      import { writeFileSync } from 'node:fs';
      import { openSession } from ${from(library, 'index')};
      const check = 'test -f made.txt';
      const session = await openSession({ goal: 'Build it.', checks: [check], store: ':memory:' });
      await session.tools.create_todo.execute({ items: [{ title: 'Write it' }] });
      await session.hold(async () => {
        writeFileSync('made.txt', 'made');
        await session.tools.complete_todo.execute({ todoId: session.plan[0].id, outcome: 'written' });
        return 'Done.';
      });
      if (session.outcome !== 'done') throw new Error('It ended as ' + session.outcome);
      await session.close();`;
    expect(superfluous(held)).toEqual([]);
    // So does a bundle that somebody else makes of it.
    const outfile = join(base, 'bundled', 'held.mjs');
    const options = {
      bundle: true,
      format: 'esm',
      platform: 'node',
      logLevel: 'error',
    } as const;
    buildSync({ ...options, stdin: { contents: held, resolveDir: base }, outfile });
    rmSync(join(base, 'made.txt'));
    expect(superfluous(`await import(${JSON.stringify(outfile)});`)).toEqual([]);
  });

  it('and if it were, that would be seen: in a shared file, late, or as a package', () => {
    expect(superfluous(`await import(${from(view, 'live-view')});`)).toContain(
      'src/cli/show/live-view.ts',
    );
    expect(
      superfluous(`setTimeout(() => import(${from(view, 'live-view')}));`).join(),
    ).toContain('/react/');
    const planted = join(library, 'planted.js');
    writeFileSync(planted, "import './index.js';\nimport 'ai';\n");
    expect(superfluous(`await import(${JSON.stringify(planted)});`)).toEqual(['ai']);
  });
});
