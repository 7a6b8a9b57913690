// Rules about the plan itself: is there one, does this turn concern it, is anything left, and is it verified
// (T2, T3, V1, V4, G11).
import { protectedPathsId } from '../check-spec.ts';
import type { Outcome } from '../decision.ts';
import { openCount, type PlanCounts, planSize, type Session } from '../session.ts';
import { letGo, type Rule, type StopContext, wait } from './rule.ts';

/** Three or more, in any number of writes, make a bulk claim (V4). Two can be an honest coincidence. */
const bulkSize = 3;

/** Which bulk challenge is due; each is made once per human message. */
export function dueChallenge(session: Session): 'claims' | 'ends' | null {
  if (!session.turn?.touchedPlan) return null;
  if (session.counts.idleClaims >= bulkSize && !session.challenged.claims) return 'claims';
  if (session.counts.idleEnds >= bulkSize && !session.challenged.ends) return 'ends';
  return null;
}

/** Goal checks are due only in a turn that touched the plan or the workspace (V1). */
function goalChecksDue({ session, goalChecks }: StopContext): boolean {
  const touched = session.turn !== null && (session.turn.touchedPlan || session.turn.touchedWorkspace);
  return goalChecks.length > 0 && touched;
}

function goalStates({ session, goalChecks }: StopContext): string[] {
  return goalChecks.map((check) => session.goal[check]?.state ?? 'none');
}

export function goalFailed(context: StopContext): boolean {
  return goalChecksDue(context) && goalStates(context).includes('failed');
}

/** Limits that still run, an open circuit and repeated overflows have rules of their own further down. */
function isErrorJudgedBelow({ session, stop, settings, at }: StopContext): boolean {
  if (stop.end !== 'error') return false;
  const limited = session.rateLimitedUntil !== null && at < session.rateLimitedUntil;
  return limited || session.overflows >= 2 || (session.circuit?.count ?? 0) >= settings.circuitAfter;
}

const nothingToVerify = 'There is no plan and no check in this turn: nothing to verify.';
const checksNotDue =
  'This turn changed neither the plan nor the workspace, so the checks on the goal are not due: nothing to verify.';

export const noPlan: Rule = {
  name: 'no-plan',
  asks: 'Is there nothing to verify in this turn: no plan touched and no goal check due?',
  inputs: ({ session, goalChecks }) => ({
    todos: planSize(session.counts),
    open: openCount(session.counts),
    touchedPlan: session.turn?.touchedPlan ?? false,
    goalChecks: goalChecks.length,
  }),
  answer: (context) => {
    const { counts, turn } = context.session;
    // The agent did not answer: its calls were cut or failed, and nothing can be settled from that.
    if (context.stop.end === 'iteration-budget' || isErrorJudgedBelow(context)) return null;
    const untouched = !turn?.touchedPlan && openCount(counts) === 0;
    if ((planSize(counts) > 0 && !untouched) || goalChecksDue(context)) return null;
    if (context.stop.end === 'error')
      return letGo('failed', 'The step ended in an error before there was anything to verify.');
    return letGo('done', context.goalChecks.length === 0 ? nothingToVerify : checksNotDue);
  },
};

export const planNotResumed: Rule = {
  name: 'plan-not-resumed',
  asks: 'Are the open todos from earlier turns, and this turn is about something else?',
  inputs: ({ session }) => ({
    open: openCount(session.counts),
    touchedPlan: session.turn?.touchedPlan ?? false,
    goesOn: session.turn?.goesOn ?? false,
  }),
  answer: (context) => {
    const { session } = context;
    const open = openCount(session.counts);
    if (open === 0 || session.turn?.touchedPlan || session.turn?.goesOn || isErrorJudgedBelow(context))
      return null;
    return letGo(
      'paused',
      `${todos(open)} of an earlier turn ${open === 1 ? 'stays' : 'stay'} open; this turn did not take ${open === 1 ? 'it' : 'them'} up.`,
    );
  },
};

export const allBlocked: Rule = {
  name: 'all-blocked',
  asks: 'Is everything that remains blocked?',
  inputs: ({ session }) => ({ open: openCount(session.counts), blocked: session.counts.blocked }),
  answer: ({ session }) => {
    if (openCount(session.counts) > 0 || session.counts.blocked === 0 || dueChallenge(session) !== null)
      return null;
    return letGo('blocked', `All that remains is blocked (${session.counts.blocked}).`);
  },
};

