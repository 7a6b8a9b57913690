// The driver of every host that only tells us when a session idles: one memory and one queue per session, so that what
// happens reaches the engine in its order; the host's own list; and what was heard but is not on the record yet.
// Adapters translate payloads into it. Whether an agent goes on is decided by the engine alone.

import { UntildoneError } from '../core/error.ts';
import type { AgentDescriptor, Event, SessionDescriptor } from '../core/events.ts';
import { hostListChanges, type ListedTodo, writtenItems } from '../core/reconcile.ts';
import type { Session, State } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { Checker, Clock, Identifiers, OutgoingText, ToldHost } from '../engine/host.ts';
import type { CurrentPolicy } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import { compactionFailed } from './shared.ts';
import { openToldRuntime, type Toast, type ToldRuntime } from './told-runtime.ts';

export type Happening = Bare<Event>;
type Bare<E> = E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never;

/** What this process knows of a session beside the record; losing it costs nothing that the record does not know. */
export type ToldMemory = ReturnType<typeof createMemory>;
export type Memory<Own> = ToldMemory & Own;

function createMemory(id: string, stored: string) {
  return {
    /** The host's id of the session; `stored` is ours, which carries a program's name: two can share a store. */
    id,
    stored,
    busy: false,
    /** Descriptor and agent as they were told last; null: not by this process. */
    opened: null as string | null,
    /** The last that happened was a tool call that failed with this (P12). */
    toolError: null as string | null,
    /** What was heard already, calls and messages by their ids: hosts repeat themselves. */
    heard: new Set<string>(),
    /** What was heard, forbids sending, and may not be on the record yet (G4, P19). */
    holds: new Set<{ readonly why: string }>(),
    queue: Promise.resolve(),
    /** How many works wait in the queue, the one that is being done included. */
    waiting: 0,
  };
}

type HostDescriptor = Omit<SessionDescriptor, 'host' | 'instance' | 'mode'>;

/** One host: what it is asked, in our words. No method may throw for an expected outcome. */
export interface ToldAdapter<Own> {
  /** What its adapter remembers of a session beside what every host's does. */
  readonly own: () => Own;
  /** What a session is and who works in it; null: the agent is as it was. */
  describe(memory: Memory<Own>): Promise<readonly [HostDescriptor, AgentDescriptor | null]>;
  /** The host's own list; null: it cannot be read. */
  todos(memory: Memory<Own>): Promise<readonly ListedTodo[] | null>;
  inject(outgoing: OutgoingText, memory: Memory<Own>): ReturnType<ToldHost['inject']>;
  find(outgoing: OutgoingText, memory: Memory<Own>): ReturnType<ToldHost['find']>;
  isIdle(memory: Memory<Own>): Promise<boolean>;
  /** Before a countdown is acted on: tells what no event told of (G5). */
  lookAgain?(memory: Memory<Own>, session: Session): Promise<void>;
  toast(memory: Memory<Own>, toast: Toast): Promise<void>;
  notify(memory: Memory<Own>, notice: Omit<Toast, 'durationMs'>): Promise<void>;
}

export interface ToldOptions<Own> {
  /** The host's name. It begins the ids of what is told; `prefix` stands before the host's id in `stored`. */
  readonly name: string;
  readonly prefix?: string;
  readonly instance: string;
  readonly adapter: ToldAdapter<Own>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly openStore: () => Promise<Store>;
  /** False: the store is the program's own and stays open. */
  readonly closesStore: boolean;
  readonly policy: CurrentPolicy;
  readonly checker?: (store: Store) => Checker;
  /**
   * Does whoever tells us of a message wait until we dealt with it? Then we wait only until an event is written down:
   * an injection that is performed inside the queue would wait for the very message that it causes.
   */
  readonly isAwaited: boolean;
  readonly watch?: (session: Session) => void;
  readonly onError: (error: unknown) => void;
}

/** Sessions that one host works on at once; beyond that the one that was silent longest is looked up again. */
const mostSessions = 2000;
/** Repetitions and echoes come within seconds: older ids are not needed to recognise them. */
const mostHeard = 1000;

export type Told<Own extends object> = ReturnType<typeof createTold<Own>>;

