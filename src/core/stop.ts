// Answers a stop attempt: asks the rules in order, and builds the continuation if none of
// them answers. Hosts, loops and timers all come here (G1); nothing is performed here.
import {
  byEvent,
  type Command,
  type Decision,
  joinSteps,
  type Step,
  step,
} from './decision.ts';
import { endMessage, openTodos } from './end-sentence.ts';
import type { EventOf } from './events.ts';
import { ownToast } from './own-words.ts';
import { PlanDraft } from './plan.ts';
import type { Policy } from './policy.ts';
import { withFullStop } from './problem.ts';
import {
  type Reason,
  type RuleAnswer,
  type StopContext,
  stopRules,
  type Undelivered,
} from './rules.ts';
import { oneLine, visibleLine } from './safe-text.ts';
import {
  dueChallenge,
  failedBeforeSentence,
  isFinalRunTakenUp,
  type OutcomeBasis,
} from './settlement.ts';
import {
  afterAnswer,
  type Counters,
  countPlan,
  endTurn,
  type Injection,
  isOnItsWay,
  newGoalCheck,
  newTurn,
  nextTodos,
  openCount,
  type ParkedStop,
  planSize,
  type State,
} from './state.ts';
import { continuationText, describeText, pickText, type TextKind } from './texts.ts';
import { checksOf, isUnnamedDrop, isUnverified, type Todo } from './todo.ts';
import { seeFingerprint, setJobs } from './work.ts';

const upcomingTodos = 4;

/** What stop attempts, timers and news about deliveries do to a session. */
export const stopReducers = byEvent({
  'stop-attempted'(state, event, policy) {
    const { end, question, toolError } = event;
    // A told host may idle twice for one stop: the countdown of the first one holds (E4).
    // An asked host has stopped again.
    const waitingStop = state.descriptor.mode === 'told' ? state.parked : null;
    const first = waitingStop ?? {
      eventId: event.id,
      at: event.at,
      cause: 'stop-attempted',
    };
    const stop = { ...first, end, question, toolError };
    return decideStop(
      seeFingerprint(recordStop(state, event, waitingStop), event),
      stop,
      policy,
      event.at,
    );
  },
  'timer-fired'(state, { epoch, at }, policy) {
    const { timer } = state;
    if (timer === null || timer.epoch !== epoch || state.epoch !== epoch) return state;
    if (isTooOld(timer.dueAt, at, policy))
      return reconsiderStop(step(pauseForOldTimer(state, at)), policy, at);
    const fired: State = { ...state, timer: null };
    if (timer.purpose === 'resend')
      return step(fired, [{ type: 'inject', epoch, text: null }]);
    return reconsiderStop(step(fired), policy, at);
  },
  'delivery-reported'(state, event, policy) {
    const { injection } = state;
    if (injection?.epoch !== event.epoch) return state;
    switch (event.news) {
      case 'sent':
        return injection.state === 'intended'
          ? withDelivery(state, injection, 'sent')
          : state;
      case 'observed':
        return injection.state === 'failed'
          ? state
          : withDelivery(state, injection, 'observed');
      case 'failed':
      case 'lost':
        return sendAgain(state, injection, event, policy);
    }
  },
  /**
   * The host reports success whatever we answer, so the record must say what became of
   * the turn (V8).
   */
  'host-cap-reached': (state, { cap, goOn, at }, policy) =>
    answerUndelivered(state, { why: 'cap', cap, goOn }, policy, at),
});

function recordStop(
  state: State,
  event: EventOf<'stop-attempted'>,
  waitingStop: ParkedStop | null,
): State {
  const isRepeated =
    waitingStop !== null ||
    (state.descriptor.mode === 'told' && !state.activeSinceAnswer);
  const jobs = event.background === null ? state : setJobs(state, event.background);
  const recorded: State = {
    ...jobs,
    turn: { ...(state.turn ?? newTurn(event.id, event.at)), stopSeen: true },
    progress: { ...state.progress, continuationOpen: false },
    injection: afterAnswer(state, 'observed'),
  };
  if (isRepeated) return recorded;
  return {
    ...recorded,
    questions: event.question ? state.questions + 1 : 0,
    emptyAnswers: event.end === 'empty' ? state.emptyAnswers + 1 : 0,
    toolErrorTodo: event.toolError === null ? null : state.toolErrorTodo,
  };
}

