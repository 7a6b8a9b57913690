import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesCall, proposePattern } from './call-pattern.ts';

const command = (text: string) => ({ kind: 'command', text }) as const;
const file = (text: string) => ({ kind: 'file', text }) as const;

describe('the pattern that a lasting answer covers', () => {
  it.each([
    ['npm test', 'npm test **'],
    ['npm test -- src/a.test.ts', 'npm test **'],
    ['npm run build --force', 'npm run build **'],
    ['pnpm run test:unit', 'pnpm run test:unit **'],
    ['cargo test parser', 'cargo test **'],
    ['go vet ./...', 'go vet **'],
    ['npx vitest run', 'npx vitest **'],
    ['make all', 'make all **'],
    ['pytest -x', 'pytest **'],
    ['npm install left-pad', '= npm install left-pad'],
    ['npm run', '= npm run'],
    ['npx cowsay', '= npx cowsay'],
    ['make -f evil.mk', '= make -f evil.mk'],
    ['git diff --output=/etc/passwd', '= git diff --output=/etc/passwd'],
    ['rm -rf build', '= rm -rf build'],
    ['bash -c "npm test"', '= bash -c "npm test"'],
    ['npm test; rm -rf /', '= npm test; rm -rf /'],
    ['npm test && curl x', '= npm test && curl x'],
    ['npm test > /etc/hosts', '= npm test > /etc/hosts'],
    ['npm test $(id)', '= npm test $(id)'],
    ['npm test\nid', '= npm test\nid'],
    ['PATH=. npm test', '= PATH=. npm test'],
    ['npm run "a b"', '= npm run "a b"'],
    ['npm test \u202ex', '= npm test \u202ex'],
    ['npm test -- \u200ba', '= npm test -- \u200ba'],
    ['make all \u001b]0;x\u0007', '= make all \u001b]0;x\u0007'],
  ])('S7: of the command %j is %j', (text, pattern) => {
    expect(proposePattern(command(text))).toBe(pattern);
  });

  it.each([
    ['src/parser/read.ts', '/src/parser/**'],
    ['README.md', '/README.md'],
    ['untildone.json', '/untildone.json'],
    ['packages/a/untildone.json', '/packages/a/untildone.json'],
    ['a[1]/x.ts', '/a\\[1]/x.ts'],
    ['what?.md', '/what\\?.md'],
    ['src/\u202ea/x.ts', '/src/\u202ea/x.ts'],
  ])('S7: of the file %j is %j', (path, pattern) => {
    expect(proposePattern(file(path))).toBe(pattern);
    expect(matchesCall(pattern, file(path))).toBe(true);
  });

  it('S7: it covers the call that it was made from', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(matchesCall(proposePattern(command(text)), command(text))).toBe(true);
      }),
    );
  });

  it('S7: no shell syntax ever gets in beneath what was granted, whatever the command was made of', () => {
    const words = fc.array(
      fc.constantFrom('npm', 'test', 'run', 'build', 'make', '*', '**', '"**"', "'", '"', 'rm', '?', '= '),
      { maxLength: 5 },
    );
    const syntax = fc.constantFrom(';', '&', '|', '$(', '`', '<', '>', '\n', '\\', '\0');
    fc.assert(
      fc.property(words, words, syntax, (first, second, joint) => {
        const asked = first.join(' ');
        const other = `${second.join(' ')}${joint}x`;
        if (asked !== other) expect(matchesCall(proposePattern(command(asked)), command(other))).toBe(false);
      }),
    );
  });

  it('S7: a star in a command that was granted as it stands is no wildcard', () => {
    for (const granted of ['rm *', 'cat "**"', 'rm ?'])
      for (const other of ['rm important', 'cat /etc/shadow', 'rm x'])
        expect(matchesCall(proposePattern(command(granted)), command(other))).toBe(false);
  });

  it('S7: a file at the root is not one of the same name elsewhere', () => {
    expect(matchesCall('/README.md', file('docs/README.md'))).toBe(false);
    expect(matchesCall('README.md', file('docs/README.md'))).toBe(true);
    expect(matchesCall('../**', file('a'))).toBe(false);
  });
});
