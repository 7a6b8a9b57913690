// A worker as a run has it: what it is for, what it may use, how long it may take. It says nothing about rights:
// those are the run's own, and a worker gets a part of the run's tools, never others.
import type { Policy } from '../../core/config/policy.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';

export interface WorkerLimits {
  readonly maxSteps: number;
  readonly timeoutSeconds: number;
  /** null: what the run may spend. */
  readonly maxTokens: number | null;
}

/** What the configuration says about a worker. */
export interface WorkerType extends WorkerLimits {
  /** The agentType of the todos that go to it. */
  readonly name: string;
  readonly purpose: string;
  /** null: only the rules that all workers have. */
  readonly prompt: string | null;
  /** The words come from the project's file: information from the workspace, not the human's orders. */
  readonly isProjectPrompt: boolean;
  /** Names of workspace tools. */
  readonly tools: readonly string[];
  /** provider/model; null: that of the run. */
  readonly modelName: string | null;
}

export interface Worker extends WorkerType {
  /** null: that of the run. */
  readonly model: ResolvedModel | null;
}

export const delegateToolName = 'delegate';

/** M7: whatever a worker is said to have, it gets a part of what works in the workspace, and nothing for plans. */
export function workerTools<Tool extends { readonly name: string; readonly family: string }>(
  { tools }: Pick<WorkerType, 'tools'>,
  ofRun: readonly Tool[],
): readonly Tool[] {
  return ofRun.filter(({ family, name }) => family === 'workspace' && tools.includes(name));
}

/** M1: in a run with workers, these are the agentTypes that a todo may have. */
export function withWorkerTypes(policy: Policy, workers: readonly Worker[]): Policy {
  if (workers.length === 0) return policy;
  const agentTypes = workers.map(({ name }) => name);
  return { ...policy, settings: { ...policy.settings, agentTypes } };
}
