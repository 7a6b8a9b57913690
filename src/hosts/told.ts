// Hosts that only tell us when a session idles: the driver, whose memory and queue per session keep events in order, and the
// runtime, with toasts, a watchdog over continuations and a clean end. Adapters translate, the engine decides.
import { type Decision, momentToTell } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type { AgentDescriptor, Event, EventOf, SessionDescriptor } from '../core/events.ts';
import { ownToast } from '../core/own-words.ts';
import { isSameList, type ListedTodo, writtenItems } from '../core/reconcile.ts';
import { settingsForAgent } from '../core/settings.ts';
import { isOnItsWay, type Session, type State, unknownHost } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import type { Handled } from '../engine/engine.ts';
import type { OutgoingText, ToldHost } from '../engine/host.ts';
import { askHost, createRuntime, type RuntimeOptions } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { type OpenOptions, type Parts, partsOver } from '../open.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import { tellHuman } from './notify.ts';
import { compactionFailed } from './shared.ts';
import { withinTime } from './untrusted.ts';

export type Happening = Bare<Event>;
type Bare<E> = E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never;

/** Of a session, beside the record; it may be lost. */
export type Memory<Own> = ReturnType<typeof createMemory> & Own;
function createMemory(id: string, stored: string) {
  return {
    id,
    /** With the program's name: two can share a store. */
    stored,
    busy: false,
    /** Null: not told by this process. */
    opened: null as string | null,
    /** By the last call, if nothing happened since (P12). */
    toolError: null as string | null,
    heard: new Set<string>(),
    /** Each forbids sending; it may not be on the record yet (G4, P19). */
    holds: new Set<Hold>(),
    queue: Promise.resolve(),
    waiting: 0,
  };
}

/** A session in its host, in our words. No method may throw for an expected outcome. */
export interface ToldAdapter extends Pick<ToldHost, 'find'> {
  /** What differs from an unknown host. Without an agent: as it was. */
  describe(): Promise<readonly [Partial<SessionDescriptor>, AgentDescriptor | null]>;
  /** Null: unreadable. */
  todos(): Promise<readonly ListedTodo[] | null>;
  /** Null: taken; a sentence: refused. May settle only when the turn is over. */
  inject(outgoing: OutgoingText): Promise<string | null>;
  isIdle(): Promise<boolean>;
  /** Before a countdown is acted on: tells what no event told of (G5). */
  lookAgain?(): Promise<void>;
  show(notice: Notice): Promise<void>;
}

export type Notice = Parameters<ToldHost['notify']>[1];
type Hold = Readonly<{ why: string; lingerMs?: number }>;
type HumanWord = Readonly<{ id?: string | undefined; text?: string | null | undefined }>;

type Needed = 'instance' | 'clock' | 'identifiers' | 'onError';
interface ToldOptions<Own> extends Omit<OpenOptions, 'store' | Needed>, Pick<ToldRuntimeOptions, Needed> {
  readonly policy?: ToldRuntimeOptions['policy'];
  readonly name: string;
  readonly prefix?: string;
  readonly own: () => Own;
  readonly adapter: (memory: Memory<Own>) => ToldAdapter;
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
  const { name, prefix = '', own, adapter, clock, identifiers, environment, onError } = options;
  const memories = new Map<string, Memory<Own>>();
  let store = options.store ?? null;
  let opened:
    | (Awaited<ReturnType<typeof openToldRuntime>> & Pick<Parts, 'checker' | 'configuration' | 'store'>)
    | null = null;
  let ended: Promise<void> | null = null;
  let telling: Promise<unknown> | null = null;

