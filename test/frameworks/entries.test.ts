// The entries that import a package of this folder: that they load clean, that they load
// nothing superfluous, and that the declarations which the build copies are theirs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  compileKeptDeclarations,
  keptDeclarations,
} from '../../scripts/build/declarations.ts';
import { cleanLoad, frameworkEntries, loadEntry } from '../support/library-entries.ts';
import { bundleLibrary } from '../support/loaded-library.ts';

const packages = fileURLToPath(new URL('node_modules', import.meta.url));
const kept = fileURLToPath(new URL('../../scripts/build/declarations', import.meta.url));
const built = await bundleLibrary(packages);

describe('the entries that import a framework', () => {
  it.each(frameworkEntries)(
    '$source loads clean: no output, no open handle, no throw',
    ({ source }) => {
      expect(loadEntry(source)).toEqual(cleanLoad);
    },
  );

  it.each(frameworkEntries)(
    'Library 3: nothing of the command line is loaded by untildone/$output',
    ({ output }) => {
      expect(built.ofEntry(output)).toEqual([]);
    },
  );

  it('have the declarations that are kept', () => {
    const read = (folder: string) =>
      keptDeclarations.map((file) => readFileSync(join(folder, file), 'utf8'));
    compileKeptDeclarations((folder) => {
      expect(read(kept), 'run npm run chores -- declarations').toEqual(read(folder));
    });
    expect(keptDeclarations.map((file) => file.split('/').at(-2))).toEqual(
      frameworkEntries.map(({ output }) => output),
    );
  });
});
