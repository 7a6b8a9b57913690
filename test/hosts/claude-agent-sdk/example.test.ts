// The example, with the real program: it is run where it finds the SDK of this folder and
// our package as it was built.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('15: the example holds a query until both todos are finished', async () => {
  const home = mkdtempSync(join(tmpdir(), 'untildone-claude-example-'));
  mkdirSync(join(home, 'node_modules'));
  symlinkSync(root, join(home, 'node_modules/untildone'));
  const sdk = fileURLToPath(new URL('node_modules/@anthropic-ai', import.meta.url));
  symlinkSync(sdk, join(home, 'node_modules/@anthropic-ai'));
  copyFileSync(join(root, 'examples/10-claude-agent-sdk.ts'), join(home, 'example.mts'));
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  const given = { cwd: home, env, timeout: 100_000 };
  const program = ['--no-warnings', 'example.mts'];
  const { stdout } = await promisify(execFile)(process.execPath, program, given);
  expect(stdout).toMatch(/^Both todos are finished\.\nclaimed: /);
});
