// What every test of `init` for Claude Code does: install, uninstall, and look at the hooks.
import { parse } from 'jsonc-parser';
import { expect } from 'vitest';
import type { InstallBench } from './install-bench.ts';

/** Where Claude Code keeps what a test looks at, below the root of the bench. */
export const settings = 'project/.claude/settings.local.json';
export const hostState = 'home/.claude.json';

export async function installed(bench: InstallBench, ...argv: string[]): Promise<void> {
  const { code, err } = await bench.init('claude-code', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
}

export async function uninstalled(bench: InstallBench, ...argv: string[]): Promise<string> {
  const { code, out, err } = await bench.init('claude-code', '--uninstall', ...argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return out;
}

/** The commands of all hooks in a settings file. */
export function hooksOf(text: string): string[] {
  return Object.values<{ hooks: { command: string }[] }[]>(parse(text).hooks ?? {})
    .flat()
    .flatMap(({ hooks }) => hooks.map(({ command }) => command));
}
