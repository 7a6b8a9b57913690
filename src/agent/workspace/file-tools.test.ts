import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryWorkspace,
  errorOf,
  outputOf,
} from '../../../test/support/temporary-workspace.ts';

describe('read_file', () => {
  it('numbers lines and says where the file ends', async () => {
    const { put, call } = createTemporaryWorkspace();
    put('a.txt', 'one\r\ntwo\n\nfour');
    expect(outputOf(await call('read_file', { path: 'a.txt' }))).toBe(
      '1\tone\n2\ttwo\n3\t\n4\tfour\n(End of file: 4 lines.)',
    );
  });

  it('reads a window and names the offset to go on with', async () => {
    const { put, call } = createTemporaryWorkspace();
    put('a.txt', Array.from({ length: 10 }, (_, at) => `line ${at + 1}\n`).join(''));
    const output = outputOf(
      await call('read_file', { path: 'a.txt', offset: 4, limit: 2 }),
    );
    expect(output).toBe(
      '4\tline 4\n5\tline 5\n(The file goes on: read further with offset 6.)',
    );
    expect(
      outputOf(await call('read_file', { path: 'a.txt', offset: 9, limit: 2 })),
    ).toContain('End of file: 10 lines');
    expect(errorOf(await call('read_file', { path: 'a.txt', offset: 11 }))).toContain(
      'only 10 lines',
    );
  });

  it('stays within its size, cuts long lines and keeps letters whole over chunks', async () => {
    const { put, call } = createTemporaryWorkspace({
      outputCharacters: 5000,
      lineCharacters: 100,
    });
    put('long.txt', `${'ä'.repeat(3_000_000)}\nend\n`);
    const long = outputOf(await call('read_file', { path: 'long.txt' }));
    expect(long).toBe(
      `1\t${'ä'.repeat(100)}…\n2\tend\n(End of file: 2 lines. 1 long lines are cut (…).)`,
    );
    put('many.txt', 'xäx\n'.repeat(50_000));
    const many = outputOf(await call('read_file', { path: 'many.txt', offset: 30_000 }));
    expect(many.length).toBeLessThan(5200);
    expect(many).not.toContain('\ufffd');
    expect(many).toMatch(/^30000\txäx\n/u);
    expect(many).toContain('The file goes on');
  });

  it('refuses binary files, and says that an empty file is empty', async () => {
    const { put, call } = createTemporaryWorkspace();
    put('image.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]));
    put('empty.txt', '');
    expect(errorOf(await call('read_file', { path: 'image.png' }))).toContain(
      'binary file of 7 bytes',
    );
    expect(outputOf(await call('read_file', { path: 'empty.txt' }))).toContain(
      'is empty',
    );
  });

  it('says what exists instead of a missing file', async () => {
    const { put, call } = createTemporaryWorkspace();
    for (const name of ['index.ts', 'Parser.ts', 'lexer.ts']) put(`src/${name}`, 'x');
    const error = errorOf(await call('read_file', { path: 'src/parser.js' }));
    expect(error).toMatch(
      /^src\/parser\.js does not exist\. The folder src contains: Parser\.ts, /u,
    );
    expect(errorOf(await call('read_file', { path: 'source/deep/parser.ts' }))).toContain(
      'The folder . contains: src',
    );
    expect(errorOf(await call('read_file', { path: 'src/index.ts/x' }))).toContain(
      'src/index.ts is not a folder',
    );
  });

  it('is ended by the signal', async () => {
    const { put, call } = createTemporaryWorkspace({}, AbortSignal.abort());
    put('a.txt', 'x\n');
    expect(errorOf(await call('read_file', { path: 'a.txt' }))).toContain('interrupted');
  });
});

describe('write_file', () => {
  it('creates folders, replaces content, keeps the mode and leaves no temporary file', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    expect(
      outputOf(await call('write_file', { path: 'a/b/c.txt', content: 'x\ny\n' })),
    ).toBe('Created a/b/c.txt (2 lines, 4 bytes).');
    chmodSync(put('run.sh', 'old'), 0o755);
    expect(outputOf(await call('write_file', { path: 'run.sh', content: 'new' }))).toBe(
      'Replaced run.sh (1 line, 3 bytes).',
    );
    expect(statSync(join(root, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('new');
    expect(readdirSync(root)).toEqual(['a', 'run.sh']);
    expect(readdirSync(join(root, 'a/b'))).toEqual(['c.txt']);
  });

  it('S6: calls beside each other may write into a folder that none of them has found yet', async () => {
    const { call } = createTemporaryWorkspace();
    for (let round = 0; round < 40; round += 1) {
      const paths = Array.from(
        { length: 8 },
        (_, index) => `round${round}/deep/er/${index}.txt`,
      );
      const results = await Promise.all(
        paths.map((path) => call('write_file', { path, content: 'xy' })),
      );
      expect(results.map(outputOf)).toEqual(
        paths.map((path) => `Created ${path} (1 line, 2 bytes).`),
      );
    }
  });

  it('Must hold 6: a hard link to a file outside is broken, not written through', async () => {
    const { root, outside, call } = createTemporaryWorkspace();
    linkSync(join(outside, 'secret.txt'), join(root, 'hard.txt'));
    outputOf(await call('write_file', { path: 'hard.txt', content: 'mine' }));
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('the secret\n');
    expect(readFileSync(join(root, 'hard.txt'), 'utf8')).toBe('mine');
  });

  it('leaves alone what a human marked read-only, and says what is in the way', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    chmodSync(put('fixed.txt', 'keep'), 0o444);
    expect(
      errorOf(await call('write_file', { path: 'fixed.txt', content: 'x' })),
    ).toContain('read-only');
    expect(readFileSync(join(root, 'fixed.txt'), 'utf8')).toBe('keep');
    expect(
      errorOf(await call('write_file', { path: 'fixed.txt/below', content: 'x' })),
    ).toContain('not a folder');
    expect(
      errorOf(await call('write_file', { path: 'n'.repeat(300), content: 'x' })),
    ).toContain('too long');
  });

  it('is never seen half written', async () => {
    const { root, call } = createTemporaryWorkspace();
    const contents = ['a', 'b'].map((letter) => letter.repeat(2_000_000));
    await call('write_file', { path: 'big.txt', content: contents[0] });
    let isOver = false;
    const writing = (async () => {
      for (let round = 0; round < 15; round += 1)
        await call('write_file', { path: 'big.txt', content: contents[round % 2] });
      isOver = true;
    })();
    while (!isOver) {
      const seen = readFileSync(join(root, 'big.txt'), 'utf8');
      expect(contents.includes(seen)).toBe(true);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
  });

  it.each([
    'new\nline.txt',
    '\u001b[31mred.txt',
    'quo"te\'s.txt',
    '-rf',
    '$(touch pwned)',
    ' spaced ',
    '<tool>',
    'ünï-日本.txt',
    '\\',
  ])(
    'Must hold 6: takes the name %j as it is and shows it on one harmless line',
    async (path) => {
      const { root, call } = createTemporaryWorkspace();
      const written = outputOf(await call('write_file', { path, content: 'needle' }));
      expect(readdirSync(root)).toEqual([path]);
      const listed = outputOf(await call('list_directory', {}));
      const found = outputOf(await call('grep', { pattern: 'needle' }));
      for (const output of [written, listed, found]) {
        expect(output.split('\n')).toHaveLength(1);
        expect(output).not.toContain('\u001b');
        expect(output).not.toContain('<');
      }
      const shown = outputOf(await call('glob', { pattern: '*' }));
      const named = shown.startsWith('"') ? JSON.parse(shown) : shown;
      expect(outputOf(await call('read_file', { path: named }))).toContain('needle');
    },
  );
});

describe('edit_file', () => {
  it('replaces what occurs once, whatever stands in the new text', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    put('a.txt', 'one\ntwo\nthree\n');
    const output = outputOf(
      await call('edit_file', { path: 'a.txt', oldText: 'two', newText: '$& $1 $$' }),
    );
    expect(output).toBe('Edited a.txt in one place (line 2).');
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n$& $1 $$\nthree\n');
  });

  it('refuses what occurs several times, with their lines, until told to replace all', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    put('a.txt', 'x\ny\nx x\n');
    const edit = { path: 'a.txt', oldText: 'x', newText: 'z' };
    expect(errorOf(await call('edit_file', edit))).toContain(
      'occurs 3 times in a.txt (lines 1, 3, 3); nothing was changed',
    );
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('x\ny\nx x\n');
    expect(outputOf(await call('edit_file', { ...edit, all: true }))).toContain(
      'in 3 places',
    );
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('z\ny\nz z\n');
  });

  it('counts overlapping places as ambiguous', async () => {
    const { put, call } = createTemporaryWorkspace();
    put('a.txt', 'aaa');
    expect(
      errorOf(await call('edit_file', { path: 'a.txt', oldText: 'aa', newText: 'b' })),
    ).toContain('occurs 2 times');
  });

  it('says where the same words stand with other white space', async () => {
    const { put, call } = createTemporaryWorkspace();
    put('a.ts', 'function f() {\n\treturn 1;\n}\n');
    const error = errorOf(
      await call('edit_file', { path: 'a.ts', oldText: '  return 1;\n}', newText: 'x' }),
    );
    expect(error).toContain('0 times');
    expect(error).toContain('line 2 with other white space');
    expect(
      errorOf(await call('edit_file', { path: 'a.ts', oldText: 'absent', newText: 'x' })),
    ).toContain('may have changed');
  });

  it('fits the line ends of the file and keeps its byte order mark', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    put('a.txt', '\ufeffone\r\ntwo\r\nthree\r\n');
    outputOf(
      await call('edit_file', { path: 'a.txt', oldText: 'one\ntwo', newText: '1\n2' }),
    );
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('\ufeff1\r\n2\r\nthree\r\n');
  });

  it('refuses what it could not write back: other encodings, too large, nothing to change', async () => {
    const { put, call } = createTemporaryWorkspace({ fileBytes: 100 });
    put('latin1.txt', Buffer.from([0x61, 0xe4, 0x62]));
    put('large.txt', 'a'.repeat(101));
    expect(
      errorOf(
        await call('edit_file', { path: 'latin1.txt', oldText: 'a', newText: 'c' }),
      ),
    ).toContain('not UTF-8');
    expect(
      errorOf(await call('edit_file', { path: 'large.txt', oldText: 'a', newText: 'c' })),
    ).toContain('larger than 100');
    expect(
      errorOf(await call('edit_file', { path: 'large.txt', oldText: 'a', newText: 'a' })),
    ).toContain('equal');
  });

  it('loses no edit when one step makes twenty of them at once', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    const numbers = Array.from({ length: 20 }, (_, at) => at);
    put('a.txt', numbers.map((number) => `<${number}>`).join('\n'));
    await Promise.all(
      numbers.map((number) =>
        call('edit_file', {
          path: 'a.txt',
          oldText: `<${number}>`,
          newText: `[${number}]`,
        }),
      ),
    );
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe(
      numbers.map((number) => `[${number}]`).join('\n'),
    );
  });
});

