// What hosts, loops and commands hold: the engine, the delivery of continuations to hosts
// that only tell us when they idle, and the timers. It decides nothing.
import { endMessage } from '../core/end-sentence.ts';
import type { Event, EventOf } from '../core/events.ts';
import { isUnsaid, type State } from '../core/state.ts';
import { createEngine, type Engine, type EngineOptions, type Handled } from './engine.ts';
import type { OutgoingText, ToldHost } from './host.ts';
import { frozenPolicy } from './policy.ts';
import type { DueTimer, OutboxRow, Store } from './store.ts';
import { isHolderAlive, processHolder } from './system.ts';

/** How long one stop waits for its checks where no host sets a shorter timeout. */
export const checkPatienceMs = 600_000;

/** What a runtime needs besides what the engine needs. */
export interface RuntimeOptions extends EngineOptions {
  /** Names the running host. Only timers and outgoing texts of this name are acted on. */
  readonly instance?: string;
  readonly onError?: (error: unknown) => void;
}

/** The engine with waiting, delivery and timers. */
export interface Runtime extends Engine {
  /**
   * Handles a stop attempt and waits for its checks. If they still run at `deadlineAt`,
   * the agent is told to come back for them.
   */
  ask(event: Event, deadlineAt: number): Promise<Handled>;
  /**
   * Starts to act on the timers and outgoing texts of this instance. Returns false if
   * another process holds them; it then keeps trying.
   */
  attach(): Promise<boolean>;
  /** Fires all timers that are due now; returns how many there were. */
  fireDue(): Promise<number>;
  /** Stops acting on timers and gives the instance back. */
  detach(): Promise<void>;
}

/** Creates the engine together with its delivery and its timers. */
export function createRuntime(options: RuntimeOptions): Runtime {
  const { store, clock, identifiers, host } = options;
  const handle = (event: Event): Promise<Handled> => engine.handle(event);
  const delivery = createDelivery({ ...options, handle });
  const { changed, ...timers } = createTimers({ ...options, handle }, delivery.recover);
  const engine = createEngine(options, {
    inject: delivery.send,
    // Safe: the decision is on the record, and a lost toast changes nothing.
    notify: async (state, notice) => host?.notify(state, notice).catch(() => {}),
    timerChanged: changed,
  });

  async function ask(event: Event, deadlineAt: number): Promise<Handled> {
    const first = await engine.handle(event);
    // The process that decided this stop may have died before it could answer.
    if (first.decision === null && isUnsaid(first.state))
      return answeredElsewhere(store, first);
    if (first.checks === null) return first;
    // A `wait` here means that the result was applied together with another one, whose
    // decision the store has.
    const checks = first.checks.then((last) =>
      last?.decision?.answer === 'wait' ? null : last,
    );
    let cancel = () => {};
    const deadline = new Promise<'late'>((resolve) => {
      cancel = clock.wake(deadlineAt, () => resolve('late'));
    });
    const finished = await Promise.race([checks, deadline]).finally(cancel);
    if (finished !== 'late') return finished ?? (await answeredElsewhere(store, first));
    const base = { id: identifiers.next(), sessionId: event.sessionId, at: clock.now() };
    const overdue = await engine.handle({ ...base, type: 'checks-overdue' });
    return overdue.decision === null ? first : overdue;
  }

  return { ...engine, ...timers, ask };
}

/**
 * Another process or event has decided this stop attempt: its decision answers ours too.
 */
async function answeredElsewhere(store: Store, first: Handled): Promise<Handled> {
  const state = await store.state(first.state.id);
  const [last] = await store.decisions(first.state.id, 1);
  if (state === null || last === undefined) return first;
  const { answer, epoch, dueAt, observed } = last.decision;
  const rows = answer === 'continue' ? await store.outbox({ sessionId: state.id }) : [];
  const text = rows.find((row) => row.epoch === epoch)?.text ?? null;
  const { goalChecks = [] } = (await frozenPolicy(store, state)) ?? {};
  const message = observed ? null : endMessage(state, goalChecks, last.decision);
  const command = { type: 'answer', answer, epoch, text, message, dueAt } as const;
  return { ...first, state, decision: last.decision, answer: command, checks: null };
}

