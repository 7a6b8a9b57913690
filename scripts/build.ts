// Writes dist/: bundles, declarations, the JSON Schema and the licences of what was bundled.
// It refuses to ship an import that nobody would have installed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { configSchema } from '../src/core/config/schema.ts';
import { bundledPackages } from './bundled-packages.ts';
import { type Entry, entries } from './entries.ts';
import { lateModules } from './late-modules.ts';
import { lazyBuiltins } from './lazy-builtins.ts';
import { writePlugin } from './plugin.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  peerDependencies: Record<string, string>;
};

const packages = bundledPackages(root);
const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.13',
  outdir: output,
  chunkNames: 'chunks/[name]-[hash]',
  define: { UNTILDONE_VERSION: JSON.stringify(manifest.version) },
  // A map would carry the sources of the packages that are bundled.
  sourcemap: false,
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/** Rows that share chunks are built together; a single row is built alone. */
function builds(): readonly (readonly Entry[])[] {
  const alone = entries.filter((entry) => entry.single).map((entry) => [entry]);
  const groups = (['library', 'cli'] as const).map((group) =>
    entries.filter((entry) => entry.group === group && !entry.single),
  );
  return [...groups, ...alone].filter((group) => group.length > 0);
}

async function bundle(group: readonly Entry[]): Promise<Metafile> {
  const isLibrary = group[0]?.group === 'library';
  const isSingle = group[0]?.single === true;
  const options = {
    ...shared,
    external: ['bun:sqlite'],
    alias: packages.alias,
    define: { ...shared.define, ...(isLibrary ? {} : packages.define) },
    ...(isLibrary ? {} : { plugins: packages.plugins }),
    ...(isLibrary ? { packages: 'external' as const } : {}),
  } satisfies BuildOptions;
  const result = await build({
    ...options,
    entryPoints: group.map((entry) => ({ in: join(root, entry.source), out: entry.output })),
    splitting: !isSingle,
    // What people import stays readable; what they start is smaller to install and quicker to load.
    minify: !isLibrary,
    ...(isSingle ? { plugins: [lateModules({ ...options, minify: true }), lazyBuiltins] } : {}),
  });
  return result.metafile;
}

/** Installing the package installs nothing else: what is left as an import is Node's or an optional peer. */
function assertNoUnknownImports(metafile: Metafile): void {
  for (const [file, { imports }] of Object.entries(metafile.outputs)) {
    for (const { path, external } of imports) {
      if (!external || isBuiltin(path) || path === 'bun:sqlite') continue;
      const name = path
        .split('/')
        .slice(0, path.startsWith('@') ? 2 : 1)
        .join('/');
      if (name in manifest.peerDependencies) continue;
      throw new Error(
        `${file} imports "${path}", which nobody will have installed: bundle it or make it a peer.`,
      );
    }
  }
}

function writeSchema(): void {
  writeFileSync(join(output, 'schema.json'), `${JSON.stringify(configSchema(), null, 2)}\n`);
}

function writeDeclarations(): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const project = join(root, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', project], { stdio: 'inherit' });
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const bundled = new Set<string>();
for (const group of builds()) {
  const metafile = await bundle(group);
  assertNoUnknownImports(metafile);
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const input of Object.keys(inputs)) bundled.add(input);
  }
}
writeFileSync(join(output, 'THIRD_PARTY_LICENSES'), thirdPartyLicenses(root, bundled));
writeDeclarations();
writeSchema();
writePlugin(root, output, manifest.version);
for (const entry of entries) {
  const file = join(output, `${entry.output}.js`);
  if (!existsSync(file)) throw new Error(`The build wrote no ${file}.`);
}
console.log(`dist/ is built: ${entries.map((entry) => `${entry.output}.js`).join(', ')}`);
