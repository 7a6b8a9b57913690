// A host without a model: tests and examples say what happens in it, and it drives a real
// runtime over a real store.
import type {
  AgentDescriptor,
  Event,
  EventOf,
  HostMode,
  SessionDescriptor,
} from '../core/events.ts';
import { defaultSettings } from '../core/settings.ts';
import { unknownHost } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { OutgoingText, ToldHost } from '../engine/host.ts';
import { createRuntime, type RuntimeOptions } from '../engine/runtime.ts';
import { createIdentifiers, sha256, systemClock } from '../engine/system.ts';

/**
 * Everything but the store and the mode has a default: the system's clock, and the
 * default settings without any check.
 */
export interface ScriptedHostOptions
  extends Omit<Partial<RuntimeOptions>, 'host' | 'store'>,
    Pick<RuntimeOptions, 'store'> {
  readonly mode: HostMode;
  readonly sessionId?: string;
  readonly descriptor?: Partial<SessionDescriptor>;
  readonly agent?: Partial<AgentDescriptor>;
  /** Whether an injection is taken; by default each one is. */
  readonly takes?: (outgoing: OutgoingText) => boolean;
  /** Whether messages can be looked up after a crash; by default yes. */
  readonly showsMessages?: boolean;
}

/** An event without the fields that the host fills in. */
export type Happening<E = Event> = E extends Event
  ? Omit<E, 'id' | 'sessionId' | 'at'>
  : never;

type Stop = Omit<Happening<EventOf<'stop-attempted'>>, 'type'>;

/** What `createScriptedHost` returns. */
export type ScriptedHost = ReturnType<typeof createScriptedHost>;

/**
 * A host without a model: your test says what happens, and reads what was decided and
 * sent.
 */
export function createScriptedHost(options: ScriptedHostOptions) {
  const {
    mode,
    sessionId = 'session-1',
    instance = 'scripted',
    clock = systemClock,
  } = options;
  const { identifiers = createIdentifiers(clock) } = options;
  const policy = () => ({ settings: defaultSettings, goalChecks: [] });
  const injected: OutgoingText[] = [];
  const notices: { title: string; message: string }[] = [];
  const host: ToldHost = {
    async inject(outgoing) {
      if (!(options.takes?.(outgoing) ?? true))
        return { taken: false, error: 'the scripted host refused' };
      injected.push(outgoing);
      return { taken: true };
    },
    async find(outgoing) {
      if (options.showsMessages === false) return 'unknown';
      return injected.some(({ key }) => key === outgoing.key) ? 'present' : 'absent';
    },
    isIdle: async () => true,
    readPlan: async () => null,
    async notify(_session, { title, message }) {
      notices.push({ title, message });
    },
  };
  const runtime = createRuntime({
    hash: sha256,
    policy,
    ...options,
    clock,
    identifiers,
    instance,
    host,
  });

  const happens = (happening: Happening): Promise<Handled> =>
    runtime.handle({
      ...happening,
      id: identifiers.next(),
      sessionId,
      at: clock.now(),
    } as Event);

  return {
    runtime,
    sessionId,
    injected,
    notices,
    happens,
    open: () =>
      happens({
        type: 'session-opened',
        descriptor: { ...scriptedDescriptor(mode, instance), ...options.descriptor },
        agent: {
          name: 'build',
          canWrite: 'yes',
          model: 'scripted/model',
          variant: null,
          ...options.agent,
        },
      }),
    says(text: string, messageId = identifiers.next()) {
      const turn = {
        turnId: identifiers.next(),
        agent: null,
        fingerprint: null,
        policyHash: null,
      };
      return happens({ type: 'human-spoke', text, messageId, ...turn });
    },
    async plans(...titles: string[]): Promise<readonly string[]> {
      const items = titles.map((title) => ({ id: identifiers.next(), title }));
      await happens({ type: 'todos-created', actor: 'agent', items });
      return items.map(({ id }) => id);
    },
    completes: (todoId: string, outcome = 'done') =>
      happens({
        type: 'todo-completed',
        actor: 'agent',
        todoId,
        status: 'completed',
        outcome,
      }),
    async works(tool = 'write_file'): Promise<void> {
      await happens({ type: 'tool-started', tool, access: 'write' });
      await happens({ type: 'tool-ended', tool, access: 'write', error: null });
    },
    stops(overrides: Partial<Stop> = {}) {
      const stop = {
        question: false,
        fingerprint: null,
        background: null,
        toolError: null,
      };
      return happens({ type: 'stop-attempted', end: 'normal', ...stop, ...overrides });
    },
  };
}

/** The descriptor of a scripted session. */
export function scriptedDescriptor(mode: HostMode, instance: string): SessionDescriptor {
  const tools = { pause: 'todo_pause', verify: 'todo_verify' };
  return {
    ...unknownHost,
    host: 'scripted',
    instance,
    mode,
    kind: 'main',
    headless: false,
    tools,
  };
}
