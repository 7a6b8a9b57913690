// The driver of every host that only tells us when a session idles: a memory and a queue per session keep events in order.
// Adapters translate, the engine decides.
import { UntildoneError } from '../core/error.ts';
import type { AgentDescriptor, Event, EventOf, SessionDescriptor } from '../core/events.ts';
import { hostListChanges, type ListedTodo, writtenItems } from '../core/reconcile.ts';
import type { OutgoingText, ToldHost } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { type OpenOptions, partsOver } from '../open.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import { compactionFailed } from './shared.ts';
import { openToldRuntime, type ToldRuntime, type ToldRuntimeOptions } from './told-runtime.ts';
import { withinTime } from './untrusted.ts';

export type Happening = Bare<Event>;
type Bare<E> = E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never;

/** Of a session, beside the record; it may be lost. */
export type Memory<Own> = ReturnType<typeof createMemory> & Own;
function createMemory(id: string, stored: string) {
  return {
    // `stored` carries the program's name: two can share a store.
    ...{ id, stored, busy: false },
    /** Null: not told by this process. */
    opened: null as string | null,
    /** By the last call, if nothing happened since (P12). */
    toolError: null as string | null,
    heard: new Set<string>(),
    /** Each forbids sending; it may not be on the record yet (G4, P19). */
    holds: new Set<{ readonly why: string }>(),
    queue: Promise.resolve(),
    waiting: 0,
  };
}

/** One host, in our words. No method may throw for an expected outcome. */
export interface ToldAdapter<Own> {
  own(): Own;
  /** Without an agent: as it was. */
  describe(memory: Memory<Own>): Promise<readonly [Description, AgentDescriptor | null]>;
  /** Null: unreadable. */
  todos(memory: Memory<Own>): Promise<readonly ListedTodo[] | null>;
  /** Null: taken; a sentence: refused. May settle only when the turn is over. */
  inject(outgoing: OutgoingText, memory: Memory<Own>): Promise<string | null>;
  find(outgoing: OutgoingText, memory: Memory<Own>): ReturnType<ToldHost['find']>;
  isIdle(memory: Memory<Own>): Promise<boolean>;
  /** Before a countdown is acted on: tells what no event told of (G5). */
  lookAgain?(memory: Memory<Own>): Promise<void>;
  show(memory: Memory<Own>, notice: Notice): Promise<void>;
}

type Description = Omit<SessionDescriptor, 'host' | 'instance' | 'mode'>;
export type Notice = Parameters<ToldHost['notify']>[1];
type Hold = { readonly why: string; readonly lingerMs?: number };
type HumanWord = { readonly id?: string | undefined; readonly text?: string | null | undefined };

export interface ToldOptions<Own>
  extends Pick<OpenOptions, 'environment' | 'directory' | 'flags' | 'rereads' | 'onProblem' | 'checker'>,
    Pick<ToldRuntimeOptions, 'instance' | 'clock' | 'identifiers' | 'onError'>,
    Partial<Pick<ToldRuntimeOptions, 'policy' | 'watch'>> {
  readonly name: string;
  readonly prefix?: string;
  readonly adapter: ToldAdapter<Own>;
  /** Not closed at the end. */
  readonly store?: Store | undefined;
  readonly openStore?: (() => Promise<Store>) | undefined;
}

/** Beyond that the one silent longest is forgotten. */
const mostSessions = 2000;
/** Echoes come within seconds. */
const mostHeard = 1000;
/** Then it counts as taken: others wait, and the watchdog sees what follows. */
const injectPatienceMs = 2000;

