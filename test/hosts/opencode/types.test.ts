// The shapes that we describe of the host are compared with those of its own package. The
// program is written where that package is installed: `npm run types` must pass without
// it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = fileURLToPath(new URL('node_modules/.untildone-types/', import.meta.url));
const described = join(root, 'src/hosts/opencode/translate.ts');

const fits = `
import type { Plugin, PluginInput } from '@opencode-ai/plugin';
import type { PluginInputLike, PluginLike } from '${described}';
declare const ours: PluginLike;
declare const given: PluginInput;
export const asPlugin: Plugin = ours;
export const asInput: PluginInputLike = given;
`;

const doesNotFit = `
import type { Plugin } from '@opencode-ai/plugin';
declare const wrong: () => Promise<{ event: (input: { event: number }) => Promise<void> }>;
export const asPlugin: Plugin = wrong;
`;

function compile(
  name: string,
  text: string,
): { readonly status: number | null; readonly printed: string } {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, text);
  const settings = {
    extends: join(root, 'tsconfig.json'),
    // The package's own types name the DOM.
    compilerOptions: {
      rewriteRelativeImportExtensions: false,
      lib: ['es2023', 'dom'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: [file],
    include: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const ran = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], {
    encoding: 'utf8',
  });
  return { status: ran.status, printed: ran.stdout + ran.stderr };
}

describe("the host's own types", () => {
  it('fit what we describe of them, and our plugin fits what the host calls a plugin', () => {
    expect(compile('fits.ts', fits)).toEqual({ status: 0, printed: '' });
  });

  it('control: a plugin of another shape does not compile', () => {
    const { status, printed } = compile('does-not-fit.ts', doesNotFit);
    expect(status).not.toBe(0);
    expect(printed).toContain('not assignable');
  });
});
