// Puts engine, delivery and timers together: what a host adapter, a loop or the command line holds in its hand.
import type { Event } from '../core/events.ts';
import { createDelivery } from './delivery.ts';
import { createEngine, type Engine, type EngineOptions, type Handled } from './engine.ts';
import type { ToldHost } from './host.ts';
import { isHolderAlive, processHolder } from './process-holder.ts';
import type { Store } from './store.ts';
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
    isAlive: isHolderAlive,
    onAttached: async () => {
      if (options.instance !== undefined) await delivery.recover(options.instance);
    },
    handle,
    onError: options.onError ?? (() => {}),
  });
  const engine = createEngine(options, {
    inject: (sessionId, epoch) => delivery.send(sessionId, epoch),
    notify: (session, notice) => tell(host, session, notice),
    timerChanged: (session) => timers.changed(session.timer?.dueAt ?? null),
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

  function beforeDeadline(
    checks: Promise<Handled | null>,
    deadlineAt: number,
  ): Promise<Handled | null | 'late'> {
    return new Promise((resolve, reject) => {
      const cancel = clock.wake(deadlineAt, () => resolve('late'));
      checks.then(
        (handled) => {
          cancel();
          resolve(handled);
        },
        (error: unknown) => {
          cancel();
          reject(error);
        },
      );
    });
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
  return store.read(async (reader) => {
    const session = await reader.session(first.session.id);
    const [last] = await reader.decisions(first.session.id, 1);
    if (session === null || last === undefined) return first;
    const { decision } = last;
    const text = decision.answer === 'continue' ? await reader.outboxRow(session.id, decision.epoch) : null;
    const answer: Handled['answer'] = {
      type: 'answer',
      answer: decision.answer,
      epoch: decision.epoch,
      text: text?.text ?? null,
      message: decision.answer === 'let-go' && decision.outcome !== 'done' ? decision.sentence : null,
      dueAt: decision.dueAt,
    };
    return { ...first, session, decision, answer, checks: null };
  });
}

async function tell(
  host: ToldHost | undefined,
  session: Parameters<ToldHost['notify']>[0],
  notice: Parameters<ToldHost['notify']>[1],
): Promise<void> {
  // A toast that cannot be shown changes nothing: the decision is on the record.
  await host?.notify(session, notice).catch(() => {});
}
