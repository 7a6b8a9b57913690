import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTemporaryWorkspace } from '../../../test/support/temporary-workspace.ts';
import {
  decidePermission as decideCall,
  type KnownAnswers,
  matchesCall,
  type PermissionPolicy,
  proposePattern,
  subjectOf,
} from './permission.ts';
import { workspaceTools } from './workspace-tools.ts';

const shell = { name: 'shell', access: 'execute' } as const;
const command = (text: string) => ({ kind: 'command', text }) as const;
const file = (text: string) => ({ kind: 'file', text }) as const;
const writing = { name: 'write_file', access: 'write' } as const;

const noAnswers: KnownAnswers = { grants: [], refused: [] };
type Decided = Parameters<typeof decideCall>;

function decidePermission(
  tool: Decided[0],
  subject: Decided[1],
  policy: PermissionPolicy,
  known = noAnswers,
) {
  return decideCall(tool, subject, policy, known);
}

function decide(text: string, ...shellAllow: string[]) {
  return decidePermission(shell, command(text), { mode: 'allow-list', shellAllow });
}

describe('decidePermission', () => {
  const policy = (mode: PermissionPolicy['mode']): PermissionPolicy => ({
    mode,
    shellAllow: [],
  });
  const subjectFor = ({ access }: { readonly access: string }) =>
    access === 'execute' ? command('rm -rf x') : file('src/a.ts');
  const allowedIn = (mode: PermissionPolicy['mode']) =>
    workspaceTools
      .filter(
        (tool) => decidePermission(tool, subjectFor(tool), policy(mode)) === 'allow',
      )
      .map((tool) => tool.name);

  it('read-only: nothing that writes or runs', () => {
    expect(allowedIn('read-only')).toEqual([
      'read_file',
      'list_directory',
      'glob',
      'grep',
      'read_job',
      'list_jobs',
    ]);
    expect(
      decidePermission(shell, command('ls'), { mode: 'read-only', shellAllow: ['ls'] }),
    ).toEqual({
      deny: expect.stringContaining('read-only'),
      askable: null,
      about: null,
    });
  });

  it('allow-list: the file tools, and no command that nobody listed', () => {
    const all = workspaceTools.map((tool) => tool.name);
    expect(allowedIn('allow-list')).toEqual(
      all.filter((name) => !['shell', 'start_job', 'stop_job'].includes(name)),
    );
    expect(
      decidePermission(
        { name: 'stop_job', access: 'execute' },
        { kind: 'none', text: '' },
        policy('allow-list'),
      ),
    ).toBe('allow');
  });

  it('auto: everything', () => {
    expect(allowedIn('auto')).toHaveLength(workspaceTools.length);
  });

  it('S7: a refused command becomes a question only where the human is asked; the sentence names what is allowed', () => {
    const deny = expect.stringMatching(
      /"npm publish" is not on the human's allow-list\. Allowed: npm test\./u,
    );
    const about = { tool: 'shell', subject: 'npm publish' };
    expect(decide('npm publish', 'npm test')).toEqual({ deny, askable: null, about });
    const asking = { mode: 'ask', shellAllow: ['npm test'] } as const;
    expect(decidePermission(shell, command('npm publish'), asking)).toEqual({
      deny,
      askable: { ...about, pattern: '= npm publish' },
      about,
    });
    expect(decidePermission(shell, command('npm test'), asking)).toBe('allow');
  });

  it('S7: nobody is asked about more than a human can read', () => {
    for (const text of [`echo ${'x'.repeat(2000)}`, `echo${'\n'.repeat(40)}x`])
      expect(decidePermission(shell, command(text), policy('ask'))).toMatchObject({
        askable: null,
      });
  });

  it('S7: what the human granted is allowed, and what the human refused is neither allowed nor asked for again', () => {
    const known = {
      grants: [{ tool: 'shell', pattern: 'npm test **' }],
      refused: [{ tool: 'shell', pattern: '= npm publish' }],
    };
    const asked = (text: string) =>
      decidePermission(shell, command(text), policy('ask'), known);
    expect(asked('npm test -- src/a.test.ts')).toBe('allow');
    expect(asked('npm publish')).toMatchObject({
      deny: expect.stringContaining('said no'),
      askable: null,
    });
    expect(asked('npm publish --force')).toMatchObject({
      askable: { subject: 'npm publish --force' },
    });
    const job = { name: 'start_job', access: 'execute' } as const;
    expect(decidePermission(job, command('npm test'), policy('ask'), known)).not.toBe(
      'allow',
    );
  });

  it('C1: patterns per tool hold the file tools to their paths, and a grant for one of them counts for both', () => {
    const narrow = { ...policy('allow-list'), allow: { write_file: ['src/**'] } };
    const wrote = (path: string, known = noAnswers) =>
      decidePermission(writing, file(path), narrow, known);
    expect(wrote('src/a.ts')).toBe('allow');
    expect(wrote('test/a.ts')).toMatchObject({
      deny: expect.stringContaining('Writing to "test/a.ts" is not on'),
      askable: null,
    });
    const granted = { grants: [{ tool: 'edit_file', pattern: '/test/**' }], refused: [] };
    expect(wrote('test/a.ts', granted)).toBe('allow');
    expect(wrote('testing/a.ts', granted)).not.toBe('allow');
  });

  it('V3: the file that says what the system runs is written only where the human named it', () => {
    const wrote = (path: string, ...allow: string[]) =>
      decidePermission(
        writing,
        file(path),
        allow.length === 0
          ? policy('allow-list')
          : { ...policy('allow-list'), allow: { write_file: allow } },
      );
    expect(wrote('notes.json')).toBe('allow');
    for (const path of [
      'untildone.json',
      'packages/a/untildone.json',
      'UNTILDONE.json',
    ]) {
      expect(wrote(path), path).not.toBe('allow');
      expect(wrote(path, '**'), path).not.toBe('allow');
    }
    expect(wrote('untildone.json', 'untildone.json')).toBe('allow');
  });

  it('C3: no mode lets a file tool write where untildone keeps its own', () => {
    for (const mode of ['ask', 'allow-list', 'read-only', 'auto'] as const)
      expect(
        decidePermission(
          writing,
          { kind: 'kept', text: 'state/grants.json' },
          policy(mode),
        ),
      ).toEqual({
        deny: expect.stringContaining(mode === 'read-only' ? '' : 'belongs to untildone'),
        askable: null,
        about: null,
      });
  });

  it.each([
    ['npm test', 'npm test', true],
    ['npm  test ', 'npm test', true],
    ['npm test --silent', 'npm test', false],
    ['npm test', 'npm test **', true],
    ['npm test -- --run src/a.test.ts', 'npm test **', true],
    ['npm run build', 'npm run *', true],
    ['npm run build --force', 'npm run *', false],
    ['npm run test:unit', 'npm run test:*', true],
    ['npm-evil run x', 'npm run *', false],
    ['git commit -m "two words"', 'git commit -m *', true],
    ["git commit -m 'it''s'", 'git commit -m *', true],
    ['git commit -m "open', 'git commit -m *', false],
    ['cat "*.ts"', 'cat *', true],
    ['cat *.ts', 'cat *', false],
    ['cat ~/.ssh/id', 'cat *', false],
    ['LD_PRELOAD=./evil.so npm test', '** npm test', false],
    ['npm\u00a0test', 'npm test', false],
    ['', '**', false],
    ['npm test | tee log', 'npm test | tee log', true],
    ['npm test | tee other', 'npm test | tee *', false],
  ])('%j with the pattern %j: %s', (text, pattern, isAllowed) => {
    expect(decide(text, pattern) === 'allow').toBe(isAllowed);
  });

  it('a command with shell syntax fits no pattern but itself, wherever the syntax stands', () => {
    const words = fc
      .array(fc.constantFrom('npm', 'test', '"', "'", ' ', 'x'), { maxLength: 6 })
      .map((all) => all.join(''));
    const syntax = fc.constantFrom(
      ';',
      '&',
      '&&',
      '|',
      '||',
      '`',
      '$(',
      ')',
      '$',
      '<',
      '>',
      '>>',
      '\n',
      '\r',
      '\\',
      '\0',
    );
    fc.assert(
      fc.property(words, syntax, words, (before, joint, after) => {
        const text = before + joint + after;
        for (const pattern of ['**', '*', 'npm **', `${text} `, '* **'])
          expect(decide(text, pattern)).not.toBe('allow');
        expect(decide(text, text)).toBe('allow');
      }),
    );
  });
});

