// Connects hosts that only tell us when a session idles to the engine. Each session has a
// memory and a queue, which keeps its events in order. Adapters translate and the engine
// decides; nothing is decided here.
import { momentToTell } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type {
  AgentDescriptor,
  Event,
  EventOf,
  SessionDescriptor,
} from '../core/events.ts';
import { isSameList, type ListedTodo, writtenItems } from '../core/reconcile.ts';
import { unknownHost } from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { OutgoingText, ToldHost } from '../engine/host.ts';
import type { Store } from '../engine/store.ts';
import { openToldRuntime, type ToldRuntimeOptions } from '../engine/told-runtime.ts';
import { createParts, type OpenOptions } from '../open.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import { type DrivenRun, isLeftToDriver } from './driven.ts';
import { sendHumanNotice } from './notify.ts';
import { compactionFailed } from './shared.ts';
import { amountOf, withinTime } from './untrusted.ts';

/** An event that still lacks its id, its session and its time. */
export type EventDraft = Bare<Event>;
type Bare<E> = E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never;

/** What this process remembers of a session beside the record. It may be lost. */
export type ToldMemory<Own> = ReturnType<typeof createMemory> & Own;
function createMemory(id: string, stored: string) {
  return {
    id,
    /**
     * The id on the record: the host's id behind the prefix of this program, if it has
     * one, because two programs can share a store.
     */
    stored,
    busy: false,
    /** How this process described the session last; null: it has not announced it yet. */
    opened: null as string | null,
    /** Error of the last tool call, if nothing happened since (P12). */
    toolError: null as string | null,
    /** Whether a tool call that we know of may have written a file. */
    mayHaveWritten: false,
    /** Keys of what the host may report twice; see `isNews`. */
    heard: new Set<string>(),
    /**
     * Each hold forbids sending: something happened that may not be on the record yet
     * (G4, P19).
     */
    holds: new Set<Hold>(),
    /** Resolves when the work of the session that was queued so far is done. */
    queue: Promise.resolve(),
    /** How much work is in the queue. */
    waiting: 0,
  };
}

/** One session of a host, in our words. No method may throw for an expected outcome. */
export interface ToldAdapter extends Pick<ToldHost, 'find'> {
  /**
   * How the host differs from an unknown one, and the agent; null for the agent: as it
   * was before.
   */
  describe(): Promise<readonly [Partial<SessionDescriptor>, AgentDescriptor | null]>;
  /** The todos of the host; null: they cannot be read. */
  todos(): Promise<readonly ListedTodo[] | null>;
  /**
   * Sends a continuation. Null: the host took it; a sentence: why it refused. May resolve
   * as late as the end of the turn.
   */
  inject(outgoing: OutgoingText): Promise<string | null>;
  isIdle(): Promise<boolean>;
  /**
   * Called before a countdown runs out into a continuation. Reports what no event told of
   * (G5).
   */
  lookAgain?(): Promise<void>;
  show(notice: Notice): Promise<void>;
}

export type Notice = Parameters<ToldHost['notify']>[1];
type Hold = Readonly<{ why: string; lingerMs?: number }>;
type HumanMessage = Readonly<{
  id?: string | undefined;
  text?: string | null | undefined;
  turnIsOver?: boolean | undefined;
}>;

type RuntimeParts = 'instance' | 'clock' | 'identifiers' | 'onError';
interface ToldOptions<Own>
  extends Omit<OpenOptions, 'store' | RuntimeParts>,
    Pick<ToldRuntimeOptions, RuntimeParts> {
  readonly policy?: ToldRuntimeOptions['policy'];
  readonly name: string;
  readonly prefix?: string;
  /**
   * The run that drives this process: in the conversation that it names, or else in the
   * first one that we hear of.
   */
  readonly run?: DrivenRun | null;
  readonly own: () => Own;
  readonly adapter: (memory: ToldMemory<Own>) => ToldAdapter;
  /** A store that is given stays open at the end. */
  readonly store?: Store | undefined;
  readonly openStore?: (() => Promise<Store>) | undefined;
}

/** Beyond this number, the session that was silent for longest is forgotten. */
const mostSessions = 2000;
/** How many keys a session remembers. Hosts repeat themselves within seconds. */
const mostHeard = 1000;
/**
 * A host that has not answered by then counts as having taken the text. Others wait for
 * us, and the watchdog sees what follows.
 */
