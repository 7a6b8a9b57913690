// One rule's cases: when it answers, what it answers, and when it has nothing to say.
import type { Outcome } from '../../src/core/decision.ts';
import { driverStart } from './core-driver.ts';
import { type Patch, withDescriptor, withSession } from './rule-context.ts';

export interface RuleAnswerCase {
  readonly when: string;
  readonly patch: Patch;
  readonly answer: 'wait' | 'let-go';
  /** Null: a skip, which settles nothing. */
  readonly outcome?: Outcome | null;
  /** Milliseconds after the start at which the wait ends by itself. */
  readonly dueAfter?: number;
  readonly runsChecks?: true;
}

export interface RuleCase {
  readonly rule: string;
  readonly id: string;
  readonly answers: readonly [RuleAnswerCase, ...RuleAnswerCase[]];
  readonly silent: readonly [SilentCase, ...SilentCase[]];
}

interface SilentCase {
  readonly when: string;
  readonly patch: Patch;
}

export const letGo = (
  when: string,
  outcome: Outcome | null,
  patch: Patch,
): RuleAnswerCase => ({
  when,
  patch,
  answer: 'let-go',
  outcome,
});
export const wait = (when: string, patch: Patch, dueAfter?: number): RuleAnswerCase =>
  dueAfter === undefined
    ? { when, patch, answer: 'wait' }
    : { when, patch, answer: 'wait', dueAfter };
export const silent = (when: string, patch: Patch): SilentCase => ({ when, patch });

export const told = withDescriptor({ mode: 'told' });
export const judging = withDescriptor({ judgesGoal: true });
export const headless = withDescriptor({ headless: true });
export const pausedBy = (by: 'human' | 'model' | 'rejection' | 'system'): Patch =>
  withSession({ pause: { by, reason: 'because', at: driverStart } });
export const minute = 60_000;
