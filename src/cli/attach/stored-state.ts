// What is told of the session itself, its plan, its checks, its decisions and what it asks, by comparing what stands
// in the store now with what stood there before.
import { planView } from '../../agent/agent-event.ts';
import type { Session } from '../../core/state.ts';
import type { Todo } from '../../core/todo.ts';
import type { CheckRun, EvidenceRow } from '../../engine/host.ts';
import type { StoredDecision, UsageRow } from '../../engine/store.ts';
import { describeState, describeWaits } from '../describe-session.ts';
import type { SessionEvent, SessionStateSeen } from '../view/view-event.ts';

export function planEvent(todos: readonly Todo[], session: Session): SessionEvent {
  return { type: 'plan-changed', at: session.updatedAt, sessionId: session.id, ...planView(todos) };
}

/** `text`: what was sent; empty where it is not known. `number`: continuations since the human spoke. */
export function decisionEvent(
  { at, sessionId, decision }: StoredDecision,
  text: string,
  number: number,
): SessionEvent {
  const { answer, reason, sentence, textKind, level, dueAt } = decision;
  const base = { at, sessionId };
  if (decision.observed)
    return { type: 'notice', ...base, sentence: `Only observed, nothing was done (${answer}): ${sentence}` };
  if (answer === 'let-go') {
    const how = decision.outcome === null ? '' : `, outcome ${decision.outcome}`;
    return { type: 'notice', ...base, sentence: `The agent may stop${how}: ${sentence}` };
  }
  if (answer === 'wait') return { type: 'waiting', ...base, reason, sentence, until: dueAt };
  return {
    type: 'continuation',
    ...base,
    textKind: textKind ?? 'standard',
    level: level ?? 1,
    sentence,
    text,
    number,
  };
}

export function stateEvent(session: Session, now: number): SessionStateSeen {
  const { descriptor, agent, turn, timer } = session;
  const { name, words } = describeState(session, now);
  return {
    type: 'session-state',
    at: now,
    sessionId: session.id,
    host: descriptor.host,
    agent: agent.name,
    model: agent.model,
    directory: descriptor.directory,
    state: name,
    words: timer === null ? words : words.replace(/, (?:in \d+ \w+|overdue)$/u, ''),
    waits: describeWaits(session, now),
    until: timer?.dueAt ?? null,
    turnSince: turn === null || turn.ended ? null : turn.startedAt,
  };
}

export function usageEvent(rows: readonly UsageRow[], session: Session): SessionEvent {
  const counted = rows.filter(({ at }) => at >= session.usage.since);
  const sum = (of: (row: UsageRow) => number): number => counted.reduce((total, row) => total + of(row), 0);
  const priced = counted.length > 0 && counted.every(({ cost }) => cost !== null);
  const total = {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedTokens: 0,
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: priced ? sum(({ cost }) => cost ?? 0) : null,
  };
  return { type: 'usage', at: session.updatedAt, sessionId: session.id, step: total, total };
}

export function evidenceEvent({ sessionId, at, check, todoId, ...seen }: EvidenceRow): SessionEvent {
  const { result, flaky, milliseconds } = seen;
  const sentence = result === 'passed' ? '' : seen.sentence;
  return { type: 'check-ended', at, sessionId, check, todoId, result, flaky, sentence, milliseconds };
}

/** For whom of this session a run is; undefined: for nobody. Null stands for the goal and for several todos. */
export function askedBy({ askers }: CheckRun, sessionId: string): string | null | undefined {
  const own = askers.filter((asker) => asker.sessionId === sessionId);
  if (own.length === 0) return undefined;
  return own.length === 1 ? (own[0]?.todoId ?? null) : null;
}

/** The worker that a todo was handed to, when it starts and when it ends. */
export function delegationEvents(
  before: Session | null,
  session: Session,
  titleOf: (todoId: string) => string,
): SessionEvent[] {
  const { delegation } = session;
  // One that was over before anyone looked is the past.
  if (delegation === undefined || (before === null && delegation.ended !== null)) return [];
  const { workerId, agentType, todoId, startedAt, ended } = delegation;
  const known = before?.delegation?.workerId === workerId ? before.delegation : null;
  const base = { sessionId: session.id, workerId, agentType, todoId };
  return [
    ...(known === null
      ? [{ type: 'worker-started', ...base, at: startedAt, title: titleOf(todoId) } satisfies SessionEvent]
      : []),
    ...(ended !== null && (known === null || known.ended === null)
      ? [
          {
            type: 'worker-ended',
            ...base,
            at: ended.at,
            result: ended.result,
            sentence: ended.sentence,
            milliseconds: Math.max(0, ended.at - startedAt),
          } satisfies SessionEvent,
        ]
      : []),
  ];
}
