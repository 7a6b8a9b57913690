import { describe, expect, it } from 'vitest';
import { createTemporaryWorkspace } from '../../../test/support/temporary-workspace.ts';
import { describeChange, type FileChange } from './file-change.ts';
import { editFile, writeFile } from './files.ts';

describe('what a file tool did to a file', () => {
  it('first-use 22: counts the lines and shows them as a diff', async () => {
    const change = await describeChange({
      path: 'a.txt',
      before: 'one\ntwo\nthree\n',
      after: 'one\n2\nthree\nfour\n',
    });
    expect(change).toMatchObject({ path: 'a.txt', isNew: false, added: 2, removed: 1 });
    expect(change.diff.split('\n')).toEqual([
      '@@ -1,3 +1,4 @@',
      ' one',
      '-two',
      '+2',
      ' three',
      '+four',
    ]);
    expect(await describeChange({ path: 'b', before: null, after: 'x\n' })).toMatchObject(
      {
        isNew: true,
        added: 1,
      },
    );
  });

  it('is bounded in size and in time, whatever the files are', async () => {
    const lines = (letter: string) =>
      Array.from({ length: 20_000 }, (_, at) => `${letter}${at * 7919}`).join('\n');
    const began = performance.now();
    const change = await describeChange({
      path: 'a',
      before: lines('a'),
      after: lines('b'),
    });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(change).toMatchObject({ added: 20_000, removed: 20_000 });
    const big = await describeChange({
      path: 'a',
      before: '',
      after: 'y\n'.repeat(50_000),
    });
    expect(big.added).toBe(50_000);
    expect(big.diff.length).toBeLessThan(6100);
  });

  it('first-use 22: is told by write_file and edit_file, and not by a call that changed nothing', async () => {
    const { context, put } = createTemporaryWorkspace();
    put('old.txt', 'one\n');
    put('image.bin', new Uint8Array([0xff, 0xfe, 0]));
    const told: FileChange[] = [];
    const place = { ...context, changed: (change: FileChange) => told.push(change) };
    await writeFile.call({ path: 'new/file.txt', content: 'a\n' }, place);
    await writeFile.call({ path: 'old.txt', content: 'two\n' }, place);
    await editFile.call({ path: 'old.txt', oldText: 'two', newText: 'three' }, place);
    await editFile.call({ path: 'old.txt', oldText: 'absent', newText: 'x' }, place);
    await writeFile.call({ path: 'image.bin', content: 'text' }, place);
    expect(told).toEqual([
      { path: 'new/file.txt', before: null, after: 'a\n' },
      { path: 'old.txt', before: 'one\n', after: 'two\n' },
      { path: 'old.txt', before: 'two\n', after: 'three\n' },
    ]);
  });
});
