// A host without a model: tests and examples say what happens in it, one call per happening, and it drives a real
// runtime over a real store. Asked or told; told ones keep the injected messages so that delivery can be looked up.

import type { AgentDescriptor, Event, EventOf, HostMode, SessionDescriptor } from '../core/events.ts';
import type { Handled } from '../engine/engine.ts';
import type { OutgoingText, ToldHost } from '../engine/host.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../engine/runtime.ts';

export interface ScriptedHostOptions extends Omit<RuntimeOptions, 'host'> {
  readonly mode: HostMode;
  readonly sessionId?: string;
  readonly descriptor?: Partial<SessionDescriptor>;
  readonly agent?: Partial<AgentDescriptor>;
  /** Answers an injection; default: taken. */
  readonly takes?: (outgoing: OutgoingText) => boolean;
  /** Can messages be looked up after a crash? Default: yes. */
  readonly showsMessages?: boolean;
}

/** An event without what the host fills in. */
export type Happening = Event extends infer E
  ? E extends Event
    ? Omit<E, 'id' | 'sessionId' | 'at'>
    : never
  : never;

export interface ScriptedHost {
  readonly runtime: Runtime;
  readonly sessionId: string;
  readonly injected: readonly OutgoingText[];
  readonly notices: readonly { readonly title: string; readonly message: string }[];
  open(): Promise<Handled>;
  says(text: string, messageId?: string): Promise<Handled>;
  plans(...titles: string[]): Promise<readonly string[]>;
  completes(todoId: string, outcome?: string): Promise<Handled>;
  works(tool?: string): Promise<void>;
  stops(
    overrides?: Partial<Omit<EventOf<'stop-attempted'>, 'type' | 'id' | 'sessionId' | 'at'>>,
  ): Promise<Handled>;
  happens(happening: Happening): Promise<Handled>;
}

export function createScriptedHost(options: ScriptedHostOptions): ScriptedHost {
  const { clock, identifiers, mode } = options;
  const sessionId = options.sessionId ?? 'session-1';
  const instance = options.instance ?? 'scripted';
  const injected: OutgoingText[] = [];
  const notices: { title: string; message: string }[] = [];
  const host: ToldHost = {
    async inject(outgoing) {
      if (!(options.takes?.(outgoing) ?? true)) return { taken: false, error: 'the scripted host refused' };
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
  const runtime = createRuntime({ ...options, instance, host });

  const happens = (happening: Happening): Promise<Handled> =>
    runtime.handle({ ...happening, id: identifiers.next(), sessionId, at: clock.now() } as Event);

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
        agent: { name: 'build', canWrite: 'yes', model: 'scripted/model', variant: null, ...options.agent },
      }),
    says: (text, messageId) =>
      happens({
        type: 'human-spoke',
        text,
        messageId: messageId ?? identifiers.next(),
        turnId: identifiers.next(),
        agent: null,
        fingerprint: null,
        policyHash: null,
      }),
    async plans(...titles) {
      const items = titles.map((title) => ({ id: identifiers.next(), title }));
      await happens({ type: 'todos-created', actor: 'agent', items });
      return items.map(({ id }) => id);
    },
    completes: (todoId, outcome = 'done') =>
      happens({ type: 'todo-completed', actor: 'agent', todoId, status: 'completed', outcome }),
    async works(tool = 'write_file') {
      await happens({ type: 'tool-started', tool, access: 'write' });
      await happens({ type: 'tool-ended', tool, access: 'write', error: null });
    },
    stops: (overrides = {}) =>
      happens({
        type: 'stop-attempted',
        end: 'normal',
        question: false,
        fingerprint: null,
        background: null,
        toolError: null,
        ...overrides,
      }),
  };
}

export function scriptedDescriptor(mode: HostMode, instance: string): SessionDescriptor {
  return {
    host: 'scripted',
    instance,
    mode,
    kind: 'main',
    parentId: null,
    directory: null,
    headless: false,
    immediate: false,
    everyAgentWrites: false,
    seesTools: true,
    tools: { pause: 'todo_pause', verify: 'todo_verify' },
  };
}
