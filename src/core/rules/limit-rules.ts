// Rules about limits: rate limits, the circuit, budgets, and the three counters (G6, G8, G9, P21–P23, P25).
import { letGo, type Rule, type StopContext, wait } from './rule.ts';

export const rateLimited: Rule = {
  name: 'rate-limited',
  asks: 'Is the provider still limiting or overloaded?',
  inputs: ({ session, at }) => ({ until: session.rateLimitedUntil, at }),
  answer: ({ session, at }) =>
    session.rateLimitedUntil !== null && at < session.rateLimitedUntil
      ? wait(
          'The provider limits the rate or is overloaded; waiting for the reset.',
          session.rateLimitedUntil,
        )
      : null,
};

export const circuitOpen: Rule = {
  name: 'circuit-open',
  asks: 'Did the same error come back too often?',
  inputs: ({ session, settings }) => ({
    signature: session.circuit?.signature ?? null,
    count: session.circuit?.count ?? 0,
    limit: settings.circuitAfter,
  }),
  answer: ({ session, settings }) =>
    session.circuit !== null && session.circuit.count >= settings.circuitAfter
      ? letGo('failed', `The same error came ${session.circuit.count} times in a row.`)
      : null,
};

/** Two overflows that compaction could not cure: going on would only overflow again (P23). */
export const overflowing: Rule = {
  name: 'overflowing',
  asks: 'Does the context overflow although it was compacted?',
  inputs: ({ session }) => ({ overflows: session.overflows }),
  answer: ({ session }) =>
    session.overflows >= 2
      ? letGo('stagnant', 'The context overflowed twice and could not be made smaller.')
      : null,
};

export const contextFull: Rule = {
  name: 'context-full',
  asks: "Is the model's context nearly full?",
  inputs: ({ session, settings }) => ({
    used: session.usage.contextTokens,
    limit: session.usage.contextLimit,
    share: settings.contextShare,
  }),
  answer: (context) => {
    if (!isContextFull(context)) return null;
    const { contextTokens, contextLimit } = context.session.usage;
    const share = (contextTokens ?? 0) / (contextLimit ?? 1);
    return letGo('exhausted', `The context is ${Math.round(100 * share)} % full.`);
  },
};

/** What budgets are judged by: all of it is known between stop attempts too. */
type Spending = Pick<StopContext, 'session' | 'settings' | 'at'>;

export function isContextFull({ session, settings }: Spending): boolean {
  const { contextTokens, contextLimit } = session.usage;
  if (contextTokens === null || contextLimit === null) return false;
  return contextTokens >= contextLimit * settings.contextShare;
}

const tokensSpent = ({ session, settings }: Spending): Usage => ({
  used: session.usage.tokens,
  limit: settings.maxTokens,
});
const costSpent = ({ session, settings }: Spending): Usage => ({
  used: session.usage.cost,
  limit: settings.maxCost,
});
const minutesSpent = ({ session, settings, at }: Spending): Usage => ({
  used: (at - session.usage.since) / 60_000,
  limit: settings.maxMinutes,
});

export const tokenBudget: Rule = budget('token-budget', 'tokens', tokensSpent);
export const costBudget: Rule = budget('cost-budget', 'money', costSpent);
export const timeBudget: Rule = budget('time-budget', 'minutes', minutesSpent);

/** For a loop that runs the steps itself: whether one of the rules above would end the run, were it asked now (G8). */
export function isBudgetSpent(spending: Spending): boolean {
  return isContextFull(spending) || isAllowanceSpent(spending);
}

/** Tokens, money or time; how full a window is does not concern a worker, which has its own. */
export function isAllowanceSpent(spending: Spending): boolean {
  const budgets = [tokensSpent, costSpent, minutesSpent].map((look) => look(spending));
  return budgets.some(({ used, limit }) => limit !== null && used >= limit);
}

export const ceiling: Rule = counter(
  'ceiling',
  'continuations since the human spoke',
  ({ session, settings }) => ({
    used: session.counters.total,
    limit: settings.ceiling,
  }),
);

export const maxContinuations: Rule = counter(
  'max-continuations',
  'continuations since a todo was finished or a check passed',
  ({ session, settings }) => ({ used: session.counters.continuations, limit: settings.maxContinuations }),
);

/** The first alarm changes the prompt; the second ends the turn (P25). */
export const looping: Rule = {
  name: 'looping',
  asks: 'Did the agent go round in circles again after it was told?',
  inputs: ({ session }) => ({ alarms: session.loopAlarms, told: session.loopTold }),
  answer: ({ session }) =>
    session.loopTold && session.loopAlarms >= 2
      ? letGo('stagnant', 'The agent repeats the same calls although it was told.')
      : null,
};

export const stagnant: Rule = {
  name: 'stagnant',
  asks: 'Was there no progress for too many continuations?',
  inputs: ({ session, settings }) => ({
    withoutProgress: session.counters.stagnant,
    limit: settings.maxStagnant,
  }),
  answer: ({ session, settings }) =>
    session.counters.stagnant >= settings.maxStagnant
      ? letGo('stagnant', `No progress after ${session.counters.stagnant} continuations.`)
      : null,
};

/** Told hosts only: the countdown and the minimum interval share one due time (G10, E1). */
export const notYet: Rule = {
  name: 'not-yet',
  asks: 'Is it too early: does the countdown or the minimum interval still run?',
  inputs: (context) => ({ at: context.at, dueAt: dueAt(context) }),
  answer: (context) => {
    const { session, settings, at } = context;
    if (session.descriptor.mode !== 'told' || session.descriptor.immediate || settings.mode === 'observe')
      return null;
    const due = dueAt(context);
    return at < due ? wait(`Resuming in ${Math.ceil((due - at) / 1000)} s.`, due) : null;
  },
};

function dueAt({ session, settings, stop }: StopContext): number {
  const afterLast = (session.lastContinuationAt ?? Number.NEGATIVE_INFINITY) + settings.minIntervalMs;
  return Math.max(stop.at + settings.countdownSeconds * 1000, afterLast);
}

type Usage = { readonly used: number; readonly limit: number | null };

function budget(name: string, unit: string, look: (context: StopContext) => Usage): Rule {
  return {
    name,
    asks: `Is the budget of ${unit} spent?`,
    inputs: (context) => ({ ...look(context) }),
    answer: (context) => {
      const { used, limit } = look(context);
      return limit !== null && used >= limit
        ? letGo('exhausted', `The budget of ${limit} ${unit} is spent.`)
        : null;
    },
  };
}

function counter(name: string, what: string, look: (context: StopContext) => Usage): Rule {
  return {
    name,
    asks: `Is the limit of ${what} reached?`,
    inputs: (context) => ({ ...look(context) }),
    answer: (context) => {
      const { used, limit } = look(context);
      return limit !== null && used >= limit
        ? letGo('exhausted', `The limit is reached: ${limit} ${what}.`)
        : null;
    },
  };
}
