// Prints what a fingerprint costs beside `git --no-optional-locks status` on a generated
// repository of 20,000 files: medians of interleaved runs, once with everything committed
// and once with some files changed.
// Usage: npm run bench -- fingerprint [ROUNDS]
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fingerprintsIn, listWorkspace } from '../../src/checks/fingerprint.ts';

const folders = 200;
const filesInFolder = 100;
const rounds = Number(process.argv[2] ?? 15);

const root = mkdtempSync(join(tmpdir(), 'untildone-bench-'));

function git(...words: string[]): void {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];
  execFileSync('git', [...identity, ...words], { cwd: root, stdio: 'ignore' });
}

function generate(): void {
  for (let folder = 0; folder < folders; folder += 1) {
    const directory = join(root, 'src', `part-${folder}`);
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < filesInFolder; file += 1) {
      writeFileSync(
        join(directory, `file-${file}.ts`),
        `export const value = ${folder * file};\n`.repeat(20),
      );
    }
  }
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'all');
  git('status');
}

async function measure(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return (
    [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
  );
}

async function compare(what: string): Promise<void> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    theirs.push(await measure(() => git('--no-optional-locks', 'status', '--porcelain')));
    ours.push(
      await measure(async () => {
        const listed = await listWorkspace(root);
        if (!listed.ok) throw new Error(listed.error);
        fingerprintsIn(listed)({ files: [] });
      }),
    );
  }
  const fingerprint = median(ours);
  const status = median(theirs);
  console.log(
    `${what}: fingerprint ${fingerprint.toFixed(1)} ms, git status ${status.toFixed(1)} ms, ` +
      `${(fingerprint / status).toFixed(2)} times (${rounds} rounds)`,
  );
}

try {
  generate();
  // git trusts the times of files only once they are older than its index.
  await new Promise((resolve) => setTimeout(resolve, 1100));
  git('update-index', '--refresh', '--force-write-index');
  console.log(`${folders * filesInFolder} files`);
  await compare('everything committed');
  for (let file = 0; file < 200; file += 1) {
    writeFileSync(join(root, 'src', `part-${file}`, 'file-0.ts'), 'changed\n');
    writeFileSync(join(root, 'src', `part-${file}`, 'new.ts'), 'new\n');
  }
  await compare('200 files changed, 200 untracked, just now');
  // Once files are older than the clock of a file system is coarse, their content is
  // remembered by their times.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  await compare('the same a moment later');
} finally {
  rmSync(root, { recursive: true, force: true });
}
