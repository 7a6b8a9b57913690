// What hosts, loops and commands hold: the engine, the delivery of continuations to told
// hosts, and the timers.
import { endMessage } from '../core/end-sentence.ts';
import type { Event, EventOf } from '../core/events.ts';
import { isUnsaid, type State } from '../core/state.ts';
import { createEngine, type Engine, type EngineOptions, type Handled } from './engine.ts';
import type { OutgoingText, ToldHost } from './host.ts';
import { frozenPolicy } from './policy.ts';
import type { DueTimer, OutboxRow, Store } from './store.ts';
import { isHolderAlive, processHolder } from './system.ts';

/** For the checks of one stop, where no host's timeout stands above it. */
export const checkPatienceMs = 600_000;

export interface RuntimeOptions extends EngineOptions {
  /** The running host whose timers and outbox are ours to act on. */
  readonly instance?: string;
  readonly onError?: (error: unknown) => void;
}

export interface Runtime extends Engine {
  /**
   * A stop attempt with its checks; after the deadline the agent is told to ask for them
   * later.
   */
  ask(event: Event, deadlineAt: number): Promise<Handled>;
  /** Takes over timers and outbox of this instance. False: another process holds them. */
  attach(): Promise<boolean>;
  fireDue(): Promise<number>;
  detach(): Promise<void>;
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const { store, clock, identifiers, host } = options;
  const handle = (event: Event): Promise<Handled> => engine.handle(event);
  const delivery = createDelivery({ ...options, handle });
  const { changed, ...timers } = createTimers({ ...options, handle }, delivery.recover);
  const engine = createEngine(options, {
    inject: delivery.send,
    // Safe: a toast changes nothing, the decision is on the record.
    notify: async (state, notice) => host?.notify(state, notice).catch(() => {}),
    timerChanged: changed,
  });

  async function ask(event: Event, deadlineAt: number): Promise<Handled> {
    const first = await engine.handle(event);
    // The process that decided it may have died before it could say so.
    if (first.decision === null && isUnsaid(first.state))
      return answeredElsewhere(store, first);
    if (first.checks === null) return first;
    // A result that was folded with another one is not answered by itself.
    const checks = first.checks.then((last) =>
      last?.decision?.answer === 'wait' ? null : last,
    );
    let cancel = () => {};
    const late = new Promise<'late'>((resolve) => {
      cancel = clock.wake(deadlineAt, () => resolve('late'));
    });
    const finished = await Promise.race([checks, late]).finally(cancel);
    if (finished !== 'late') return finished ?? (await answeredElsewhere(store, first));
    const base = { id: identifiers.next(), sessionId: event.sessionId, at: clock.now() };
    const overdue = await engine.handle({ ...base, type: 'checks-overdue' });
    return overdue.decision === null ? first : overdue;
  }

  return { ...engine, ...timers, ask };
}

/** Another process or event decided this stop attempt: its answer is ours. */
async function answeredElsewhere(store: Store, first: Handled): Promise<Handled> {
  const state = await store.state(first.state.id);
  const [last] = await store.decisions(first.state.id, 1);
  if (state === null || last === undefined) return first;
  const { answer, epoch, dueAt, observed } = last.decision;
  const rows = answer === 'continue' ? await store.outbox({ sessionId: state.id }) : [];
  const text = rows.find((row) => row.epoch === epoch)?.text ?? null;
  const { goalChecks = [] } = (await frozenPolicy(store, state)) ?? {};
  const message = observed ? null : endMessage(state, goalChecks, last.decision);
  const given = { type: 'answer', answer, epoch, text, message, dueAt } as const;
  return { ...first, state, decision: last.decision, answer: given, checks: null };
}

type News = EventOf<'delivery-reported'>['news'];

/**
 * intended → sent → observed. Looked at again right before it is sent: a human is never
 * talked over.
 */
