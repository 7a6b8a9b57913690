// How the files of dist/ are bundled, group by group; build.ts writes all of them, tests those that they start.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { bundledPackages } from './bundled-packages.ts';
import { type Entry, entries, quickCommands, quickFiles } from './entries.ts';
import { lateFiles } from './late-files.ts';
import { lazyBuiltins, lazyBuiltinsOf } from './lazy-builtins.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const packages = bundledPackages(root);
const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  chunkNames: 'chunks/[name]-[hash]',
  define: { UNTILDONE_VERSION: JSON.stringify(version) },
  // A map would carry the sources of the packages that are bundled.
  sourcemap: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/** Programs are single files, and Node's modules are loaded when they are used; late files are CommonJS. */
const programOptions = { splitting: false, plugins: [...packages.plugins, lazyBuiltins] };
const quickOptions = { ...programOptions, plugins: [lateFiles(root), ...programOptions.plugins] };
/** Packages may look at Node's modules in ways that only real ones answer. */
const ownCode = /[\\/]src[\\/](?!.*node_modules)/;
const builtMain: Plugin = {
  name: 'built-main',
  setup: ({ onResolve }) =>
    onResolve({ filter: /main\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './main.js', external: true } : null,
    ),
};
/** `bin` never asks it for others. */
const onlyQuickCommands: Plugin = {
  name: 'only-quick-commands',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/(?:commands\/[\w-]+|completion)\.ts$/ }, ({ path, kind, importer }) => {
      const isTable = kind === 'dynamic-import' && /[\\/]cli[\\/](?:main|command-table)\.ts$/.test(importer);
      const isQuick = quickFiles.some((name) => path === `./commands/${name}.ts`);
      return isTable && !isQuick ? { path: './main.js', external: true } : null;
    }),
};
const groupOptions: Readonly<Record<Entry['group'], Partial<BuildOptions>>> = {
  // What people import stays readable; what they start is smaller to install and quicker to load.
  library: { packages: 'external', minify: false, define: shared.define },
  bin: {
    ...programOptions,
    target: 'node14',
    define: { ...shared.define, QUICK_COMMANDS: JSON.stringify(quickCommands) },
    plugins: [builtMain, lazyBuiltins],
  },
  cli: { plugins: [...packages.plugins, lazyBuiltinsOf(ownCode)] },
  'quick-cli': { splitting: false, plugins: [onlyQuickCommands, ...packages.plugins, lazyBuiltins] },
  program: programOptions,
  'quick-program': quickOptions,
  late: {
    ...quickOptions,
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    logOverride: { 'empty-import-meta': 'silent' },
  },
};

export const groups = Object.keys(groupOptions) as readonly Entry['group'][];

/** Writes the files of one group below `outdir`. */
export async function bundle(group: Entry['group'], outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    ...shared,
    outdir,
    entryPoints: entries
      .filter((entry) => entry.group === group)
      .map((entry) => ({ in: join(root, entry.source), out: entry.output })),
    splitting: true,
    minify: true,
    external: ['bun:sqlite'],
    alias: packages.alias,
    define: { ...shared.define, ...packages.define },
    ...groupOptions[group],
    metafile: true,
  });
  return metafile;
}
