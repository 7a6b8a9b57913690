// The rules that answer a stop attempt, in order: the first that answers wins; if none
// does, the agent is continued. A rule only reads. `untildone why --rules` prints them.
import type { Decision, Inputs, Outcome } from './decision.ts';
import { displayName, oneLine, visibleLine } from './safe-text.ts';
import type { Settings } from './settings.ts';
import {
  checksRunning,
  claimsWaitedFor,
  describeRest,
  dueChallenge,
  finalRunDue,
  findUnstartableChecks,
  formatTodoCount,
  goalChecksDue,
  hasChanged,
  hasGoalCheckFailed,
  isOutcomeKnown,
  isSettled,
  mustTellAgentFirst,
  outcomeBasis,
} from './settlement.ts';
import {
  hadEndedOtherwise,
  openCount,
  type ParkedStop,
  type PlanCounts,
  planSize,
  type State,
} from './state.ts';

/** What a rule reads: one stop attempt, with the state and the settings at that time. */
export type StopContext = Readonly<{
  state: State;
  counts: PlanCounts;
  stop: ParkedStop;
  settings: Settings;
  goalChecks: readonly string[];
  at: number;
  /** Set if a continuation was decided and cannot be carried out. */
  undelivered: Undelivered | null;
}>;

/** The host accepts no more continuations (`cap`), or it refused this one (`failed`). */
export type Undelivered =
  | Readonly<{ why: 'cap'; cap: number; goOn?: string | undefined }>
  | Readonly<{ why: 'failed'; attempts: number; error: string }>;

/** What a rule answers. `runsChecks`: with the wait, the checks that are due start. */
export type RuleAnswer = Pick<Decision, 'sentence' | 'inputs' | 'outcome' | 'dueAt'> &
  Readonly<{ answer: 'wait' | 'let-go'; runsChecks: boolean }>;

/** One rule: its reason code, the question that it asks, and its answer or null. */
export type Rule<Name extends string = string> = Readonly<{
  /** The reason code, the same in hooks, command line, log and page. */
  name: Name;
  asks: string;
  answer: (context: StopContext) => RuleAnswer | null;
}>;

function rule<const Name extends string>(
  name: Name,
  asks: string,
  answer: Rule['answer'],
): Rule<Name> {
  return { name, asks, answer };
}

function skip(sentence: string, inputs: Inputs): RuleAnswer {
  return letGo(null, sentence, inputs);
}

function letGo(outcome: Outcome | null, sentence: string, inputs: Inputs): RuleAnswer {
  return { answer: 'let-go', sentence, inputs, outcome, dueAt: null, runsChecks: false };
}

function wait(sentence: string, inputs: Inputs, dueAt: number | null = null): RuleAnswer {
  return { answer: 'wait', sentence, inputs, outcome: null, dueAt, runsChecks: false };
}

