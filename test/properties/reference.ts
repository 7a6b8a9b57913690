// A second, small account of what happened to a session, kept from the events and the
// rows alone: who holds it, what it waits for, what was progress, what was sent. It
// shares no code with src/core, so that the two can disagree. This is its shape;
// observe-event.ts keeps it.
import type { Todo } from '../../src/core/todo.ts';

interface Birth {
  readonly calls: number;
  readonly late: boolean;
}

/** What V4 counts from the human's last message on. */
interface SinceMessage {
  /** By the agent. */
  readonly ended: Map<string, 'claims' | 'ends'>;
  readonly challenged: Set<'claims' | 'ends'>;
  calls: number;
  /**
   * Calls that can write: one ended, how many run, one ended since the last look at the
   * workspace.
   */
  wrote: boolean;
  running: number;
  unlooked: boolean;
  treeThen: string | null;
}

export function sinceMessage(treeThen: string | null): SinceMessage {
  const calls = { calls: 0, wrote: false, running: 0, unlooked: false };
  return { ended: new Map(), challenged: new Set(), ...calls, treeThen };
}

export interface Reference {
  latched: boolean;
  paused: 'human' | 'other' | null;
  deleted: boolean;
  readonly messageIds: Set<string>;
  /** When the stop attempt that a told host waits for was made. */
  parkedAt: number | null;
  /** The stop attempt that is to be answered. */
  stopEnd: string;
  stopAt: number;
  recovering: boolean;
  compacting: boolean;
  readonly permissions: Set<string>;
  readonly questions: Set<string>;
  readonly jobs: Map<string, 'shell' | 'subagent'>;
  /** The first wait for background work since the newest job began. */
  waitedSince: number | null;
  limitedUntil: number | null;
  /** The last error was a limit of the provider, and nothing worked since. */
  limited: boolean;
  sameErrors: number;
  signature: string | null;
  overflows: number;
  tokens: number;
  cost: number;
  calls: number;
  writes: boolean;
  writesEver: number;
  writesSeen: number;
  readonly trees: Set<string>;
  stopSeen: boolean;
  readonly rows: Map<string, Todo>;
  readonly births: Map<string, Birth>;
  readonly finals: Set<string>;
  readonly passes: Set<string>;
  readonly goal: Map<string, 'running' | 'passed' | 'flaky' | 'failed' | 'cannot-start'>;
  /** How things stood first, and the last state of the workspace. */
  baseline: {
    tree: string | null;
    writes: number;
    readonly checks: Map<string, string>;
  } | null;
  tree: string | null;
  /** Calls that had ended at that look. */
  treeWrites: number;
  /** Checks of the last final run that have not reported. */
  readonly unreported: Set<string>;
  overdue: boolean;
  /** A call of any tool was told of. */
  heard: boolean;
  /** Calls are not told: any may have been made. */
  blind: boolean;
  message: SinceMessage;
  loop: { alarms: number; told: boolean };
  total: number;
  continuations: number;
  weakResets: number;
  weakSinceContinuation: boolean;
  /** The last continuation counted as stagnant, and the agent has not stopped since. */
  continuationOpen: boolean;
  lastContinuationAt: number | null;
  injectedEpoch: number;
  sends: number;
  failedSince: boolean;
  /** A later stop attempt was answered since the last continuation. */
  superseded: boolean;
}

export function createReference(): Reference {
  return {
    latched: false,
    paused: null,
    deleted: false,
    messageIds: new Set(),
    parkedAt: null,
    stopEnd: 'normal',
    stopAt: 0,
    recovering: false,
    compacting: false,
    permissions: new Set(),
    questions: new Set(),
    jobs: new Map(),
    waitedSince: null,
    limitedUntil: null,
    limited: false,
    sameErrors: 0,
    signature: null,
    overflows: 0,
    tokens: 0,
    cost: 0,
    calls: 0,
    writes: false,
    writesEver: 0,
    writesSeen: 0,
    trees: new Set(),
    stopSeen: false,
    rows: new Map(),
    births: new Map(),
    finals: new Set(),
    passes: new Set(),
    goal: new Map(),
    baseline: null,
    tree: null,
    treeWrites: 0,
    unreported: new Set(),
    overdue: false,
    heard: false,
    blind: false,
    message: sinceMessage(null),
    loop: { alarms: 0, told: false },
    total: 0,
    continuations: 0,
    weakResets: 0,
    weakSinceContinuation: false,
    continuationOpen: false,
    lastContinuationAt: null,
    injectedEpoch: -1,
    sends: 0,
    failedSince: false,
    superseded: false,
  };
}
