// The invariants about numbers: the counts of the plan equal its todos, ranks rise, and
// the three counters move only as G6 says.
import { countPlan, type PlanCounts } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import { type Moment, must } from './moment.ts';

export function checkCounts({ before, step: { state } }: Moment): void {
  const { plan } = state;
  if (plan === before.plan) return;
  const counts = countPlan(plan);
  const counted = countRows(plan);
  for (const name of countNames) {
    must(counts[name] === counted[name], 'the counts equal a recount of the rows', {
      name,
      counted,
    });
  }
  plan.forEach(({ order }, index) => {
    const rises = index === 0 || order > (plan[index - 1]?.order ?? 0);
    must(rises, 'ranks rise along the plan, so that a reload finds the same order', {
      index,
      order,
    });
  });
  must(
    new Set(plan.map(({ id }) => id)).size === plan.length,
    'no id stands twice in a plan',
    plan.length,
  );
}

const noCounts = countPlan([]);
const countNames = Object.keys(noCounts) as (keyof PlanCounts)[];

/** Counted from the words of state.ts, not with the code that counts there. */
function countRows(todos: readonly Todo[]): PlanCounts {
  const counts: { -readonly [name in keyof PlanCounts]: number } = { ...noCounts };
  for (const {
    status,
    verification,
    checks,
    evidence,
    droppedAt,
    droppedNamedAt,
    reason,
    endedIn,
  } of todos) {
    if (status === 'pending') counts.pending += 1;
    else if (status === 'in_progress') counts.inProgress += 1;
    else counts[status] += 1;
    if (verification === 'running') counts.running += 1;
    if (status === 'pending' || status === 'in_progress') {
      if (droppedAt !== null) counts.dropped += 1;
      if (droppedAt !== null && droppedNamedAt === null) counts.unnamedDrops += 1;
      if (verification === 'failed') counts.failed += 1;
    } else if (status === 'completed') {
      if (checks.length === 0) counts.uncovered += 1;
      else if (verification === 'passed') counts.passed += 1;
      else counts.unverified += 1;
      if (evidence.some(({ flaky }) => flaky)) counts.flaky += 1;
    } else if (status === 'cancelled') {
      if (reason === null) counts.unexplained += 1;
      if (checks.length > 0) counts.unproved += 1;
    }
    const isEnded = endedIn !== null && (status !== 'completed' || checks.length === 0);
    if (isEnded) counts[status === 'completed' ? 'claims' : 'ends'] += 1;
  }
  return counts;
}

/**
 * G6: zeroed by a genuine human message and by progress, counted up by continuations, and
 * by nothing else.
 */
export function checkCounters(moment: Moment, continued: boolean): void {
  const { reference, seen, before, step } = moment;
  const { counters } = step.state;
  const kind = step.decision?.textKind;
  const excused = kind === 'checks-running' || reference.stopEnd === 'error';
  if (seen.firstFinalOrPass) reference.continuations = 0;
  if (continued) {
    reference.total += 1;
    if (!excused) reference.continuations += 1;
  }
  must(
    counters.total === reference.total,
    'the ceiling counts every continuation since the human',
    counters,
  );
  must(
    counters.continuations === reference.continuations,
    'the second counter falls only with the human, a first final or a first pass',
    { counters, expected: reference.continuations },
  );
  const added = continued && !excused && kind !== 'output-limit' ? 1 : 0;
  const strong = seen.human || seen.firstFinalOrPass || seen.newTree;
  const kept = before.counters.stagnant - takenBack(moment) + added;
  const mayBeWeak =
    seen.weak && reference.weakResets < 2 && !reference.weakSinceContinuation;
  if (strong) must(counters.stagnant === added, 'progress zeroes stagnation', counters);
  else if (counters.stagnant !== kept) {
    must(
      counters.stagnant === added && mayBeWeak,
      'stagnation falls only with progress',
      {
        counters,
        before: before.counters,
        weakResets: reference.weakResets,
        seen,
      },
    );
    reference.weakResets += 1;
    reference.weakSinceContinuation = true;
  }
  if (strong) reference.weakResets = 0;
  if (continued) reference.weakSinceContinuation = false;
  if (continued) reference.continuationOpen = added === 1;
}

/**
 * A process that died before the agent's next stop takes its continuation with it, once.
 */
function takenBack({ reference, before, event }: Moment): number {
  const died = event.type === 'session-opened' && event.resumed === true;
  const cut = died && reference.continuationOpen && before.counters.stagnant > 0;
  if (died || event.type === 'stop-attempted') reference.continuationOpen = false;
  return cut ? 1 : 0;
}
