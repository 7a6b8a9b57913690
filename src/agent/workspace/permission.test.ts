import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decidePermission, type PermissionPolicy } from './permission.ts';
import { workspaceTools } from './workspace-tools.ts';

const shell = { name: 'shell', access: 'execute' } as const;
function decide(command: string, ...shellAllow: string[]) {
  return decidePermission(shell, { command }, { mode: 'allow-list', shellAllow });
}

describe('decidePermission', () => {
  const policy = (mode: PermissionPolicy['mode']): PermissionPolicy => ({ mode, shellAllow: [] });
  const allowedIn = (mode: PermissionPolicy['mode']) =>
    workspaceTools
      .filter((tool) => decidePermission(tool, { command: 'rm -rf x' }, policy(mode)) === 'allow')
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
    expect(decidePermission(shell, { command: 'ls' }, { mode: 'read-only', shellAllow: ['ls'] })).toEqual({
      deny: expect.stringContaining('read-only'),
      askable: null,
    });
  });

  it('allow-list: the file tools, and no command that nobody listed', () => {
    const all = workspaceTools.map((tool) => tool.name);
    expect(allowedIn('allow-list')).toEqual(
      all.filter((name) => !['shell', 'start_job', 'stop_job'].includes(name)),
    );
    expect(
      decidePermission({ name: 'stop_job', access: 'execute' }, { job: 'job-1' }, policy('allow-list')),
    ).toBe('allow');
  });

  it('auto: everything', () => {
    expect(allowedIn('auto')).toHaveLength(workspaceTools.length);
  });

  it('a refused command can be made into a question, and the sentence names what is allowed', () => {
    const answer = decide('npm publish', 'npm test');
    expect(answer).toEqual({
      deny: expect.stringMatching(/"npm publish" is not on the human's allow-list\. Allowed: npm test\./u),
      askable: { tool: 'shell', command: 'npm publish' },
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
  ])('%j with the pattern %j: %s', (command, pattern, isAllowed) => {
    expect(decide(command, pattern) === 'allow').toBe(isAllowed);
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
        const command = before + joint + after;
        for (const pattern of ['**', '*', 'npm **', `${command} `, '* **'])
          expect(decide(command, pattern)).not.toBe('allow');
        expect(decide(command, command)).toBe('allow');
      }),
    );
  });
});
