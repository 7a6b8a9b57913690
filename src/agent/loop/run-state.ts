// What a run counts while it goes on: steps, calls, tokens, continuations by kind. Reported, never decided upon.
import type { TextKind } from '../../core/decision.ts';
import type { UsageView } from '../agent-event.ts';

export interface RunCounts {
  steps: number;
  toolCalls: number;
  usage: UsageView;
  readonly continuations: Map<TextKind, number>;
}

export function createRunCounts(): RunCounts {
  return {
    steps: 0,
    toolCalls: 0,
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: null },
    continuations: new Map(),
  };
}

export function addUsage(total: UsageView, step: UsageView): UsageView {
  return {
    inputTokens: total.inputTokens + step.inputTokens,
    cachedTokens: total.cachedTokens + step.cachedTokens,
    outputTokens: total.outputTokens + step.outputTokens,
    cost: step.cost === null ? total.cost : (total.cost ?? 0) + step.cost,
  };
}
