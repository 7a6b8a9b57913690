// Lets a single file load Node's modules when the code that uses them first runs: a bundle in module format would
// import all of them before its first line, and the network modules alone cost a hook more than Node's own start.
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

export const lazyBuiltins: Plugin = {
  name: 'lazy-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path }) =>
      isBuiltin(path) ? { path, namespace: 'lazy-builtin' } : null,
    );
    build.onLoad({ filter: /.*/, namespace: 'lazy-builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)});`,
      loader: 'js',
    }));
  },
};
