// A session in words: what it is doing, how far its plan is, how much of its limits is used (C3, C4).
// Pure. The same values feed the text and the JSON of `status`; text made from them still has to be made safe.

import { planView } from '../agent/agent-event.ts';
import type { Decision } from '../core/decision.ts';
import type { Reason } from '../core/rules.ts';
import { visibleLine } from '../core/safe-text.ts';
import type { Settings } from '../core/settings.ts';
import { countPlan, type Session, type State } from '../core/state.ts';
import type { WorkerView } from '../engine/worker-sessions.ts';
import { hostOf } from '../hosts/hosts.ts';
import { formatAge } from './describe-time.ts';
import { count, shown } from './print.ts';
import { shortId } from './session-name.ts';
import { continuationName, standingNames, standingOf, standings } from './show/words.ts';

export type StateName =
  | 'deleted'
  | 'latched'
  | 'paused'
  | 'counting-down'
  | 'waiting'
  | 'settled'
  | 'idle'
  | 'running';

export interface SessionState {
  readonly name: StateName;
  readonly words: string;
}

/** What a parked stop attempt waits for, by the rule that made it wait. */
const causes = {
  recovering: 'the recovery from an error',
  compacting: 'the compaction of the context',
  'permission-pending': 'your answer to a permission request',
  'question-pending': 'your answer to a question',
  'subagent-at-work': 'a subagent in the background',
  'nothing-open': 'the checks',
  stagnant: 'the checks of what the agent claimed',
  'repeated-question': 'you: the agent asked twice in a row',
  'rate-limited': "the provider's limit to be reset",
} satisfies Partial<Record<Reason, string>>;

const pauses: Readonly<Record<NonNullable<Session['pause']>['by'], string>> = {
  human: 'paused by you',
  model: 'paused by the agent',
  rejection: 'paused because you said no',
  system: 'paused by untildone',
};

export function describeState(session: Session, now: number): SessionState {
  const { latch, pause, timer, parked, settled, turn } = session;
  if (session.deleted) return { name: 'deleted', words: 'deleted' };
  // One that was asked for beneath an agent says so itself.
  const by = latch?.how.includes('beneath') ? 'stopped' : 'stopped by you';
  if (latch !== null) return { name: 'latched', words: `${by} (${latch.how})` };
  if (pause !== null) {
    return {
      name: 'paused',
      words: pause.reason === null ? pauses[pause.by] : `${pauses[pause.by]}: ${pause.reason}`,
    };
  }
  const due = timer === null ? '' : `, ${timer.dueAt > now ? formatAge(timer.dueAt, now) : 'overdue'}`;
  if (timer?.purpose === 'resend')
    return { name: 'waiting', words: `waiting to send the continuation again${due}` };
  if (parked?.cause === 'not-yet')
    return { name: 'counting-down', words: `counting down: the agent goes on${due}` };
  if (parked !== null)
    return {
      name: 'waiting',
      words: `waiting for ${causes[parked.cause as keyof typeof causes] ?? parked.cause}${due}`,
    };
  const pending = pendingWait(session);
  if (pending !== null) return { name: 'waiting', words: `waiting for ${pending}` };
  if (settled !== null) return { name: 'settled', words: `ended: ${settled.outcome}` };
  if (isWorker(session)) return workerState(session);
  if (isImported(session)) return { name: 'idle', words: 'imported; nobody works on it' };
  if (turn === null || turn.ended)
    return { name: 'idle', words: turn === null ? 'idle: nothing was asked of it yet' : 'idle' };
  return { name: 'running', words: `running: turn ${turn.number}` };
}

/** The plan of a file, which `plan import` keeps: no agent is behind it, and none ever will be. */
export function isImported({ descriptor }: Pick<Session, 'descriptor'>): boolean {
  return descriptor.host === 'plan-file';
}

/** A worker of our own agent hears no human, so it has no turn; its one stop is its end. */
function isWorker({ descriptor, turn }: Session): boolean {
  return descriptor.host === 'untildone' && descriptor.parentId !== null && turn === null;
}

function workerState({ lastStop }: Session): SessionState {
  return lastStop === null
    ? { name: 'running', words: 'running: a worker' }
    : { name: 'idle', words: 'idle: the worker has ended' };
}

/** A wait that an asked host let through is not parked; its cause is there all the same. */
function pendingWait({ waits }: Session): string | null {
  if (waits.recovering) return causes.recovering;
  if (waits.compacting) return causes.compacting;
  if (waits.permissions.length > 0) return causes['permission-pending'];
  if (waits.questions.length > 0) return causes['question-pending'];
  return null;
}

/** Everything that holds the session up, one line each. */
export function describeWaits(session: Session, now: number): string[] {
  const { waits, jobs, rateLimitedUntil, injection, delegation } = session;
  const asked = session.permissions?.requests.filter(({ answer }) => answer === null) ?? [];
  const pending = (count: number, noun: string): string[] =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'} without an answer`];
  const unsent = injection?.state === 'intended' || injection?.state === 'sent';
  return [
    ...(waits.recovering ? ['recovering from an error'] : []),
    ...(waits.compacting ? ['compacting the context'] : []),
    ...asked.map(
      ({ tool, subject }) => `permission for ${tool}: ${visibleLine(subject)} (\`untildone approve\`)`,
    ),
    ...pending(waits.permissions.length - asked.length, 'permission request'),
    ...pending(waits.questions.length, 'question'),
    ...(delegation?.ended === null
      ? [`the worker ${delegation.agentType}, session ${shortId(delegation.workerId)}`]
      : []),
    ...jobs.map(({ kind, description }) => `background ${kind}: ${description}`),
    ...(rateLimitedUntil !== null && rateLimitedUntil > now
      ? [`the provider's limit, reset ${formatAge(rateLimitedUntil, now)}`]
      : []),
    ...(unsent
      ? [`continuation ${injection.epoch} is ${injection.state} and was not seen in the host yet`]
      : []),
  ];
}

