// The list of hosts: what each can show us and do for us (for people:
// docs/hosts/README.md), and where its adapter is. Nothing else in src names a host.
import type { HostMode } from '../core/events.ts';
import type { HostDriver } from '../engine/host-driver.ts';
import type { AskedHost } from './asked-call.ts';
import type { HostInstaller } from './install/installer.ts';

/** What a host can show us and do for us. */
export type HostCapabilities = Readonly<{
  name: string;
  title: string;
  /**
   * `asked`: it waits for our answer at a stop. `told`: it says that it is idle, and we
   * send a text.
   */
  mode: HostMode;
  seesBackground: readonly ('subagents' | 'shell jobs')[];
  seesAborts: 'at once' | 'with what the host does next';
  /** False: the host must not stop while a question waits for the human (P9). */
  seesQuestions: boolean;
  repeatsStops: boolean;
  /**
   * How many continuations in a row it takes before it ends the turn; null: any number.
   */
  blockCap: number | null;
  /** It counts continuations over the whole turn, and no setting raises the cap. */
  capIsFixed?: true;
  /** A completion can be refused before the host's own list shows it (V1). */
  canVetoCompletion: boolean;
  hasTodoTools: boolean;
  canHideText: boolean;
  /**
   * The commands with which it prints no line of ours, so that a turn ends in silence
   * (C4).
   */
  silentAs: readonly string[];
  recognisesOurMessages: 'by metadata' | 'by what was sent';
  /** How often a continuation arrives if the host dies in between (V5). */
  delivery: 'exactly once' | 'at most once';
}>;

/**
 * How a process of the host is recognised: by its command, by its package if a runtime
 * runs it, by variables of its agent's commands.
 */
export type HostProcess = Readonly<{
  commands: readonly string[];
  packages: readonly string[];
  variables: readonly string[];
}>;

export type HostRow = HostCapabilities & {
  readonly process: HostProcess;
  installer(): Promise<HostInstaller>;
  /**
   * Set for a host with hooks: the `host.ts` of its folder. The build makes a file of it
   * that only its own hooks load.
   */
  asked?(): Promise<AskedHost>;
  /** Absent: `run --with` cannot drive the host. */
  driver?(): Promise<HostDriver>;
};

/**
 * These rows hold for the pinned versions; the conformance suite holds the adapters to
 * them.
 */
