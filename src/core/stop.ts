// Answers a stop attempt: runs down the rules, and if none answers builds the continuation, all as data.
// This is the one decision point (G1); hosts, loops and timers all end up here.

import { checksOf } from './apply/apply-checks.ts';
import { blockFailing } from './block-failing.ts';
import { settingsForAgent } from './config/agent-settings.ts';
import type { Policy } from './config/policy.ts';
import { continueStop } from './continue-stop.ts';
import type { Decision, Outcome } from './decision.ts';
import { shiftCounts } from './plan/tally.ts';
import type { Rows } from './rows.ts';
import { isFinalRunTakenUp } from './rules/plan-rules.ts';
import type { RuleAnswer, StopContext } from './rules/rule.ts';
import { stopRules } from './rules/stop-rules.ts';
import type { FinalRun, ParkedStop, Session } from './session.ts';
import { join, type Step, step } from './step.ts';
import type { Todo } from './todo.ts';

export function decideStop(session: Session, stop: ParkedStop, rows: Rows, policy: Policy, at: number): Step {
  const context: StopContext = {
    session,
    stop,
    settings: settingsForAgent(policy.settings, session.agent.name),
    goalChecks: policy.goalChecks,
    at,
  };
  for (const rule of stopRules) {
    const answer = rule.answer(context);
    if (answer === null) continue;
    const decision = decisionOf(context, rule.name, answer, rule.inputs(context));
    return answer.answer === 'wait' ? waiting(context, answer, decision, rows) : lettingGo(context, decision);
  }
  const blocked = blockFailing(context, rows);
  if (blocked === null) return continueStop(context, rows);
  const rest = withoutNext(rows);
  return join(blocked, decideStop(blocked.session, { ...stop, toolError: null }, rest, policy, at));
}

/** The rows without the todo that was just set aside: what was loaded of it is out of date everywhere. */
function withoutNext(rows: Rows): Rows {
  const others = (todos: Rows['next']) => todos.filter(({ id }) => id !== rows.next[0]?.id);
  return { ...rows, next: others(rows.next), dropped: others(rows.dropped), failed: others(rows.failed) };
}

function decisionOf(
  context: StopContext,
  reason: string,
  answer: RuleAnswer,
  inputs: Decision['inputs'],
): Decision {
  return {
    answer: answer.answer,
    reason,
    sentence: answer.answer === 'let-go' ? honestSentence(context.session, answer) : answer.sentence,
    inputs,
    outcome: answer.answer === 'let-go' ? honestOutcome(context.session, answer.outcome) : null,
    textKind: null,
    level: null,
    dueAt: answer.answer === 'wait' ? (answer.dueAt ?? null) : null,
    observed: context.settings.mode === 'observe',
    epoch: context.session.epoch,
  };
}

/** What a damaged record says proves nothing: then the best that can be said is `claimed` (V4). */
function honestOutcome(session: Session, outcome: Outcome | null): Outcome | null {
  return outcome === 'done' && session.recordBroken !== null ? 'claimed' : outcome;
}

function honestSentence(
  session: Session,
  { outcome, sentence }: Extract<RuleAnswer, { answer: 'let-go' }>,
): string {
  if (outcome !== 'done' || session.recordBroken === null) return sentence;
  return `The record of the plan was changed from outside: ${session.recordBroken}. Nothing in it is proof.`;
}

type WaitAnswer = Extract<RuleAnswer, { answer: 'wait' }>;

