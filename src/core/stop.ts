// Answers a stop attempt: runs down the rules, and if none answers builds the continuation, all as data.
// This is the one decision point (G1); hosts, loops and timers all end up here.

import { type Command, type Decision, type Step, step } from './decision.ts';
import type { EventOf } from './events.ts';
import { PlanDraft, setStatus } from './plan.ts';
import type { Policy } from './policy.ts';
import {
  dueChallenge,
  isFinalRunTakenUp,
  type Reason,
  type RuleAnswer,
  type StopContext,
  stopRules,
  type Undelivered,
} from './rules.ts';
import { settingsForAgent } from './settings.ts';
import {
  type Counters,
  countPlan,
  endTurn,
  newTurn,
  nextTodos,
  openCount,
  type ParkedStop,
  type State,
} from './state.ts';
import { continuationText, describeText, pickText, type TextKind } from './texts.ts';
import { checksOf, isUnnamedDrop, isUnverified, type Todo } from './todo.ts';
import { setJobs } from './waits.ts';
import { seeFingerprint } from './work.ts';

/** Open todos that a text can name. */
const upcomingTodos = 4;

type Attempted = EventOf<'stop-attempted'>;

/** First what the stop tells us (jobs, fingerprint, questions in a row), then the decision. */
export function stopAttempted(state: State, event: Attempted, policy: Policy): Step {
  const { end, question, toolError, fingerprint } = event;
  // A told host may idle twice for one stop; an asked host that asks again has stopped again. A repeated idle does not
  // start its countdown anew: the first one's time holds (E4).
  const waiting = state.descriptor.mode === 'told' ? state.parked : null;
  const { eventId, at, cause } = waiting ?? { eventId: event.id, at: event.at, cause: 'stop-attempted' };
  const stop = { eventId, at, end, question, toolError, fingerprint, cause };
  return decideStop(seeFingerprint(lookAtStop(state, event, waiting), event), stop, policy, event.at);
}

function lookAtStop(state: State, event: Attempted, waiting: ParkedStop | null): State {
  const { descriptor, injection } = state;
  const isRepeated = waiting !== null || (descriptor.mode === 'told' && !state.activeSinceAnswer);
  const jobs = event.background === null ? state : setJobs(state, event.background);
  const isTaken = injection?.state === 'intended' && descriptor.mode === 'asked';
  const looked: State = {
    ...jobs,
    turn: { ...(state.turn ?? newTurn(event.id, event.at)), stopSeen: true },
    progress: { ...state.progress, continuationOpen: false },
    injection: isTaken ? { ...injection, state: 'observed' } : injection,
  };
  if (isRepeated) return looked;
  return {
    ...looked,
    questions: event.question ? state.questions + 1 : 0,
    emptyAnswers: event.end === 'empty' ? state.emptyAnswers + 1 : 0,
    toolErrorTodo: event.toolError === null ? null : state.toolErrorTodo,
  };
}

/** A cause of waiting ended: the parked stop attempt, if there is one, is decided again. */
export function reconsider(first: Step, policy: Policy, at: number): Step {
  const { parked } = first.state;
  return parked === null ? first : join(first, decideStop(first.state, parked, policy, at));
}

/** What both steps do, with the state of the second. */
function join(first: Step, second: Step): Step {
  return {
    state: second.state,
    commands: [...first.commands, ...second.commands],
    decision: second.decision ?? first.decision,
    ledger: [...first.ledger, ...second.ledger],
  };
}

/** All rules, or, for a continuation that cannot be carried out, those from `host-cap` on: see rules.ts. */
const deliveryRules = stopRules.slice(stopRules.findIndex(({ name }) => name === 'host-cap'));

export function decideStop(
  state: State,
  stop: ParkedStop,
  policy: Policy,
  at: number,
  undelivered: Undelivered | null = null,
): Step {
  const settings = settingsForAgent(policy.settings, state.agent.name);
  const { goalChecks } = policy;
  const context = { state, counts: countPlan(state.plan), stop, settings, goalChecks, at, undelivered };
  for (const { name, answer } of undelivered === null ? stopRules : deliveryRules) {
    const given = answer(context);
    if (given === null) continue;
    const decision = decisionOf(context, name, given);
    if (given.answer === 'wait') return waiting(context, given, decision);
    return undelivered === null ? lettingGo(context, decision) : settling(context, decision);
  }
  const blocked = blockFailing(context);
  if (blocked === null) return continuing(context);
  return join(blocked, decideStop(blocked.state, { ...stop, toolError: null }, policy, at));
}

