// Our hooks in a host that `untildone run --with` drives. What they report belongs to the
// session of the run. What only the driver knows is left to it: who speaks, how the
// program ends, what it used.
import { sessionVariable } from '../checks/process.ts';
import type { Event } from '../core/events.ts';
import type { Environment } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import type { AskedHost, HookAsks, HookCall, HookProcess } from './asked-call.ts';
import { recordOf } from './untrusted.ts';

/**
 * The session that drives this host, named by the variable that it set; null: no session
 * does.
 */
async function drivingSession(
  { sessions }: Store,
  environment: Environment,
  host: string,
) {
  const id = environment[sessionVariable];
  const [session] = id ? await sessions({ id, limit: 1 }) : [];
  const { driven } = session?.descriptor ?? {};
  return session && driven?.host === host ? { ...session, driven } : null;
}

/** A run that drives this process. */
export type DrivenRun = NonNullable<Awaited<ReturnType<typeof findDrivenRun>>>;

/**
 * For a host that tells us when it idles: the run that drives this process, with the
 * conversation that it has or will have; null: no run does.
 */
export async function findDrivenRun(
  openStore: () => Promise<Store>,
  environment: Environment,
  host: string,
) {
  if (!environment[sessionVariable]) return null;
  const store = await openStore();
  try {
    const session = await drivingSession(store, environment, host);
    if (session === null) return null;
    return {
      sessionId: session.id,
      descriptor: session.descriptor,
      conversation: session.driven.id,
    };
  } finally {
    await store.close();
  }
}

const leftToDriver: readonly Event['type'][] = [
  ...([
    'session-opened',
    'session-closed',
    'human-aborted',
    'error-occurred',
    'usage-reported',
  ] as const),
];

/**
 * Whether the driver sees an event better: it knows whether it ended the program, and
 * repeats failed stops.
 */
export function isLeftToDriver(
  event: Pick<Event, 'type'> & { readonly end?: unknown },
): boolean {
  return (
    leftToDriver.includes(event.type) ||
    event.end === 'error' ||
    event.end === 'cancelled'
  );
}

type DrivenCallContext = Readonly<{
  store: Store;
  host: AskedHost;
  hook: HookProcess;
  name: string;
}>;

/** The call as one of the session that drives the host; unchanged if no session does. */
export async function drivenCall(
  { store, host, hook, name }: DrivenCallContext,
  call: HookCall,
  payload: unknown,
) {
  const id = call.descriptor.parentId ?? call.sessionId;
  const session = await drivingSession(store, hook.environment, name);
  // A host that the driven agent itself starts inherits the variable, but has another
  // conversation.
  if (session === null || (session.driven.id ?? id) !== id) return call;
  const renamed = Object.entries(recordOf(payload)).map(([field, value]) =>
    value === id && /^session_?id$/iu.test(field) ? [field, session.id] : [field, value],
  );
  const translation = host.translate(Object.fromEntries(renamed), hook);
  if (!translation.ok) return call;
  if (translation.call.descriptor.kind !== 'main') return translation.call;
  const descriptor = { ...session.descriptor, driven: { ...session.driven, id } };
  return {
    ...translation.call,
    descriptor,
    agent: session.agent,
    asks: drivenAsks(translation.call.asks, host),
  };
}

const nothing: HookAsks = { type: 'record', events: [] };

function drivenAsks(asks: HookAsks, { tellsUsageLate }: AskedHost): HookAsks {
  switch (asks.type) {
    case 'record':
      return {
        ...asks,
        events: asks.events.filter((event) => !isLeftToDriver(event)),
        asksHuman: false,
      };
    // The text that the host is started with names what is open.
    case 'open':
      return asks.begins ? nothing : asks;
    // The driver heard the human, with the policy of that moment.
    case 'prompt':
      return asks.speaker.type === 'human'
        ? { ...asks, speaker: { type: 'command' } }
        : asks;
    // The driver goes on beyond the cap of the host.
    case 'stop':
      return {
        ...asks,
        blockCap: null,
        transcript: tellsUsageLate ? asks.transcript : null,
      };
    case 'complete':
      return asks;
  }
}
