// Lets packages in CommonJS form find Node's own modules in a bundle that is a module:
// there is no `require` in one. Commander gets them in the same way, since importing them
// whole would be two thirds of what it adds to every start.
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

const isCommander = /[\\/]node_modules[\\/]commander[\\/]/;

export const requiredBuiltins: Plugin = {
  name: 'required-builtins',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?[a-z_/]+$/ }, ({ path, kind, importer }) => {
      if (!isBuiltin(path)) return null;
      if (isCommander.test(importer)) return { path, namespace: 'commander-builtin' };
      return kind === 'require-call' ? { path, namespace: 'required-builtin' } : null;
    });
    const takes = (path: string) =>
      `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`;
    build.onLoad({ filter: /.*/, namespace: 'required-builtin' }, ({ path }) => ({
      contents: takes(path),
      loader: 'js',
    }));
    build.onLoad({ filter: /.*/, namespace: 'commander-builtin' }, ({ path }) => ({
      // Name by name: a copy of `util` would load all that it offers, down to the
      // terminal.
      contents: [
        // It starts commands that are programs of their own with this one, and we have
        // none.
        `const taken = ${path === 'node:child_process' ? '{}' : `process.getBuiltinModule(${JSON.stringify(path)})`};`,
        'export default taken;',
        'export const { EventEmitter, stripVTControlCharacters } = taken;',
      ].join('\n'),
      loader: 'js',
    }));
  },
};