function decisionOf(context: StopContext, reason: Reason, given: RuleAnswer): Decision {
  const { state, settings, undelivered } = context;
  const { answer, inputs, dueAt } = given;
  // What was sent was no observation, and cannot become one.
  const observed = settings.mode === 'observe' && undelivered === null;
  const { epoch } = state;
  return {
    answer,
    reason,
    ...honest(state, given),
    inputs,
    textKind: null,
    level: null,
    dueAt,
    observed,
    epoch,
  };
}

/** What a damaged record says proves nothing: then the best that can be said is `claimed` (V4). */
function honest({ recordBroken }: State, { outcome, sentence }: RuleAnswer) {
  if (recordBroken === null || (outcome !== 'done' && outcome !== 'claimed')) return { outcome, sentence };
  const told = `The record of the plan was changed from outside: ${recordBroken}. Nothing in it is proof.`;
  return { outcome: 'claimed' as const, sentence: told };
}

function waiting(context: StopContext, { runsChecks }: RuleAnswer, decision: Decision): Step {
  const { state, stop, at } = context;
  const { reason: cause, dueAt } = decision;
  if (cause === 'already-answered') return { ...step(state), decision };
  if (decision.observed) return { ...step(state, answerCommands(context, decision, 'let-go')), decision };
  const isTold = state.descriptor.mode === 'told';
  // An asked host takes control back with the answer; only while its own checks run does the stop stay parked.
  const stays = isTold || cause === 'nothing-open';
  const parked: State = {
    ...state,
    backgroundSince: cause === 'background' ? (state.backgroundSince ?? at) : state.backgroundSince,
    parked: stays ? { ...stop, cause } : null,
    lastStop: stop,
    timer: isTold && dueAt !== null ? { purpose: 'due', dueAt, epoch: state.epoch } : null,
  };
  const answer = answerCommands(context, decision, 'wait');
  if (!runsChecks) return { ...step(parked, answer), decision };
  const { started, command } = startFinalRun(context, parked);
  return { ...step(started, [command, ...answer]), decision };
}

/** From here on these checks are out: the first result must not settle the turn while others are missing. */
function startFinalRun(context: StopContext, state: State): { started: State; command: Command } {
  const { stop, goalChecks } = context;
  const goal = { ...state.goal };
  // All of them, unless the run is one that the agent was told to wait for: then those that are still missing.
  const missing = isFinalRunTakenUp(context)
    ? goalChecks.filter((check) => state.goal[check]?.state !== 'passed')
    : goalChecks;
  for (const check of missing) {
    const passedBefore = goal[check]?.passedBefore ?? false;
    goal[check] = { state: 'running', passedBefore, flaky: false, tail: null, fingerprint: null };
  }
  const checks = [
    ...state.plan.filter(isUnverified).flatMap(checksOf),
    ...missing.map((check) => ({ todoId: null, check })),
  ];
  const run = { stop: stop.eventId, ended: false, overdue: false, writes: state.work.writes };
  const plan = changeSome(state.plan, isUnverified, (todo) => ({ ...todo, verification: 'running' }));
  return {
    started: { ...state, plan, goal, finalRun: run },
    command: { type: 'run-checks', checks, stop: stop.eventId },
  };
}

/** The plan itself where nothing changes: what is the same object needs no saving. */
function changeSome(plan: readonly Todo[], fits: (todo: Todo) => boolean, change: (todo: Todo) => Todo) {
  return plan.some(fits) ? plan.map((todo) => (fits(todo) ? change(todo) : todo)) : plan;
}

function lettingGo(context: StopContext, decision: Decision): Step {
  if (decision.observed)
    return { ...step(endTurn(context.state), answerCommands(context, decision, 'let-go')), decision };
  const { state, commands } = settling(context, decision);
  const rest = { ...state, parked: null, lastStop: context.stop, timer: null, activeSinceAnswer: false };
  return { ...step(rest, commands), decision };
}

/** The turn is over; a skip settles nothing. */
function settling(context: StopContext, decision: Decision): Step {
  const { state, at } = context;
  const { outcome, reason, sentence } = decision;
  const settled = outcome === null ? state.settled : { outcome, reason, at };
  const commands: Command[] = answerCommands(context, decision, 'let-go');
  if (state.descriptor.mode === 'told' && isNews(decision)) {
    const level = context.undelivered === null ? 'info' : 'warning';
    commands.push({ type: 'notify', level, title: `untildone: ${outcome}`, message: sentence });
  }
  return { ...step({ ...endTurn(state), settled }, commands), decision };
}

/** Worth a word to the human: everything but a plain done, an abort they made themselves, and skips (C4). */
function isNews({ outcome }: Decision): boolean {
  return outcome !== null && outcome !== 'done' && outcome !== 'aborted';
}

