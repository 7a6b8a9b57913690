// The rules in order. A stop attempt runs down this list; the first rule that answers wins; none answers: continue.
// `untildone why` prints exactly this list.
import { endedAbnormally, refused } from './ending-rules.ts';
import { aborted, alreadyAnswered, pausedByHuman, pausedByModel, timerExpired } from './human-rules.ts';
import {
  ceiling,
  circuitOpen,
  contextFull,
  costBudget,
  looping,
  maxContinuations,
  notYet,
  overflowing,
  rateLimited,
  stagnant,
  timeBudget,
  tokenBudget,
} from './limit-rules.ts';
import { allBlocked, noPlan, nothingOpen, planNotResumed, repeatedQuestion } from './plan-rules.ts';
import type { Rule } from './rule.ts';
import { deleted, disabled, notOurSession, readOnlyAgent, skippedAgent, subagent } from './session-rules.ts';
import { background, compacting, permissionPending, questionPending, recovering } from './wait-rules.ts';

export const stopRules: readonly Rule[] = [
  disabled,
  notOurSession,
  subagent,
  skippedAgent,
  readOnlyAgent,
  deleted,
  aborted,
  pausedByHuman,
  timerExpired,
  pausedByModel,
  alreadyAnswered,
  recovering,
  compacting,
  permissionPending,
  questionPending,
  background,
  endedAbnormally,
  refused,
  noPlan,
  planNotResumed,
  allBlocked,
  nothingOpen,
  repeatedQuestion,
  rateLimited,
  circuitOpen,
  overflowing,
  contextFull,
  tokenBudget,
  costBudget,
  timeBudget,
  ceiling,
  maxContinuations,
  looping,
  stagnant,
  notYet,
];
