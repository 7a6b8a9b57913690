// What we describe of the SDK is compared with its own types. The program is written
// where the SDK is installed: `npm run types` must pass without it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = fileURLToPath(new URL('node_modules/.untildone-types/', import.meta.url));

const calling = (call: string) => `
import * as sdk from '@anthropic-ai/claude-agent-sdk';
import { untilDone } from '${join(root, 'src/frameworks/claude-agent-sdk/index.ts')}';
import type { Session } from '${join(root, 'src/session/session.ts')}';
declare const session: Session;
${call}
`;

function compile(text: string) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'program.ts'), text);
  const compilerOptions = {
    rewriteRelativeImportExtensions: false,
    lib: ['es2023', 'esnext.disposable', 'dom'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    include: [],
    files: ['program.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  return spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
    {
      encoding: 'utf8',
    },
  );
}

it('15: the options fit into a query, with the SDK as it is', () => {
  const { status, stdout } = compile(
    calling(
      "sdk.query({ prompt: 'go', options: { ...untilDone(session, sdk), model: 'x' } });",
    ),
  );
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

it('15: so does the example', () => {
  const { status, stdout } = compile(
    readFileSync(join(root, 'examples/10-claude-agent-sdk.ts'), 'utf8'),
  );
  expect(stdout).toBe('');
  expect(status).toBe(0);
});

it('15: and what does not fit is seen', () => {
  const { stdout } = compile(
    calling(
      "sdk.query({ prompt: 'go', options: { ...untilDone(session, sdk), hooks: { Stop: 5 } } });",
    ),
  );
  expect(stdout).toMatch(/error TS2322: .*HookCallbackMatcher/);
});
