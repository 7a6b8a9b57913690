// What tests of `init` and `doctor` do again and again: install, uninstall, look at
// hooks, and ask what is wrong.
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

export async function uninstalled(
  bench: InstallBench,
  ...argv: string[]
): Promise<string> {
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

interface Remark {
  readonly name: string;
  readonly level: string;
  readonly sentence: string;
  readonly mend: string | null;
}

/** Everything that `doctor` does not find fine about a host and in general. */
export async function remarksOn(bench: InstallBench, host: string): Promise<Remark[]> {
  const { hosts, general } = JSON.parse((await bench.doctor('--json')).out) as {
    readonly hosts: readonly {
      readonly host: string;
      readonly findings: readonly Remark[];
    }[];
    readonly general: readonly Remark[];
  };
  const own = hosts.find((one) => one.host === host)?.findings ?? [];
  // That there is neither a check nor a model for `run` is true of every bench.
  return [...own, ...general].filter(
    ({ name, level }) => level !== 'ok' && name !== 'check' && name !== 'model',
  );
}

/** @param remark whose sentence is a part of the real one */
export async function expectOnlyRemark(
  bench: InstallBench,
  host: string,
  remark: Remark,
): Promise<void> {
  expect(await remarksOn(bench, host)).toEqual([
    { ...remark, sentence: expect.stringContaining(remark.sentence) },
  ]);
  expect((await bench.doctor()).code).toBe(remark.level === 'broken' ? 1 : 0);
}
