// A told host for tests: one session with open todos, on a simulated clock, over any
// store. A "process" can die without a word; the next one opens the same store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event } from '../../src/core/events.ts';
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import type { Session } from '../../src/core/state.ts';
import type { OutgoingText, ToldHost } from '../../src/engine/host.ts';
import type { Store } from '../../src/engine/store.ts';
import { sha256 } from '../../src/engine/system.ts';
import { createToldRuntime, type ToldRuntime } from '../../src/engine/told-runtime.ts';
import type { Notice } from '../../src/hosts/told.ts';
import { type Happening, scriptedDescriptor } from '../../src/simulated/scripted-host.ts';
import {
  createSequentialIdentifiers,
  createSimulatedClock,
  type SimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { createMemoryStore } from './memory-store.ts';

/** A lease outlives its process by this much: the next one takes over then. */
export const afterDeath = 31_000;

export interface StageOptions {
  readonly settings?: Partial<Settings>;
  readonly inject?: (outgoing: OutgoingText) => ReturnType<ToldHost['inject']>;
  readonly find?: ToldHost['find'];
  readonly isIdle?: () => Promise<boolean>;
  readonly readPlan?: ToldHost['readPlan'];
}

export interface ToldProcess {
  readonly runtime: ToldRuntime;
  readonly injected: OutgoingText[];
  readonly toasts: Notice[];
  readonly notices: string[];
  happens(happening: Happening): Promise<unknown>;
  idles(): Promise<unknown>;
  /** kill -9: no timer of it fires any more. */
  dies(): void;
}

export interface ToldStage {
  readonly clock: SimulatedClock;
  readonly store: Store;
  start(options?: StageOptions): Promise<ToldProcess>;
  /**
   * A process in which a human has asked, a plan of two todos exists and the agent has
   * worked.
   */
  startWorking(options?: StageOptions): Promise<ToldProcess>;
  session(): Promise<Session>;
}

export async function withToldStage(
  kind: 'memory' | 'sqlite',
  work: (stage: ToldStage) => Promise<void>,
): Promise<void> {
  const clock = createSimulatedClock();
  const folder = mkdtempSync(join(tmpdir(), 'untildone-told-'));
  const store =
    kind === 'memory'
      ? createMemoryStore()
      : await openSqliteStore({ path: join(folder, 'store.db'), clock });
  try {
    await work(createStage(clock, store));
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

function createStage(clock: SimulatedClock, store: Store): ToldStage {
  let processes = 0;
  const stage: ToldStage = {
    clock,
    store,
    async start(options = {}) {
      processes += 1;
      const started = createProcess(clock, store, `process-${processes}`, options);
      await started.runtime.attach();
      return started;
    },
    async startWorking(options) {
      const started = await stage.start(options);
      const descriptor = scriptedDescriptor('told', 'instance-1');
      const agent = {
        name: 'build',
        canWrite: 'yes',
        model: 'scripted/model',
        variant: null,
      } as const;
      await started.happens({ type: 'session-opened', descriptor, agent });
      await started.happens(spoken('Build it.', 'message-1'));
      const items = ['write the parser', 'write the tests'].map((title) => ({
        id: `${title}-id`,
        title,
      }));
      await started.happens({ type: 'todos-created', actor: 'agent', items });
      await works(started);
      return started;
    },
    async session() {
      const session = await store.state('session-1');
      if (session === null) throw new Error('the session is not in the store');
      return session;
    },
  };
  return stage;
}

function createProcess(
  clock: SimulatedClock,
  store: Store,
  name: string,
  options: StageOptions,
): ToldProcess {
  const injected: OutgoingText[] = [];
  const toasts: Notice[] = [];
  const notices: string[] = [];
  const identifiers = createSequentialIdentifiers(name);
  let alive = true;
  const host: ToldHost = {
    async inject(outgoing) {
      injected.push(outgoing);
      return options.inject === undefined ? { taken: true } : options.inject(outgoing);
    },
    find:
      options.find ??
      (async ({ key }) =>
        injected.some((one) => one.key === key) ? 'present' : 'absent'),
    isIdle: options.isIdle ?? (async () => true),
    readPlan: options.readPlan ?? (async () => null),
    async notify(_session, notice) {
      if (notice.durationMs === undefined) notices.push(notice.message);
      else toasts.push(notice);
    },
  };
  const runtime = createToldRuntime({
    store,
    clock: {
      now: clock.now,
      wake: (at, callback) => clock.wake(at, () => alive && callback()),
    },
    identifiers,
    hash: sha256,
    policy: () => ({
      settings: { ...defaultSettings, ...options.settings },
      goalChecks: [],
    }),
    host,
    instance: 'instance-1',
    onError: (error) => {
      throw error;
    },
  });
  const happens = (happening: Happening): Promise<unknown> =>
    runtime.handle({
      ...happening,
      id: identifiers.next(),
      sessionId: 'session-1',
      at: clock.now(),
    } as Event);
  return {
    runtime,
    injected,
    toasts,
    notices,
    happens,
    idles: () => happens(idle),
    dies() {
      alive = false;
    },
  };
}

export async function works({ happens }: ToldProcess): Promise<void> {
  await happens({ type: 'tool-started', tool: 'edit', access: 'write' });
  await happens({ type: 'tool-ended', tool: 'edit', access: 'write', error: null });
}

export function spoken(text: string, messageId: string | null): Happening {
  const base = {
    type: 'human-spoke',
    agent: null,
    fingerprint: null,
    policyHash: null,
  } as const;
  return { ...base, text, messageId, turnId: `turn of ${messageId}` };
}

const idle: Happening = {
  type: 'stop-attempted',
  end: 'normal',
  question: false,
  fingerprint: null,
  background: null,
  toolError: null,
};
