// Describes a session in words: its name (V11), what it is doing, how far its plan is,
// how much of its limits is used (C3, C4). Pure. The same values feed the text and the
// JSON of `status`; text made from them is not safe for a terminal yet.
import type { Decision } from '../core/decision.ts';
import type { Reason } from '../core/rules.ts';
import { visibleLine } from '../core/safe-text.ts';
import type { Settings } from '../core/settings.ts';
import {
  countPlan,
  hadEndedOtherwise,
  isGoalProved,
  libraryHost,
  type Session,
  type State,
  waitingHost,
} from '../core/state.ts';
import type { Todo } from '../core/todo.ts';
import type { SessionProcessState } from '../engine/session-owner.ts';
import type { WorkerView } from '../engine/worker-sessions.ts';
import { hostOf } from '../hosts/hosts.ts';
import { formatAge } from './describe-time.ts';
import { escapeForTerminal, formatCount } from './print.ts';
import {
  continuationName,
  formatClock,
  type Standing,
  standingOf,
  tallyPlan,
} from './show/words.ts';

/**
 * Ids of neighbours begin alike, because they begin with the time; their ends are random.
 */
const shortLength = 6;
/** Ids up to this length are typed in full. */
const longestTyped = 16;

/**
 * The end of an id that people type.
 * @param others ids that must not end in the same letters
 */
export function shortId(id: string, others: readonly string[] = []): string {
  if (id.length <= longestTyped) return escapeForTerminal(id, longestTyped);
  const rivals = others.filter((other) => other !== id);
  let length = shortLength;
  while (length < id.length && rivals.some((other) => other.endsWith(id.slice(-length))))
    length += 1;
  const end = id.slice(-length);
  // A host's id may be any text. An end that looks like an option or a pattern is not
  // used.
  return /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(end) ? end : escapeForTerminal(id, 60);
}

/**
 * `8e34db “migrate the tests to vitest”`. Without a title the whole id, which may say
 * more than its end.
 */
export function nameSession({ id, title }: Pick<Session, 'id' | 'title'>): string {
  return title === null
    ? escapeForTerminal(id, 60)
    : `${shortId(id)} “${escapeForTerminal(title, 60)}”`;
}

/** The session in `--json`: with its whole id. */
export function sessionFields({ id, title }: Pick<Session, 'id' | 'title'>) {
  return { session: id, title };
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
  'not-yet': 'the countdown',
} satisfies Partial<Record<Reason, string>>;

const pauses: Readonly<Record<NonNullable<Session['pause']>['by'], string>> = {
  human: 'paused by you',
  model: 'paused by the agent',
  rejection: 'paused because you said no',
  system: 'paused by untildone',
};

export type DescribedState =
  | ReturnType<typeof describeRecord>
  | ReturnType<typeof describeLostProcess>;
export type StateName = DescribedState['name'];

const describedState = <const Name extends string>(name: Name, words: string) => ({
  name,
  words,
});

/** The states of a session that is in the middle of its work. */
const atWorkStates: ReadonlySet<StateName> = new Set([
  'running',
  'counting-down',
  'waiting',
]);
export const isAtWork = ({ name }: DescribedState): boolean => atWorkStates.has(name);

/**
 * The state of a session in words.
 * @param processState the session's process; null: it is not known, so only the record
 * counts (see `describeCurrentState`)
 */
export function describeState(
  session: Session,
  now: number,
  processState: SessionProcessState | null = null,
): DescribedState {
  const recorded = describeRecord(session, now);
  if (processState === null || processState === 'alive' || !isAtWork(recorded))
    return recorded;
  return describeLostProcess(session, processState);
}

/** No process runs the session any more, although its record says that it is at work. */
function describeLostProcess(
  { id, descriptor: { host, parentId } }: Session,
  processState: SessionProcessState,
) {
  if (host === libraryHost && processState === 'left')
    return describedState(
      'idle',
      'idle: no program has it open; it goes on when one opens it again with this id',
    );
  const resumes = `untildone run --resume ${shortId(parentId ?? id)}`;
  const next =
    host === libraryHost
      ? 'it goes on when a program opens it again with this id'
      : resumes;
  const what =
    processState === 'gone'
      ? 'its process is gone (killed?)'
      : 'no process is at work in it';
  return describedState('gone', `${what}: ${next}`);
}