export const hosts: readonly HostRow[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    mode: 'asked',
    seesBackground: ['subagents', 'shell jobs'],
    // No hook fires: it is inferred from a prompt that nobody wrote.
    seesAborts: 'with what the host does next',
    // It asks about a stop only when nothing waits for the human.
    seesQuestions: false,
    repeatsStops: false,
    blockCap: 8,
    canVetoCompletion: true,
    hasTodoTools: true,
    canHideText: true,
    // With `--output-format stream-json --verbose` it prints the line, among its own
    // lines for programs.
    silentAs: ['claude -p'],
    recognisesOurMessages: 'by what was sent',
    delivery: 'at most once',
    process: {
      commands: ['claude'],
      packages: ['@anthropic-ai/claude-code'],
      variables: ['CLAUDECODE'],
    },
    asked: async () => (await import('./claude-code/host.ts')).claudeCode,
    installer: async () => (await import('./claude-code/install.ts')).claudeCodeInstaller,
    driver: async () => (await import('./claude-code/drive.ts')).claudeCodeDriver,
  },
  {
    name: 'codex',
    title: 'Codex',
    mode: 'asked',
    // Agents that it started are not named at a stop, and none of them wakes it.
    seesBackground: [],
    seesAborts: 'at once',
    // It asks about a stop only when nothing waits for the human.
    seesQuestions: false,
    repeatsStops: false,
    blockCap: null,
    canVetoCompletion: true,
    hasTodoTools: true,
    canHideText: false,
    silentAs: ['codex exec'],
    recognisesOurMessages: 'by what was sent',
    delivery: 'at most once',
    process: {
      commands: ['codex'],
      packages: ['@openai/codex'],
      variables: ['CODEX_SANDBOX', 'CODEX_THREAD_ID'],
    },
    asked: async () => (await import('./codex/host.ts')).codex,
    installer: async () => (await import('./codex/install.ts')).codexInstaller,
    driver: async () => (await import('./codex/drive.ts')).codexDriver,
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    mode: 'asked',
    // Subagents work inside a tool call. At a stop it says nothing about commands in the
    // background.
    seesBackground: [],
    // No hook fires; the human's next message shows the abort.
    seesAborts: 'with what the host does next',
    // It asks about a stop only when nothing waits for the human.
    seesQuestions: false,
    repeatsStops: false,
    blockCap: null,
    canVetoCompletion: true,
    // Only models of the second generation have them; ours are there with every model.
    hasTodoTools: true,
    canHideText: false,
    silentAs: [],
    recognisesOurMessages: 'by what was sent',
    delivery: 'at most once',
    process: {
      commands: ['gemini'],
      packages: ['@google/gemini-cli'],
      variables: ['GEMINI_CLI'],
    },
    asked: async () => (await import('./gemini-cli/host.ts')).geminiCli,
    installer: async () => (await import('./gemini-cli/install.ts')).geminiInstaller,
    driver: async () => (await import('./gemini-cli/drive.ts')).geminiDriver,
  },
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    mode: 'asked',
    // Its stop names agents; shell jobs are kept elsewhere.
    seesBackground: ['subagents'],
    // A tool that was interrupted reports it; an answer that was interrupted does not.
    seesAborts: 'with what the host does next',
    seesQuestions: false,
    repeatsStops: false,
    blockCap: 7,
    canVetoCompletion: true,
    hasTodoTools: true,
    canHideText: false,
    silentAs: ['qwen -o json', 'qwen -o stream-json'],
    recognisesOurMessages: 'by metadata',
    delivery: 'at most once',
    process: {
      commands: ['qwen'],
      packages: ['@qwen-code/qwen-code'],
      variables: ['QWEN_CODE'],
    },
    asked: async () => (await import('./qwen-code/host.ts')).qwenCode,
    installer: async () => (await import('./qwen-code/install.ts')).qwenCodeInstaller,
    driver: async () => (await import('./qwen-code/drive.ts')).qwenCodeDriver,
  },
  {
    name: 'copilot-cli',
    title: 'Copilot CLI',
    mode: 'asked',
    seesBackground: ['subagents', 'shell jobs'],
    // No hook fires: it is inferred from a prompt that nobody wrote.
    seesAborts: 'with what the host does next',
    // It asks about a stop only when nothing waits for the human.
    seesQuestions: false,
    repeatsStops: false,
    blockCap: 8,
    capIsFixed: true,
    // A call can be refused, but what SQL would do is not guessed: the stop verifies.
    canVetoCompletion: false,
    hasTodoTools: true,
    canHideText: false,
    silentAs: ['copilot -s', 'copilot --output-format json'],
    recognisesOurMessages: 'by what was sent',
    delivery: 'at most once',
    process: {
      commands: ['copilot'],
      packages: ['@github/copilot'],
      variables: ['COPILOT_CLI'],
    },
    asked: async () => (await import('./copilot-cli/host.ts')).copilotCli,
    installer: async () => (await import('./copilot-cli/install.ts')).copilotInstaller,
    driver: async () => (await import('./copilot-cli/drive.ts')).copilotDriver,
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    mode: 'told',
    // A shell command runs inside its tool call; none goes on after it.
    seesBackground: ['subagents'],
    seesAborts: 'at once',
    seesQuestions: true,
    // It reports each idle as an idle and as a status, and a turn that was aborted or
    // failed idles twice.
    repeatsStops: true,
    blockCap: null,
    // Its list is written by one tool, whose answer can be extended but not refused.
    canVetoCompletion: false,
    hasTodoTools: true,
    canHideText: true,
    silentAs: [],
    recognisesOurMessages: 'by metadata',
    delivery: 'exactly once',
    process: {
      commands: ['opencode'],
      packages: ['opencode-ai'],
      variables: ['OPENCODE'],
    },
    installer: async () => (await import('./opencode/install.ts')).opencodeInstaller,
    driver: async () => (await import('./opencode/drive.ts')).opencodeDriver,
  },
  {
    name: 'pi',
    title: 'pi',
    mode: 'told',
    // It has no subagents of its own; one that an extension starts runs inside its tool
    // call.
    seesBackground: [],
    seesAborts: 'at once',
    seesQuestions: true,
    repeatsStops: false,
    blockCap: null,
    // Only we keep the plan.
    canVetoCompletion: true,
    hasTodoTools: false,
    canHideText: false,
    silentAs: [],
    recognisesOurMessages: 'by what was sent',
    delivery: 'exactly once',
    process: {
      commands: ['pi'],
      packages: ['@earendil-works/pi-coding-agent', '@mariozechner/pi-coding-agent'],
      variables: ['PI_CODING_AGENT'],
    },
    installer: async () => (await import('./pi/install.ts')).piInstaller,
    driver: async () => (await import('./pi/drive.ts')).piDriver,
  },
];

/**
 * The ways to start the host in which it stays silent, for people. Empty: it always shows
 * our line at the end of a turn.
 */
export function silentWays({ silentAs }: Pick<HostCapabilities, 'silentAs'>): string {
  return silentAs.map((words) => `\`${words}\``).join(' and ');
}

export const hostOf = (name: string) => hosts.find((host) => host.name === name);
