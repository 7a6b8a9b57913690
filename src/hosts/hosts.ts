// The table of hosts, one row each: what a host can show us and do for us, and where its parts are loaded from. The hook,
// `init`, `doctor`, docs/hosts and the conformance suite read it; adding a host is a folder and a row. It derives nothing.
import type { HostMode } from '../core/events.ts';
import type { AskedHost } from './asked-call.ts';
import type { HostInstaller } from './install/installer.ts';

export interface HostCapabilities {
  readonly name: string;
  readonly title: string;
  /** Asked: it waits for our answer at a stop. Told: it says that it is idle, and we send a text. */
  readonly mode: HostMode;
  /** Background work that it tells us of: a stop waits for what is seen and for nothing else (P18). */
  readonly seesBackground: readonly ('subagents' | 'shell jobs')[];
  /** When a human's interrupt is known (P19). */
  readonly seesAborts: 'at once' | 'with what the host does next';
  /** Does it tell of permissions and questions that wait for the human? Else it must not stop while one does (P9). */
  readonly seesQuestions: boolean;
  /** May it tell of the same stop more than once (P24)? */
  readonly repeatsStops: boolean;
  /** After so many continuations in a row it ends the turn itself, without us; null: never. */
  readonly blockCap: number | null;
  /** Can a completion be refused before the host's own list shows it (V1)? */
  readonly canVetoCompletion: boolean;
  readonly hasTodoTools: boolean;
  /** Can a continuation reach the model without standing in the human's conversation as if they had written it? */
  readonly canHideText: boolean;
  /** How our own text is known when the host shows it again; it is never taken for the human's (G6). */
  readonly recognisesOurMessages: 'by metadata' | 'by what was sent';
  /** What becomes of a continuation when the host dies in between (V5). */
  readonly delivery: 'exactly once' | 'at most once';
}

export interface HostRow extends HostCapabilities {
  installer(): Promise<HostInstaller>;
  /** Only for hosts that ask: what a hook needs of it. */
  asked?(): Promise<AskedHost>;
}

/** Facts of the pinned versions; the conformance suite holds the adapters to them. */
export const hosts: readonly HostRow[] = [
  {
    name: 'claude-code',
    title: 'Claude Code',
    mode: 'asked',
    seesBackground: ['subagents', 'shell jobs'],
    // No hook fires for an interrupt: it is inferred from a prompt that nobody wrote.
    seesAborts: 'with what the host does next',
    // It asks about a stop only when nothing waits for the human.
    seesQuestions: false,
    repeatsStops: false,
    blockCap: 8,
    canVetoCompletion: true,
    hasTodoTools: true,
    canHideText: true,
    recognisesOurMessages: 'by what was sent',
    delivery: 'at most once',
    asked: async () => (await import('./claude-code/host.ts')).claudeCode,
    installer: async () => (await import('./claude-code/install.ts')).claudeCodeInstaller,
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    mode: 'told',
    // A shell command runs inside its tool call; the host has none that goes on after it.
    seesBackground: ['subagents'],
    seesAborts: 'at once',
    seesQuestions: true,
    // As an idle and as a status; and a turn that was aborted or failed idles twice.
    repeatsStops: true,
    blockCap: null,
    // Its list is written by one tool, whose answer can be extended but not refused.
    canVetoCompletion: false,
    hasTodoTools: true,
    canHideText: true,
    recognisesOurMessages: 'by metadata',
    delivery: 'exactly once',
    installer: async () => (await import('./opencode/install.ts')).opencodeInstaller,
  },
];

export function hostOf(name: string): HostRow | undefined {
  return hosts.find((host) => host.name === name);
}
