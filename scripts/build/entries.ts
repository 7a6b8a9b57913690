// What the build writes: one row per file in dist/ that someone starts, imports or loads
// late.
import { hosts } from '../../src/hosts/hosts.ts';

export interface Entry {
  readonly source: string;
  /** Name in dist/, without its ending. */
  readonly output: string;
  /**
   * `library`: what users import; packages stay imports, because users bring them
   * (optional peers). `bin`: what people start: one file that every Node can read far
   * enough to be told that it is too old. `commands`: every command, in one file: a file
   * costs a start more than its code. Packages are bundled, because nothing is installed
   * beside it. `quick-commands`: the same, with those that `quickCommands` names. `view`:
   * what only a terminal needs; it is loaded when there is something to draw. `program`:
   * what hosts start, from a copy: one file. `quick-program`: the same, started so often
   * that it loads most of itself late, from `late` files beside it. `plugin`: what hosts
   * load, from a copy; it shares chunks, as `library`.
   */
  readonly group:
    | 'library'
    | 'bin'
    | 'commands'
    | 'quick-commands'
    | 'view'
    | 'program'
    | 'quick-program'
    | 'late'
    | 'plugin';
}

/**
 * The commands that are asked for often, by people, by the lines at the bottom of their
 * terminals and by hosts: the words that are typed, and where they are written in
 * src/cli/commands. Hosts start them from a copy.
 */
export const quickCommands = {
  file: 'plugin/programs/quick.cjs',
  words: [
    'status',
    'why',
    'pause',
    'resume',
    'stop',
    'permissions',
    'hook',
    'check-runner',
    'mcp',
  ],
  sources: ['status', 'why', 'hold', 'permissions', 'hook', 'mcp'],
};

export const entries: readonly Entry[] = [
  { source: 'src/index.ts', output: 'index', group: 'library' },
  { source: 'src/simulated/index.ts', output: 'testing', group: 'library' },
  { source: 'src/scripted-model/index.ts', output: 'scripted-model', group: 'library' },
  { source: 'src/guard/index.ts', output: 'guard', group: 'library' },
  { source: 'src/tools/index.ts', output: 'tools', group: 'library' },
  { source: 'src/frameworks/ai-sdk/index.ts', output: 'ai-sdk', group: 'library' },
  { source: 'src/frameworks/langchain/index.ts', output: 'langchain', group: 'library' },
  {
    source: 'src/frameworks/openai-agents/index.ts',
    output: 'openai-agents',
    group: 'library',
  },
  {
    source: 'src/frameworks/claude-agent-sdk/index.ts',
    output: 'claude-agent-sdk',
    group: 'library',
  },
  { source: 'src/frameworks/mastra/index.ts', output: 'mastra', group: 'library' },
  { source: 'src/enforcer/index.ts', output: 'enforcer', group: 'library' },
  { source: 'src/hosts/opencode/index.ts', output: 'opencode', group: 'library' },
  { source: 'src/cli/bin.ts', output: 'bin', group: 'bin' },
  { source: 'src/cli/main.ts', output: 'commands', group: 'commands' },
  { source: 'src/cli/main.ts', output: 'plugin/programs/quick', group: 'quick-commands' },
  { source: 'src/cli/show/live-view.ts', output: 'live-view', group: 'view' },
  {
    source: 'src/programs/hook.ts',
    output: 'plugin/programs/hook',
    group: 'quick-program',
  },
  {
    source: 'src/programs/check-runner.ts',
    output: 'plugin/programs/check-runner',
    group: 'quick-program',
  },
  {
    source: 'src/programs/notify.ts',
    output: 'plugin/programs/notify',
    group: 'program',
  },
  {
    source: 'src/hosts/opencode/server.ts',
    output: 'plugin/programs/server',
    group: 'plugin',
  },
  {
    source: 'src/hosts/pi/index.ts',
    output: 'plugin/programs/pi-extension',
    group: 'plugin',
  },
  {
    source: 'src/cli/host-commands-bin.ts',
    output: 'plugin/programs/host-commands',
    group: 'program',
  },
  {
    source: 'src/mcp/mcp-package.ts',
    output: 'plugin/programs/mcp-package',
    group: 'program',
  },
  { source: 'src/hosts/asked.ts', output: 'plugin/programs/asked', group: 'late' },
  {
    source: 'src/hosts/asked-answers.ts',
    output: 'plugin/programs/asked-answers',
    group: 'late',
  },
  // A host's own words, so that the hooks of others do not load them.
  ...hosts.flatMap(({ name, asked }): Entry[] =>
    asked
      ? [
          {
            source: `src/hosts/${name}/host.ts`,
            output: `plugin/programs/${name}`,
            group: 'late',
          },
        ]
      : [],
  ),
  { source: 'src/mcp/receipts.ts', output: 'plugin/programs/receipts', group: 'late' },
  {
    source: 'src/checks/http-check.ts',
    output: 'plugin/programs/http-check',
    group: 'late',
  },
  {
    source: 'src/hosts/check-queue.ts',
    output: 'plugin/programs/check-queue',
    group: 'late',
  },
];