function waiting(context: StopContext, answer: WaitAnswer, decision: Decision, rows: Rows): Step {
  const { session, stop } = context;
  if (decision.reason === 'already-answered') return { ...step(session), decision };
  if (decision.observed) return { ...step(session, answerCommand(context, decision, 'let-go')), decision };
  const cause = decision.reason;
  const told = session.descriptor.mode === 'told';
  const runsChecks = answer.runChecks === true;
  const background = cause === 'background' ? { backgroundSince: session.backgroundSince ?? context.at } : {};
  // An asked host takes control back with the answer; only while its own checks run does the stop stay parked.
  const stays = told || runsChecks || cause === 'nothing-open';
  const parked: Session = {
    ...session,
    ...background,
    parked: stays ? { ...stop, cause } : null,
    lastStop: stop,
    timer:
      told && decision.dueAt !== null
        ? { purpose: 'due', dueAt: decision.dueAt, epoch: session.epoch }
        : null,
    ...(runsChecks ? { finalRun: startFinalRun(context), goal: startGoalChecks(context) } : {}),
  };
  const checks = runsChecks
    ? [
        ...rows.unverified.flatMap(checksOf),
        ...goalChecksToRun(context).map((check) => ({ todoId: null, check })),
      ]
    : [];
  const run = runsChecks ? [{ type: 'run-checks' as const, checks, stop: stop.eventId }] : [];
  const waits = { ...step(parked, [...run, ...answerCommand(context, decision, 'wait')]), decision };
  return runsChecks ? startTodoChecks(waits, rows.unverified) : waits;
}

/** From here on these checks are out: the first result must not settle the turn while others are missing. */
function startTodoChecks(waits: Step, unverified: readonly Todo[]): Step {
  const updated = unverified.map((todo) => ({ ...todo, verification: 'running' as const }));
  let { counts } = waits.session;
  unverified.forEach((todo, index) => {
    counts = shiftCounts(counts, todo, updated[index] ?? todo);
  });
  return {
    ...waits,
    session: { ...waits.session, counts },
    rowChanges: { ...waits.rowChanges, updated: [...waits.rowChanges.updated, ...updated] },
  };
}

function startFinalRun({ session, stop }: StopContext): FinalRun {
  return { stop: stop.eventId, ended: false, overdue: false, writes: session.work.writes };
}

/** All of them, unless the run is one that the agent was told to wait for: then those that are still missing. */
function goalChecksToRun(context: StopContext): readonly string[] {
  const { session, goalChecks } = context;
  if (!isFinalRunTakenUp(context)) return goalChecks;
  return goalChecks.filter((check) => session.goal[check]?.state !== 'passed');
}

function startGoalChecks(context: StopContext): Session['goal'] {
  const goal = { ...context.session.goal };
  for (const check of goalChecksToRun(context)) {
    const before = goal[check];
    goal[check] = {
      state: 'running',
      passedBefore: before?.passedBefore ?? false,
      flaky: false,
      tail: null,
      fingerprint: null,
    };
  }
  return goal;
}

function lettingGo(context: StopContext, decision: Decision): Step {
  const { session, stop, at } = context;
  const commands = answerCommand(context, decision, 'let-go');
  if (decision.observed) return { ...step(endTurn(session), commands), decision };
  const settled =
    decision.outcome === null ? session.settled : { outcome: decision.outcome, reason: decision.reason, at };
  const rest: Session = {
    ...endTurn(session),
    parked: null,
    lastStop: stop,
    timer: null,
    activeSinceAnswer: false,
    settled,
  };
  const tell = session.descriptor.mode === 'told' && isNews(decision);
  const notice = tell
    ? [
        {
          type: 'notify' as const,
          level: 'info' as const,
          title: `untildone: ${decision.outcome}`,
          message: decision.sentence,
        },
      ]
    : [];
  return { ...step(rest, [...commands, ...notice]), decision };
}

function endTurn(session: Session): Session {
  return session.turn === null ? session : { ...session, turn: { ...session.turn, ended: true } };
}

/** Worth a word to the human: everything but a plain done, an abort they made themselves, and skips (C4). */
function isNews(decision: Decision): boolean {
  return decision.outcome !== null && decision.outcome !== 'done' && decision.outcome !== 'aborted';
}

function answerCommand(context: StopContext, decision: Decision, answer: 'wait' | 'let-go') {
  const { session } = context;
  if (session.descriptor.mode === 'told') return [];
  const message = !decision.observed && (answer === 'wait' || isNews(decision)) ? decision.sentence : null;
  return [
    { type: 'answer' as const, answer, epoch: session.epoch, text: null, message, dueAt: decision.dueAt },
  ];
}