/** `Claude Code · build`, `untildone run`: who works, for a list. */
export function describeAgent({
  descriptor: { host },
  agent,
}: Pick<Session, 'descriptor' | 'agent'>): string {
  if (host === 'plan-file') return 'imported plan';
  if (host === 'untildone') return `untildone ${shown(agent.name ?? '', 30)}`.trim();
  const title = hostOf(host)?.title ?? shown(host, 30);
  return agent.name === null ? title : `${title} · ${shown(agent.name, 30)}`;
}

const kinds: Readonly<Record<Session['descriptor']['kind'], string>> = {
  main: 'its main session',
  subagent: 'a session of a subagent',
  other: 'a session beside the main one',
  unknown: 'a session that it did not describe',
};

/** Who runs the session, and how it is kept at work. */
export function describeHost({ descriptor }: Session): string {
  const { host, mode, kind, headless, parentId } = descriptor;
  if (host === 'plan-file') return 'none: an imported plan';
  if (host === 'untildone') return parentId === null ? 'our own agent' : 'our own agent: a worker';
  const way = mode === 'asked' ? 'it asks before it stops' : 'it is told to go on';
  return `${host}, ${kinds[kind]}; ${way}${headless ? '; nobody is there to answer it' : ''}`;
}

export function describeWorker({ id, agentType, title, result }: WorkerView): string {
  const todo = title === null ? '' : ` “${shown(title, 80)}”`;
  return `${shortId(id)} ${shown(agentType, 40)}: ${result ?? 'not ended'}${todo}`;
}

/** The checks on the goal passed, so that they cover todos that have no check of their own. */
export function isGoalChecked({ settled }: Pick<Session, 'settled'>): boolean {
  return settled?.outcome === 'done' && settled.reason === 'nothing-open';
}

/** `3 todos: 1 checked · 1 claimed, not checked · 1 open`: what `run` says at its end, everywhere (V8). */
export function describePlan(session: State): string {
  const { todos } = planView(session.plan);
  if (todos.length === 0) return 'no plan';
  const standing = todos.map((todo) => standingOf(todo, isGoalChecked(session)));
  const amounts = [...standings].reverse().flatMap((name) => {
    const amount = standing.filter((each) => each === name).length;
    return amount === 0 ? [] : [`${amount} ${standingNames[name]}`];
  });
  const { dropped, failed } = countPlan(session.plan);
  const remarks = [
    ...(dropped === 0 ? [] : [`${dropped} dropped from the list`]),
    ...(failed === 0 ? [] : [`${failed} with a failed check`]),
  ];
  return `${count(todos.length, 'todo')}: ${[amounts.join(' · '), ...remarks].join('; ')}`;
}

/** `may stop: done`, `sent back to work: todos open`, `waits: permission-pending`. */
export function describeAnswer({ answer, reason, outcome, textKind, observed }: Decision): string {
  const sent = textKind === null ? 'sent back to work' : `sent back to work: ${continuationName(textKind)}`;
  const said = {
    continue: sent,
    wait: `waits: ${reason}`,
    // Without an outcome it was none of our business.
    'let-go': outcome === null ? `left alone: ${reason}` : `may stop: ${outcome}`,
  };
  return `${said[answer]}${observed ? ' (only observed: nothing was done)' : ''}`;
}

export interface Limit {
  readonly name: 'maxStagnant' | 'maxContinuations' | 'ceiling' | 'maxTokens' | 'maxCost' | 'maxMinutes';
  readonly used: number;
  readonly limit: number;
  readonly words: string;
}

/** Continuations counted against their limits (G6), and the budgets that are set (G8). */
export function describeLimits({ counters, usage }: Session, settings: Settings, now: number): Limit[] {
  const budgets = [
    { name: 'maxTokens', used: usage.tokens, limit: settings.maxTokens, words: 'tokens' },
    { name: 'maxCost', used: usage.cost, limit: settings.maxCost, words: 'cost' },
    {
      name: 'maxMinutes',
      used: Math.floor((now - usage.since) / 60_000),
      limit: settings.maxMinutes,
      words: 'minutes',
    },
  ] as const;
  return [
    { name: 'maxStagnant', used: counters.stagnant, limit: settings.maxStagnant, words: 'without progress' },
    {
      name: 'maxContinuations',
      used: counters.continuations,
      limit: settings.maxContinuations,
      words: 'since a todo was finished',
    },
    { name: 'ceiling', used: counters.total, limit: settings.ceiling, words: 'since you last spoke' },
    ...budgets.flatMap((budget) => (budget.limit === null ? [] : [{ ...budget, limit: budget.limit }])),
  ];
}
