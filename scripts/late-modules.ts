// Keeps modules in a single file as text, in comments behind its code: V8 reads through all code of a file before it
// runs the first line, but only skips a comment. A module whose name ends in "-late.ts" and that is loaded by
// `await import()` is bundled on its own and compiled when it is first asked for, as a file that Node's cache of
// compiled code can know (see src/cli/hook-bin.ts, which switches that on).
import { appendFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, resolve } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { lazyBuiltins } from './lazy-builtins.ts';

export function lateModules(options: BuildOptions): Plugin {
  const texts = new Map<string, string>();
  const inner = plugin(options, texts);
  return {
    name: inner.name,
    async setup(outer) {
      outer.initialOptions.metafile = true;
      await inner.setup(outer);
      outer.onEnd(({ metafile }) => {
        const [file] = Object.keys(metafile?.outputs ?? {});
        const comments = [...texts].map(
          ([name, text]) => `/*${name}\n${text.replaceAll('*/', hiddenEnd)}*/\n`,
        );
        const folder = outer.initialOptions.absWorkingDir ?? process.cwd();
        if (file !== undefined && comments.length > 0)
          appendFileSync(resolve(folder, file), comments.join(''));
      });
    },
  };
}

/** What would end a comment, with a character between that no code of ours has beside these two. */
const hiddenEnd = '*\u0001/';

function plugin(options: BuildOptions, texts: Map<string, string>): Plugin {
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
          plugins: [plugin(options, texts), lazyBuiltins],
          splitting: false,
          write: false,
          metafile: true,
        });
        assertOwnCode(path, metafile);
        const name = basename(path, '.ts');
        texts.set(name, inAscii(path, outputFiles[0]?.text ?? ''));
        return { contents: loaderOf(name), loader: 'js', watchFiles: Object.keys(metafile.inputs) };
      });
    },
  };
}

/**
 * One byte a character, which V8 keeps and hashes in half the time. esbuild leaves other characters in regular
 * expressions only, where an escape means the same.
 */
function inAscii(path: string, text: string): string {
  if (/\.raw`|[\ud800-\udfff]/.test(text))
    throw new Error(`${path} has text that cannot be escaped as it stands.`);
  return text.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * The file is the one that was started: it stands alone, and nobody imports it. What marks a comment is put together
 * when it runs, so that the code of a loader is never taken for the comment that it looks for.
 */
function loaderOf(name: string): string {
  return `
    const file = process.argv[1];
    const whole = process.getBuiltinModule('node:fs').readFileSync(file, 'latin1');
    const start = whole.indexOf(['', ${JSON.stringify(`${name}\n`)}].join('/*')) + ${name.length + 3};
    const [end, hiddenEnd] = ['', '\\u0001'].map((middle) => ['*', '/'].join(middle));
    const text = whole.slice(start, whole.indexOf(end, start)).replaceAll(hiddenEnd, end);
    const Module = process.getBuiltinModule('node:module');
    const late = new Module(file);
    late._compile(text, file + ${JSON.stringify(`.${name}.cjs`)});
    module.exports = late.exports;`;
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
