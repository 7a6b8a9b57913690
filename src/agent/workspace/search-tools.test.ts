import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createTemporaryWorkspace,
  errorOf,
  outputOf,
} from '../../../test/support/temporary-workspace.ts';

describe('glob', () => {
  it('finds files in order, without .git, node_modules and what .gitignore names', async () => {
    const { put, call } = createTemporaryWorkspace();
    const paths = [
      'src/b.ts',
      'src/a.ts',
      'README.md',
      '.git/x.ts',
      'node_modules/p/x.ts',
      'pkg/node_modules/x.ts',
    ];
    for (const path of [
      ...paths,
      'dist/x.ts',
      'src/gen/x.ts',
      'src/gen/keep.ts',
      'a.log',
      'src/deep/build/x.ts',
      'top.ts',
      'src/top.ts',
    ])
      put(path, '');
    put('.gitignore', '# comment\ndist/\n*.log\n/top.ts\nbuild\n');
    put('src/.gitignore', 'gen/*\n!gen/keep.ts\n');
    expect(outputOf(await call('glob', { pattern: '**' })).split('\n')).toEqual([
      '.gitignore',
      'README.md',
      'src/.gitignore',
      'src/a.ts',
      'src/b.ts',
      'src/gen/keep.ts',
      'src/top.ts',
    ]);
    expect(outputOf(await call('glob', { pattern: '*.ts', path: 'src/gen' }))).toBe(
      'src/gen/keep.ts',
    );
    expect(outputOf(await call('glob', { pattern: '*.ts', path: 'dist' }))).toBe(
      'dist/x.ts',
    );
    expect(outputOf(await call('glob', { pattern: '*.rs' }))).toBe('No file fits *.rs.');
  });

  it('stops at its limits and says so', async () => {
    const { put, call } = createTemporaryWorkspace({ entries: 3, walkedEntries: 8 });
    for (let number = 0; number < 9; number += 1) put(`f${number}.txt`, '');
    expect(outputOf(await call('glob', { pattern: '*' }))).toBe(
      'f0.txt\nf1.txt\nf2.txt\n(More than 3 files: narrow the pattern.)',
    );
    expect(outputOf(await call('glob', { pattern: 'f8*' }))).toContain(
      'Stopped after 8 names',
    );
  });
});

describe('grep', () => {
  it('answers path, line and text for expressions, plain text and either case', async () => {
    const { put, call } = createTemporaryWorkspace();
    put('a.ts', 'const a = 1;\r\nlet b = a.b(2);\n');
    put('b.md', 'A.B(2)\n');
    expect(outputOf(await call('grep', { pattern: '^const \\w+' }))).toBe(
      'a.ts:1: const a = 1;',
    );
    expect(outputOf(await call('grep', { pattern: ';$' })).split('\n')).toHaveLength(2);
    expect(outputOf(await call('grep', { pattern: 'a.b(2)', literal: true }))).toBe(
      'a.ts:2: let b = a.b(2);',
    );
    expect(
      outputOf(
        await call('grep', { pattern: 'a.b(2)', literal: true, ignoreCase: true }),
      ).split('\n'),
    ).toHaveLength(2);
    expect(outputOf(await call('grep', { pattern: '(?i)CONST', include: '*.ts' }))).toBe(
      'a.ts:1: const a = 1;',
    );
    expect(
      outputOf(await call('grep', { pattern: 'a\\-?\\.b', path: 'a.ts' })),
    ).toContain('a.ts:2');
    expect(outputOf(await call('grep', { pattern: 'absent' }))).toBe('No match.');
    expect(errorOf(await call('grep', { pattern: '(' }))).toMatch(
      /regular expression.*literal: true/u,
    );
    expect(errorOf(await call('grep', { pattern: 'x', path: 'absent' }))).toContain(
      'does not exist',
    );
  });

  it('ends a hopeless pattern in its time, with what was found before', async () => {
    const { put, call } = createTemporaryWorkspace({ grepMs: 400 });
    put('1.txt', 'aaab\n');
    put('2.txt', `${'a'.repeat(60)}!\n`);
    const started = performance.now();
    const answer = await call('grep', { pattern: '^(a+)+b$' });
    const output = errorOf(answer);
    expect(answer).toMatchObject({ timedOut: true });
    expect(performance.now() - started).toBeLessThan(5000);
    expect(output).toContain('1.txt:1: aaab');
    expect(output).toMatch(/Stopped after 0\.4 s in 2\.txt.*nested repetitions/u);
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    const { put, call } = createTemporaryWorkspace({}, controller.signal);
    put('2.txt', `${'a'.repeat(60)}!\n`);
    const started = performance.now();
    const searching = call('grep', { pattern: '^(a+)+b$' });
    setTimeout(() => controller.abort(), 100);
    expect(errorOf(await searching)).toContain('interrupted');
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it('ends with a signal that comes right after it was looked at', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const { put, call } = createTemporaryWorkspace({}, signal);
    put('a.txt', 'needle\n');
    Object.defineProperty(signal, 'aborted', {
      get() {
        const isAborted = Reflect.get(AbortSignal.prototype, 'aborted', signal);
        queueMicrotask(() => controller.abort());
        return isAborted;
      },
    });
    expect(errorOf(await call('grep', { pattern: 'needle' }))).toContain('interrupted');
  });

  it('is bounded in matches, line length and file size, and skips binary files', async () => {
    const { put, call } = createTemporaryWorkspace({
      grepMatches: 5,
      fileBytes: 100_000,
    });
    put('a.txt', 'x\n'.repeat(100));
    put('binary', Buffer.from('needle\0needle'));
    put('huge.txt', `needle${' '.repeat(100_000)}`);
    put('minified.js', `${'y'.repeat(50_000)}needle${'y'.repeat(40_000)}`);
    const many = outputOf(await call('grep', { pattern: 'x' })).split('\n');
    expect(many.filter((line) => line.startsWith('a.txt'))).toHaveLength(5);
    expect(many[5]).toContain('More than 5 matches');
    const [match, note] = outputOf(await call('grep', { pattern: 'needle' })).split('\n');
    expect(match).toMatch(/^minified\.js:1: …y+needley+…$/u);
    expect(match?.length).toBeLessThan(330);
    expect(note).toBe('(1 files larger than 100000 bytes were not searched.)');
  });

  it('walks two thousand files in a moment', async () => {
    const { put, call } = createTemporaryWorkspace();
    for (let number = 0; number < 2000; number += 1)
      put(join(`d${number % 50}`, `${number}.txt`), `text ${number}\n`);
    const started = performance.now();
    expect(outputOf(await call('grep', { pattern: 'text 1999$' }))).toBe(
      'd49/1999.txt:1: text 1999',
    );
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
