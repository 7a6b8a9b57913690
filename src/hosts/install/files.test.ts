import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { claudeCodeLanguage } from '../claude-code/host.ts';
import { startVariables } from '../project-variables.ts';
import { readHookCommand, writeHookCommand } from './files.ts';

const scratch = mkdtempSync(join(tmpdir(), 'untildone-command-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the hook command', () => {
  it.each([
    ['plain'],
    ['with space and \'quotes\' and "more"'],
    ['$HOME `touch x` $(touch y) \\n \\'],
    ['-dash; touch z & | > < * ? [a] {b,c} ~ # !'],
    ['line\nbreak\ttab'],
    ['ünï 🙂'],
  ])(
    'C2: in a folder named %j it runs exactly that file under /bin/sh, and is read back',
    (name) => {
      const folder = join(scratch, name, 'bin', '1.2.3');
      mkdirSync(folder, { recursive: true });
      const file = join(folder, 'hook.js');
      writeFileSync(
        file,
        'console.log(JSON.stringify([__filename, ...process.argv.slice(2)]))',
      );
      writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
      const node = join(scratch, name, 'node');
      symlinkSync(process.execPath, node);
      const request = {
        scope: 'project',
        node,
        stateDirectory: join(scratch, name),
        version: '1.2.3',
      } as const;
      const line = writeHookCommand(request, 'claude-code', ['--tools=mcp__untildone__']);
      const output = execFileSync('/bin/sh', ['-c', line], {
        encoding: 'utf8',
        cwd: scratch,
      });
      expect(JSON.parse(output)).toEqual([
        file,
        'claude-code',
        '--tools=mcp__untildone__',
      ]);
      expect(readHookCommand(line, 'claude-code')).toEqual({
        node,
        file,
        version: '1.2.3',
      });
      expect(readHookCommand(line, 'codex')).toBeNull();
    },
  );

  it('V10: takes Node’s own variables off before Node starts, and is known as ours with them and without', () => {
    const folder = join(scratch, 'guarded', 'bin', '1.2.3');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'hook.js'), 'console.log("ours")');
    writeFileSync(join(folder, 'evil.cjs'), 'console.log("{}"); process.exit(0)');
    const request = {
      scope: 'project',
      node: process.execPath,
      stateDirectory: join(scratch, 'guarded'),
      version: '1.2.3',
    } as const;
    const older = writeHookCommand(request, 'claude-code');
    const variables = startVariables(claudeCodeLanguage);
    const line = writeHookCommand(request, 'claude-code', [], variables);
    const env = { NODE_OPTIONS: `--require ${join(folder, 'evil.cjs')}` };
    const run = (command: string) =>
      execFileSync('/bin/sh', ['-c', command], { encoding: 'utf8', env });
    expect([run(older), run(line)]).toEqual(['{}\n', 'ours\n']);
    const ours = readHookCommand(older, 'claude-code');
    expect(ours).not.toBeNull();
    expect(readHookCommand(line, 'claude-code')).toEqual(ours);
    expect(startVariables({}), 'where no project sets any').toEqual({});
  });

  it('C2: a portable one names its version', () => {
    const request = {
      scope: 'shared',
      node: '/n',
      stateDirectory: '/s',
      version: '0.1.0',
    } as const;
    const line = writeHookCommand(request, 'codex');
    expect(line).toBe('npx -y --fetch-retries=0 untildone@0.1.0 hook codex');
    expect(readHookCommand(line, 'codex')).toEqual({ version: '0.1.0' });
  });

  it.each([
    ["'/usr/bin/node' '/home/a/hook.js' claude-code"],
    ["'/usr/bin/node' '/home/a/bin/1.0.0/hook.js' claude-code; rm -rf x"],
    ["node '/home/a/bin/1.0.0/hook.js' claude-code"],
    ['echo untildone hook claude-code'],
    [''],
  ])('C2: %j is not ours', (line) => {
    expect(readHookCommand(line, 'claude-code')).toBeNull();
  });
});