export type Told<Own extends object> = ReturnType<typeof createTold<Own>>;
export function createTold<Own extends object>(options: ToldOptions<Own>) {
  const { name, prefix = '', adapter, clock, identifiers, environment, onError } = options;
  const memories = new Map<string, Memory<Own>>();
  let { store = null, instance }: { store?: Store | null | undefined; instance: string } = options;
  let runtime: ToldRuntime | null = null;
  let checker: ReturnType<typeof partsOver>['checker'] | null = null;
  let ended: Promise<void> | null = null;

  const host: ToldHost = {
    async inject(outgoing) {
      const { session, epoch } = outgoing;
      const memory = ofStored(session.id);
      const [held] = memory.holds;
      if (held !== undefined) return { taken: false, error: held.why };
      // At once: after a detour the human might have acted.
      const sending = adapter.inject(outgoing, memory);
      // A program may wait for us with the very message that this text causes.
      const answer = memory.waiting > 0 ? null : await withinTime(clock, injectPatienceMs, () => sending);
      if (answer?.answered)
        return answer.value === null ? { taken: true } : { taken: false, error: answer.value };
      const detail = `refused/${epoch}/${session.injection?.attempts ?? 0}`;
      // The engine sends it again, unless it was seen meanwhile.
      sending
        .then(async (error) => error !== null && later(memory.id, delivery(epoch, error), detail))
        .catch(onError);
      return { taken: true };
    },
    find: (outgoing) => adapter.find(outgoing, ofStored(outgoing.session.id)),
    isIdle: (stored) => adapter.isIdle(ofStored(stored)),
    async readPlan(session) {
      const memory = ofStored(session.id);
      await adapter.lookAgain?.(memory);
      return (await readPlan(memory)) ?? null;
    },
    notify: async ({ id }, notice) => void adapter.show(ofStored(id), notice).catch(onError),
  };

  async function start() {
    // An attach may ask the host, which cannot answer while it starts.
    if (store === null) await new Promise((resolve) => setTimeout(resolve, 0));
    store ??= await (options.openStore?.() ?? openUserStore(environment, { clock }));
    const parts = partsOver({ ...options, store });
    checker = parts.checker;
    const { policy = parts.policy } = options;
    ({ runtime, instance } = await openToldRuntime({ ...parts, policy, host, instance, onError }));
    return true;
  }

  /** False: there is no store, and nothing is ever done. */
  const ready = start().catch((error: unknown) => {
    onError(error);
    return false;
  });

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
  const ofStored = (stored: string) => of(stored.slice(prefix.length));

  /** In order. Null: it failed, which was told. `hold`: nothing is sent until then. */
  function after<Result>(id: string, work: (memory: Memory<Own>) => Promise<Result>, hold?: Hold) {
    const memory = of(id);
    const held = { why: hold?.why ?? '' };
    if (hold !== undefined) memory.holds.add(held);
    memory.waiting += 1;
    const done = memory.queue
      .then(async () => ((await ready) && ended === null ? work(memory) : null))
      .catch((error: unknown) => {
        // Safe: it is told, and must not stop the next one.
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
  const later = (id: string, happening: Happening, detail?: string, hold?: Hold) =>
    after(id, (memory) => tell(memory, happening, detail), hold);

  /** `detail`: told twice it is one event. Absent: it is new. */
  async function tell(memory: Memory<Own>, happening: Happening, detail?: string) {
    const isDeleted = happening.type === 'session-deleted';
    if (memory.opened === null && !isDeleted) await open(memory);
    const handled = await handle(event(memory, happening, detail));
    const { id, stored, queue, waiting } = memory;
    // In place: what was heard meanwhile waits in its queue.
    if (isDeleted) Object.assign(memory, createMemory(id, stored), adapter.own(), { queue, waiting });
    return handled;
  }

  function event<Told extends Happening>({ stored }: Memory<Own>, happening: Told, detail?: string) {
    const id = detail === undefined ? identifiers.next() : `${name}/${stored}/${detail}`;
    return { ...happening, id, sessionId: stored, at: clock.now() };
  }

  const handle = async (event: Event) => need(runtime).handle(event);
  const record = async ({ stored }: Memory<Own>) => need(store).state(stored);

  async function open(memory: Memory<Own>): Promise<AgentDescriptor | null> {
    const [descriptor, agent] = await adapter.describe(memory);
    const told = JSON.stringify([descriptor, agent]);
    if (memory.opened === told) return agent;
    if (memory.opened === null) {
      // A dead process neither recovers nor compacts; its stop goes too: a human may speak next.
      const { recovering = false, compacting = false } = (await record(memory))?.waits ?? {};
      if (recovering || compacting) await handle(event(memory, { type: 'session-closed' }));
      if (recovering) await handle(event(memory, waitEnded({ kind: 'recovery' })));
      if (compacting) await handle(event(memory, compactionFailed));
    }
    const place = { host: name, instance, mode: 'told' } as const;
    await handle(event(memory, { type: 'session-opened', descriptor: { ...place, ...descriptor }, agent }));
    memory.opened = told;
    return agent;
  }

  const observed = (memory: Memory<Own>, epoch: number) =>
    handle({ ...event(memory, delivery(epoch, null)), id: `${memory.stored}:${epoch}:observed` });

  async function humanSpoke(memory: Memory<Own>, said: HumanWord, turnId = identifiers.next()) {
    const { id: messageId = null, text = null } = said;
    const agent = await open(memory);
    const spoke = { type: 'human-spoke', messageId, text, turnId, agent } as const;
    await tell(memory, { ...spoke, fingerprint: null, policyHash: null }, `human/${turnId}`);
  }

  /** Null: as it was read last; undefined: it cannot be read. */
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

  async function takeList(memory: Memory<Own>) {
    const plan = await readPlan(memory);
    if (plan && memory.opened === null) await open(memory);
    if (plan) await handle(plan);
    return plan !== undefined;
  }

  async function end() {
    await ready;
    // Safe: what could not be cancelled is too old by the time it matters.
    await runtime?.dispose().catch(onError);
    if (options.store === undefined) await store?.close().catch(onError);
  }

  return {
    ...{ identifiers, ready, host, of, ofStored, after, later, tell, event, open, observed, humanSpoke },
    ...{ planWritten, takeList, record },
    all: () => [...memories.values()],
    // These throw before the store is open.
    store: () => need(store),
    runtime: () => need(runtime),
    checker: () => need(checker),
    instance: () => instance,
    end() {
      ended ??= end();
      return ended;
    },
  };
}

export const waitStarted = (wait: EventOf<'wait-started'>['wait']) =>
  ({ type: 'wait-started', wait }) as const;
export const waitEnded = (wait: EventOf<'wait-ended'>['wait']) => ({ type: 'wait-ended', wait }) as const;
const delivery = (epoch: number, error: string | null) =>
  ({ type: 'delivery-reported', epoch, news: error === null ? 'observed' : 'failed', error }) as const;

export function isNews({ heard }: { readonly heard: Set<string> }, what: string): boolean {
  if (heard.has(what)) return false;
  const [oldest = ''] = heard.add(what);
  if (heard.size > mostHeard) heard.delete(oldest);
  return true;
}
