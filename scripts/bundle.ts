// How the files of dist/ are bundled, group by group; build.ts writes all of them, tests those that they start.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { commandTable } from '../src/cli/command-table.ts';
import { bundledPackages } from './bundled-packages.ts';
import { type Entry, entries, ownFiles } from './entries.ts';
import { lateFiles, ofCommandLine } from './late-files.ts';
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
/** What is imported late from this source stays a file of its own. */
const built = (name: string): Plugin => ({
  name: `built-${name}`,
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`/${name}\\.ts$`) }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `./${name}.js`, external: true } : null,
    ),
});
/** `bin` never asks it for others. */
const onlyCommands = (sources: readonly string[]): Plugin => ({
  name: 'only-commands',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/(?:commands\/[\w-]+|completion)\.ts$/ }, ({ path, kind, importer }) => {
      const isTable = kind === 'dynamic-import' && /[\\/]cli[\\/](?:main|command-table)\.ts$/.test(importer);
      const isOwn = sources.some((name) => path === `./commands/${name}.ts`);
      return isTable && !isOwn ? { path: './main.js', external: true } : null;
    }),
});
/** Installers and drivers of hosts are in the table that others read for its titles. */
const withoutInstallers: Plugin = {
  name: 'without-installers',
  setup: ({ onResolve }) =>
    onResolve({ filter: ofCommandLine }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './main.js', external: true } : null,
    ),
};
/** For help and completion alone: who runs such a command starts its file, and the code of models is installed once. */
const commandsOf = (file: string, sources: readonly string[]): Plugin => ({
  name: `commands-of-${file}`,
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/commands\/[\w-]+\.ts$/ }, ({ path, importer }) => {
      const name = path.slice('./commands/'.length, -'.ts'.length);
      const isTable = /[\\/]cli[\\/]command-table\.ts$/.test(importer);
      return isTable && sources.includes(name) ? { path: name, namespace: file } : null;
    });
    onLoad({ filter: /./, namespace: file }, ({ path }) => {
      const names = commandTable.rows.map(({ name }) => name).filter((name) => name.split(' ')[0] === path);
      const exported = names.map((name) => {
        const variable = name.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
        return `export const ${variable} = await rows.find(({ name }) => name === '${name}').load();`;
      });
      const start = `const { rows } = startWarm(new URL('../${file}.cjs', import.meta.url), null).commandTable;`;
      const contents = ["import { startWarm } from './warm-start.ts';", start, ...exported].join('\n');
      return { contents, resolveDir: join(root, 'src/cli') };
    });
  },
});
const fileOfCommand = Object.entries(ownFiles).flatMap(([file, { commands }]) =>
  commands.map((command) => [command, `./${file}.cjs`]),
);
/** Scripts that src/cli/warm-start.ts calls: what Node loads itself cannot bring along what was compiled while it ran. */
const wholeOptions = {
  splitting: false,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: { js: '(function (module, require, FILE_IMPORT, FILE_URL, FILE_FOLDER) {' },
  footer: { js: '})' },
  define: {
    ...{ ...shared.define, ...packages.define },
    ...{ 'import.meta.url': 'FILE_URL', 'import.meta.dirname': 'FILE_FOLDER' },
  },
} satisfies BuildOptions;
/**
 * What is imported late is imported by who calls the script. One letter beyond Latin makes V8 keep two bytes for every
 * letter of a file: only regular expressions still have any in what esbuild writes, and those may say it in this form too.
 */
const asScript: Plugin = {
  name: 'as-script',
  setup: ({ onEnd }) =>
    onEnd(({ metafile }) => {
      const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
      for (const name of Object.keys(metafile?.outputs ?? {})) {
        const file = join(root, name);
        const text = readFileSync(file, 'utf8').replace(/\bimport\("/g, 'FILE_IMPORT("');
        writeFileSync(file, text.replace(/[^\0-\x7f]/g, escaped));
      }
    }),
};
const groupOptions: Readonly<Record<Entry['group'], Partial<BuildOptions>>> = {
  // What people import stays readable; what they start is smaller to install and quicker to load.
  library: {
    packages: 'external',
    minify: false,
    define: shared.define,
    // Threads and child processes cost an import a tenth, and many a session never needs them.
    plugins: [lazyBuiltinsOf(ownCode)],
  },
  bin: {
    ...programOptions,
    target: 'node14',
    define: { ...shared.define, FILE_OF_COMMAND: JSON.stringify(Object.fromEntries(fileOfCommand)) },
    plugins: [built('main'), lazyBuiltins],
  },
  cli: { plugins: [commandsOf('run', ownFiles.run.sources), ...packages.plugins, lazyBuiltinsOf(ownCode)] },
  'quick-cli': {
    ...wholeOptions,
    plugins: [
      onlyCommands(ownFiles.quick.sources),
      withoutInstallers,
      ...packages.plugins,
      lazyBuiltins,
      asScript,
    ],
  },
  'run-cli': {
    ...wholeOptions,
    // A quarter of the code is for drawing, which can wait until there is something to draw.
    plugins: [
      built('live-view'),
      onlyCommands(ownFiles.run.sources),
      ...packages.plugins,
      lazyBuiltinsOf(ownCode),
      asScript,
    ],
  },
  program: { ...programOptions, plugins: [withoutInstallers, ...programOptions.plugins] },
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
