// What the hook and the runner of checks load by `await import()` becomes a file of its
// own beside them, read when it is first asked for: Node compiles only what a call needs,
// out of its cache of compiled code. These files are CommonJS and are found from the
// program that was started: its copy has no package.json beside it that would tell Node
// what a `.js` is, so that neither may have an import statement.
import { basename, dirname, join } from 'node:path';
import type { Plugin } from 'esbuild';
import { entries } from './entries.ts';

/** What the table of hosts names for the command line alone. */
export const ofCommandLine = /\/(?:install|drive)\.ts$/;

export function lateFiles(root: string): Plugin {
  const late = entries.filter(({ group }) => group === 'late');
  return {
    name: 'late-files',
    setup(build) {
      build.onResolve({ filter: /\.ts$/ }, ({ path, kind, importer }) => {
        if (kind !== 'dynamic-import') return null;
        const source = join(dirname(importer), path);
        const entry = late.find((one) => join(root, one.source) === source);
        // The table of hosts names what no program of hosts loads. Anything else becomes
        // part of the file.
        if (entry === undefined && !['install.ts', 'drive.ts'].includes(basename(path)))
          return null;
        return {
          path: `./${basename(entry?.output ?? 'not-here')}.cjs`,
          namespace: 'late-file',
        };
      });
      build.onLoad({ filter: /.*/, namespace: 'late-file' }, ({ path }) => ({
        contents: `module.exports = process.getBuiltinModule('node:module').createRequire(process.argv[1])(${JSON.stringify(path)});`,
        loader: 'js',
      }));
    },
  };
}