describe('list_directory', () => {
  it('shows kinds, sizes and targets in order, and how many are left out', async () => {
    const { root, put, call } = createTemporaryWorkspace({ entries: 3 });
    put('b.txt', '12345');
    mkdirSync(join(root, 'a'));
    symlinkSync('b.txt', join(root, 'c'));
    writeFileSync(join(root, 'd'), '');
    expect(outputOf(await call('list_directory', {}))).toBe(
      'a/\nb.txt (5 bytes)\nc -> b.txt\n(1 more: use glob with a pattern.)',
    );
    expect(outputOf(await call('list_directory', { path: 'a' }))).toBe(
      'a is an empty folder.',
    );
    expect(errorOf(await call('list_directory', { path: 'b.txt' }))).toContain(
      'use read_file',
    );
    expect(errorOf(await call('list_directory', { path: 'aa' }))).toContain(
      'does not exist',
    );
  });
});

describe('what a killed process left behind', () => {
  it('V5: goes at the next write into its folder; what a living process is writing stays', async () => {
    const { root, put, call } = createTemporaryWorkspace();
    const id = '3c95ba36-915f-46fd-b52d-9943d41ab0d3';
    const dead = spawnSync('true').pid;
    const kept = [`.untildone-${process.pid}-${id}.tmp`, '.untildone-notes.tmp'];
    for (const name of [`.untildone-${dead}-${id}.tmp`, ...kept]) put(name, 'half');
    outputOf(await call('write_file', { path: 'a.txt', content: 'whole' }));
    expect(readdirSync(root).sort()).toEqual([...kept, 'a.txt'].sort());
  });
});