/** Decides a parked stop attempt again; without one nothing changes. */
export function reconsiderStop(first: Step, policy: Policy, at: number): Step {
  const { parked, descriptor } = first.state;
  if (parked === null) return first;
  const hasWaited = descriptor.mode === 'told' && waits.has(parked.cause);
  const stop = hasWaited ? { ...parked, waitedUntil: at } : parked;
  return joinSteps(first, decideStop(first.state, stop, policy, at));
}

/** When one of these waits ends, a new countdown begins (G3). */
const waits: ReadonlySet<string> = new Set<Reason>([
  'recovering',
  'compacting',
  'permission-pending',
  'question-pending',
  'subagent-at-work',
]);

/**
 * The rules for a continuation that cannot be carried out: `host-cap` and all below it.
 */
const deliveryRules = stopRules.slice(
  stopRules.findIndex(({ name }) => name === 'host-cap'),
);

function decideStop(
  state: State,
  stop: ParkedStop,
  policy: Policy,
  at: number,
  undelivered: Undelivered | null = null,
): Step {
  const { settings, goalChecks } = policy;
  const counts = countPlan(state.plan, state.spoken.epoch);
  const context = { state, counts, stop, settings, goalChecks, at, undelivered };
  for (const { name, answer } of undelivered === null ? stopRules : deliveryRules) {
    const ruleAnswer = answer(context);
    if (ruleAnswer === null) continue;
    const decision = createDecision(context, name, ruleAnswer);
    if (ruleAnswer.answer === 'wait') return answerWait(context, ruleAnswer, decision);
    return undelivered === null
      ? answerLetGo(context, decision)
      : settleTurn(context, decision);
  }
  const blocked = blockFailingTodo(context);
  if (blocked === null) return continueAgent(context);
  return joinSteps(
    blocked,
    decideStop(blocked.state, { ...stop, toolError: null }, policy, at),
  );
}

function createDecision(
  context: StopContext,
  reason: Reason,
  ruleAnswer: RuleAnswer,
): Decision {
  const { state, settings, undelivered } = context;
  const { answer, dueAt } = ruleAnswer;
  // A continuation that was sent was more than observed, whatever the mode is now.
  const observed = settings.mode === 'observe' && undelivered === null;
  const noText = { textKind: null, level: null };
  const ending = withHiddenFiles(
    state,
    withFailedBefore(state, withDamagedRecord(state, ruleAnswer)),
  );
  return { answer, reason, ...ending, ...noText, dueAt, observed, epoch: state.epoch };
}

type Ending = Pick<RuleAnswer, 'outcome' | 'sentence' | 'inputs'>;

/**
 * If there is an outcome, the human also reads which checks failed before the work (P51).
 */
function withFailedBefore(state: State, ending: Ending) {
  const before = ending.outcome === null ? '' : failedBeforeSentence(state);
  return before === ''
    ? ending
    : { ...ending, sentence: `${withFullStop(ending.sentence)} ${before}` };
}

/**
 * If there is an outcome, the human also reads which files are ignored only since the
 * message (V2).
 */
function withHiddenFiles({ hidden }: State, ending: Ending) {
  if (hidden.length === 0 || ending.outcome === null) return ending;
  return {
    ...ending,
    sentence: `${withFullStop(ending.sentence)} ${hiddenSentence(hidden)}`,
  };
}

const namedFiles = 5;

/** Names the files that are ignored only since the human's message, for people. */
export function hiddenSentence(hidden: readonly string[]): string {
  const named = hidden.slice(0, namedFiles).map((path) => oneLine(visibleLine(path), 80));
  const more = hidden.length > namedFiles ? ' and others' : '';
  return `These files are ignored only since your message, so they count: ${named.join(', ')}${more}.`;
}

