// How the files of dist/ are bundled, group by group; build.ts writes all of them, tests
// those that they start.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { commandTable } from '../../src/cli/command-table.ts';
import { bundledPackages } from './bundled-packages.ts';
import { type Entry, entries, quickCommands } from './entries.ts';
import { lateFiles, ofCommandLine } from './late-files.ts';
import { lazyBuiltins, lazyBuiltinsOf } from './lazy-builtins.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};

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

/** Node's modules are loaded when they are used. */
const programPlugins = [...packages.plugins, lazyBuiltins];
const quickOptions = { splitting: false, plugins: [lateFiles(root), ...programPlugins] };
/** Packages may look at Node's modules in ways that only real ones answer. */
const ownCode = /[\\/]src[\\/](?!.*node_modules)/;
/** What is imported late from this source stays a file of its own. */
const built = (name: string, folder = './'): Plugin => ({
  name: `built-${name}`,
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`/${name}\\.ts$`) }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: `${folder}${name}.js`, external: true } : null,
    ),
});
/**
 * What the source imports late and these files never ask for: nothing is in its place.
 */
const leftOut = (
  filter: RegExp,
  isAsked: (path: string) => boolean = () => false,
): Plugin => ({
  name: `left-out-${filter.source}`,
  setup({ onResolve, onLoad }) {
    const namespace = 'left-out';
    onResolve({ filter }, ({ path, kind }) =>
      kind === 'dynamic-import' && !isAsked(path) ? { path: 'nothing', namespace } : null,
    );
    onLoad({ filter: /./, namespace }, () => ({ contents: '' }));
  },
});
/** `bin` and hosts ask the quick file for no others. */
const onlyQuickCommands = leftOut(/^\.\/(?:commands\/[\w-]+|completion)\.ts$/, (path) =>
  quickCommands.sources.some((name) => path === `./commands/${name}.ts`),
);
/**
 * What sets hosts up is much code, and renewing their programs is seldom needed: it is
 * started where that code is.
 */
const renewalElsewhere: Plugin = {
  name: 'renewal-elsewhere',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/renew-programs\.ts$/ }, () => ({
      path: join(root, 'src/cli/warm-start.ts'),
    })),
};
/** Installers and drivers of hosts are in the table that others read for its titles. */
const withoutInstallers = leftOut(ofCommandLine);
/**
 * From source the commands are imported; what is built starts the files that hold them.
 */
const withoutCommands = leftOut(/^\.\/main\.ts$/);
const typed = [
  ...commandTable.rows.map(({ name }) => name.split(' ')[0] ?? ''),
  'help',
  'complete',
];
/**
 * By the first word that people type: the file, seen from `bin`, and by which name its
 * compiled code is kept. What is kept is what was called first: `run`, whose start counts
 * most, has its own.
 */
const fileOfCommand = Object.fromEntries([
  ...typed.map((word) => [word, ['./commands.cjs', word === 'run' ? 'run' : 'commands']]),
  ...[...quickCommands.words, '--help', '-h'].map((word) => [
    word,
    [`./${quickCommands.file}`, 'quick'],
  ]),
]);
/**
 * Scripts that src/cli/warm-start.ts calls: what Node loads itself cannot bring along
 * what was compiled while it ran.
 */
const wholeOptions = {
  splitting: false,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  banner: { js: '(function (module, require, FILE_IMPORT, FILE_URL, FILE_FOLDER) {' },
  footer: { js: '})' },
  define: {
    ...shared.define,
    ...packages.define,
    'import.meta.url': 'FILE_URL',
    'import.meta.dirname': 'FILE_FOLDER',
  },
} satisfies BuildOptions;
/**
 * What is imported late is imported by who calls the script. One letter beyond Latin
 * makes V8 keep two bytes for every letter of a file: only regular expressions still have
 * any in what esbuild writes, and those may say it in this form too.
 */
const asScript: Plugin = {
  name: 'as-script',
  setup: ({ onEnd }) =>
    onEnd(({ metafile }) => {
      const escaped = (letter: string) =>
        `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
      for (const name of Object.keys(metafile?.outputs ?? {})) {
        const file = join(root, name);
        const text = readFileSync(file, 'utf8').replace(/\bimport\("/g, 'FILE_IMPORT("');
        writeFileSync(file, text.replace(/[^\0-\x7f]/g, escaped));
      }
    }),
};
const groupOptions: Readonly<Record<Entry['group'], Partial<BuildOptions>>> = {
  // What people import stays readable; what they start is smaller to install and quicker
  // to load.
  library: {
    packages: 'external',
    minify: false,
    define: shared.define,
    // Threads and child processes cost an import a tenth, and many a session never needs
    // them.
    plugins: [lazyBuiltinsOf(ownCode)],
  },
  bin: {
    splitting: false,
    target: 'node14',
    define: { ...shared.define, FILE_OF_COMMAND: JSON.stringify(fileOfCommand) },
    plugins: [withoutCommands, lazyBuiltins],
  },
  commands: {
    ...wholeOptions,
    // A quarter of the code is for drawing, which can wait until there is something to
    // draw.
    plugins: [
      built('live-view'),
      built('mcp-package', './plugin/programs/'),
      ...packages.plugins,
      lazyBuiltinsOf(ownCode),
      asScript,
    ],
  },
  'quick-commands': {
    ...wholeOptions,
    plugins: [
      built('mcp-package'),
      renewalElsewhere,
      onlyQuickCommands,
      withoutInstallers,
      ...programPlugins,
      asScript,
    ],
  },
  view: { splitting: false, plugins: [...packages.plugins, lazyBuiltinsOf(ownCode)] },
  program: {
    splitting: false,
    define: {
      ...shared.define,
      QUICK_COMMANDS: JSON.stringify(`./${basename(quickCommands.file)}`),
    },
    plugins: [withoutCommands, withoutInstallers, ...programPlugins],
  },
  plugin: {
    chunkNames: 'plugin/programs/[name]-[hash]',
    plugins: [withoutInstallers, ...programPlugins],
  },
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