export function createDelivery(
  options: Pick<RuntimeOptions, 'store' | 'clock' | 'host' | 'trace'> &
    Pick<Engine, 'handle'>,
) {
  const { store, clock, host, trace = () => {}, handle } = options;
  const underWay = new Set<string>();

  function stillWanted(sessionId: string, epoch: number): Promise<OutgoingText | null> {
    return store.step(sessionId, ({ state, outboxRow }) => {
      const row = outboxRow(epoch);
      if (
        state === null ||
        row === null ||
        (row.state !== 'intended' && row.state !== 'sent')
      )
        return { result: null };
      const isOutdated =
        state.epoch !== epoch ||
        state.latch !== null ||
        state.pause !== null ||
        state.deleted;
      // An agent that asks the human something is at work, and will stop again.
      const isAsking =
        state.waits.permissions.length > 0 || state.waits.questions.length > 0;
      if (!isOutdated && !isAsking)
        return {
          result: { key: `${sessionId}:${epoch}`, session: state, epoch, text: row.text },
        };
      return {
        result: null,
        outbox: [{ ...row, state: 'failed', updatedAt: clock.now() }],
      };
    });
  }

  /** `mark` tells two reports of the same news apart. */
  function report(
    { key, session, epoch }: OutgoingText,
    news: News,
    mark: string,
    error?: string,
  ) {
    const base = {
      id: `${key}:${news}${mark}`,
      sessionId: session.id,
      at: clock.now(),
      epoch,
    };
    return handle({ ...base, type: 'delivery-reported', news, error: error ?? null });
  }

  async function send(sessionId: string, epoch: number): Promise<void> {
    const key = `${sessionId}:${epoch}`;
    if (host === undefined || underWay.has(key)) return;
    underWay.add(key);
    try {
      const outgoing = await stillWanted(sessionId, epoch);
      if (outgoing === null) return;
      trace('before-send');
      const result = await host
        .inject(outgoing)
        .catch((error: unknown) => ({ taken: false as const, error: String(error) }));
      trace('after-send');
      const mark = `:${outgoing.session.injection?.attempts ?? 0}`;
      if (result.taken) await report(outgoing, 'sent', mark);
      else await report(outgoing, 'failed', mark, result.error);
      trace('after-record');
    } finally {
      underWay.delete(key);
    }
  }

  async function recover(instance: string): Promise<void> {
    if (host === undefined) return;
    for (const row of await store.outbox({ instance }))
      if (row.mode === 'told') await settle(host, row);
  }

  /**
   * What the host shows was delivered. Unknown and already sent: again only if it idles.
   */
  async function settle(
    toldHost: ToldHost,
    { sessionId, epoch, text, state }: OutboxRow,
  ): Promise<void> {
    const session = await store.state(sessionId);
    if (session === null) return;
    const outgoing = { key: `${sessionId}:${epoch}`, session, epoch, text };
    const found = await askHost(toldHost, outgoing, clock.now());
    if (typeof found !== 'string') return void (await handle(found));
    const mayRepeat =
      state === 'intended' || found === 'absent' || (await toldHost.isIdle(sessionId));
    if (mayRepeat && (await stillWanted(sessionId, epoch)) !== null)
      await report(outgoing, 'lost', `:${clock.now()}`);
  }

  return { send, recover };
}

/** The event that says so, if the host shows this continuation. */
export async function askHost(host: ToldHost, outgoing: OutgoingText, at: number) {
  // Safe: like a host that cannot look messages up.
  const found = await host.find(outgoing).catch(() => 'unknown' as const);
  if (found !== 'present') return found;
  const base = {
    id: `${outgoing.key}:observed`,
    sessionId: outgoing.session.id,
    at,
    epoch: outgoing.epoch,
  };
  return { ...base, type: 'delivery-reported', news: 'observed', error: null } as const;
}

/**
 * A dead process on another machine holds its lease this long; a live one renews it after
 * a third of it.
 */
const leaseMs = 30_000;
/** Bounds the memory, however many are due. */
const batchSize = 200;
const never = Number.POSITIVE_INFINITY;