/** A damaged record proves nothing, so the best outcome is `claimed` (V4). */
function withDamagedRecord(
  { recordBroken }: State,
  { outcome, sentence, inputs }: RuleAnswer,
) {
  if (recordBroken === null || (outcome !== 'done' && outcome !== 'claimed'))
    return { outcome, sentence, inputs };
  const warning = `The record of the plan was changed from outside: ${recordBroken}. It proves nothing.`;
  const rests: OutcomeBasis = 'record';
  return { outcome: 'claimed' as const, sentence: warning, inputs: { ...inputs, rests } };
}

function answerWait(
  context: StopContext,
  { runsChecks }: RuleAnswer,
  decision: Decision,
): Step {
  const { state, stop, at } = context;
  const { reason: cause, dueAt } = decision;
  if (cause === 'already-answered') return decidedStep(decision, state);
  if (decision.observed)
    return decidedStep(decision, state, answerCommands(context, decision, 'let-go'));
  const isTold = state.descriptor.mode === 'told';
  // The stop of an asked host stays parked only while its checks run.
  const stays = isTold || cause === 'nothing-open' || cause === 'stagnant';
  const parked: State = {
    ...state,
    backgroundSince:
      cause === 'subagent-at-work'
        ? (state.backgroundSince ?? at)
        : state.backgroundSince,
    parked: stays ? { ...stop, cause } : null,
    lastStop: stop,
    timer:
      isTold && dueAt !== null ? { purpose: 'due', dueAt, epoch: state.epoch } : null,
  };
  const answer = answerCommands(context, decision, 'wait');
  if (!runsChecks) return decidedStep(decision, parked, answer);
  const started = startFinalRun(context, parked);
  return decidedStep(decision, started.state, [...started.commands, ...answer]);
}

function decidedStep(
  decision: Decision,
  state: State,
  commands: readonly Command[] = [],
): Step {
  return { state, commands, decision, ledger: [] };
}

/** Marks every check as running, because the first result must not settle the turn. */
function startFinalRun(context: StopContext, state: State): Step {
  const { stop, goalChecks, counts } = context;
  const goal = { ...state.goal };
  // While todos are open, only claims are checked. A run that the agent waited for leaves
  // out the checks that passed meanwhile.
  const claimsOnly = openCount(counts) > 0;
  const missing = goalChecks.filter(
    (check) =>
      !claimsOnly && !(isFinalRunTakenUp(context) && goal[check]?.state === 'passed'),
  );
  for (const check of missing)
    goal[check] = {
      ...newGoalCheck,
      state: 'running',
      passedBefore: goal[check]?.passedBefore ?? false,
    };
  const checks = [
    ...state.plan.filter(isUnverified).flatMap(checksOf),
    ...missing.map((check) => ({ todoId: null, check })),
  ];
  const { writes } = state.work;
  const run = { stop: stop.eventId, ended: false, overdue: false, writes, claimsOnly };
  const plan = changeSome(state.plan, isUnverified, (todo) => ({
    ...todo,
    verification: 'running',
  }));
  return step({ ...state, plan, goal, finalRun: run }, [
    { type: 'run-checks', checks, stop: stop.eventId },
  ]);
}

/**
 * Returns the same plan if nothing changes, because an unchanged plan needs no saving.
 */
function changeSome(
  plan: readonly Todo[],
  fits: (todo: Todo) => boolean,
  change: (todo: Todo) => Todo,
) {
  return plan.some(fits) ? plan.map((todo) => (fits(todo) ? change(todo) : todo)) : plan;
}

function answerLetGo(context: StopContext, decision: Decision): Step {
  if (decision.observed)
    return decidedStep(
      decision,
      endTurn(context.state),
      answerCommands(context, decision, 'let-go'),
    );
  const { state, commands } = settleTurn(context, decision);
  const stopped = {
    ...state,
    parked: null,
    lastStop: context.stop,
    timer: null,
    activeSinceAnswer: false,
  };
  return decidedStep(decision, stopped, commands);
}

/**
 * Ends the turn with the outcome of the decision. A skip has none and settles nothing.
 */
