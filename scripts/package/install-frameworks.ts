// Installs the frameworks that test/frameworks pins, if they are not there yet. They are
// 270 MB that most work here does without: types, tests of frameworks and examples call
// this first. Sources, examples and what is built find the packages through links.
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPinned } from './install-pinned.ts';

const root = new URL('../../', import.meta.url);

export function installFrameworks(): void {
  installPinned(fileURLToPath(new URL('test/frameworks', root)));
  for (const [folder, target] of [
    ['src/frameworks', '../../test/frameworks/node_modules'],
    ['examples', '../test/frameworks/node_modules'],
    // A build takes it away.
    ['dist', '../test/frameworks/node_modules'],
  ] as const) {
    const place = fileURLToPath(new URL(folder, root));
    const link = join(place, 'node_modules');
    if (existsSync(place) && !existsSync(link)) symlinkSync(target, link, 'junction');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installFrameworks();
