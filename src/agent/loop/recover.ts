// What happens after a failed model call: the error is put on the record, and the loop waits and tries again, or
// gives up and lets the engine decide what that means (G9, P21–P23).
import type { Event } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Emit } from '../agent-event.ts';
import { classifyError } from '../models/classify-error.ts';
import type { ModelFacts } from '../models/resolve-model.ts';
import { type Failures, noFailures, planRetry, type RetryLimits } from '../models/retry-plan.ts';
import { compactHistory } from './compact-history.ts';
import type { ContextWindow } from './context-window.ts';
import type { Control } from './control.ts';
import type { Waits } from './waits.ts';

export interface RecoverOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly about: ModelFacts;
  readonly limits: RetryLimits;
  readonly context: ContextWindow;
  readonly control: Pick<Control, 'signal' | 'whilePaused'>;
  readonly waits: Waits;
  readonly emit: Emit;
  readonly random: () => number;
}

export interface Recovery {
  recover(error: unknown): Promise<'retry' | 'give-up'>;
  /** A step succeeded: earlier failures no longer count. */
  succeeded(): void;
  /** The last failure in words; null: there was none. */
  lastSentence(): string | null;
}

export function createRecovery(options: RecoverOptions): Recovery {
  const { engine, clock, identifiers, sessionId, emit } = options;
  let failures: Failures = noFailures;
  let sentence: string | null = null;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });

  /** A human's pause holds the run here as anywhere else; a stop ends it. */
  async function unlessStopped(): Promise<'retry' | 'give-up'> {
    const session = await options.control.whilePaused();
    return session?.latch ? 'give-up' : 'retry';
  }

  async function compactAfterOverflow(): Promise<'retry' | 'give-up'> {
    await compactHistory({ ...options, signal: () => options.control.signal });
    // What could not be made smaller is tried once more: a second overflow in a row is the engine's to judge.
    return unlessStopped();
  }

  return {
    succeeded() {
      failures = noFailures;
    },
    lastSentence: () => sentence,
    async recover(error) {
      const classified = classifyError(error, { now: clock.now(), about: options.about });
      sentence = classified.sentence;
      const kind =
        classified.kind === 'rate-limit' || classified.kind === 'overload' || classified.kind === 'overflow'
          ? classified.kind
          : 'other';
      const plan = planRetry(classified, failures, {
        now: clock.now(),
        random: options.random(),
        limits: options.limits,
      });
      failures = plan.failures;
      const retryAt = plan.retry ? clock.now() + plan.delayMs : null;
      const event: Event = {
        ...base(),
        type: 'error-occurred',
        kind,
        signature: classified.signature,
        message: classified.sentence,
        retryAt,
      };
      const { session } = await engine.handle(event);
      emit({
        type: 'error',
        at: clock.now(),
        sessionId,
        kind: classified.kind,
        sentence: classified.sentence,
        retryAt,
      });
      // Two overflows that compaction did not cure are for the engine to judge.
      if (kind === 'overflow') return session.overflows >= 2 ? 'give-up' : compactAfterOverflow();
      if (!plan.retry) return 'give-up';
      await options.waits.wait('retry', retryAt);
      return unlessStopped();
    },
  };
}