export function createTold<Own extends object>(options: ToldOptions<Own>) {
  const { name, prefix = '', adapter, clock, identifiers, onError, isAwaited } = options;
  const memories = new Map<string, Memory<Own>>();
  /** Those who wait until an event is written down, by its id. */
  const unwritten = new Map<string, () => void>();
  let [store, runtime, instance]: [Store | null, ToldRuntime | null, string] = [null, null, options.instance];
  let ended: Promise<void> | null = null;

  async function openStore(): Promise<void> {
    const opened = await options.openStore();
    store = opened;
    const checker = options.checker?.(opened);
    const told = await openToldRuntime({
      ...{ store, clock, identifiers, instance, onError, hash: sha256, policy: options.policy },
      ...(checker === undefined ? {} : { checker }),
      host,
      toast: (session, toast) => adapter.toast(ofStored(session.id), toast),
      watch(session, events) {
        for (const { id } of events) {
          unwritten.get(id)?.();
          unwritten.delete(id);
        }
        options.watch?.(session);
      },
    });
    [runtime, instance] = [told.runtime, told.instance];
  }

  const host: ToldHost = {
    async inject(outgoing) {
      const memory = ofStored(outgoing.session.id);
      // The last look, with nothing between it and the call.
      const [held] = memory.holds;
      return held === undefined ? adapter.inject(outgoing, memory) : { taken: false, error: held.why };
    },
    find: (outgoing) => adapter.find(outgoing, ofStored(outgoing.session.id)),
    isIdle: (stored) => adapter.isIdle(ofStored(stored)),
    async readPlan(session) {
      const memory = ofStored(session.id);
      await adapter.lookAgain?.(memory, session);
      return (await readPlan(memory)) ?? null;
    },
    notify: (session, notice) => adapter.notify(ofStored(session.id), notice),
  };

  /** False: the store cannot be opened, and nothing is ever done. */
  const ready: Promise<boolean> = openStore().then(
    () => true,
    (error: unknown) => {
      onError(error);
      return false;
    },
  );

  function need<Part>(part: Part | null): Part {
    if (part === null) throw new UntildoneError('store-unavailable', `${name} is still opening.`);
    return part;
  }

  function of(id: string): Memory<Own> {
    const memory = memories.get(id) ?? { ...createMemory(id, `${prefix}${id}`), ...adapter.own() };
    memories.delete(id);
    memories.set(id, memory);
    if (memories.size <= mostSessions) return memory;
    const oldest = [...memories.values()].find((one) => !one.busy && one.waiting === 0 && one !== memory);
    if (oldest !== undefined) memories.delete(oldest.id);
    return memory;
  }

  function ofStored(stored: string): Memory<Own> {
    return of(stored.slice(prefix.length));
  }

  /**
   * Behind everything that was heard of the session before. Null: it could not be done, which was told. `hold`: nothing
   * is sent from now on until it is done, and for some time after it.
   */
  function after<Result>(
    id: string,
    work: (memory: Memory<Own>) => Promise<Result>,
    hold?: { readonly why: string; readonly lingerMs?: number },
  ): Promise<Result | null> {
    const memory = of(id);
    const held = { why: hold?.why ?? '' };
    if (hold !== undefined) memory.holds.add(held);
    memory.waiting += 1;
    const done = memory.queue
      .then(async () => ((await ready) && ended === null ? work(memory) : null))
      .catch((error: unknown) => {
        // Whoever hears of it says so once; the next one must not be held up by this one.
        if (ended === null) onError(error);
        return null;
      });
    memory.queue = done.then(() => {
      memory.waiting -= 1;
      if (hold?.lingerMs === undefined) memory.holds.delete(held);
      else clock.wake(clock.now() + hold.lingerMs, () => memory.holds.delete(held));
    });
    return done;
  }

  /** @param detail what makes the event this one: the same happening told twice is one event. Default: it is new */
  async function tell(memory: Memory<Own>, happening: Happening, detail?: string): Promise<Handled | null> {
    if (memory.opened === null && happening.type !== 'session-deleted') await open(memory);
    const handled = await handle(event(memory, happening, detail));
    // In place: what was heard of the session meanwhile waits in its queue.
    if (happening.type === 'session-deleted') {
      const { id, stored, queue, waiting } = memory;
      Object.assign(memory, createMemory(id, stored), adapter.own(), { queue, waiting });
    }
    return handled;
  }

  function event<Told extends Happening>({ stored }: Memory<Own>, happening: Told, detail?: string) {
    const id = detail === undefined ? identifiers.next() : `${name}/${stored}/${detail}`;
    return { ...happening, id, sessionId: stored, at: clock.now() };
  }

  async function handle(event: Event): Promise<Handled | null> {
    if (!isAwaited) return need(runtime).handle(event);
    const written = new Promise<null>((resolve) => unwritten.set(event.id, () => resolve(null)));
    const performed = need(runtime).handle(event);
    performed.catch((error: unknown) => {
      // Written down already: nobody waits for the rest any more, and the record says what was meant to happen.
      if (!unwritten.has(event.id)) onError(error);
    });
    return Promise.race([written, performed]).finally(() => unwritten.delete(event.id));
  }

  /** Tells what the session is, if that is another thing than what was told last. */
  async function open(memory: Memory<Own>): Promise<AgentDescriptor | null> {
    const [descriptor, agent] = await adapter.describe(memory);
    const told = JSON.stringify([descriptor, agent]);
    if (memory.opened === told) return agent;
    if (memory.opened === null) await endOldWaits(memory);
    const place = { host: name, instance, mode: 'told' } as const;
    await handle(event(memory, { type: 'session-opened', descriptor: { ...place, ...descriptor }, agent }));
    memory.opened = told;
    return agent;
  }

  /**
   * A process that died while it recovered or compacted does neither any more. The stop that waited for it goes with
   * it: the first word of the program may be the human's, who must not be talked over.
   */
  async function endOldWaits(memory: Memory<Own>): Promise<void> {
    const { recovering = false, compacting = false } = (await record(memory))?.waits ?? {};
    if (recovering || compacting) await handle(event(memory, { type: 'session-closed' }));
    if (recovering) await handle(event(memory, { type: 'wait-ended', wait: { kind: 'recovery' } }));
    if (compacting) await handle(event(memory, compactionFailed));
  }

  async function observed({ stored }: Memory<Own>, epoch: number): Promise<unknown> {
    const id = `${stored}:${epoch}:observed`;
    const news = { epoch, news: 'observed', error: null } as const;
    return handle({ type: 'delivery-reported', id, sessionId: stored, at: clock.now(), ...news });
  }

  /** The host's own list as an event; null: it is the one that was read last; undefined: it cannot be read. */
  async function readPlan(memory: Memory<Own>): Promise<Event | null | undefined> {
    const todos = await adapter.todos(memory);
    if (todos === null) return undefined;
    const [change] = hostListChanges((await record(memory))?.hostList, todos, null);
    return change === undefined ? null : event(memory, planWritten(todos));
  }

  function planWritten(todos: readonly ListedTodo[]): Happening {
    const items = writtenItems(todos).map((item) => ({ ...item, freshId: identifiers.next() }));
    return { type: 'plan-written', actor: 'agent', items, source: { kind: 'list', promptId: null } };
  }

  /** False: it could not be read. */
  async function takeList(memory: Memory<Own>): Promise<boolean> {
    const plan = await readPlan(memory);
    if (plan && memory.opened === null) await open(memory);
    if (plan) await handle(plan);
    return plan !== undefined;
  }

  function record({ stored }: Memory<Own>): Promise<State | null> {
    return need(store).state(stored);
  }

  /** A clean end: nothing is followed or sent afterwards. Never rejects. */
  async function end(): Promise<void> {
    await ready;
    // Safe: the process is going away, and what could not be cancelled is too old by the time it matters.
    await runtime?.dispose().catch(onError);
    if (options.closesStore) await store?.close().catch(onError);
  }

  return {
    ...{ identifiers, ready, host, of, ofStored, after, tell, event, open, observed },
    ...{ planWritten, takeList, record },
    all: () => [...memories.values()],
    /** These throw before the store is open. */
    store: () => need(store),
    runtime: () => need(runtime),
    instance: () => instance,
    end: () => {
      ended ??= end();
      return ended;
    },
  };
}

/** False: it was heard before. */
export function isNews({ heard }: ToldMemory, what: string): boolean {
  if (heard.has(what)) return false;
  keepNewest(heard.add(what), mostHeard);
  return true;
}

export function keepNewest(known: Set<string> | Map<string, unknown>, most: number): void {
  const [oldest] = known.keys();
  if (known.size > most && oldest !== undefined) known.delete(oldest);
}
