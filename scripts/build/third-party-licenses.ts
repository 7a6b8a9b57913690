// Collects the licence texts of every package whose code ended up in dist/, from
// esbuild's own record. A text that several packages share is written once, below their
// names. It refuses to ship code whose licence text it cannot show.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const licenceFile = /^(licen[cs]e|copying)([-.].*)?$/i;

/**
 * `node_modules/@scope/name/dist/x.js` → `node_modules/@scope/name`, the innermost
 * package.
 */
export function packageFolder(input: string): string | null {
  const marker = 'node_modules/';
  const start = input.lastIndexOf(marker);
  if (start < 0) return null;
  const parts = input.slice(start + marker.length).split('/');
  const name = parts[0]?.startsWith('@') ? parts.slice(0, 2) : parts.slice(0, 1);
  return input.slice(0, start + marker.length) + name.join('/');
}

/**
 * Packages that name their licence and its holder in every file but leave its text out:
 * the text is kept here.
 */
const keptTexts: Readonly<Record<string, string>> = {
  'yoga-layout MIT': './licences/yoga-layout.txt',
  // Names them in its package.json.
  '@bomb.sh/tab MIT': './licences/bomb-sh-tab.txt',
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly repository?: string | { readonly url?: string };
}

interface BundledPackage {
  readonly manifest: Manifest;
  /** Empty: it ships none. */
  readonly texts: readonly string[];
}

function readPackage(root: string, folder: string): BundledPackage {
  const manifestPath = join(root, folder, 'package.json');
  if (!existsSync(manifestPath))
    throw new Error(`${folder} is bundled and has no package.json.`);
  const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as Manifest;
  const files = readdirSync(join(root, folder)).filter((file) => licenceFile.test(file));
  return {
    manifest,
    texts: files.map((file) => readFileSync(join(root, folder, file), 'utf8').trim()),
  };
}

/**
 * Some packages of a repository ship its licence for all of them: same repository, same
 * licence, same text.
 */
function textsOfSibling(
  manifest: Manifest,
  others: readonly BundledPackage[],
): readonly string[] {
  const sibling = others.find(
    (other) =>
      other.texts.length > 0 &&
      manifest.license !== undefined &&
      other.manifest.license === manifest.license &&
      repositoryOf(manifest) !== null &&
      repositoryOf(other.manifest) === repositoryOf(manifest),
  );
  if (sibling !== undefined) return sibling.texts;
  const kept = keptTexts[`${manifest.name} ${manifest.license}`];
  if (kept !== undefined)
    return [readFileSync(new URL(kept, import.meta.url), 'utf8').trim()];
  throw new Error(
    `${manifest.name} is bundled and ships no licence text: replace it or do not bundle it.`,
  );
}

function repositoryOf({ repository }: Manifest): string | null {
  const url = typeof repository === 'string' ? repository : (repository?.url ?? null);
  return url?.replace(/^git\+/, '').replace(/\.git$/, '') ?? null;
}

/** @param inputs paths from the repository's root of every file that was bundled */
export function thirdPartyLicenses(root: string, inputs: Iterable<string>): string {
  const folders = new Set<string>();
  for (const input of inputs) {
    const folder = packageFolder(input);
    if (folder) folders.add(folder);
  }
  const opening =
    folders.size === 0
      ? 'No code of other packages is contained in this package.'
      : 'This package contains code of the packages below, under their licences.';
  const packages = [...folders].sort().map((folder) => readPackage(root, folder));
  const titlesOf = new Map<string, string[]>();
  for (const { manifest, texts } of packages) {
    const text = (texts.length > 0 ? texts : textsOfSibling(manifest, packages)).join(
      '\n\n',
    );
    const title = `${manifest.name} ${manifest.version} (${manifest.license ?? 'see text'})`;
    titlesOf.set(text, [...(titlesOf.get(text) ?? []), title]);
  }
  const licences = [...titlesOf].map(([text, titles]) => {
    const line = '-'.repeat(Math.max(...titles.map((title) => title.length)));
    return [...titles, line, '', text].join('\n');
  });
  return `${[opening, ...licences].join('\n\n\n')}\n`;
}