function answerCommands({ state }: StopContext, decision: Decision, answer: 'wait' | 'let-go'): Command[] {
  if (state.descriptor.mode === 'told') return [];
  const { observed, sentence, dueAt } = decision;
  const message = !observed && (answer === 'wait' || isNews(decision)) ? sentence : null;
  return [{ type: 'answer', answer, epoch: state.epoch, text: null, message, dueAt }];
}

/** S6, P12: a todo at which the agent stopped after a tool error twice is set aside as blocked; the others go on. */
function blockFailing({ state, stop, at, settings }: StopContext): Step | null {
  if (stop.toolError === null || state.toolErrorTodo === null || settings.mode === 'observe') return null;
  const [todo] = nextTodos(state.plan, 1);
  if (todo?.id !== state.toolErrorTodo) return null;
  const draft = new PlanDraft({ ...state, toolErrorTodo: null }, 'system', at);
  const reason = `stopped after a tool error twice: ${stop.toolError}`;
  const change = setStatus(todo, { status: 'blocked', reason }, state, 'system', at);
  if (change === null) return null;
  draft.put(todo, { ...change.todo, attempts: todo.attempts + 1 }, 'blocked', { reason: 'tool error twice' });
  return draft.finish().edited;
}

/**
 * No rule answered: the agent goes on. Builds the continuation, counts it in the same transaction, and raises the epoch
 * so that nothing can inject twice (G6, V5).
 */
function continuing(context: StopContext): Step {
  const { state, settings, counts, stop, at } = context;
  const { counters } = state;
  const text = pickText(context);
  const { kind } = text;
  const level = Math.min(3, counters.stagnant + 1);
  const observed = settings.mode === 'observe';
  const epoch = observed ? state.epoch : state.epoch + 1;
  const next = nextTodos(state.plan, upcomingTodos);
  const isTold = state.descriptor.mode === 'told';
  const decision: Decision = {
    answer: 'continue',
    reason: 'continue',
    sentence: describeText(text, level),
    inputs: { open: openCount(counts), ...counters, next: next[0]?.title ?? null },
    outcome: null,
    textKind: kind,
    level,
    dueAt: null,
    observed,
    epoch,
  };
  // C2: recorded, and nothing else; an asked host is answered as if we were not there.
  if (observed) return { ...step(endTurn(state), answerCommands(context, decision, 'let-go')), decision };
  const words = continuationText(text, { ...context, next, level });
  const command: Command = isTold
    ? { type: 'inject', epoch, text: words }
    : { type: 'answer', answer: 'continue', epoch, text: words, message: null, dueAt: null };
  const challenged = kind === 'bulk-claim' ? dueChallenge(context) : null;
  const counted = countContinuation(counters, kind, stop);
  const continued: State = {
    ...state,
    plan: kind === 'dropped-todos' ? nameDrops(state.plan, at) : state.plan,
    // It goes on: what the human says meanwhile joins this turn (T3).
    turn: state.turn === null ? null : { ...state.turn, ended: false },
    epoch,
    counters: counted,
    challenged: challenged === null ? state.challenged : { ...state.challenged, [challenged]: true },
    loopTold: state.loopTold || kind === 'loop',
    // Alarms from before it was told are forgiven with the telling (P25).
    loopAlarms: kind === 'loop' ? 1 : state.loopAlarms,
    namedJobs: kind === 'background-job' ? state.jobs.map(({ id }) => id) : state.namedJobs,
    toolErrorTodo: kind === 'tool-error' ? (next[0]?.id ?? null) : null,
    compacted: false,
    finalRun:
      kind === 'checks-running' && state.finalRun !== null
        ? { ...state.finalRun, overdue: true }
        : state.finalRun,
    checksOverdue: false,
    rateLimitedUntil: null,
    progress: {
      ...state.progress,
      weakCounted: false,
      planMoved: false,
      workspaceMoved: false,
      continuationOpen: counted.stagnant > counters.stagnant,
    },
    activeSinceAnswer: false,
    lastContinuationAt: at,
    lastStop: stop,
    parked: null,
    timer: null,
    settled: null,
    injection: { epoch, state: 'intended', attempts: 0, at },
  };
  return { ...step(continued, [command]), decision };
}

function nameDrops(plan: readonly Todo[], at: number): readonly Todo[] {
  return changeSome(plan, isUnnamedDrop, (todo) => ({ ...todo, droppedNamedAt: at }));
}

/**
 * Waiting for checks or for a limit of the provider is not the agent's fault, and an output limit is not a lack of
 * progress (G6, G9, P13).
 */
function countContinuation(counters: Counters, kind: TextKind, { end }: ParkedStop): Counters {
  const total = counters.total + 1;
  if (kind === 'checks-running' || end === 'error') return { ...counters, total };
  const continuations = counters.continuations + 1;
  if (kind === 'output-limit') return { ...counters, total, continuations };
  return { total, continuations, stagnant: counters.stagnant + 1 };
}
