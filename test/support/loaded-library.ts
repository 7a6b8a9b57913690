// The library as the build writes it, and what a program loads that imports it, read from
// Node's loader.
import { mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../scripts/build/bundle.ts';
import { filesBelow, loadedModules, packagesOf } from './loaded-modules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a user of the framework has brought, and nothing else. */
const brought: Readonly<Record<string, readonly string[]>> = {
  'ai-sdk': ['ai'],
  langchain: ['langchain', 'zod'],
  'openai-agents': ['@openai/agents'],
  'claude-agent-sdk': ['zod'],
};

const ofCommandLine = /^src\/(?:cli|agent|mcp|hosts\/install)\/|node_modules/;

/** @param packages the folder in which the programs find packages */
export async function bundleLibrary(packages = join(root, 'node_modules')) {
  // The temporary folder goes with the run of the tests.
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'library-load-')));
  symlinkSync(packages, join(base, 'node_modules'));
  const library = join(base, 'library');
  const view = join(base, 'view');
  /** By file, as the bundler writes it: the sources in it. */
  const sources = new Map<string, readonly string[]>();
  for (const [group, folder] of [
    ['library', library],
    ['view', view],
  ] as const) {
    const { outputs } = await bundle(group, folder);
    for (const [file, { inputs }] of Object.entries(outputs))
      sources.set(relative(base, join(root, file)), Object.keys(inputs));
  }
  const place = {
    cwd: base,
    env: { PATH: process.env['PATH'], HOME: base, UNTILDONE_HOME: join(base, 'state') },
  };

  /**
   * What such a program has no business to load; empty: it loads what it should.
   */
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

  return {
    base,
    library,
    view,
    superfluous,
    ofEntry: (output: string) =>
      superfluous(
        `await import(${JSON.stringify(join(library, `${output}.js`))});`,
        brought[output],
      ),
  };
}