  const host: ToldHost = {
    async inject(outgoing) {
      const { session, epoch } = outgoing;
      const { memory, later } = follow(ofStored(session.id).id);
      const [held] = memory.holds;
      if (held !== undefined) return { taken: false, error: held.why };
      // At once: after a detour the human might have acted.
      const sending = adapter(memory).inject(outgoing);
      // A program may wait for us with the very message that this text causes.
      const answer = memory.waiting > 0 ? null : await withinTime(clock, injectPatienceMs, () => sending);
      if (answer?.answered)
        return answer.value === null ? { taken: true } : { taken: false, error: answer.value };
      const detail = `refused/${epoch}/${session.injection?.attempts ?? 0}`;
      // The engine sends it again, unless it was seen meanwhile.
      sending.then(async (error) => error !== null && later(delivery(epoch, error), detail)).catch(onError);
      return { taken: true };
    },
    find: (outgoing) => adapter(ofStored(outgoing.session.id)).find(outgoing),
    isIdle: (stored) => adapter(ofStored(stored)).isIdle(),
    async readPlan(session) {
      const memory = ofStored(session.id);
      await adapter(memory).lookAgain?.();
      return (await follow(memory.id).readPlan()) ?? null;
    },
    notify: async ({ id }, notice) => void adapter(ofStored(id)).show(notice).catch(onError),
  };

  async function start() {
    // An attach may ask the host, which cannot answer while it starts.
    if (store === null) await new Promise((resolve) => setTimeout(resolve, 0));
    store ??= await (options.openStore?.() ?? openUserStore(environment, { clock }));
    const place = { store, environment, told: new Map() };
    const watch: typeof options.watch = (...seen) => {
      options.watch?.(...seen);
      const moment = momentToTell(...seen);
      if (moment !== null) telling = Promise.all([telling, tellHuman(place, seen[0], moment).catch(onError)]);
    };
    const parts = partsOver({ ...options, store, watch });
    const { policy = parts.policy, instance } = options;
    const { checker, configuration } = parts;
    const running = await openToldRuntime({ ...parts, policy, host, instance, onError });
    opened = { checker, configuration, store, ...running };
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
    const memory = memories.get(id) ?? { ...createMemory(id, `${prefix}${id}`), ...own() };
    memories.delete(id);
    memories.set(id, memory);
    if (memories.size <= mostSessions) return memory;
    const oldest = [...memories.values()].find((one) => !one.busy && one.waiting === 0 && one !== memory);
    if (oldest !== undefined) memories.delete(oldest.id);
    return memory;
  }
  const ofStored = (stored: string) => of(stored.slice(prefix.length));