/** Called each time the lease comes to us. */
type Recover = (instance: string) => Promise<void>;

/**
 * They survive restarts: one wake-up for the earliest of a host instance. Only the holder
 * of its lease acts.
 */
function createTimers(
  options: RuntimeOptions & Pick<Engine, 'handle'>,
  recover: Recover,
) {
  const { store, clock, host, instance = 'unattached', handle } = options;
  const holder = processHolder(options.identifiers.next());
  let cancelWake: (() => void) | null = null;
  let wakeAt = never;
  let leaseUntil = 0;
  let attached = false;
  let firing: Promise<number> | null = null;
  const renewAt = (): number => leaseUntil - (leaseMs * 2) / 3;

  async function takeLease(): Promise<boolean> {
    const now = clock.now();
    const hadIt = leaseUntil > now;
    const take = () => store.lease(instance, holder, now, now + leaseMs);
    let held = await take();
    // Nobody need wait until the lease of a dead process runs out.
    if (held !== null && held !== holder && !isHolderAlive(held)) {
      await store.lease(instance, held, now, null);
      held = await take();
    }
    const taken = held === holder;
    leaseUntil = taken ? now + leaseMs : 0;
    if (taken && !hadIt) await recover(instance);
    return taken;
  }

  function wake(at: number): void {
    const next = Math.min(at, leaseUntil === 0 ? never : renewAt());
    if (!attached || next >= wakeAt) return;
    cancelWake?.();
    wakeAt = next;
    cancelWake = clock.wake(next, () => {
      wakeAt = never;
      // Safe: a store that fails now is tried again at the next wake-up.
      fireDue().catch((error: unknown) => {
        options.onError?.(error);
        wake(clock.now() + 1000);
      });
    });
  }

  async function wakeForNext(): Promise<void> {
    wake((await store.timers(instance, 0, 0)).nextAt ?? never);
  }

  function fireDue(): Promise<number> {
    firing ??= fireAll().finally(() => {
      firing = null;
    });
    return firing;
  }

  async function fireAll(): Promise<number> {
    if (clock.now() >= renewAt() && !(await takeLease())) {
      wake(clock.now() + leaseMs);
      return 0;
    }
    for (let fired = 0; ; ) {
      const { due } = await store.timers(instance, clock.now(), batchSize);
      for (const timer of due) await fire(timer);
      fired += due.length;
      if (due.length === batchSize) continue;
      await wakeForNext();
      return fired;
    }
  }

  async function fire({ sessionId, epoch, dueAt, purpose }: DueTimer): Promise<void> {
    const session = await store.state(sessionId);
    if (
      session === null ||
      session.timer?.epoch !== epoch ||
      session.timer.dueAt !== dueAt
    ) {
      // Void: what the session says is written, or the row would be due for ever.
      await store.step(sessionId, ({ state }) => ({
        result: null,
        timer: state?.timer ?? null,
      }));
      return;
    }
    // The host's list at the moment of acting; one that cannot be read holds nothing up
    // (G5).
    const plan =
      purpose === 'due'
        ? ((await host?.readPlan(session).catch(() => null)) ?? null)
        : null;
    if (plan !== null) await handle(plan);
    const now = clock.now();
    const id = `${sessionId}:timer:${epoch}:${dueAt}:${now}`;
    await handle({ type: 'timer-fired', id, sessionId, at: now, epoch, dueAt });
  }

  return {
    async attach(): Promise<boolean> {
      attached = true;
      const taken = await takeLease();
      if (taken) await wakeForNext();
      else wake(clock.now() + leaseMs);
      return taken;
    },
    changed({ timer }: State): void {
      if (timer !== null) wake(timer.dueAt);
    },
    fireDue,
    async detach(): Promise<void> {
      attached = false;
      cancelWake?.();
      wakeAt = never;
      await firing;
      await store.lease(instance, holder, clock.now(), null);
    },
  };
}