function settleTurn(context: StopContext, decision: Decision): Step {
  const { state, at, settings } = context;
  const { outcome, reason, sentence } = decision;
  const settled = outcome === null ? state.settled : { outcome, reason, at };
  const commands: Command[] = answerCommands(context, decision, 'let-go');
  const message = endMessage(state, context.goalChecks, decision);
  if (state.descriptor.mode === 'told' && message !== null) {
    const level = context.undelivered === null ? 'info' : 'warning';
    const parts = { reason: sentence, outcome: outcome ?? '', ...openTodos(state) };
    const ownWords = ownToast(settings.toasts, 'end', parts);
    // Our own message names the outcome; the user's words may not.
    const title = ownWords === null ? 'untildone' : `untildone: ${outcome}`;
    commands.push({ type: 'notify', level, title, message: ownWords ?? message });
  }
  return decidedStep(decision, { ...endTurn(state), settled }, commands);
}

function answerCommands(
  { state, goalChecks }: StopContext,
  decision: Decision,
  answer: 'wait' | 'let-go',
): Command[] {
  if (state.descriptor.mode === 'told') return [];
  const { observed, sentence, dueAt } = decision;
  const sentenceForHuman =
    answer === 'wait' ? sentence : endMessage(state, goalChecks, decision);
  const message = observed ? null : sentenceForHuman;
  return [{ type: 'answer', answer, epoch: state.epoch, text: null, message, dueAt }];
}

/**
 * After two tool errors the todo is blocked, and the agent goes on with the others (S6,
 * P12). Null: there is nothing to block.
 */
function blockFailingTodo({ state, stop, at, settings }: StopContext): Step | null {
  if (
    stop.toolError === null ||
    state.toolErrorTodo === null ||
    settings.mode === 'observe'
  )
    return null;
  const [todo] = nextTodos(state.plan, 1);
  if (todo?.id !== state.toolErrorTodo) return null;
  const draft = new PlanDraft({ ...state, toolErrorTodo: null }, 'system', at);
  const reason = `stopped after a tool error twice: ${stop.toolError}`;
  const counted = { ...todo, attempts: todo.attempts + 1 };
  draft.setStatus(counted, { status: 'blocked', reason }, { reason: 'tool error twice' });
  return draft.finish().edited;
}

/**
 * Counts the continuation in the same transaction. The epoch rises, so that nothing can
 * inject a second text (G6, V5).
 */
function continueAgent(context: StopContext): Step {
  const { state, settings, counts, stop, at } = context;
  const { counters, finalRun } = state;
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
    inputs: {
      open: openCount(counts),
      ...counters,
      next: next[0]?.title ?? null,
      todos: planSize(counts),
    },
    outcome: null,
    textKind: kind,
    level,
    dueAt: null,
    observed,
    epoch,
  };
  // In observe mode the decision is only recorded, and an asked host is answered as if we
  // were not there (C2).
  if (observed)
    return decidedStep(
      decision,
      endTurn(state),
      answerCommands(context, decision, 'let-go'),
    );
  const continuation = continuationText(text, { ...context, next, level });
  const words = { text: continuation.text, said: continuation };
  const command: Command = isTold
    ? { type: 'inject', epoch, ...words }
    : { type: 'answer', answer: 'continue', epoch, ...words, message: null, dueAt: null };
  const challenged = kind === 'bulk-claim' ? dueChallenge(context) : null;
  const counted = countContinuation(counters, kind, stop);
  const name = (todo: Todo): Todo => ({ ...todo, droppedNamedAt: at });
  const continued: State = {
    ...state,
    plan:
      kind === 'dropped-todos' ? changeSome(state.plan, isUnnamedDrop, name) : state.plan,
    // If the human speaks meanwhile, the words join this turn (T3).
    turn: state.turn === null ? null : { ...state.turn, ended: false },
    epoch,
    counters: counted,
    challenged:
      challenged === null
        ? state.challenged
        : { ...state.challenged, [challenged]: true },
    loopTold: state.loopTold || kind === 'loop',
    // The agent is told now, so earlier alarms do not count any more (P25).
    loopAlarms: kind === 'loop' ? 1 : state.loopAlarms,
    namedJobs:
      kind === 'background-job' ? state.jobs.map(({ id }) => id) : state.namedJobs,
    toolErrorTodo: kind === 'tool-error' ? (next[0]?.id ?? null) : null,
    compacted: false,
    finalRun:
      kind === 'checks-running' && finalRun !== null
        ? { ...finalRun, overdue: true }
        : finalRun,
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
  return decidedStep(decision, continued, [command]);
}