function describeRecord(session: Session, now: number) {
  const { deleted, descriptor, latch, pause, timer, parked, settled, turn, lastStop } =
    session;
  if (deleted) return describedState('deleted', 'deleted');
  if (latch?.movedTo !== undefined)
    return describedState('latched', `its plan was moved to ${latch.movedTo}`);
  const later = describeLaterHold(session, now);
  if (settled !== null && later !== null)
    return describedState('settled', `ended: ${settled.outcome}; ${later}`);
  if (latch !== null) return describedState('latched', `stopped by you (${latch.how})`);
  const why = pause === null || pause.reason === null ? '' : `: ${pause.reason}`;
  if (pause !== null) return describedState('paused', `${pauses[pause.by]}${why}`);
  const due =
    timer === null
      ? ''
      : `, ${timer.dueAt > now ? formatAge(timer.dueAt, now) : 'overdue'}`;
  if (timer?.purpose === 'resend')
    return describedState('waiting', `waiting to send the continuation again${due}`);
  if (parked?.cause === 'not-yet')
    return describedState('counting-down', `counting down: the agent goes on${due}`);
  if (parked !== null) {
    const cause = causes[parked.cause as keyof typeof causes] ?? parked.cause;
    return describedState('waiting', `waiting for ${cause}${due}`);
  }
  const pending = pendingWait(session);
  if (pending !== null) return describedState('waiting', `waiting for ${pending}`);
  if (settled !== null) return describedState('settled', `ended: ${settled.outcome}`);
  // A worker of our own agent hears no human, so it has no turn, and its one stop is its
  // end.
  if (descriptor.host === 'untildone' && descriptor.parentId !== null && turn === null)
    return lastStop === null
      ? describedState('running', 'running: a worker')
      : describedState('idle', 'idle: the worker has ended');
  if (isWaiting(session))
    return describedState(
      'idle',
      `waiting for your next message in ${hostTitle(descriptor.instance)}`,
    );
  if (isImported(session)) return describedState('idle', 'imported; nobody works on it');
  if (turn === null) return describedState('idle', 'idle: nothing was asked of it yet');
  return turn.ended
    ? describedState('idle', 'idle')
    : describedState('running', `running: turn ${turn.number}`);
}

/**
 * Describes a stop or a pause after the end of the turn, whose outcome stays (V12). Null:
 * there is none.
 */
export function describeLaterHold(session: Session, now: number): string | null {
  const { latch, pause, settled } = session;
  if (settled === null) return null;
  const holds: string[] = [];
  if (latch !== null && hadEndedOtherwise(session, 'aborted'))
    holds.push(`stopped by you since ${formatClock(latch.at, now)} (${latch.how})`);
  if (pause !== null && hadEndedOtherwise(session, 'paused')) {
    const why = pause.reason === null ? '' : ` (${pause.reason})`;
    holds.push(`${pauses[pause.by]} since ${formatClock(pause.at, now)}${why}`);
  }
  return holds.length === 0 ? null : holds.join('; ');
}

/**
 * Whether the session only keeps the plan of a file for `plan import`: no agent ever
 * works in it.
 */
export function isImported({ descriptor }: Pick<Session, 'descriptor'>): boolean {
  return descriptor.host === 'plan-file';
}

/** Whether the session is a plan that waits for a host (V7): no agent works in it yet. */
export function isWaiting({ descriptor }: Pick<Session, 'descriptor'>): boolean {
  return descriptor.host === waitingHost;
}

/** A wait that a hook host let through is not parked, but its cause still counts. */
function pendingWait({ waits }: Session): string | null {
  if (waits.recovering) return causes.recovering;
  if (waits.compacting) return causes.compacting;
  if (waits.permissions.length > 0) return causes['permission-pending'];
  if (waits.questions.length > 0) return causes['question-pending'];
  return null;
}

/** Everything that the session waits for, one line each. */
export function describeWaits(session: Session, now: number): string[] {
  const { waits, jobs, rateLimitedUntil, injection, delegation } = session;
  const openRequests = session.permissions.requests.filter(
    ({ answer }) => answer === null,
  );
  const pending = (amount: number, noun: string): string[] =>
    amount === 0 ? [] : [`${formatCount(amount, noun)} without an answer`];
  const isUnsent = injection?.state === 'intended' || injection?.state === 'sent';
  return [
    ...(waits.recovering ? ['recovering from an error'] : []),
    ...(waits.compacting ? ['compacting the context'] : []),
    ...openRequests.map(
      ({ tool, subject }) =>
        `permission for ${tool}: ${visibleLine(subject)} (\`untildone approve\`)`,
    ),
    ...pending(waits.permissions.length - openRequests.length, 'permission request'),
    ...pending(waits.questions.length, 'question'),
    ...(delegation?.ended === null
      ? [`the worker ${delegation.agentType}, session ${shortId(delegation.workerId)}`]
      : []),
    ...jobs.map(({ kind, description }) => `background ${kind}: ${description}`),
    ...(rateLimitedUntil !== null && rateLimitedUntil > now
      ? [`the provider's limit, reset ${formatAge(rateLimitedUntil, now)}`]
      : []),
    ...(isUnsent
      ? [
          `continuation ${injection.epoch} is ${injection.state} and was not seen in the host yet`,
        ]
      : []),
  ];
}

