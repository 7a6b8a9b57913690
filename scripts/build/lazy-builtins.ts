// Lets a single file load each of Node's modules when something of it is first used: a
// bundle in module format would import all of them before its first line, and the network
// modules alone cost a hook more than Node's own start.
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * @param importers whose imports are made late; others may look at a module in ways that
 * only a real one answers
 */
export const lazyBuiltinsOf = (importers: RegExp): Plugin => ({
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, importer }) =>
      isBuiltin(path) && importers.test(importer)
        ? { path, namespace: 'lazy-builtin' }
        : null,
    );
    build.onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, ({ path }) => ({
      // As a prototype, because the bundler copies the exports of a module and keeps only
      // what it inherits alive.
      contents: [
        'let loaded;',
        `const load = () => (loaded ??= process.getBuiltinModule(${JSON.stringify(path)}));`,
        'module.exports = Object.create(new Proxy({}, { get: (_, name) => load()[name] }));',
      ].join('\n'),
      loader: 'js',
    }));
  },
});

export const lazyBuiltins = lazyBuiltinsOf(/./);
