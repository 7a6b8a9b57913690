// Writes dist/: bundles, declarations, the JSON Schema and the licences of what was
// bundled. It refuses to ship an import that nobody would have installed.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { configSchema } from '../../src/core/config.ts';
import { bundle, groups } from './bundle.ts';
import { writeDeclarations } from './declarations.ts';
import { entries } from './entries.ts';
import { writePlugin } from './plugin.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const output = join(root, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  peerDependencies: Record<string, string>;
};

/**
 * Installing the package installs nothing else: what is left as an import is Node's or an
 * optional peer.
 */
function assertNoUnknownImports(metafile: Metafile): void {
  for (const [file, { imports }] of Object.entries(metafile.outputs)) {
    for (const { path, external } of imports) {
      if (!external || isBuiltin(path) || path === 'bun:sqlite') continue;
      // Another file of dist/, which another group writes.
      if (entries.some(({ output }) => join(file, '..', path) === `dist/${output}.js`))
        continue;
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
  writeFileSync(
    join(output, 'schema.json'),
    `${JSON.stringify(configSchema(), null, 2)}\n`,
  );
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const written: Metafile['outputs'] = {};
for (const group of groups) {
  const metafile = await bundle(group, output);
  assertNoUnknownImports(metafile);
  Object.assign(written, metafile.outputs);
}
writeDeclarations(join(output, 'types'));
writeSchema();
writePlugin(root, output, manifest.version);
// The plugin is handed on without the rest.
for (const folder of ['dist', 'dist/plugin']) {
  const files = Object.entries(written).filter(([file]) => file.startsWith(`${folder}/`));
  const bundled = files.flatMap(([, { inputs }]) => Object.keys(inputs));
  writeFileSync(
    join(root, folder, 'THIRD_PARTY_LICENSES'),
    thirdPartyLicenses(root, bundled),
  );
}
for (const entry of entries) {
  const isScript = ['late', 'commands', 'quick-commands'].includes(entry.group);
  const file = join(output, `${entry.output}${isScript ? '.cjs' : '.js'}`);
  if (!existsSync(file)) throw new Error(`The build wrote no ${file}.`);
}
console.log(`dist/ is built: ${entries.map((entry) => entry.output).join(', ')}`);
