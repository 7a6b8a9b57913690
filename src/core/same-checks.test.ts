import { describe, expect, it } from 'vitest';
import { type CheckSpec, createCommandCheck } from './check-specs.ts';
import {
  type Checks,
  checkIds,
  distinctChecks,
  otherNames,
  uniteChecks,
} from './same-checks.ts';

type Fields = Partial<Extract<CheckSpec, { kind: 'command' }>>;

const words = (
  id: string,
  command: readonly string[],
  fields: Fields = {},
): CheckSpec => ({
  ...createCommandCheck(id, command),
  ...fields,
});
const line = (id: string, shell: string, fields: Fields = {}): CheckSpec => ({
  ...createCommandCheck(id, { shell }),
  ...fields,
});
const byName = (...specs: readonly CheckSpec[]): Checks =>
  Object.fromEntries(specs.map((spec) => [spec.id, spec]));
const areOne = (one: CheckSpec, other: CheckSpec): boolean =>
  distinctChecks(uniteChecks(byName(one, other))).length === 1;

const npmTest = words('tests', ['npm', 'test']);

describe('V1: which checks are one', () => {
  it.each([
    ['the words of a plain line', npmTest, line('$ npm test', 'npm test')],
    ['a line with other blanks', line('a', ' npm \t test '), line('b', 'npm test')],
    [
      'the same line',
      line('a', 'npm test && npm run lint'),
      line('b', 'npm test && npm run lint'),
    ],
    [
      'names of variables in another order',
      words('a', ['x'], { environment: ['B', 'A', 'A'] }),
      words('b', ['x'], { environment: ['A', 'B'] }),
    ],
    [
      'files in another order',
      words('a', ['x'], { files: ['src', 'test'] }),
      words('b', ['x'], { files: ['test', 'src'] }),
    ],
    [
      'the same folder, written differently',
      words('a', ['x'], { directory: './sub/' }),
      words('b', ['x'], { directory: 'sub' }),
    ],
    [
      'the folder of the workspace itself',
      words('a', ['x'], { directory: '.' }),
      words('b', ['x']),
    ],
    ['another timeout', words('a', ['x'], { timeoutMs: 1 }), words('b', ['x'])],
  ])('V1: one check: %s', (_, one, other) => {
    expect(areOne(one, other)).toBe(true);
    expect(areOne(other, one)).toBe(true);
  });

  it.each([
    ['other words', npmTest, words('b', ['npm', 'test', '--', 'a'])],
    ['a word with a blank', words('a', ['npm', 'run a']), line('b', 'npm run a')],
    [
      'a line that a shell reads otherwise',
      words('a', ['ls', '*.ts']),
      line('b', 'ls *.ts'),
    ],
    ['a line that sets a variable', words('a', ['CI=1', 'npm']), line('b', 'CI=1 npm')],
    [
      'a word that a shell keeps to itself',
      words('a', ['exit', '0']),
      line('b', 'exit 0'),
    ],
    ['two lines and one', line('a', 'npm\ntest'), line('b', 'npm test')],
    ['another folder', npmTest, words('b', ['npm', 'test'], { directory: 'sub' })],
    [
      'another variable',
      npmTest,
      words('b', ['npm', 'test'], { environment: ['TOKEN'] }),
    ],
    ['other files', npmTest, words('b', ['npm', 'test'], { files: ['src'] })],
    ['another exit status', npmTest, words('b', ['npm', 'test'], { expectExit: 1 })],
    ['another output', npmTest, words('b', ['npm', 'test'], { expectOutput: 'ok' })],
  ])('V1: two checks: %s', (_, one, other) => {
    expect(areOne(one, other)).toBe(false);
    expect(areOne(other, one)).toBe(false);
  });
});

describe('V1: one check with several names', () => {
  const given = byName(
    words('tests', ['npm', 'test'], { timeoutMs: 5000 }),
    words('all', ['npm', 'test'], { timeoutMs: 9000 }),
    line('$ npm test', 'npm test', { timeoutMs: 1000 }),
    line('lint', 'npm run lint'),
  );

  it('V1: each name finds it, the line that a human typed is its id, and the longest timeout holds', () => {
    const checks = uniteChecks(given);
    expect(checkIds(checks, ['tests', 'all', '$ npm test', 'lint', 'unknown'])).toEqual([
      '$ npm test',
      'lint',
      'unknown',
    ]);
    expect(checks['tests']).toMatchObject({ id: '$ npm test', timeoutMs: 9000 });
    expect(otherNames(checks, '$ npm test')).toEqual(['tests', 'all']);
    expect(otherNames(checks, 'lint')).toEqual([]);
  });

  it('V2: the id does not depend on the order of the names, nor on an earlier union', () => {
    const checks = uniteChecks(given);
    const reversed = uniteChecks(Object.fromEntries(Object.entries(given).reverse()));
    expect(reversed).toEqual(checks);
    expect(uniteChecks(checks)).toEqual(checks);
  });

  it('V1: a name that gets another meaning is a check of its own again', () => {
    const { tests: _, ...rest } = uniteChecks(given);
    const checks = uniteChecks({
      ...rest,
      tests: words('tests', ['npm', 'run', 'other']),
    });
    expect(checkIds(checks, ['tests', 'all'])).toEqual(['tests', '$ npm test']);
  });

  it('V3: a list of words that an agent proposes has the name that the configuration gives to the same words', () => {
    const checks = uniteChecks(byName(npmTest, words('$ npm test', ['npm', 'test'])));
    expect(checkIds(checks, ['$ npm test'])).toEqual(['tests']);
  });

  it('V1: questions to a human with the same words are asked once', () => {
    const question = {
      files: [],
      timeoutMs: 1,
      kind: 'human',
      question: 'Is it good?',
    } as const;
    const checks = uniteChecks(
      byName({ ...question, id: 'b' }, { ...question, id: 'a' }),
    );
    expect(distinctChecks(checks)).toEqual([{ ...question, id: 'a' }]);
  });
});
