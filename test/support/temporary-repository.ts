// For tests: a folder of its own that is removed with the test, a repository if wanted, and the git of the machine.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

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
      return execFileSync('git', [...identity, '-c', 'protocol.file.allow=always', ...words], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    },
  };
}

export function createTemporaryRepository(): TemporaryFolder {
  const folder = createTemporaryFolder();
  folder.git('init', '--quiet', '--initial-branch=main');
  return folder;
}