  /** What is done in one session. All that is kept of it is its memory. */
  function follow(id: string) {
    const memory = of(id);
    const { stored } = memory;
    const record = async () => need(store).state(stored);

    /** In order. Null: it failed, which was told. `hold`: nothing is sent until then. */
    function after<Result>(work: () => Promise<Result>, hold?: Hold) {
      const held = { why: '', ...hold };
      if (hold !== undefined) memory.holds.add(held);
      memory.waiting += 1;
      const done = memory.queue
        .then(async () => ((await ready) && ended === null ? work() : null))
        .catch((error: unknown) => {
          // Safe: it is told, and must not stop the next one.
          if (ended === null) onError(error);
          return null;
        });
      memory.queue = done.then(() => {
        memory.waiting -= 1;
        if (held.lingerMs === undefined) memory.holds.delete(held);
        else clock.wake(clock.now() + held.lingerMs, () => memory.holds.delete(held));
      });
      return done;
    }
    const later = (happening: Happening, detail?: string, hold?: Hold) =>
      after(() => tell(happening, detail), hold);

    /** `detail`: told twice it is one event. Absent: it is new. */
    async function tell(happening: Happening, detail?: string) {
      const isDeleted = happening.type === 'session-deleted';
      if (memory.opened === null && !isDeleted) await open();
      const handled = await handle(event(happening, detail));
      if (happening.type === 'human-spoke') showPending();
      if (happening.type === 'stop-attempted') stopAnswered(handled);
      const { queue, waiting } = memory;
      // In place: what was heard meanwhile waits in its queue.
      if (isDeleted) Object.assign(memory, createMemory(id, stored), own(), { queue, waiting });
      return handled;
    }

    /** To be called by whoever has a stop answered without `tell`. */
    function stopAnswered({ decision }: Handled): void {
      if (decision?.answer === 'let-go' || decision?.reason === 'nothing-open') showPending();
    }

    /** What the project's file asks for and nobody accepted: an agent may just have written it (V10). */
    function showPending(): void {
      const message = need(opened).configuration.pending();
      const notice = { level: 'warning', title: 'untildone', message: message ?? '' } as const;
      if (message !== null) adapter(memory).show(notice).catch(onError);
    }

    function event<Told extends Happening>(happening: Told, detail?: string) {
      const eventId = detail === undefined ? identifiers.next() : `${name}/${stored}/${detail}`;
      return { ...happening, id: eventId, sessionId: stored, at: clock.now() };
    }

    async function open(): Promise<AgentDescriptor | null> {
      const [facts, agent] = await adapter(memory).describe();
      const told = JSON.stringify([facts, agent]);
      if (memory.opened === told) return agent;
      if (memory.opened === null) {
        // A dead process neither recovers nor compacts; its stop goes too: a human may speak next.
        const { recovering = false, compacting = false } = (await record())?.waits ?? {};
        if (recovering || compacting) await handle(event({ type: 'session-closed' }));
        if (recovering) await handle(event(waitEnded({ kind: 'recovery' })));
        if (compacting) await handle(event(compactionFailed));
      }
      const place = { host: name, instance: need(opened).instance, mode: 'told' } as const;
      const descriptor = { ...unknownHost, ...place, ...facts };
      await handle(event({ type: 'session-opened', descriptor, agent }));
      memory.opened = told;
      return agent;
    }

    const observed = (epoch: number) =>
      handle({ ...event(delivery(epoch, null)), id: `${stored}:${epoch}:observed` });

    async function humanSpoke(said: HumanWord, turnId = identifiers.next()) {
      const { id: messageId = null, text = null } = said;
      const spoke = { type: 'human-spoke', messageId, text, turnId, agent: await open() } as const;
      await tell({ ...spoke, fingerprint: null, policyHash: null }, `human/${turnId}`);
    }

    /** Null: as it was read last; undefined: it cannot be read. */
    async function readPlan(): Promise<Event | null | undefined> {
      const todos = await adapter(memory).todos();
      if (todos === null) return undefined;
      const known = (await record())?.hostList;
      return isSameList(known, todos) ? null : event(planWritten(todos));
    }

    async function takeList() {
      const plan = await readPlan();
      if (plan && memory.opened === null) await open();
      const reply = plan ? (await handle(plan)).reply : null;
      const wrong = [
        ...(reply?.refused ?? []).map(({ sentence }) => sentence),
        ...(reply?.unknownWords ?? []),
      ];
      // Nobody else reads the host's list: what was wrong in it would be dropped in silence (T6).
      if (wrong.length > 0)
        onError(new UntildoneError('invalid-event', `In the list of todos, ${wrong.join(' ')}`));
      return plan !== undefined;
    }

    function isNews(what: string): boolean {
      if (memory.heard.has(what)) return false;
      const [oldest = ''] = memory.heard.add(what);
      if (memory.heard.size > mostHeard) memory.heard.delete(oldest);
      return true;
    }

    const told = { memory, record, after, later, tell, stopAnswered, event, open, observed, humanSpoke };
    return { ...told, readPlan, takeList, isNews };
  }

  const handle = async (event: Event) => need(opened).runtime.handle(event);

  function planWritten(todos: readonly ListedTodo[]): Happening {
    const items = writtenItems(todos).map((item) => ({ ...item, freshId: identifiers.next() }));
    return { type: 'plan-written', actor: 'agent', items, source: { kind: 'list', promptId: null } };
  }

  async function end() {
    await ready;
    // Safe: what could not be cancelled is too old by the time it matters.
    await opened?.runtime.dispose().catch(onError);
    await telling;
    if (options.store === undefined) await store?.close().catch(onError);
  }

  return {
    ...{ identifiers, ready, host, of, ofStored, follow, planWritten },
    all: () => [...memories.values()],
    /** Like `opened` it throws before the store is open. */
    store: () => need(store),
    opened: () => need(opened),
    end() {
      ended ??= end();
      return ended;
    },
  };
}

/** A hold: it is not on the record yet. */
export const happened = { why: 'something happened in the session meanwhile' };

export const waitStarted = (wait: EventOf<'wait-started'>['wait']) =>
  ({ type: 'wait-started', wait }) as const;
