// What the plugin holds in its hand once the store is open: the runtime over it, the host's calls, and the policy of
// this folder. Everything that is told to the engine goes through here, with ids that are made from what happened.
import type { Event, SessionDescriptor } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';
import type { HostList } from '../told/host-list.ts';
import type { ToldRuntime } from '../told/told-runtime.ts';
import type { HostCalls } from './host-calls.ts';
import type { PluginPolicy } from './plugin-policy.ts';
import type { SessionMemories, SessionMemory } from './session-memory.ts';

export const hostName = 'opencode';

export interface PluginContext {
  readonly runtime: ToldRuntime;
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly calls: HostCalls;
  readonly list: HostList;
  readonly memories: SessionMemories;
  readonly policy: PluginPolicy;
  readonly instance: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The host leaves on the first idle. */
  readonly headless: boolean;
  /** Tells the human, once for each sentence. */
  readonly warn: (sentence: string) => void;
}

/** An event without what every event of a session has. */
export type Happening = Event extends infer E
  ? E extends Event
    ? Omit<E, 'id' | 'sessionId' | 'at'>
    : never
  : never;

/** @param detail what makes the event this one: the same happening told twice is one event */
export async function tell(
  context: PluginContext,
  memory: SessionMemory,
  detail: string,
  happening: Happening,
): Promise<Handled> {
  await openSession(context, memory);
  return context.runtime.handle(eventOf(context, memory.id, detail, happening));
}

export function eventOf(
  { clock }: PluginContext,
  sessionId: string,
  detail: string,
  happening: Happening,
): Event {
  return { ...happening, id: `${hostName}/${sessionId}/${detail}`, sessionId, at: clock.now() } as Event;
}

/** The record knows where a session lives before it hears anything else of it. */
export async function openSession(context: PluginContext, memory: SessionMemory): Promise<void> {
  if (memory.opened) return;
  memory.info ??= await context.calls.session(memory.id);
  memory.opened = true;
  const descriptor = describeSession(context, memory);
  const detail = `opened/${context.identifiers.next()}`;
  await context.runtime.handle(
    eventOf(context, memory.id, detail, { type: 'session-opened', descriptor, agent: null }),
  );
}

function describeSession(context: PluginContext, { info }: SessionMemory): SessionDescriptor {
  const { instance, directory, headless, policy } = context;
  const tools = policy.changesTheHost();
  return {
    host: hostName,
    instance,
    mode: 'told',
    kind: info === null ? 'unknown' : info.parentId === null ? 'main' : 'subagent',
    parentId: info?.parentId ?? null,
    directory,
    headless,
    immediate: headless,
    everyAgentWrites: false,
    seesTools: true,
    tools: { pause: tools ? 'todo_pause' : null, verify: tools ? 'todo_verify' : null },
  };
}

export function readSessionRecord({ store }: PluginContext, sessionId: string): Promise<Session | null> {
  return store.read(async (reader) => reader.session(sessionId));
}