/** Every rule, in the order in which a stop attempt meets them; the first answer wins. */
export const stopRules = [
  // Sessions that untildone leaves alone: it is switched off, the session is not ours, or
  // the agent must never be continued (G2, G4).
  rule('disabled', 'Is untildone switched off for this agent?', ({ settings, state }) => {
    const { mode, enabled } = settings;
    if (mode !== 'off' && enabled) return null;
    return skip('untildone is switched off for this agent.', {
      mode,
      enabled,
      agent: state.agent.name,
    });
  }),
  rule(
    'not-our-session',
    'Is this neither a main session nor a subagent?',
    ({ state: { descriptor } }) =>
      descriptor.kind === 'other'
        ? skip('This is neither a main session nor a subagent.', {
            kind: descriptor.kind,
          })
        : null,
  ),
  rule(
    'subagent',
    'Is this a subagent, while subagents are left alone?',
    ({ state, settings }) => {
      const { kind } = state.descriptor;
      const { subagents } = settings;
      if (kind !== 'subagent' || subagents !== 'off') return null;
      return skip("A subagent is not kept working on its parent's plan.", {
        kind,
        subagents,
      });
    },
  ),
  rule('skipped-agent', 'Is the agent on the skip list?', ({ state, settings }) => {
    const name = state.agent.name?.toLowerCase();
    return settings.skipAgents.some((skipped) => skipped.toLowerCase() === name)
      ? skip(`The agent "${name}" is on the skip list.`, { agent: state.agent.name })
      : null;
  }),
  rule('read-only-agent', 'Is the agent read-only, or is that unknown?', ({ state }) => {
    const { canWrite } = state.agent;
    const { everyAgentWrites } = state.descriptor;
    const inputs = { canWrite, everyAgentWrites };
    if (canWrite === 'no')
      return skip('The agent is read-only and is never continued.', inputs);
    return canWrite === 'unknown' && !everyAgentWrites
      ? skip('Whether the agent may write is unknown, so it counts as read-only.', inputs)
      : null;
  }),
  rule('deleted', 'Was the session deleted?', ({ state }) =>
    state.deleted ? skip('The session was deleted.', { deleted: true }) : null,
  ),
  // The human stopped or paused the session, or the agent paused by itself (G4, M6).
  rule('aborted', 'Did you stop the agent?', ({ state }) => {
    const { latch } = state;
    if (latch === null) return null;
    const inputs = { latched: true, how: latch.how };
    const hadEnded = hadEndedOtherwise(state, 'aborted');
    if (latch.movedTo !== undefined) {
      const sentence = `You moved the plan to ${oneLine(latch.movedTo, 80)}: it goes on there.`;
      return hadEnded ? skip(sentence, inputs) : letGo('aborted', sentence, inputs);
    }
    if (hadEnded)
      return skip(
        `You stopped the agent after its turn had ended. ${keptOutcomeSentence(state)}`,
        inputs,
      );
    // A run of our own names the command for that at its end.
    const how = judgesGoal(state)
      ? 'when the session is taken up again'
      : 'when you send a message or run `untildone resume`';
    return letGo('aborted', `You stopped the agent. It goes on ${how}.`, inputs);
  }),
  rule(
    'paused-by-human',
    'Did you pause the session or reject a request?',
    ({ state }) => {
      const { pause } = state;
      if (pause?.by !== 'human' && pause?.by !== 'rejection') return null;
      const { by, reason } = pause;
      const did =
        by === 'human' ? 'paused this session' : 'rejected what the agent asked for';
      if (hadEndedOtherwise(state, 'paused'))
        return skip(
          `You ${did} after the turn had ended. ${keptOutcomeSentence(state)}`,
          { by, reason },
        );
      return letGo('paused', `You ${did}.`, { by, reason });
    },
  ),
  rule(
    'timer-expired',
    'Is a countdown from an earlier run too old to act on?',
    ({ state: { pause } }) => {
      if (pause?.by !== 'system') return null;
      const sentence =
        'A countdown from an earlier run was too old to act on. Send a message or run `untildone resume`.';
      return letGo('paused', sentence, { by: pause.by });
    },
  ),
  rule(
    'paused-by-model',
    'Did the agent pause because it needs a human?',
    ({ state }) => {
      const { pause } = state;
      if (pause?.by !== 'model') return null;
      const { by, reason } = pause;
      const sentence = agentPauseSentence(pause);
      // If a human types `untildone stop` inside the host after the end, the host lets
      // the agent answer once more.
      const isTypedAfterEnd = pause.byCommand === true && state.settled !== null;
      if (isTypedAfterEnd && hadEndedOtherwise(state, 'paused'))
        return skip(`${sentence} ${keptOutcomeSentence(state)}`, { by, reason });
      return letGo('paused', sentence, { by, reason });
    },
  ),
  // A told host may idle twice, or once more after an abort: that is no new stop (E4).
  rule(
    'already-answered',
    'Is this the same stop again, with nothing done since it was answered?',
    (context) => {
      const { descriptor, activeSinceAnswer } = context.state;
      if (descriptor.mode !== 'told' || activeSinceAnswer) return null;
      const inputs = { mode: descriptor.mode, activeSinceAnswer };
      return wait('This stop was answered already and nothing happened since.', inputs);
    },
  ),
  // The agent waits for something that ends by itself or that a human ends (G3).
  rule(
    'recovering',
    'Is the session recovering from an error?',
    ({ state: { waits } }) =>
      waits.recovering ? wait('The session is recovering.', { recovering: true }) : null,
  ),
  rule('compacting', 'Is the context being compacted?', ({ state: { waits } }) =>
    waits.compacting
      ? wait('The context is being compacted.', { compacting: true })
      : null,
  ),
  rule('permission-pending', 'Is a permission request unanswered?', ({ state }) => {
    const pending = state.waits.permissions.length;
    if (pending === 0) return null;
    const { headless } = state.descriptor;
    const request = state.permissions.requests.find(({ answer }) => answer === null);
    const asked = request
      ? oneLine(visibleLine(`${request.tool}: ${request.subject}`), 160)
      : null;
    const inputs = { pending, headless, asked };
    const what = asked === null ? '' : ` (${asked}; \`untildone approve\` answers it)`;
    return headless
      ? letGo(
          'paused',
          `A permission request is unanswered and nobody is at a terminal${what}.`,
          inputs,
        )
      : wait(`A permission request is waiting for your answer${what}.`, inputs);
  }),
  rule('question-pending', 'Is a question to you unanswered?', ({ state }) => {
    const pending = state.waits.questions.length;
    if (pending === 0) return null;
    const { headless } = state.descriptor;
    return headless
      ? letGo('paused', 'A question is unanswered and nobody is at a terminal.', {
          pending,
          headless,
        })
      : wait('A question is waiting for your answer.', { pending, headless });
  }),
  // Only subagents are waited for, and only for a limited time. A shell job may be a
  // server, so it holds nothing back (P18, P37).
  rule(
    'subagent-at-work',
    'Is a subagent working in the background?',
    ({ state, settings, stop, at }) => {
      const subagents = state.jobs.filter(({ kind }) => kind === 'subagent').length;
      // If the iteration budget cut the agent's calls, the agent itself is still at work.
      if (subagents === 0 || stop.end === 'iteration-budget') return null;
      const until =
        (state.backgroundSince ?? at) + settings.backgroundWaitMinutes * 60_000;
      if (at >= until) return null;
      const sentence = `${subagents === 1 ? 'A subagent is' : `${subagents} subagents are`} working in the background.`;
      return wait(sentence, { subagents, since: state.backgroundSince }, until);
    },
  ),
  // Only a normal end, an empty answer or an output limit is continued. A model that
  // refused is never asked again (G2, P15).
  rule(
    'ended-abnormally',
    'Did the step end in an error or a cancellation?',
    ({ stop, state, settings }) => {
      const { end } = stop;
      const sameErrors = state.circuit?.count ?? 0;
      const inputs = { end, rateLimited: state.rateLimitedUntil !== null, sameErrors };
      if (end === 'cancelled') return letGo('aborted', 'The step was cancelled.', inputs);
      if (end !== 'error') return null;
      // Rules below know when these errors end, or have a more precise reason.
      if (
        inputs.rateLimited ||
        state.overflows >= 2 ||
        sameErrors >= settings.circuitAfter
      )
        return null;
      const sentence =
        'The step ended in an error. Errors are retried by the program that calls the model, not by telling the agent to go on.';
      return letGo('failed', sentence, inputs);
    },
  ),
  rule(
    'refused',
    'Did the model refuse, or did a content filter cut in?',
    ({ stop: { end } }) => {
      if (end === 'refusal')
        return letGo('failed', 'The model refused; it is not asked again.', { end });
      return end === 'content-filter'
        ? letGo('failed', "The provider's content filter cut the answer off.", { end })
        : null;
    },
  ),
  // The first alarm changes the prompt, and the second ends the turn (P25). If every todo
  // has ended, the checks decide instead.
  rule(
    'looping',
    'Does the agent still repeat itself after it was told?',
    ({ state, counts }) => {
      const { loopAlarms: alarms, loopTold: told } = state;
      if (!told || alarms < 2 || (planSize(counts) > 0 && openCount(counts) === 0))
        return null;
      const sentence =
        'The agent keeps repeating the same calls although it was told to try another way.';
      return letGo('stagnant', sentence, { alarms, told });
    },
  ),
  // The plan: does it exist, does this turn concern it, is anything left, is it proved
  // (T2, T3, V1, V4)?
  rule(
    'no-plan',
    'Is there nothing to verify: no plan touched and no goal check due?',
    (context) => {
      const { counts, state, stop, goalChecks } = context;
      // The agent gave no answer (its calls were cut or failed): that settles nothing.
      if (
        stop.end === 'iteration-budget' ||
        isErrorJudgedBelow(context) ||
        mustTellAgentFirst(context)
      )
        return null;
      const all = planSize(counts);
      const open = openCount(counts);
      const touchedPlan = state.turn?.touchedPlan ?? false;
      if ((all > 0 && (touchedPlan || open > 0)) || goalChecksDue(context)) return null;
      const inputs = { todos: all, open, touchedPlan, goalChecks: goalChecks.length };
      if (stop.end === 'error')
        return letGo(
          'failed',
          'The step ended in an error before there was anything to verify.',
          inputs,
        );
      // A turn in a host may be a mere question, so it gets no outcome, unless a plan
      // vanished from the record (V4).
      if (!judgesGoal(state) && state.recordBroken === null)
        return skip(goalChecks.length === 0 ? nothingToVerify : checksNotDue, inputs);
      if (state.leftOver !== null) return null;
      return letGo('claimed', justAnswered, { ...inputs, rests: 'word' });
    },
  ),
  rule(
    'plan-not-resumed',
    'Are todos from earlier turns still open that this turn did not work on?',
    (context) => {
      const { state } = context;
      const { touchedPlan = false, goesOn = false } = state.turn ?? {};
      const open = openCount(context.counts);
      const leftOver = state.leftOver?.open ?? 0;
      if (isErrorJudgedBelow(context)) return null;
      // A run answers for its whole plan; only todos of another plan are left over (T3).
      const isAnother = open > 0 && !touchedPlan && !goesOn && !judgesGoal(state);
      if (!isAnother && (leftOver === 0 || !isSettled(context))) return null;
      const amount = isAnother ? open : leftOver;
      const [is, them] = amount === 1 ? ['is', 'it'] : ['are', 'them'];
      const sentence = `${formatTodoCount(amount)} from an earlier turn ${is} still open; this turn did not work on ${them}.`;
      return letGo('paused', sentence, { open, leftOver, touchedPlan, goesOn });
    },
  ),
  rule('all-blocked', 'Is everything that remains blocked?', (context) => {
    const { blocked } = context.counts;
    const open = openCount(context.counts);
    if (open > 0 || blocked === 0 || dueChallenge(context) !== null) return null;
    return letGo(
      'blocked',
      `Everything that is left is blocked (${formatTodoCount(blocked)}).`,
      {
        open,
        blocked,
      },
    );
  }),
  // A check that cannot start proves nothing, and the agent is not to blame (V1, P44).
  rule('check-cannot-start', 'Is nothing open, but a check cannot start?', (context) => {
    const stuckChecks = isSettled(context) ? findUnstartableChecks(context) : [];
    const [first] = stuckChecks;
    if (first === undefined) return null;
    const others =
      stuckChecks.length === 1
        ? ''
        : ` The same goes for ${stuckChecks.length - 1} more.`;
    const why = first.tail === null ? '' : `: ${visibleLine(oneLine(first.tail, 200))}`;
    const { check } = first;
    const sentence = `The check ${displayName(check)} cannot start${why}`.replace(
      /[.:]*$/u,
      '.',
    );
    return letGo('blocked', `${sentence}${others}`, {
      check,
      checks: stuckChecks.length,
    });
  }),
  // Checks that passed all along prove nothing if nothing changed meanwhile (V1, P46).
  rule(
    'no-change',
    'Did every check pass before, and has nothing changed since?',
    (context) => {
      const { state } = context;
      if (!judgesGoal(state) || !isSettled(context) || outcomeBasis(context) !== 'checks')
        return null;
      if (hasChanged(context)) return null;
      const before = state.baseline?.fingerprint ?? null;
      return letGo('claimed', nothingChanged, {
        before,
        now: state.work.fingerprint,
        rests: 'word',
      });
    },
  ),
  rule(
    'nothing-open',
    'Is nothing open, has every check passed, and is nothing left to ask the agent about?',
    (context) => {
      const { state, counts, settings } = context;
      const open = openCount(counts);
      const challenge = dueChallenge(context);
      const areRunning = checksRunning(context);
      if (!isOutcomeKnown(context) || (state.checksOverdue && areRunning)) return null;
      const failed = hasGoalCheckFailed(context);
      const { unverified } = counts;
      const inputs = {
        open,
        challenge,
        checksRunning: areRunning,
        unverified,
        goalFailed: failed,
      };
      if (settings.mode === 'enforce') {
        // This comes first because each stop attempt starts a run of its own: a run that
        // was lost in a crash then blocks nobody.
        if (finalRunDue(context))
          return {
            ...wait('The checks are being run before the agent may stop.', inputs),
            runsChecks: true,
          };
        if (areRunning) return wait('Checks are running.', inputs);
        if (failed) return null;
      }
      const rests = outcomeBasis(context);
      return letGo(rests === 'checks' ? 'done' : 'claimed', describeRest(context), {
        ...inputs,
        rests,
      });
    },
  ),
  // A question in the text gets one continuation; after that the human answers (G11).
  rule(
    'repeated-question',
    'Did the agent ask in its text again, without a tool call in between?',
    (context) => {
      const { state, stop } = context;
      if (!stop.question || state.questions < 2) return null;
      const inputs = { question: stop.question, inARow: state.questions };
      return state.descriptor.headless
        ? letGo(
            'paused',
            'The agent asked twice in a row and nobody is at a terminal.',
            inputs,
          )
        : wait('The agent asked twice in a row; the question is for you.', inputs);
    },
  ),
  // Limits: of the provider, of repeated errors, of budgets and of the three counters
  // (G6, G8, G9, P21–P23).
  rule(
    'rate-limited',
    'Is the provider still limiting requests, or overloaded?',
    ({ state, at }) => {
      const until = state.rateLimitedUntil;
      if (until === null || at >= until) return null;
      const sentence =
        'The provider limits requests or is overloaded; waiting until that ends.';
      return wait(sentence, { until, at }, until);
    },
  ),
  rule(
    'circuit-open',
    'Did the same error come back too often?',
    ({ state, settings }) => {
      const { signature = null, count = 0 } = state.circuit ?? {};
      const limit = settings.circuitAfter;
      if (count < limit) return null;
      return letGo('failed', `The same error came ${count} times in a row.`, {
        signature,
        count,
        limit,
      });
    },
  ),
  // Compaction did not help, so the next call would only overflow again (P23).
  rule(
    'overflowing',
    'Does the context overflow although it was compacted?',
    ({ state: { overflows } }) =>
      overflows >= 2
        ? letGo(
            'stagnant',
            'The context overflowed twice and could not be made smaller.',
            { overflows },
          )
        : null,
  ),
  rule('context-full', "Is the model's context nearly full?", (context) => {
    if (!isContextFull(context)) return null;
    const { contextTokens: used, contextLimit: limit } = context.state.usage;
    const percent = Math.round(100 * ((used ?? 0) / (limit ?? 1)));
    const inputs = { used, limit, share: context.settings.contextShare };
    return letGo('exhausted', `The model's context is ${percent} % full.`, inputs);
  }),
  budget('token-budget', 'tokens'),
  budget('cost-budget', 'dollars'),
  budget('time-budget', 'minutes'),
  counter('ceiling', 'continuations since your last message', ({ state, settings }) => ({
    used: state.counters.total,
    limit: settings.ceiling,
  })),
  counter(
    'max-continuations',
    'continuations since a todo was finished or a check passed',
    ({ state, settings }) => ({
      used: state.counters.continuations,
      limit: settings.maxContinuations,
    }),
  ),
  rule('stagnant', 'Was there no progress for too many continuations?', (context) => {
    const { state, settings } = context;
    const withoutProgress = state.counters.stagnant;
    const limit = settings.maxStagnant;
    if (withoutProgress < limit) return null;
    const times =
      withoutProgress === 1 ? 'one continuation' : `${withoutProgress} continuations`;
    const sentence = `No progress after ${times}.`;
    const inputs = { withoutProgress, limit, unverified: context.counts.unverified };
    // If a claim passes its check, that is progress: the agent did its part and waits for
    // the check.
    const claims = claimsWaitedFor(context);
    if (claims === 'late') return null;
    if (claims === null) return letGo('stagnant', sentence, inputs);
    const waiting = wait(`${sentence} Checks of what it claimed are running.`, inputs);
    return { ...waiting, runsChecks: claims === 'due' };
  }),
  // The next two are for a continuation that was decided and cannot be carried out; the
  // rules above were asked before.
  rule(
    'host-cap',
    'Does the host accept no further continuation, whatever we answer?',
    (context) => {
      if (context.undelivered?.why !== 'cap') return null;
      const { cap, goOn } = context.undelivered;
      const open = openCount(context.counts);
      const sentence = `The host accepts at most ${cap} continuations in a row; ${open} todos are open.`;
      return letGo('exhausted', goOn === undefined ? sentence : `${sentence} ${goOn}`, {
        cap,
        open,
      });
    },
  ),
  rule(
    'delivery-failed',
    'Did the host not accept the continuation after all tries?',
    ({ undelivered }) => {
      if (undelivered?.why !== 'failed') return null;
      const { attempts, error } = undelivered;
      const sentence = `The host did not accept the continuation after ${attempts} tries.`;
      return letGo('failed', sentence, { attempts, error: error.slice(0, 200) });
    },
  ),
  // Told hosts only: countdown and minimum interval share one due time (G10, E1).
  rule(
    'not-yet',
    'Is it too early: is the countdown or the minimum interval still running?',
    (context) => {
      const { state, settings, stop, at } = context;
      const { mode, immediate } = state.descriptor;
      if (mode !== 'told' || immediate || settings.mode === 'observe') return null;
      const interval = Math.round(settings.minIntervalSeconds * 1000);
      const afterLast = (state.lastContinuationAt ?? Number.NEGATIVE_INFINITY) + interval;
      // After a wait the human gets the whole countdown again (G3, E3).
      const since = Math.max(stop.at, stop.waitedUntil ?? 0);
      const dueAt = Math.max(since + settings.countdownSeconds * 1000, afterLast);
      if (at >= dueAt) return null;
      return wait(
        `Resuming in ${Math.ceil((dueAt - at) / 1000)} s.`,
        { at, dueAt },
        dueAt,
      );
    },
  ),
] as const;

