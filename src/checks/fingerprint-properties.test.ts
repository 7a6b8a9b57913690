// Properties over random trees with the real git: the fingerprint changes exactly if the
// content of a file changes.
import { chmodSync, lstatSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryRepository,
  fingerprintWorkspace,
  type TemporaryFolder,
} from '../../test/support/temporary-repository.ts';

type Content =
  | { kind: 'file'; text: string; executable: boolean }
  | { kind: 'link'; target: string };
type Tree = Readonly<Record<string, Content>>;

const name = fc.constantFrom('a', 'b.txt', 'ä', '"q"', '-x', ' s', 'n\nl', '*');
/** Folders have other names than files, so that no path is both. */
const path = fc
  .tuple(fc.array(fc.constantFrom('one', 'two', 'ordner ö'), { maxLength: 2 }), name)
  .map(([folders, file]) => [...folders, file].join('/'));
const content: fc.Arbitrary<Content> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('file' as const),
      text: fc.constantFrom('', 'x', 'y', 'x\r\n', '\0bin'),
      executable: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('link' as const),
      target: fc.constantFrom('a', '/etc/passwd'),
    }),
  },
);
const tree: fc.Arbitrary<Tree> = fc.dictionary(path, content, { minKeys: 1, maxKeys: 6 });

/** What people and agents do with git that changes no file. */
const motions: Readonly<Record<string, (folder: TemporaryFolder, tree: Tree) => void>> = {
  stage: ({ git }) => git('add', '-A'),
  commit: ({ git }) => {
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'all');
  },
  emptyCommit: ({ git }) => git('commit', '-q', '--allow-empty', '-m', 'nothing'),
  unstage: ({ git }) => git('reset', '-q'),
  branch: ({ git }) => git('checkout', '-q', '-B', 'side'),
  intend: ({ git }) => git('add', '-N', '.'),
  stash: ({ git }) => {
    git('commit', '-q', '--allow-empty', '-m', 'base');
    git('add', '-A');
    const stashed = git('stash', 'create').trim();
    if (stashed !== '') git('stash', 'store', stashed);
  },
  touch: ({ root }, files) => {
    for (const file of Object.keys(files)) {
      if (!lstatSync(join(root, file)).isSymbolicLink())
        utimesSync(join(root, file), 1, 1);
    }
  },
  collect: ({ git }) => git('gc', '-q', '--prune=now'),
  forgetIndex: ({ root }) => rmSync(join(root, '.git/index'), { force: true }),
};

function write(folder: TemporaryFolder, files: Tree): void {
  for (const [file, value] of Object.entries(files)) {
    rmSync(join(folder.root, file), { force: true });
    if (value.kind === 'file')
      chmodSync(folder.put(file, value.text), value.executable ? 0o755 : 0o644);
    else {
      folder.put(file, '');
      rmSync(join(folder.root, file));
      symlinkSync(value.target, join(folder.root, file));
    }
  }
}

async function take(folder: TemporaryFolder): Promise<string> {
  const result = await fingerprintWorkspace(folder.root);
  if (!result.ok || result.source !== 'git') throw new Error(JSON.stringify(result));
  return result.fingerprint;
}

/**
 * Each run starts a dozen processes of git: more than this adds minutes and no new trees.
 */
const runs = Math.min(200, Number(process.env['UNTILDONE_PROPERTY_RUNS'] ?? 12));

describe('V2, G7: over random trees in a repository', () => {
  it('the same content has the same fingerprint, any other content another one', async () => {
    await fc.assert(
      fc.asyncProperty(
        tree,
        fc.array(fc.constantFrom(...Object.keys(motions)), { maxLength: 4 }),
        fc.tuple(path, fc.option(content)),
        async (files, moves, [changedPath, changed]) => {
          const folder = createTemporaryRepository();
          write(folder, files);
          const first = await take(folder);
          for (const move of moves) {
            motions[move]?.(folder, files);
            expect(await take(folder)).toBe(first);
          }
          const after: Record<string, Content> = { ...files };
          if (changed === null) delete after[changedPath];
          else after[changedPath] = changed;
          fc.pre(Object.keys(after).length > 0);
          if (changed === null) rmSync(join(folder.root, changedPath), { force: true });
          else write(folder, { [changedPath]: changed });
          const isSame = JSON.stringify(sorted(after)) === JSON.stringify(sorted(files));
          expect((await take(folder)) === first).toBe(isSame);
        },
      ),
      { numRuns: runs },
    );
  });
});

function sorted(files: Tree): [string, Content][] {
  return Object.entries(files).sort(([left], [right]) => (left < right ? -1 : 1));
}
