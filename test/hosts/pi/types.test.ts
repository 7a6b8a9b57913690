// The shapes that we describe of pi are compared with those of its own package. The
// program is written where that package is installed: `npm run types` must pass without
// it.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = fileURLToPath(new URL('node_modules/.untildone-types/', import.meta.url));
const described = join(root, 'src/hosts/pi/translate.ts');

const imports = `
import type { ExtensionAPI, ExtensionContext, ExtensionFactory, ToolDefinition } from '@earendil-works/pi-coding-agent';
import type { ContextLike, PiLike, ToolLike } from '${described}';
`;

const fits = `${imports}
declare const given: ExtensionContext;
export const asContext: ContextLike = given;
declare const pi: ExtensionAPI;
export const asPi: Omit<PiLike, 'on'> = pi;
declare const tool: ToolLike;
export const asTool: ToolDefinition = tool;
// Every event that the extension hears is one of pi's.
export const factory: ExtensionFactory = (api) => {
  for (const name of ['session_start', 'session_shutdown', 'session_tree', 'session_compact'] as const)
    api.on(name as 'session_start', () => {});
  api.on('session_before_compact', () => {});
  api.on('session_compact_failed', () => {});
  api.on('input', ({ text, source }) => void [text satisfies string, source satisfies 'interactive' | 'rpc' | 'extension']);
  api.on('user_bash', () => {});
  api.on('before_agent_start', () => ({ message: { customType: 'untildone', content: '', display: true } }));
  api.on('context', ({ messages }) => ({ messages }));
  api.on('turn_start', () => {});
  api.on('turn_end', ({ message }) => void ('stopReason' in message && message.stopReason));
  api.on('message_start', ({ message }) => void message.role);
  api.on('tool_execution_start', ({ toolCallId, toolName }) => void [toolCallId, toolName]);
  api.on('tool_execution_end', ({ result, isError }) => void [result, isError]);
  api.on('agent_settled', () => {});
  api.on('ui_prompt_start', () => {});
  api.on('ui_prompt_end', () => {});
};
`;

const doesNotFit = `${imports}
declare const wrong: Omit<ExtensionContext, 'isIdle'> & { isIdle(): string };
export const asContext: ContextLike = wrong;
`;

function compile(
  name: string,
  text: string,
): { readonly status: number | null; readonly printed: string } {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, text);
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      rewriteRelativeImportExtensions: false,
      skipLibCheck: true,
      lib: ['es2023', 'dom'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    files: [file],
    include: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const ran = spawnSync(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '-p', folder], {
    encoding: 'utf8',
  });
  return { status: ran.status, printed: ran.stdout + ran.stderr };
}

describe("pi's own types", () => {
  it('fit what we describe of them, and it tells of every event that we hear', () => {
    expect(compile('fits.ts', fits)).toEqual({ status: 0, printed: '' });
  });

  it('control: a context of another shape does not compile', () => {
    const { status, printed } = compile('does-not-fit.ts', doesNotFit);
    expect(status).not.toBe(0);
    expect(printed).toContain('not assignable');
  });
});
