// What stands in every file under a folder, so that a test can say what a command changed
// and whether it was undone. It follows no links.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export type FileTexts = ReadonlyMap<string, string>;

/** @param without names directly under the root that are left out */
export function readFileTexts(root: string, without: readonly string[] = []): FileTexts {
  const texts = new Map<string, string>();
  const read = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (without.includes(relative(root, path))) continue;
      if (entry.isDirectory()) read(path);
      else if (entry.isFile()) texts.set(path, readFileSync(path, 'latin1'));
    }
  };
  if (existsSync(root)) read(root);
  return texts;
}

/** Files that are new, gone or different. */
export function changedFiles(before: FileTexts, after: FileTexts): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort();
}