export const waitEnded = (wait: EventOf<'wait-ended'>['wait']) => ({ type: 'wait-ended', wait }) as const;
const delivery = (epoch: number, error: string | null) =>
  ({ type: 'delivery-reported', epoch, news: error === null ? 'observed' : 'failed', error }) as const;

/** The engine, and what ends with the process. Timers and outbox are found by `instance` after a restart. */
export type ToldRuntimeOptions = RuntimeOptions &
  Required<Pick<RuntimeOptions, 'host' | 'onError' | 'instance'>>;

/** More than anyone runs; then a name is made up. */
const mostCopies = 20;
/** Under the first name that no living process holds: a dead one's, with its countdowns, or a new one. */
export async function openToldRuntime(options: ToldRuntimeOptions) {
  const taken: ToldRuntime[] = [];
  for (let copy = 1; ; copy++) {
    const suffix = copy <= mostCopies ? copy : options.identifiers.next();
    const instance = copy === 1 ? options.instance : `${options.instance}#${suffix}`;
    const runtime = createToldRuntime({ ...options, instance });
    const dispose = async () => {
      await runtime.dispose();
      // Their plans are not ours to cancel.
      for (const other of taken) await other.detach();
    };
    if ((await runtime.attach()) || copy > mostCopies) return { runtime: { ...runtime, dispose }, instance };
    // It keeps trying: the holder may go.
    taken.push(runtime);
  }
}

export type ToldRuntime = ReturnType<typeof createToldRuntime>;
export function createToldRuntime(options: ToldRuntimeOptions) {
  const { store, clock, identifiers, instance, onError } = options;
  const host: typeof options.host = {
    ...options.host,
    inject: async (outgoing) =>
      disposed === null ? options.host.inject(outgoing) : { taken: false, error: 'the host has ended' },
  };
  const watchdog = createWatchdog({ ...options, host }, (event) => runtime.handle(event));
  const followers = [createToasts(options), watchdog];
  /** Sessions whose stop attempt waits, some without a timer. */
  const waiting = new Set<string>();
  let disposed: Promise<void> | null = null;
  const runtime = createRuntime({ ...options, host, watch });

  function watch(session: State, events: readonly Event[], decisions: readonly Decision[]) {
    options.watch?.(session, events, decisions);
    const { id, parked, timer } = session;
    if (session.descriptor.mode !== 'told') return;
    if (disposed !== null) {
      // It was on its way during the clean end.
      if (parked !== null || timer !== null) close(id).catch(onError);
      return;
    }
    if (parked === null) waiting.delete(id);
    else waiting.add(id);
    for (const { follow } of followers) follow(session, events);
  }

  const close = (sessionId: string) =>
    runtime.handle({ type: 'session-closed', id: identifiers.next(), sessionId, at: clock.now() });

  async function end() {
    for (const follower of followers) follower.end();
    try {
      // Any more are too old at the next start.
      const { due } = await store.timers(instance, Number.MAX_SAFE_INTEGER, 10_000);
      const planned = [...due, ...(await store.outbox({ instance }))].map(({ sessionId }) => sessionId);
      for (const id of new Set([...planned, ...waiting])) await close(id);
    } finally {
      // Even then: no wake-up may act for a host that is gone.
      await runtime.detach();
    }
  }

  return {
    ...runtime,
    /** What was planned is cancelled, on the record; nothing is injected afterwards. */
    dispose() {
      disposed ??= end();
      return disposed;
    },
  };
}