const injectPatienceMs = 2000;

export type HostConnection<Own extends object> = ReturnType<typeof createTold<Own>>;
/**
 * Connects this process to its store and follows its sessions. `ready` resolves to false
 * if there is no store: then nothing is ever done.
 */
export function createTold<Own extends object>(options: ToldOptions<Own>) {
  const {
    name,
    prefix = '',
    run = null,
    own,
    adapter,
    clock,
    identifiers,
    environment,
    onError,
  } = options;
  let drivenId = run?.conversation ?? null;
  const memories = new Map<string, ToldMemory<Own>>();
  let store = options.store ?? null;
  let opened: Awaited<ReturnType<typeof openParts>> | null = null;
  let ended: Promise<void> | null = null;
  let notices: Promise<unknown> | null = null;

  const host: ToldHost = {
    async inject(outgoing) {
      const { session, epoch } = outgoing;
      const { memory, later } = follow(ofStored(session.id).id);
      const [held] = memory.holds;
      if (held !== undefined) return { taken: false, error: held.why };
      // Sent at once: if anything came between, the human might act in the meantime.
      const sending = adapter(memory).inject(outgoing);
      // While work is queued, the host may wait for us with the very message that this
      // text causes, so its answer is not awaited.
      const answer =
        memory.waiting > 0
          ? null
          : await withinTime(clock, injectPatienceMs, () => sending);
      if (answer?.answered)
        return answer.value === null
          ? { taken: true }
          : { taken: false, error: answer.value };
      const detail = `refused/${epoch}/${session.injection?.attempts ?? 0}`;
      // A late refusal: the engine sends the text again, unless the host showed it
      // meanwhile.
      sending
        .then(async (error) => error !== null && later(delivery(epoch, error), detail))
        .catch(onError);
      return { taken: true };
    },
    find: (outgoing) => adapter(ofStored(outgoing.session.id)).find(outgoing),
    isIdle: (stored) => adapter(ofStored(stored)).isIdle(),
    async readPlan(session) {
      const memory = ofStored(session.id);
      await adapter(memory).lookAgain?.();
      return (await follow(memory.id).readPlan()) ?? null;
    },
    notify: async ({ id }, notice) =>
      void adapter(ofStored(id)).show(notice).catch(onError),
  };

  async function openParts() {
    // The runtime may ask the host at once, and the host cannot answer while it starts.
    if (store === null) await new Promise((resolve) => setTimeout(resolve, 0));
    store ??= await (options.openStore?.() ?? openUserStore(environment, { clock }));
    const noticeContext = { store, environment, told: new Map() };
    const watch: typeof options.watch = (state, events, decisions) => {
      options.watch?.(state, events, decisions);
      // In a driven session, the driver tells the human.
      if (state.id === run?.sessionId) return;
      const moment = momentToTell(state, events, decisions);
      if (moment !== null)
        notices = Promise.all([
          notices,
          sendHumanNotice(noticeContext, state, moment).catch(onError),
        ]);
    };
    const parts = createParts({ ...options, store, watch });
    const { policy = parts.policy, instance } = options;
    const { checker, configuration } = parts;
    const running = await openToldRuntime({ ...parts, policy, host, instance, onError });
    return { checker, configuration, store, ...running };
  }

  /** False: there is no store, and nothing is ever done. */
  const ready = openParts()
    .then((parts) => {
      opened = parts;
    })
    .catch(onError)
    .then(() => opened !== null);

  function requireOpen<Part>(part: Part | null): Part {
    if (part === null)
      throw new UntildoneError('store-unavailable', `${name} is still opening.`);
    return part;
  }

  function of(id: string): ToldMemory<Own> {
    if (run !== null) drivenId ??= id;
    const stored = run !== null && id === drivenId ? run.sessionId : `${prefix}${id}`;
    const memory = memories.get(id) ?? { ...createMemory(id, stored), ...own() };
    memories.delete(id);
    memories.set(id, memory);
    if (memories.size <= mostSessions) return memory;
    const oldest = [...memories.values()].find(
      (one) => !one.busy && one.waiting === 0 && one !== memory,
    );
    if (oldest !== undefined) memories.delete(oldest.id);
    return memory;
  }
  const ofStored = (stored: string) =>
    of(
      stored === run?.sessionId && drivenId !== null
        ? drivenId
        : stored.slice(prefix.length),
    );
  const isDriven = ({ stored }: { readonly stored: string }) => stored === run?.sessionId;

  /**
   * The functions of one session. All their state is in its memory, so this may be called
   * often.
   */
  function follow(id: string) {
    const memory = of(id);
    const { stored } = memory;
    const record = async () => requireOpen(store).state(stored);

    /**
     * Runs work after all that is queued. Null: it failed, and the failure was reported.
     * A `hold` forbids sending until the work is done.
     */
    function after<Result>(work: () => Promise<Result>, hold?: Hold) {
      const held = { why: '', ...hold };
      if (hold !== undefined) memory.holds.add(held);
      memory.waiting += 1;
      const done = memory.queue
        .then(async () => ((await ready) && ended === null ? work() : null))
        .catch((error: unknown) => {
          // Safe: the failure is reported, and must not stop the work behind it.
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
    const later = (happening: EventDraft, detail?: string, hold?: Hold) =>
      after(() => tell(happening, detail), hold);

    /**
     * Reports an event to the engine. The same `detail` makes it the same event, even if
     * it is told twice; without one it is new.
     */
    async function tell(happening: EventDraft, detail?: string) {
      const isDeleted = happening.type === 'session-deleted';
      if (memory.opened === null && !isDeleted) await open();
      const isLeft = isDriven(memory) && isLeftToDriver(happening);
      const handled = await handle(
        event(isLeft ? { type: 'activity-seen' } : happening, detail),
      );
      if (happening.type === 'human-spoke') showPending();
      if (happening.type === 'stop-attempted') stopAnswered(handled);
      const { queue, waiting } = memory;
      // The object stays the same: work that was queued meanwhile refers to it.
      if (isDeleted)
        Object.assign(memory, createMemory(id, stored), own(), { queue, waiting });
      return handled;
    }

    /** Must be called if a stop was answered without `tell`. */
    function stopAnswered({ decision }: Handled): void {
      if (decision?.answer === 'let-go' || decision?.reason === 'nothing-open')
        showPending();
    }

    /**
     * Shows what the project's file asks for and nobody accepted: an agent may just have
     * written it (V10).
     */
    function showPending(): void {
      const message = requireOpen(opened).configuration.pending();
      const notice = {
        level: 'warning',
        title: 'untildone',
        message: message ?? '',
      } as const;
      if (message !== null) adapter(memory).show(notice).catch(onError);
    }

    function event<Kind extends EventDraft>(happening: Kind, detail?: string) {
      const eventId =
        detail === undefined ? identifiers.next() : `${name}/${stored}/${detail}`;
      return { ...happening, id: eventId, sessionId: stored, at: clock.now() };
    }

    /**
     * Announces the session to the engine, unless it was last announced with the same
     * description. Gives the agent.
     */
    async function open(): Promise<AgentDescriptor | null> {
      const [facts, agent] = await adapter(memory).describe();
      const description = JSON.stringify([facts, agent]);
      if (memory.opened === description) return agent;
      if (memory.opened === null) {
        // The process that recovered or compacted is dead. Its stop is closed too,
        // because a human may speak next.
        const { recovering = false, compacting = false } = (await record())?.waits ?? {};
        if (recovering || compacting) await handle(event({ type: 'session-closed' }));
        if (recovering) await handle(event(waitEnded({ kind: 'recovery' })));
        if (compacting) await handle(event(compactionFailed));
      }
      const attachment = {
        instance: requireOpen(opened).instance,
        mode: 'told',
      } as const;
      const descriptor = { ...unknownHost, host: name, ...attachment, ...facts };
      const { driven } = run?.descriptor ?? {};
      const drivenDescriptor = run &&
        driven && { ...run.descriptor, ...attachment, driven: { ...driven, id } };
      const opening =
        isDriven(memory) && drivenDescriptor
          ? { ...drivenDescriptor, immediate: descriptor.immediate }
          : descriptor;
      await handle(
        event({
          type: 'session-opened',
          descriptor: opening,
          agent: isDriven(memory) ? null : agent,
        }),
      );
      memory.opened = description;
      return agent;
    }

    /** Reports that the host showed the continuation of this epoch. */
    const observed = (epoch: number) =>
      handle({ ...event(delivery(epoch, null)), id: `${stored}:${epoch}:observed` });

    async function humanSpoke(message: HumanMessage, turnId = identifiers.next()) {
      const { id: messageId = null, text = null, turnIsOver } = message;
      const spoke = {
        type: 'human-spoke',
        messageId,
        text,
        turnId,
        turnIsOver,
        agent: await open(),
        fingerprint: null,
        policyHash: null,
      } as const;
      await tell(spoke, `human/${turnId}`);
    }

    /**
     * The plan in the list of the host. Null: unchanged since it was read last;
     * undefined: it cannot be read.
     */
    async function readPlan(): Promise<Event | null | undefined> {
      const todos = await adapter(memory).todos();
      if (todos === null) return undefined;
      const known = (await record())?.hostList ?? [];
      return isSameList(known, todos) ? null : event(planWritten(todos));
    }

    /** Takes over the list of the host. False: it cannot be read. */
    async function takeList() {
      const plan = await readPlan();
      if (plan && memory.opened === null) await open();
      const reply = plan ? (await handle(plan)).reply : null;
      const wrong = [
        ...(reply?.refused ?? []).map(({ sentence }) => sentence),
        ...(reply?.unknownWords ?? []),
      ];
      // Nobody else reads the host's list: without this error, what is wrong in it would
      // be dropped in silence (T6).
      if (wrong.length > 0)
        onError(
          new UntildoneError('invalid-event', `In the list of todos, ${wrong.join(' ')}`),
        );
      return plan !== undefined;
    }

    /** Remembers a key; false: it was known already. */
    function isNews(what: string): boolean {
      if (memory.heard.has(what)) return false;
      const [oldest = ''] = memory.heard.add(what);
      if (memory.heard.size > mostHeard) memory.heard.delete(oldest);
      return true;
    }

    return {
      memory,
      record,
      after,
      later,
      tell,
      stopAnswered,
      event,
      open,
      observed,
      humanSpoke,
      readPlan,
      takeList,
      isNews,
    };
  }

  const handle = async (event: Event) => requireOpen(opened).runtime.handle(event);

  function planWritten(todos: readonly ListedTodo[]): EventDraft {
    const items = writtenItems(todos).map((item) => ({
      ...item,
      freshId: identifiers.next(),
    }));
    return {
      type: 'plan-written',
      actor: 'agent',
      items,
      source: { kind: 'list', promptId: null },
    };
  }

  async function end() {
    await ready;
    // Safe: a timer that could not be cancelled is too old by the time it matters.
    await opened?.runtime.dispose().catch(onError);
    await notices;
    if (options.store === undefined) await store?.close().catch(onError);
  }

  return {
    identifiers,
    ready,
    host,
    of,
    ofStored,
    follow,
    planWritten,
    isDriven,
    all: () => [...memories.values()],
    /** Throws before the store is open, as `opened` does. */
    store: () => requireOpen(store),
    opened: () => requireOpen(opened),
    end() {
      ended ??= end();
      return ended;
    },
  };
}

/** A hold until what happened is on the record. */
export const newsHold = { why: 'something happened in the session meanwhile' };
/**
 * A hold after a human's stop. It lingers longer than an injection takes from its last
 * look at the record to the call of the host (P19).
 */
export const stopHold = { why: 'the human stopped the agent', lingerMs: 1000 };

/** The event that a wait begins. */
export const waitStarted = (wait: EventOf<'wait-started'>['wait']) =>
  ({ type: 'wait-started', wait }) as const;
/** The event that a wait ends. */
export const waitEnded = (wait: EventOf<'wait-ended'>['wait']) =>
  ({ type: 'wait-ended', wait }) as const;
const delivery = (epoch: number, error: string | null) =>
  ({
    type: 'delivery-reported',
    epoch,
    news: error === null ? 'observed' : 'failed',
    error,
  }) as const;

/**
 * The usage of one call of the model: tokens that it read (also from a cache) and wrote.
 * The size of its context is left out, because the host watches that itself.
 */
export function usageReported(
  read: readonly unknown[],
  written: readonly unknown[],
  cost: unknown,
) {
  const sum = (amounts: readonly unknown[]) =>
    amounts.reduce<number>((all, one) => all + amountOf(one), 0);
  return {
    type: 'usage-reported',
    inputTokens: sum(read),
    outputTokens: sum(written),
    cost: amountOf(cost),
    contextTokens: null,
    contextLimit: null,
  } as const;
}
