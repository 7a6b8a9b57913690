// How packages are bundled into the command line: which of their parts are replaced or
// left out, and why.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { requiredBuiltins } from './required-builtins.ts';

export interface BundledPackages {
  readonly alias: Record<string, string>;
  readonly define: Record<string, string>;
  readonly plugins: Plugin[];
}

/**
 * The providers import zod as one object, which keeps all of it, with the sentences of
 * fifty languages. As a namespace only what they use is kept: `run` calls its model
 * sooner.
 */
const zodByName: Plugin = {
  name: 'zod-by-name',
  setup(build) {
    build.onLoad(
      { filter: /node_modules[\\/]@ai-sdk[\\/][^\\/]+[\\/]dist[\\/]index\.m?js$/ },
      async ({ path }) => {
        const contents = await readFile(path, 'utf8');
        return {
          contents: contents.replace(
            'import { z } from "zod/v4"',
            'import * as z from "zod/v4"',
          ),
          loader: 'js',
        };
      },
    );
  },
};

export function bundledPackages(root: string): BundledPackages {
  return {
    alias: {
      // The AI SDK's gateway signs in at its vendor; we always pass model objects, so
      // that code is left out.
      '@ai-sdk/gateway': join(root, 'scripts/build/no-vendor-sign-in.ts'),
      // Half of what the MCP package would bring, and never asked.
      '@modelcontextprotocol/server/_shims': join(root, 'scripts/build/no-validator.ts'),
      // Its main file hides its parts from bundlers behind a parameter named `require`.
      'jsonc-parser': join(root, 'node_modules/jsonc-parser/lib/esm/main.js'),
      // The same widths; it starts quicker and takes a tenth off what Ink costs.
      'string-width': join(root, 'node_modules/fast-string-width/dist/index.js'),
      // Ink offers itself to React's developer tools where someone has installed those;
      // nobody has here.
      'react-devtools-core': join(root, 'scripts/build/no-developer-tools.ts'),
    },
    // React has two forms of itself; people get the quick one.
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [requiredBuiltins, zodByName],
  };
}
