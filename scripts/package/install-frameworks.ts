// Installs the frameworks that test/frameworks pins, if they are not there yet. They are
// 270 MB that most work here does without: types, tests of frameworks and examples call
// this first. Sources and examples find the packages through links.
import { existsSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installPinned } from './install-pinned.ts';

const root = new URL('../../', import.meta.url);

export function installFrameworks(): void {
  installPinned(fileURLToPath(new URL('test/frameworks', root)));
  for (const [folder, target] of [
    ['src/frameworks', '../../test/frameworks/node_modules'],
    ['examples', '../test/frameworks/node_modules'],
  ] as const) {
    const link = fileURLToPath(new URL(`${folder}/node_modules`, root));
    if (!existsSync(link)) symlinkSync(target, link, 'junction');
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installFrameworks();