const second = 1000;
/** A toast each second of a countdown (E1), unless a restart took it over. */
function createToasts({ clock, policy, host, onError }: ToldRuntimeOptions) {
  /** As saved last: todos may be finished meanwhile. */
  const running = new Map<string, { session: State; cancel: () => void }>();

  function tick(id: string, dueAt: number) {
    const countdown = running.get(id);
    const seconds = Math.ceil((dueAt - clock.now()) / second);
    if (countdown === undefined || seconds <= 0) return;
    const { session } = countdown;
    const own = settingsForAgent(policy(session).settings, session.agent.name);
    const open = session.plan.filter(isOpen).length;
    const reason = `Resuming in ${seconds} s`;
    const ours = `${reason}, ${open} ${open === 1 ? 'todo' : 'todos'} remaining`;
    const message = ownToast(own.toasts, 'countdown', { reason, seconds, remaining: open }) ?? ours;
    const durationMs = Math.round(own.toastSeconds * 1000);
    const toast = { title: 'Todos remain', message, level: 'warning', durationMs } as const;
    // Safe: the countdown is in the store.
    host.notify(session, toast).catch(onError);
    // A long wait is told once, and counts down at its end.
    const before = Math.min(seconds - 1, Math.max(1, Math.ceil(own.countdownSeconds)));
    if (before >= 1) countdown.cancel = clock.wake(dueAt - before * second, () => tick(id, dueAt));
  }

  function stop(id: string) {
    running.get(id)?.cancel();
    running.delete(id);
  }

  return {
    follow(session: State) {
      const { id } = session;
      const timer = session.parked?.cause === 'not-yet' ? session.timer : null;
      const known = running.get(id);
      const before = known?.session.timer;
      if (known !== undefined && before?.dueAt === timer?.dueAt && before?.epoch === timer?.epoch) {
        known.session = session;
        return;
      }
      stop(id);
      if (timer === null) return;
      running.set(id, { session, cancel: () => {} });
      tick(id, timer.dueAt);
    },
    end: () => [...running.keys()].forEach(stop),
  };
}

/** An error does not make it `alive`: it may be the refusal. */
type Watch = { readonly epoch: number; alive: boolean; cancel: (() => void) | null };
/** Too short costs a question to the host, too long a human's time. */
const patienceMs = 5000;
const signsOfLife = new Set<Event['type']>(['activity-seen', 'tool-started', 'tool-ended']);
/** A host that took a continuation and shows no sign of life is asked. */
function createWatchdog(options: ToldRuntimeOptions, handle: (event: Event) => Promise<unknown>) {
  const { store, clock, host, onError } = options;
  const watches = new Map<string, Watch>();

  function drop(watch: Watch | undefined) {
    watch?.cancel?.();
    if (watch !== undefined) watch.cancel = null;
  }

  async function look(sessionId: string, watch: Watch) {
    const { epoch } = watch;
    const session = await store.state(sessionId);
    const row = (await store.outbox({ sessionId })).find((one) => one.epoch === epoch);
    if (session?.epoch !== epoch || row === undefined || !isAwaited(session)) return;
    if (watches.get(sessionId) !== watch || watch.alive) return;
    const key = `${sessionId}:${epoch}`;
    const seen = await askHost(host, { key, session, epoch, text: row.text }, clock.now());
    if (typeof seen !== 'string') return handle(seen);
    const isIdle = await host.isIdle(sessionId);
    const attempts = session.injection?.attempts ?? 0;
    const base = { id: `${key}:${isIdle ? 'unseen' : 'busy'}:${attempts}`, sessionId, at: clock.now() };
    // With this or something else: it will idle again.
    if (!isIdle) return handle({ ...base, type: 'activity-seen' });
    const error = `the host took it, and nothing followed within ${patienceMs / second} s`;
    return handle({ ...base, type: 'delivery-reported', epoch, news: 'failed', error });
  }

  return {
    follow(session: State, events: readonly Event[]) {
      const { id, epoch, injection } = session;
      const known = watches.get(id);
      const watch: Watch = known?.epoch === epoch ? known : { epoch, alive: false, cancel: null };
      if (watch !== known || !isAwaited(session)) drop(known);
      if (!isAwaited(session)) return watches.delete(id);
      watches.set(id, watch);
      watch.alive ||= events.some(({ type }) => signsOfLife.has(type));
      if (watch.alive || injection?.state !== 'sent') return drop(watch);
      watch.cancel ??= clock.wake(clock.now() + patienceMs, () => {
        watch.cancel = null;
        look(id, watch).catch(onError);
      });
    },
    end() {
      watches.forEach(drop);
      watches.clear();
    },
  };
}

function isAwaited({ injection, epoch, parked, settled, latch, pause, deleted }: Session): boolean {
  if (injection?.epoch !== epoch || !isOnItsWay(injection)) return false;
  return parked === null && settled === null && latch === null && pause === null && !deleted;
}