/** The name of the rule that answered, such as `nothing-open`. */
export type Reason = (typeof stopRules)[number]['name'];

function judgesGoal({ descriptor }: State): boolean {
  return descriptor.judgesGoal === true;
}

function keptOutcomeSentence({ settled }: State): string {
  return settled === null
    ? 'It had no outcome.'
    : `Its outcome stays ${settled.outcome}.`;
}

type AgentPause = Readonly<{ reason: string | null; byCommand?: boolean | undefined }>;

/** Says whether the agent paused (`todo_pause`) or asked to stop, and why. */
export function agentPauseSentence({ reason, byCommand }: AgentPause): string {
  const did = byCommand === true ? 'asked to stop' : 'paused';
  const why = oneLine(reason ?? '', 300);
  return `The agent ${did}${why === '' ? '.' : `: ${why}`}`;
}

const nothingToVerify = 'There is no plan and no check in this turn: nothing to verify.';
const checksNotDue =
  'This turn changed neither the plan nor the workspace, so the goal checks do not have to run: there is nothing to verify.';
const justAnswered =
  'The agent answered, and there was nothing to verify. With a check, such as `npm test`, it can be done.';
const nothingChanged =
  'Every check passed before the agent began and nothing has changed since, so they prove no work.';

function isErrorJudgedBelow({ state, stop, settings, at }: StopContext): boolean {
  if (stop.end !== 'error') return false;
  const limited = state.rateLimitedUntil !== null && at < state.rateLimitedUntil;
  return (
    limited ||
    state.overflows >= 2 ||
    (state.circuit?.count ?? 0) >= settings.circuitAfter
  );
}

