// No rule answered: the agent goes on. Builds the continuation, counts it in the same transaction, and raises the
// epoch so that nothing can inject twice (G6, V5).
import type { Command } from './commands.ts';
import type { Decision, TextKind } from './decision.ts';
import { noRowChanges, type RowChanges, type Rows } from './rows.ts';
import { dueChallenge } from './rules/plan-rules.ts';
import type { StopContext } from './rules/rule.ts';
import { type Counters, openCount, type Session } from './session.ts';
import { type Step, step } from './step.ts';
import { continuationText } from './texts/continuation-text.ts';
import { pickText } from './texts/pick-text.ts';
import type { Todo } from './todo.ts';

export function continueStop(context: StopContext, rows: Rows): Step {
  const { session, settings, at } = context;
  const kind = pickText(context);
  const level = Math.min(3, session.counters.stagnant + 1);
  const observed = settings.mode === 'observe';
  const epoch = observed ? session.epoch : session.epoch + 1;
  const decision: Decision = {
    answer: 'continue',
    reason: 'continue',
    sentence: describe(kind, level),
    inputs: {
      open: openCount(session.counts),
      stagnant: session.counters.stagnant,
      continuations: session.counters.continuations,
      total: session.counters.total,
      next: rows.next[0]?.title ?? null,
    },
    outcome: null,
    textKind: kind,
    level,
    dueAt: null,
    observed,
    epoch,
  };
  if (observed) return observe(context, decision);
  const text = continuationText(kind, level, context, rows);
  const { rowChanges, named } =
    kind === 'dropped-todos' ? nameDrops(context, rows.dropped) : unnamed(session);
  const counted: Session = {
    ...named,
    // It goes on: what the human says meanwhile joins this turn (T3).
    turn: session.turn === null ? null : { ...session.turn, ended: false },
    epoch,
    counters: countContinuation(session.counters, kind, context.stop),
    challenged: challengedAfter(session, kind),
    loopTold: session.loopTold || kind === 'loop',
    // Alarms from before it was told are forgiven with the telling (P25).
    loopAlarms: kind === 'loop' ? 1 : session.loopAlarms,
    namedJobs: kind === 'background-job' ? session.jobs.map(({ id }) => id) : session.namedJobs,
    toolErrorTodo: kind === 'tool-error' ? (rows.next[0]?.id ?? null) : null,
    compacted: false,
    finalRun:
      kind === 'checks-running' && session.finalRun !== null
        ? { ...session.finalRun, overdue: true }
        : session.finalRun,
    checksOverdue: false,
    rateLimitedUntil: null,
    progress: { ...session.progress, weakCounted: false, planMoved: false, workspaceMoved: false },
    activeSinceAnswer: false,
    lastContinuationAt: at,
    lastStop: context.stop,
    parked: null,
    timer: null,
    settled: null,
    injection: { epoch, state: 'intended', attempts: 0, at },
  };
  const command: Command =
    session.descriptor.mode === 'told'
      ? { type: 'inject', epoch, text }
      : { type: 'answer', answer: 'continue', epoch, text, message: null, dueAt: null };
  return { session: counted, rowChanges, commands: [command], decision };
}

/** C2: recorded, and nothing else; an asked host is answered as if we were not there. */
function observe({ session }: StopContext, decision: Decision): Step {
  const commands: Command[] =
    session.descriptor.mode === 'told'
      ? []
      : [{ type: 'answer', answer: 'let-go', epoch: session.epoch, text: null, message: null, dueAt: null }];
  const ended = session.turn === null ? session : { ...session, turn: { ...session.turn, ended: true } };
  return { ...step(ended, commands), decision };
}

/**
 * Waiting for checks or for a limit of the provider is not the agent's fault, and an output limit is not a lack of
 * progress (G6, G9, P13).
 */
function countContinuation(counters: Counters, kind: TextKind, { end }: StopContext['stop']): Counters {
  const total = counters.total + 1;
  if (kind === 'checks-running' || end === 'error') return { ...counters, total };
  const continuations = counters.continuations + 1;
  if (kind === 'output-limit') return { ...counters, total, continuations };
  return { total, continuations, stagnant: counters.stagnant + 1 };
}

function challengedAfter(session: Session, kind: TextKind): Session['challenged'] {
  const due = kind === 'bulk-claim' ? dueChallenge(session) : null;
  return {
    claims: session.challenged.claims || due === 'claims',
    ends: session.challenged.ends || due === 'ends',
  };
}

function unnamed(session: Session): { rowChanges: RowChanges; named: Session } {
  return { rowChanges: noRowChanges, named: session };
}

function nameDrops(
  { session, at }: StopContext,
  dropped: readonly Todo[],
): { rowChanges: RowChanges; named: Session } {
  const updated = dropped.map((todo) => ({ ...todo, droppedNamedAt: at }));
  const counts = { ...session.counts, unnamedDrops: session.counts.unnamedDrops - updated.length };
  return { rowChanges: { ...noRowChanges, updated }, named: { ...session, counts } };
}

const sentences: Readonly<Record<TextKind, string>> = {
  standard: 'Todos are open and no rule lets the agent stop: it goes on.',
  'output-limit': 'The output limit cut the answer off: the agent takes up the same todo.',
  'iteration-budget': 'Many tool calls were made in a row: the agent takes stock and goes on.',
  loop: 'The agent repeats itself: it is told to try another way.',
  'tool-error': 'The last tool call failed: the agent tries once more.',
  'dropped-todos': 'Todos were left out of the list: they are named and stay open.',
  'bulk-claim': 'Several todos were ended without any work on them: the agent is asked to check each one.',
  'failed-check': 'A check failed: the agent is shown what it printed.',
  'checks-running': 'Checks are still running: the agent is told how to wait for them.',
  'text-question': 'The answer ends in a question: the agent decides by itself or pauses.',
  'empty-answer': 'The answer was empty: the agent is asked again.',
  'background-job': 'A background job runs and other todos are open: the agent works on those.',
  'after-compaction': 'The context was compacted: the plan is given again.',
};

function describe(kind: TextKind, level: number): string {
  return kind === 'standard'
    ? sentences.standard.replace(/\.$/, ` (reminder ${level} of 3).`)
    : sentences[kind];
}
