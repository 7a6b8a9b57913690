// For tests: a folder of its own that is removed with the test, a repository if wanted,
// and the git of the machine.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type FingerprintChoice,
  fingerprintListing,
  type Listing,
  type ListingOptions,
  listWorkspace,
} from '../../src/checks/fingerprint.ts';

export interface TemporaryFolder {
  readonly root: string;
  put(path: string, content: string | Uint8Array): string;
  git(...words: string[]): string;
}

export function createTemporaryFolder(): TemporaryFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'untildone-checks-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return folderAt(root);
}

function folderAt(root: string): TemporaryFolder {
  return {
    root,
    put(path, content) {
      const full = join(root, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, content);
      return full;
    },
    git(...words) {
      const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
      return execFileSync(
        'git',
        [...identity, '-c', 'protocol.file.allow=always', ...words],
        {
          cwd: root,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      );
    },
  };
}

/** git gives ids of 40 digits, we ourselves of 64. */
export function sourceOf(listing: Listing): 'git' | 'walk' {
  return [...listing.values()].some((value) => /\b[0-9a-f]{64}$/u.test(value))
    ? 'walk'
    : 'git';
}

export async function fingerprintWorkspace(
  root: string,
  options: ListingOptions & FingerprintChoice = {},
) {
  const listed = await listWorkspace(root, options);
  if (!listed.ok) return listed;
  return {
    source: sourceOf(listed.listing),
    ...fingerprintListing(listed.listing, options),
  };
}

/** Throws where there is none. */
export async function takeFingerprint(
  ...look: Parameters<typeof fingerprintWorkspace>
): Promise<string> {
  const result = await fingerprintWorkspace(...look);
  if (!result.ok) throw new Error(result.error);
  return result.fingerprint;
}

export function createTemporaryRepository(): TemporaryFolder {
  const folder = createTemporaryFolder();
  folder.git('init', '--quiet', '--initial-branch=main');
  return folder;
}
