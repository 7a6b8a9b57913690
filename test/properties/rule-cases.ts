// For every rule: when it answers, what it answers, and when it has nothing to say. The
// test of the rules reads this one table; a rule without a case fails there.
import { limitCases } from './limit-rule-cases.ts';
import { planCases } from './plan-rule-cases.ts';
import type { RuleCase } from './rule-case.ts';
import { endingCases, humanCases, sessionCases } from './session-rule-cases.ts';
import { waitCases } from './wait-rule-cases.ts';

export const ruleCases: readonly RuleCase[] = [
  ...sessionCases,
  ...humanCases,
  ...waitCases,
  ...endingCases,
  ...planCases,
  ...limitCases,
];