export function hostTitle(host: string): string {
  if (host === 'untildone') return 'untildone run';
  return hostOf(host)?.title ?? escapeForTerminal(host, 30);
}

/**
 * `Claude Code · build`, `untildone run`, `untildone run with Claude Code`: who works,
 * for a list.
 */
export function describeAgent({
  descriptor: { host, instance, driven },
  agent,
}: Pick<Session, 'descriptor' | 'agent'>): string {
  if (host === 'plan-file') return 'imported plan';
  if (host === waitingHost) return `plan for ${hostTitle(instance)}`;
  if (driven !== undefined) return `untildone run with ${hostTitle(driven.host)}`;
  if (host === 'untildone')
    return `untildone ${escapeForTerminal(agent.name ?? '', 30)}`.trim();
  const title = hostTitle(host);
  return agent.name === null ? title : `${title} · ${escapeForTerminal(agent.name, 30)}`;
}

const kinds: Readonly<Record<Session['descriptor']['kind'], string>> = {
  main: 'its main session',
  subagent: 'a session of a subagent',
  other: 'a session beside the main one',
  unknown: 'a session that it did not describe',
};

/** Says which host runs the session, and how untildone keeps it at work. */
export function describeHost({ descriptor }: Session): string {
  const { host, instance, mode, kind, headless, parentId, driven } = descriptor;
  if (driven !== undefined)
    return `${hostTitle(driven.host)}, which \`untildone run\` drives`;
  if (host === 'plan-file') return 'none: an imported plan';
  if (host === waitingHost)
    return `none: a plan that was moved to ${hostTitle(instance)}`;
  if (host === 'untildone')
    return parentId === null ? 'our own agent' : 'our own agent: a worker';
  const way = mode === 'asked' ? 'it asks before it stops' : 'it is told to go on';
  return `${host}, ${kinds[kind]}; ${way}${headless ? '; nobody is there to answer it' : ''}`;
}

/** @param run the state of the run that started the worker */
export function describeWorker(
  { id, agentType, title, result }: WorkerView,
  run: DescribedState,
): string {
  const todo = title === null ? '' : ` “${escapeForTerminal(title, 80)}”`;
  const unended = run.name === 'gone' ? 'gone with its run' : 'not ended';
  return `${shortId(id)} ${escapeForTerminal(agentType, 40)}: ${result ?? unended}${todo}`;
}

/**
 * How far a todo of this session is proved: passed goal checks cover todos that have no
 * check of their own.
 */
export function standingIn(session: Pick<Session, 'settled' | 'turn'>) {
  const isProved = isGoalProved(session);
  return (todo: Todo): Standing => standingOf(todo, isProved);
}

/**
 * `3 todos: 1 checked · 1 claimed, not checked · 1 open`: the same words as at the end of
 * `run` (V8).
 */
export function describePlan(session: State): string {
  const { plan } = session;
  if (plan.length === 0) return 'no plan';
  const { dropped, failed } = countPlan(plan);
  const remarks = [
    ...(dropped === 0 ? [] : [`${dropped} dropped from the list`]),
    ...(failed === 0 ? [] : [`${failed} with a failed check`]),
  ];
  return `${formatCount(plan.length, 'todo')}: ${[tallyPlan(plan.map(standingIn(session)), '·'), ...remarks].join('; ')}`;
}

/** `may stop: done`, `sent back to work: todos open`, `waits for the checks`. */
export function describeAnswer({
  answer,
  reason,
  outcome,
  textKind,
  observed,
}: Decision): string {
  const sent =
    textKind === null
      ? 'sent back to work'
      : `sent back to work: ${continuationName(textKind)}`;
  const answerWords = {
    continue: sent,
    wait: `waits for ${causes[reason as keyof typeof causes] ?? reason}`,
    // A stop without an outcome was not ours to judge.
    'let-go': outcome === null ? `left alone: ${reason}` : `may stop: ${outcome}`,
  };
  return `${answerWords[answer]}${observed ? ' (only observed: nothing was done)' : ''}`;
}

/**
 * The continuations counted against their limits (G6), and the budgets that are set (G8).
 */
export function describeLimits(
  { counters, usage }: Session,
  settings: Settings,
  now: number,
) {
  const counted = [
    ['maxStagnant', counters.stagnant, 'without progress'],
    ['maxContinuations', counters.continuations, 'since a todo was finished'],
    ['ceiling', counters.total, 'since you last spoke'],
    ['maxTokens', usage.tokens, 'tokens'],
    ['maxCost', usage.cost, 'cost'],
    ['maxMinutes', Math.floor((now - usage.since) / 60_000), 'minutes'],
  ] as const;
  return counted.flatMap(([name, used, words]) => {
    const limit = settings[name];
    return limit === null ? [] : [{ name, used, limit, words }];
  });
}
