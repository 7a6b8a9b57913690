// What a run spends: every call to a model counts, those for summaries and those of workers too, into the session
// that made it, into the budgets of the run and into what watchers see (G8).

import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Emit } from '../agent-event.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { type CallUsage, callUsage } from '../models/usage.ts';
import type { StepUsage } from './model-step.ts';
import { addUsage, type RunCounts } from './run-state.ts';

export interface UsageCountOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  /** The run's own session: its budgets are the run's. */
  readonly sessionId: string;
  readonly counts: RunCounts;
  readonly emit: Emit;
}

export interface CountedCall {
  readonly model: Pick<ResolvedModel, 'price' | 'contextLimit'>;
  /** The session that made the call; default: the run's own. */
  readonly by?: string;
  /** Only an agent's own calls say how full its window is; a summary does not. */
  readonly fillsContext: boolean;
}

export type CountUsage = (usage: StepUsage, call: CountedCall) => Promise<CallUsage>;

export function createUsageCount(options: UsageCountOptions): CountUsage {
  const { engine, clock, identifiers, sessionId, counts, emit } = options;
  return async (usage, { model, by = sessionId, fillsContext }) => {
    const step = callUsage(usage, model.price);
    counts.usage = addUsage(counts.usage, step);
    const { inputTokens, outputTokens, cost } = step;
    for (const spender of new Set([by, sessionId])) {
      await engine.handle({
        type: 'usage-reported',
        id: identifiers.next(),
        sessionId: spender,
        at: clock.now(),
        inputTokens,
        outputTokens,
        cost,
        contextTokens: fillsContext && spender === by ? inputTokens : null,
        contextLimit: spender === by ? model.contextLimit : null,
      });
    }
    emit({ type: 'usage', at: clock.now(), sessionId: by, step, total: counts.usage });
    return step;
  };
}