describe('the pattern that a lasting answer covers', () => {
  const free: PermissionPolicy = { mode: 'ask', shellAllow: [] };
  const narrow: PermissionPolicy = { ...free, allow: { write_file: ['docs/**'] } };

  it.each([
    ['npm test', 'npm test **'],
    ['npm test -- src/a.test.ts', 'npm test **'],
    ['npm run build --silent', 'npm run build **'],
    ['pnpm run test:unit', 'pnpm run test:unit **'],
    ['cargo test parser', 'cargo test **'],
    ['go vet ./...', 'go vet **'],
    ['npx vitest run', 'npx vitest **'],
    ['npx playwright test login', 'npx playwright test **'],
    ['make all', 'make all **'],
    ['pytest -v', 'pytest **'],
    ['npm install left-pad', '= npm install left-pad'],
    ['npm run', '= npm run'],
    ['npx cowsay', '= npx cowsay'],
    ['npx playwright install', '= npx playwright install'],
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
    expect(proposePattern(command(text), free)).toBe(pattern);
  });

  it.each([
    ['npm test', '--script-shell=docs/evil.sh'],
    ['npm test', '--script-shell docs/evil.sh'],
    ['npm test', '--prefix docs'],
    ['npm test', '-C docs'],
    ['npm test', '--node-options=--require=./docs/x.cjs'],
    ['npm test', '--userconfig docs/npmrc'],
    ['npm test', '-- --config docs/x.ts'],
    ['npm run build', '--workspace docs'],
    ['make build', 'SHELL=docs/evil.sh'],
    ['make build', '-f docs/x.mk'],
    ['make build', '-fdocs/x.mk'],
    ['make build', '--eval=x'],
    ['make build', '-C docs'],
    ['cargo test', '--config docs/x.toml'],
    ['cargo run', '--manifest-path docs/Cargo.toml'],
    ['go test', '-exec docs/evil.sh'],
    ['go vet', '-vettool=docs/evil'],
    ['go build', 'example.com/evil@latest'],
    ['vitest', '--root docs'],
    ['npx mocha', '--require ./docs/x.cjs'],
    ['npx mocha', 'docs/x.js'],
    ['pytest', 'docs/x.py'],
    ['pytest', '-p x'],
    ['pytest', '-c docs/x.ini'],
    ['npm test', '/tmp/evil.test.ts'],
    ['npm test', '../other/evil.test.ts'],
    ['npm test', 'src/../../evil.test.ts'],
    ['npm test', '--unheard-of'],
  ])(
    'S7: "always" for %j does not cover what chooses other code: %s',
    (granted, more) => {
      const text = `${granted} ${more}`;
      const pattern = proposePattern(command(granted), free);
      expect(pattern).toBe(`${granted} **`);
      const known = { grants: [{ tool: 'shell', pattern }], refused: [] };
      expect(decidePermission(shell, command(granted), free, known)).toBe('allow');
      // It is asked for, and the answer would be about this command alone.
      expect(decidePermission(shell, command(text), free, known)).toMatchObject({
        deny: expect.stringContaining('covers no other options'),
        askable: { pattern: `= ${text}` },
      });
    },
  );

  it('S7: of a command that runs the file it names, nothing but itself', () => {
    for (const text of ['go run .', 'go run ./cmd/x', 'node x.js', 'python3 x.py'])
      expect(proposePattern(command(text), free)).toBe(`= ${text}`);
  });

  it('S7: nothing is widened where a pattern holds the file tools to paths', () => {
    const known = { grants: [{ tool: 'shell', pattern: 'npm test **' }], refused: [] };
    for (const tool of ['write_file', 'edit_file']) {
      const policy = { ...free, allow: { [tool]: ['docs/**'] } };
      for (const text of ['npm test', 'npm test docs/x.test.js', 'make build']) {
        expect(proposePattern(command(text), policy)).toBe(`= ${text}`);
        // What was widened in a run that might write everywhere is asked for anew.
        expect(decidePermission(shell, command(text), policy, known)).toMatchObject({
          deny: expect.not.stringContaining('npm test **'),
          askable: { pattern: `= ${text}` },
        });
      }
    }
    const everywhere = { ...free, allow: { write_file: ['**'] } };
    expect(proposePattern(command('npm test'), everywhere)).toBe('npm test **');
    // A pattern of the human's own settings says what it says.
    expect(decide('npm test --prefix docs', 'npm test **')).toBe('allow');
  });

  it.each([
    ['src/parser/read.ts', '/src/parser/read.ts'],
    ['README.md', '/README.md'],
    ['untildone.json', '/untildone.json'],
    ['packages/a/untildone.json', '/packages/a/untildone.json'],
    ['a[1]/x.ts', '/a\\[1]/x.ts'],
    ['what?.md', '/what\\?.md'],
    ['src/\u202ea/x.ts', '/src/\u202ea/x.ts'],
  ])('S7: of the file %j is that file alone: %j', (path, pattern) => {
    expect(proposePattern(file(path), narrow)).toBe(pattern);
    expect(matchesCall(pattern, file(path))).toBe(true);
    expect(matchesCall(pattern, file(`${path}x`))).toBe(false);
  });

  it('S7: it covers the call that it was made from', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(matchesCall(proposePattern(command(text), free), command(text))).toBe(
          true,
        );
      }),
    );
  });

  it('S7: no shell syntax ever gets in beneath what was granted, whatever the command was made of', () => {
    const words = fc.array(
      fc.constantFrom(
        'npm',
        'test',
        'run',
        'build',
        'make',
        '*',
        '**',
        '"**"',
        "'",
        '"',
        'rm',
        '?',
        '= ',
      ),
      { maxLength: 5 },
    );
    const syntax = fc.constantFrom(';', '&', '|', '$(', '`', '<', '>', '\n', '\\', '\0');
    fc.assert(
      fc.property(words, words, syntax, (first, second, joint) => {
        const asked = first.join(' ');
        const other = `${second.join(' ')}${joint}x`;
        if (asked !== other)
          expect(matchesCall(proposePattern(command(asked), free), command(other))).toBe(
            false,
          );
      }),
    );
  });

  it('S7: a star in a command that was granted as it stands is no wildcard', () => {
    for (const granted of ['rm *', 'cat "**"', 'rm ?'])
      for (const other of ['rm important', 'cat /etc/shadow', 'rm x'])
        expect(matchesCall(proposePattern(command(granted), free), command(other))).toBe(
          false,
        );
  });

  it('S7: a file at the root is not one of the same name elsewhere', () => {
    expect(matchesCall('/README.md', file('docs/README.md'))).toBe(false);
    expect(matchesCall('README.md', file('docs/README.md'))).toBe(true);
    expect(matchesCall('../**', file('a'))).toBe(false);
  });
});

describe('C3: a place of untildone itself', () => {
  it.each(['state/grants.json', 'state/new/file', 'state'])(
    'is known before it is there: %s',
    async (path) => {
      const { root } = createTemporaryWorkspace();
      const kept = [join(root, 'state')];
      expect(await subjectOf('write', { path }, root, kept)).toEqual({
        kind: 'kept',
        text: path,
      });
    },
  );

  it('is known by every name that leads to it', async () => {
    const { root } = createTemporaryWorkspace();
    mkdirSync(join(root, 'state'));
    symlinkSync('state', join(root, 'way'));
    for (const own of ['state', 'way'])
      for (const path of ['state/a.json', 'way/a.json'])
        expect(await subjectOf('write', { path }, root, [join(root, own)])).toEqual({
          kind: 'kept',
          text: 'state/a.json',
        });
  });

  it('is nothing beside it', async () => {
    const { root } = createTemporaryWorkspace();
    for (const path of ['state.json', 'stateless/x', 'src/state'])
      expect(await subjectOf('write', { path }, root, [join(root, 'state')])).toEqual({
        kind: 'file',
        text: path,
      });
  });
});
