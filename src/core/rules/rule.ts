// The shape of a rule: one named predicate that may answer a stop attempt with wait or let-go (design: "The rules,
// in order"). A rule that has nothing to say returns null and the next one is asked.

import type { Settings } from '../config/settings.ts';
import type { Inputs, Outcome } from '../decision.ts';
import type { ParkedStop, Session } from '../session.ts';

export interface StopContext {
  readonly session: Session;
  readonly stop: ParkedStop;
  /** The settings that hold for this session's agent. */
  readonly settings: Settings;
  /** Ids of the human's checks on the goal. */
  readonly goalChecks: readonly string[];
  readonly at: number;
}

export type RuleAnswer =
  | {
      readonly answer: 'wait';
      readonly sentence: string;
      readonly dueAt?: number;
      readonly runChecks?: boolean;
    }
  | { readonly answer: 'let-go'; readonly sentence: string; readonly outcome: Outcome | null };

export interface Rule {
  /** Reason code, printed alike by hook, command line, log and page. */
  readonly name: string;
  /** The question the rule asks, for people. */
  readonly asks: string;
  /** What it looks at; kept with the decision so that `why` can show it. */
  readonly inputs: (context: StopContext) => Inputs;
  readonly answer: (context: StopContext) => RuleAnswer | null;
}

/** A skip settles nothing: the session is none of our business. */
export function skip(sentence: string): RuleAnswer {
  return { answer: 'let-go', sentence, outcome: null };
}

export function letGo(outcome: Outcome, sentence: string): RuleAnswer {
  return { answer: 'let-go', sentence, outcome };
}

export function wait(sentence: string, dueAt?: number): RuleAnswer {
  return dueAt === undefined ? { answer: 'wait', sentence } : { answer: 'wait', sentence, dueAt };
}