type Spending = Pick<StopContext, 'state' | 'settings' | 'at'>;

/** Whether the context of the model is filled up to the configured share. */
export function isContextFull({ state: { usage }, settings }: Spending): boolean {
  const { contextTokens, contextLimit } = usage;
  if (contextTokens === null || contextLimit === null) return false;
  return contextTokens >= contextLimit * settings.contextShare;
}

type Usage = Readonly<{ used: number; limit: number | null }>;

function readBudgets({ state: { usage }, settings, at }: Spending) {
  return {
    tokens: { used: usage.tokens, limit: settings.maxTokens },
    dollars: { used: usage.cost, limit: settings.maxCost },
    minutes: { used: (at - usage.since) / 60_000, limit: settings.maxMinutes },
  };
}

/** For a loop that runs the steps itself: whether a limit ends the run now (G8). */
export function isBudgetSpent(spending: Spending): boolean {
  return isContextFull(spending) || isAllowanceSpent(spending);
}

/** Whether a budget is spent; the context is left out, because a worker has its own. */
export function isAllowanceSpent(spending: Spending): boolean {
  return Object.values(readBudgets(spending)).some(isSpent);
}

function isSpent({ used, limit }: Usage): boolean {
  return limit !== null && used >= limit;
}

function budget<const Name extends string>(
  name: Name,
  unit: keyof ReturnType<typeof readBudgets>,
) {
  return rule(name, `Is the budget of ${unit} spent?`, (context) => {
    const usage = readBudgets(context)[unit];
    return exhausted(usage, `The budget of ${usage.limit} ${unit} is spent.`);
  });
}

function counter<const Name extends string>(
  name: Name,
  what: string,
  readUsage: (context: StopContext) => Usage,
) {
  return rule(name, `Is the limit of ${what} reached?`, (context) => {
    const usage = readUsage(context);
    return exhausted(usage, `The limit is reached: ${usage.limit} ${what}.`);
  });
}

function exhausted(usage: Usage, sentence: string): RuleAnswer | null {
  return isSpent(usage) ? letGo('exhausted', sentence, usage) : null;
}