/**
 * Running checks and limits of the provider are not the agent's fault, and an output
 * limit is no lack of progress (G6, G9, P13).
 */
function countContinuation(
  counters: Counters,
  kind: TextKind,
  { end }: ParkedStop,
): Counters {
  const total = counters.total + 1;
  if (kind === 'checks-running' || end === 'error') return { ...counters, total };
  const continuations = counters.continuations + 1;
  if (kind === 'output-limit') return { ...counters, total, continuations };
  return { total, continuations, stagnant: counters.stagnant + 1 };
}

// Delivery: a text is intended, sent, observed. News with an old epoch is void.

/** A countdown of yesterday must not spend the tokens of today (V5). */
function isTooOld(since: number, at: number, { settings }: Policy): boolean {
  return at - since > settings.timerMaxAgeMinutes * 60_000;
}

/**
 * Pauses the session and parks its stop again, so that the record and the human are told.
 */
function pauseForOldTimer(state: State, at: number): State {
  const reason = 'a countdown was found that is too old to act on';
  const { injection } = state;
  return {
    ...state,
    timer: null,
    epoch: state.epoch + 1,
    pause: state.pause ?? { by: 'system', reason, at },
    parked: state.parked ?? state.lastStop,
    injection: isOnItsWay(injection) ? { ...injection, state: 'failed' } : injection,
  };
}

function withDelivery(state: State, injection: Injection, to: Injection['state']): State {
  return { ...state, injection: { ...injection, state: to } };
}

/**
 * Sends the text again under the same epoch: after a failure with a growing delay (G9),
 * after a restart at once (V5).
 */
function sendAgain(
  state: State,
  injection: Injection,
  event: EventOf<'delivery-reported'>,
  policy: Policy,
): State | Step {
  const { epoch, at } = event;
  const { sendAttempts, sendBackoffSeconds } = policy.settings;
  const isLost = event.news === 'lost';
  const isOver = isLost ? !isOnItsWay(injection) : injection.state === 'observed';
  // An asked host is answered at most once, so there is nothing to send again.
  if (state.descriptor.mode === 'asked' || state.epoch !== epoch || isOver) return state;
  // If the agent went on by itself and stopped again, the newer answer holds.
  const isOutdated = state.parked !== null || state.turn?.ended === true;
  if (isOutdated && !isLost) return withDelivery(state, injection, 'failed');
  // A resend that is planned already keeps its time.
  if (isLost && (isOutdated || state.timer !== null)) return state;
  if (isLost && isTooOld(injection.at, at, policy))
    return reconsiderStop(step(pauseForOldTimer(state, at)), policy, at);
  const attempts = injection.attempts + 1;
  if (attempts >= sendAttempts) {
    const error = isLost
      ? 'the process ended while it was on its way'
      : (event.error ?? '');
    const failed: State = {
      ...state,
      injection: { ...injection, state: 'failed', attempts },
      timer: null,
    };
    return answerUndelivered(failed, { why: 'failed', attempts, error }, policy, at);
  }
  const again: State = {
    ...state,
    injection: { ...injection, state: 'intended', attempts },
  };
  if (isLost) return step(again, [{ type: 'inject', epoch, text: null }]);
  const dueAt = at + Math.round(sendBackoffSeconds * 1000) * 2 ** (attempts - 1);
  return { ...again, timer: { purpose: 'resend', dueAt, epoch } };
}

function answerUndelivered(
  state: State,
  undelivered: Undelivered,
  policy: Policy,
  at: number,
): State | Step {
  return state.lastStop === null
    ? state
    : decideStop(state, state.lastStop, policy, at, undelivered);
}