export const nothingOpen: Rule = {
  name: 'nothing-open',
  asks: 'Is nothing open, every due check passed and no challenge due?',
  inputs: (context) => ({
    open: openCount(context.session.counts),
    challenge: dueChallenge(context.session),
    checksRunning: checksRunning(context),
    unverified: context.session.counts.unverified,
    goalFailed: goalFailed(context),
  }),
  answer: (context) => {
    const { session, settings, stop } = context;
    if (stop.end === 'iteration-budget' || (stop.end === 'error' && planSize(session.counts) === 0))
      return null;
    if (openCount(session.counts) > 0 || dueChallenge(session) !== null) return null;
    if (session.checksOverdue && checksRunning(context)) return null;
    if (settings.mode === 'enforce') {
      // Before those that run: each stop attempt starts its own run, so that one lost in a crash blocks nobody.
      if (finalRunDue(context))
        return { answer: 'wait', sentence: 'The checks are run for the final stop.', runChecks: true };
      if (checksRunning(context)) return wait('Checks are running.');
      if (goalFailed(context)) return null;
    }
    return letGo(settledOutcome(context), describeSettled(context));
  },
};

function checksRunning(context: StopContext): boolean {
  const { counts, finalRun } = context.session;
  if (counts.running > 0 || goalStates(context).includes('running')) return true;
  return finalRun !== null && finalRun.stop === context.stop.eventId && !finalRun.ended;
}

/** Once per stop attempt: what is unverified or stale, and the human's goal checks always (V2). */
function finalRunDue(context: StopContext): boolean {
  const { session, stop } = context;
  const { unverified, passed } = session.counts;
  const any = goalChecksDue(context) || unverified > 0 || passed > 0;
  return any && session.finalRun?.stop !== stop.eventId;
}

/** The agent was told to wait for the checks and has written nothing since: what has passed meanwhile still counts. */
export function isFinalRunTakenUp({ session }: StopContext): boolean {
  const { finalRun, work, descriptor } = session;
  if (finalRun === null || !finalRun.overdue || !descriptor.seesTools) return false;
  return finalRun.writes === work.writes;
}

function settledOutcome(context: StopContext): Outcome {
  const { session, goalChecks } = context;
  const { counts } = session;
  const goalPassed = provesWork(context) && goalStates(context).every((state) => state === 'passed');
  const flaky = goalChecks.some((check) => session.goal[check]?.flaky);
  const doubts = [counts.unexplained, counts.unproved, counts.unverified, counts.flaky];
  if (doubts.some((count) => count > 0) || flaky || onlyCancelled(counts)) return 'claimed';
  // Due and not passed: it waits for a human who was not asked again.
  if (goalChecksDue(context) && !goalStates(context).every((state) => state === 'passed')) return 'claimed';
  return counts.uncovered === 0 || goalPassed ? 'done' : 'claimed';
}

/** Paths that nobody touched prove no work: only another check on the goal covers todos that have none (V1, P27). */
function provesWork(context: StopContext): boolean {
  return goalChecksDue(context) && context.goalChecks.some((check) => check !== protectedPathsId);
}

function onlyCancelled(counts: PlanCounts): boolean {
  return counts.completed === 0 && counts.cancelled > 0;
}

function describeSettled(context: StopContext): string {
  const { counts } = context.session;
  if (settledOutcome(context) === 'done') return 'Nothing is open and every check passed.';
  if (onlyCancelled(counts)) return 'Nothing is open, but every todo was cancelled.';
  if (counts.unexplained > 0)
    return `Nothing is open, but ${todos(counts.unexplained)} ${were(counts.unexplained)} cancelled without a reason.`;
  if (counts.unproved > 0)
    return `Nothing is open, but ${todos(counts.unproved)} with checks of ${counts.unproved === 1 ? 'its' : 'their'} own ${were(counts.unproved)} cancelled.`;
  const unsure = context.goalChecks.some((check) => context.session.goal[check]?.flaky) || counts.flaky > 0;
  if (unsure) return 'Nothing is open, but a check failed before it passed: it cannot be relied on.';
  const unseen = counts.uncovered + counts.unverified;
  return `Nothing is open; ${todos(unseen)} ${unseen === 1 ? 'rests' : 'rest'} on the agent's word alone.`;
}

function todos(amount: number): string {
  return amount === 1 ? '1 todo' : `${amount} todos`;
}

function were(amount: number): string {
  return amount === 1 ? 'was' : 'were';
}

/** G11: one continuation for a text question, then the human's turn. */
export const repeatedQuestion: Rule = {
  name: 'repeated-question',
  asks: 'Did the agent ask in its text again, without a tool call in between?',
  inputs: ({ session, stop }) => ({ question: stop.question, inARow: session.questions }),
  answer: ({ session, stop }) => {
    if (!stop.question || session.questions < 2) return null;
    return session.descriptor.headless
      ? letGo('paused', 'The agent asked twice in a row and nobody is at a terminal.')
      : wait('The agent asked twice in a row; the question is for the human.');
  },
};