type News = EventOf<'delivery-reported'>['news'];

/**
 * Sends continuations: each goes from `intended` to `sent` to `observed`. The session is
 * read again right before a text is sent, so that we never talk over a human.
 */
export function createDelivery(
  options: Pick<RuntimeOptions, 'store' | 'clock' | 'host' | 'trace'> &
    Pick<Engine, 'handle'>,
) {
  const { store, clock, host, trace = () => {}, handle } = options;
  const underWay = new Set<string>();

  /**
   * Returns what is to be sent; null if it is outdated or was sent. Outdated ones are
   * marked.
   */
  function takeWantedText(
    sessionId: string,
    epoch: number,
  ): Promise<OutgoingText | null> {
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
      // An agent that asks the human something is still at work, and will stop again.
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

  /**
   * `mark` keeps two reports of the same news apart: a report with a known id is ignored.
   */
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
      const outgoing = await takeWantedText(sessionId, epoch);
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
      if (row.mode === 'told') await settleRow(host, row);
  }

  /**
   * Settles a text that a dead process left behind. If the host shows it, it was
   * delivered. If the host cannot tell and the text was sent, it is sent again only if
   * the host idles.
   */
  async function settleRow(
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
    if (mayRepeat && (await takeWantedText(sessionId, epoch)) !== null)
      await report(outgoing, 'lost', `:${clock.now()}`);
  }

  return { send, recover };
}

/**
 * Asks the host whether it shows this continuation. If it does, the event that reports so
 * is returned; otherwise `absent` or `unknown`.
 */
export async function askHost(host: ToldHost, outgoing: OutgoingText, at: number) {
  // Safe: a host that fails here counts as one that cannot look messages up.
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
 * How long the lease of a dead process on another machine keeps others waiting. A living
 * process renews its lease after a third of this time.
 */
const leaseMs = 30_000;
/** How many due timers are read at once: it bounds the memory. */
const batchSize = 200;
const never = Number.POSITIVE_INFINITY;

/** Called each time this process gets the lease. */
type Recover = (instance: string) => Promise<void>;

/**
 * Keeps timers, which live in the store and so survive restarts. One wake-up waits for
 * the earliest timer of an instance, and only the holder of the instance's lease acts.
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
    const askForLease = () => store.lease(instance, holder, now, now + leaseMs);
    let held = await askForLease();
    // The holder is a dead process of this machine, so nobody has to wait for its lease
    // to end.
    if (held !== null && held !== holder && !isHolderAlive(held)) {
      await store.lease(instance, held, now, null);
      held = await askForLease();
    }
    const taken = held === holder;
    leaseUntil = taken ? now + leaseMs : 0;
    if (taken && !hadIt) await recover(instance);
    return taken;
  }

  function scheduleWake(at: number): void {
    const next = Math.min(at, leaseUntil === 0 ? never : renewAt());
    if (!attached || next >= wakeAt) return;
    cancelWake?.();
    wakeAt = next;
    cancelWake = clock.wake(next, () => {
      wakeAt = never;
      // Safe: if the store fails now, the next wake-up tries again.
      fireDue().catch((error: unknown) => {
        options.onError?.(error);
        scheduleWake(clock.now() + 1000);
      });
    });
  }

  async function wakeForNext(): Promise<void> {
    scheduleWake((await store.timers(instance, 0, 0)).nextAt ?? never);
  }

  function fireDue(): Promise<number> {
    firing ??= fireAll().finally(() => {
      firing = null;
    });
    return firing;
  }

  async function fireAll(): Promise<number> {
    if (clock.now() >= renewAt() && !(await takeLease())) {
      scheduleWake(clock.now() + leaseMs);
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
      // The timer was replaced. The session's present timer is written, or this row would
      // stay due for ever.
      await store.step(sessionId, ({ state }) => ({
        result: null,
        timer: state?.timer ?? null,
      }));
      return;
    }
    // The host's list is read at the moment of acting. If it cannot be read, the timer
    // fires all the same (G5).
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
      else scheduleWake(clock.now() + leaseMs);
      return taken;
    },
    changed({ timer }: State): void {
      if (timer !== null) scheduleWake(timer.dueAt);
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
