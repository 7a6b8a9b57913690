// What the build writes: one row per file in dist/ that someone starts, imports or loads late.
import { hosts } from '../src/hosts/hosts.ts';

export interface Entry {
  readonly source: string;
  /** Name in dist/, without its ending. */
  readonly output: string;
  /**
   * `library`: what users import; packages stay imports, because users bring them (optional peers).
   * `bin`: what people start: one file that every Node can read far enough to be told that it is too old.
   * `cli`: the commands; packages are bundled, because nothing is installed beside it. It shares chunks, as `library`.
   * `quick-cli`, `run-cli`: the same, with only the commands that `ownFiles` names, in one file: a file costs a start more
   * than its code.
   * `program`: what hosts start or load, from a copy: one file.
   * `quick-program`: the same, started so often that it loads most of itself late, from `late` files beside it.
   */
  readonly group: 'library' | 'bin' | 'cli' | 'quick-cli' | 'run-cli' | 'program' | 'quick-program' | 'late';
}

/** Files with some of the commands alone: the words that people type, and where they are written in src/cli/commands. */
export const ownFiles = {
  // Asked for often, by people and by the lines at the bottom of their terminals.
  quick: {
    commands: ['status', 'why', 'pause', 'resume', 'stop', 'permissions', 'hook'],
    sources: ['status', 'why', 'hold', 'permissions', 'hook'],
  },
  // They call models or look whether they can be called: most of what is installed is for that.
  run: { commands: ['run', 'demo', 'doctor', 'config'], sources: ['run', 'demo', 'doctor', 'config'] },
} as const;

export const entries: readonly Entry[] = [
  { source: 'src/index.ts', output: 'index', group: 'library' },
  { source: 'src/simulated/index.ts', output: 'testing', group: 'library' },
  { source: 'src/scripted-model/index.ts', output: 'scripted-model', group: 'library' },
  { source: 'src/guard/index.ts', output: 'guard', group: 'library' },
  { source: 'src/tools/index.ts', output: 'tools', group: 'library' },
  { source: 'src/frameworks/ai-sdk/index.ts', output: 'ai-sdk', group: 'library' },
  { source: 'src/frameworks/langchain/index.ts', output: 'langchain', group: 'library' },
  { source: 'src/frameworks/openai-agents/index.ts', output: 'openai-agents', group: 'library' },
  { source: 'src/frameworks/claude-agent-sdk/index.ts', output: 'claude-agent-sdk', group: 'library' },
  { source: 'src/frameworks/mastra/index.ts', output: 'mastra', group: 'library' },
  { source: 'src/enforcer/index.ts', output: 'enforcer', group: 'library' },
  { source: 'src/hosts/opencode/index.ts', output: 'opencode', group: 'library' },
  { source: 'src/cli/bin.ts', output: 'bin', group: 'bin' },
  { source: 'src/cli/main.ts', output: 'main', group: 'cli' },
  { source: 'src/cli/show/live-view.ts', output: 'live-view', group: 'cli' },
  { source: 'src/cli/main.ts', output: 'quick', group: 'quick-cli' },
  { source: 'src/cli/main.ts', output: 'run', group: 'run-cli' },
  { source: 'src/hook.ts', output: 'plugin/programs/hook', group: 'quick-program' },
  { source: 'src/check-runner.ts', output: 'plugin/programs/check-runner', group: 'quick-program' },
  { source: 'src/notify.ts', output: 'plugin/programs/notify', group: 'program' },
  { source: 'src/hosts/opencode/server.ts', output: 'plugin/programs/server', group: 'program' },
  { source: 'src/hosts/pi/index.ts', output: 'plugin/programs/pi-extension', group: 'program' },
  { source: 'src/cli/host-commands-bin.ts', output: 'plugin/programs/host-commands', group: 'program' },
  { source: 'src/hosts/asked.ts', output: 'plugin/programs/asked', group: 'late' },
  { source: 'src/hosts/asked-answers.ts', output: 'plugin/programs/asked-answers', group: 'late' },
  // A host's own words, so that the hooks of others do not load them.
  ...hosts.flatMap(({ name, asked }): Entry[] =>
    asked ? [{ source: `src/hosts/${name}/host.ts`, output: `plugin/programs/${name}`, group: 'late' }] : [],
  ),
  { source: 'src/mcp/receipts.ts', output: 'plugin/programs/receipts', group: 'late' },
  { source: 'src/checks/http-check.ts', output: 'plugin/programs/http-check', group: 'late' },
  { source: 'src/hosts/check-queue.ts', output: 'plugin/programs/check-queue', group: 'late' },
];
