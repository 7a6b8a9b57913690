// What the build writes: one row per file in dist/ that someone starts or imports.
// Rows of one group share chunks; a `single` row is one file that shares nothing.

export interface Entry {
  readonly source: string;
  /** Name in dist/, without ".js". */
  readonly output: string;
  /**
   * `library`: what users import; packages stay imports, because users bring them (optional peers).
   * `cli`: what people and hosts start; packages are bundled, because nothing is installed beside it.
   */
  readonly group: 'library' | 'cli';
  /** One file without shared chunks: it must start like bare Node, and be copied on its own. */
  readonly single?: true;
}

export const entries: readonly Entry[] = [
  { source: 'src/index.ts', output: 'index', group: 'library' },
  { source: 'src/simulated/index.ts', output: 'testing', group: 'library' },
  { source: 'src/scripted-model/index.ts', output: 'scripted-model', group: 'library' },
  { source: 'src/agent/guard/index.ts', output: 'guard', group: 'library' },
  { source: 'src/hosts/enforcer/index.ts', output: 'enforcer', group: 'library' },
  { source: 'src/hosts/opencode/index.ts', output: 'opencode', group: 'library' },
  { source: 'src/cli/bin.ts', output: 'bin', group: 'cli' },
  { source: 'src/cli/main.ts', output: 'main', group: 'cli' },
  { source: 'src/cli/hook-bin.ts', output: 'hook', group: 'cli', single: true },
  { source: 'src/hosts/opencode/server.ts', output: 'server', group: 'cli', single: true },
  { source: 'src/cli/host-commands-bin.ts', output: 'host-commands', group: 'cli', single: true },
];
