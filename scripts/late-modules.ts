// Puts modules that are seldom needed into a single file as text: V8 reads through all code of a file before it runs
// the first line, and most hook calls need a tenth of it. A module whose name ends in "-late.ts" and that is loaded
// by `await import()` is bundled on its own and compiled when it is first asked for.
import { isBuiltin } from 'node:module';
import { gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { lazyBuiltins } from './lazy-builtins.ts';

export function lateModules(options: BuildOptions): Plugin {
  return {
    name: 'late-modules',
    setup(outer) {
      outer.onResolve({ filter: /-late\.ts$/ }, async ({ path, kind, pluginData, resolveDir, importer }) => {
        if (kind !== 'dynamic-import' || pluginData === 'resolved') return null;
        const found = await outer.resolve(path, { kind, resolveDir, importer, pluginData: 'resolved' });
        return found.errors.length > 0 ? found : { path: found.path, namespace: 'late-module' };
      });
      outer.onLoad({ filter: /.*/, namespace: 'late-module' }, async ({ path }) => {
        const { outputFiles, metafile } = await build({
          ...options,
          entryPoints: [path],
          format: 'cjs',
          plugins: [lazyBuiltins],
          splitting: false,
          write: false,
          metafile: true,
        });
        assertOwnCode(path, metafile);
        const packed = gzipSync(outputFiles[0]?.text ?? '', { level: 9 }).toString('base64');
        return {
          contents: [
            `const packed = Buffer.from('${packed}', 'base64');`,
            `const source = process.getBuiltinModule('node:zlib').gunzipSync(packed).toString('utf8');`,
            `new Function('module', 'exports', 'require', source)(module, exports, process.getBuiltinModule);`,
          ].join('\n'),
          loader: 'js',
          watchFiles: Object.keys(metafile.inputs),
        };
      });
    },
  };
}

/** The text is hidden from what checks the rest of the build: imports and licences. */
function assertOwnCode(path: string, metafile: Metafile): void {
  const foreign = Object.keys(metafile.inputs).find((input) => input.includes('node_modules/'));
  if (foreign !== undefined)
    throw new Error(`${path} brings ${foreign} along: a late module is our own code only.`);
  for (const { imports } of Object.values(metafile.outputs)) {
    const missing = imports.find((found) => found.external && !isBuiltin(found.path));
    if (missing !== undefined)
      throw new Error(`${path} imports "${missing.path}", which nobody will have installed.`);
  }
}
