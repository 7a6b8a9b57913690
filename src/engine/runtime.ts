// Puts engine, delivery and timers together: what a host adapter, a loop or the command line holds in its hand.
import type { Event } from '../core/events.ts';
import { createDelivery } from './delivery.ts';
import { createEngine, type Engine, type EngineOptions, type Handled } from './engine.ts';
import type { Store } from './store.ts';
import { processHolder } from './system.ts';
import { createTimers } from './timers.ts';

export interface RuntimeOptions extends EngineOptions {
  /** Which running host this process is attached to; timers and outbox of its sessions are ours to act on. */
  readonly instance?: string;
  readonly onError?: (error: unknown) => void;
}

export interface Runtime extends Engine {
  /**
   * For asked hosts: handles a stop attempt and waits for the checks it needs, until the deadline. After that the
   * agent is told to go on and ask for the results (design: "Checks").
   */
  ask(event: Event, deadlineAt: number): Promise<Handled>;
  /** Takes over timers and outbox of this instance. False: another process holds them. */
  attach(): Promise<boolean>;
  fireDue(): Promise<number>;
  detach(): Promise<void>;
}

export function createRuntime(options: RuntimeOptions): Runtime {
  const { store, clock, identifiers, host } = options;
  const trace = options.trace ?? (() => {});
  const handle = (event: Event): Promise<Handled> => engine.handle(event);
  const delivery = createDelivery({ store, clock, host, trace, handle });
  const timers = createTimers({
    store,
    clock,
    host,
    instance: options.instance ?? 'unattached',
    holder: processHolder(identifiers.next()),
    onAttached: async () => {
      if (options.instance !== undefined) await delivery.recover(options.instance);
    },
    handle,
    onError: options.onError ?? (() => {}),
  });
  const engine = createEngine(options, {
    inject: (sessionId, epoch) => delivery.send(sessionId, epoch),
    // A toast that cannot be shown changes nothing: the decision is on the record.
    notify: async (state, notice) => host?.notify(state, notice).catch(() => {}),
    timerChanged: (state) => timers.changed(state.timer?.dueAt ?? null),
  });

  async function ask(event: Event, deadlineAt: number): Promise<Handled> {
    const first = await engine.handle(event);
    if (first.checks === null) return first;
    const finished = await beforeDeadline(first.checks.then(unlessWaiting), deadlineAt);
    if (finished !== 'late') return finished ?? (await answeredElsewhere(store, first));
    const id = identifiers.next();
    const overdue = await engine.handle({
      type: 'checks-overdue',
      id,
      sessionId: event.sessionId,
      at: clock.now(),
    });
    return overdue.decision === null ? first : overdue;
  }

  function beforeDeadline<T>(checks: Promise<T>, deadlineAt: number): Promise<T | 'late'> {
    let cancel = (): void => {};
    const late = new Promise<'late'>((resolve) => {
      cancel = clock.wake(deadlineAt, () => resolve('late'));
    });
    return Promise.race([checks, late]).finally(() => cancel());
  }

  return {
    handle: engine.handle,
    append: engine.append,
    ask,
    attach: timers.attach,
    fireDue: timers.fireDue,
    detach: timers.detach,
  };
}

/** Results may be folded together with another one: then the answer was given, but to none of the events we sent. */
function unlessWaiting(handled: Handled | null): Handled | null {
  return handled?.decision?.answer === 'wait' ? null : handled;
}

/** Another process, or another event, folded the last result and decided this stop attempt: its answer is ours. */
async function answeredElsewhere(store: Store, first: Handled): Promise<Handled> {
  const state = await store.state(first.state.id);
  const [last] = await store.decisions(first.state.id, 1);
  if (state === null || last === undefined) return first;
  const { answer, epoch, outcome, sentence, dueAt } = last.decision;
  const rows = answer === 'continue' ? await store.outbox({ sessionId: state.id }) : [];
  const text = rows.find((row) => row.epoch === epoch)?.text ?? null;
  const message = answer === 'let-go' && outcome !== 'done' ? sentence : null;
  const given = { type: 'answer', answer, epoch, text, message, dueAt } as const;
  return { ...first, state, decision: last.decision, answer: given, checks: null };
}
