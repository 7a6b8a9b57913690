// A host writes no stream of run events: what its session has in the store (events,
// decisions, checks, evidence, usage) is translated here, and only here, to the same
// events. A host tells less than our own agent does: a tool call of its has a name and an
// end, but no input.
import type { Event, EventOf } from '../core/events.ts';
import { agentPauseSentence } from '../core/rules.ts';
import type { Session } from '../core/state.ts';
import type { Clock, EvidenceRow } from '../engine/host.ts';
import type { Store, StoredDecision, UsageRow } from '../engine/store.ts';
import type { RecordedEvent, StreamReader } from './event-stream.ts';

/** Rows that one question to the store reads at most of what only ever grows. */
const pageSize = 500;
const recentDecisions = 50;
const recentEvidence = 20;

export function createHostReader(sessionId: string, clock: Clock): StreamReader {
  const calls = createCalls();
  const seen = new Set<string>();
  let known: Session | null = null;
  let applied = 0;
  let lastDecision = 0;
  let lastEvidence = 0;
  let checks = new Map<
    string,
    { readonly check: string; readonly todoId: string | null }
  >();

  /** Each once, whether it waits in the inbox or was applied. */
  async function newEvents(store: Store): Promise<Event[]> {
    const found: Event[] = [];
    for (;;) {
      const page = await store.events({ sessionId, after: applied, limit: pageSize });
      found.push(...page.map(({ event }) => event));
      applied = page.at(-1)?.applied ?? applied;
      if (page.length < pageSize) break;
    }
    const waiting = await store.events({ sessionId, waiting: true });
    found.push(...waiting.map(({ event }) => event));
    const fresh = found.filter(({ id }) => !seen.has(id));
    for (const { id } of fresh) seen.add(id);
    return fresh;
  }

  async function newDecisions(
    store: Store,
    { counters }: Session,
  ): Promise<RecordedEvent[]> {
    const recent = await store.decisions(sessionId, recentDecisions);
    const fresh = recent.filter(({ sequence }) => sequence > lastDecision).reverse();
    if (fresh.length === 0) return [];
    lastDecision = recent[0]?.sequence ?? lastDecision;
    const sent = fresh.filter(({ decision }) => decision.answer === 'continue');
    const first = counters.total - sent.length + 1;
    const outbox = await store.outbox({ sessionId });
    return fresh.map((row) => {
      const text = outbox.find(({ epoch }) => epoch === row.decision.epoch)?.text ?? '';
      return decisionEvent(
        row,
        text,
        Math.max(1, first + Math.max(0, sent.indexOf(row))),
      );
    });
  }

  async function newChecks(
    store: Store,
    { descriptor: { directory } }: Session,
  ): Promise<RecordedEvent[]> {
    const active = directory === null ? [] : await store.checkRuns({ directory });
    const evidence = await store.evidence(sessionId, recentEvidence);
    const ended = evidence.filter(({ at }) => at > lastEvidence).reverse();
    lastEvidence = ended.at(-1)?.at ?? lastEvidence;
    const before = checks;
    checks = new Map();
    const begun: RecordedEvent[] = [];
    for (const { id, spec, askers, startedAt, askedAt } of active) {
      const own = askers.filter((asker) => asker.sessionId === sessionId);
      if (own.length === 0) continue;
      // Null stands for the goal and for several todos.
      const about = {
        check: spec.id,
        todoId: own.length === 1 ? (own[0]?.todoId ?? null) : null,
      };
      checks.set(id, about);
      if (!before.has(id))
        begun.push({
          type: 'check-started',
          at: startedAt ?? askedAt,
          sessionId,
          ...about,
        });
    }
    const gone = [...before].filter(([id]) => !checks.has(id));
    const cancelled = gone.map(([, about]): RecordedEvent => {
      // A run that ended has its evidence, of the same moment, told after this.
      const at = ended.find(({ check }) => check === about.check)?.at ?? clock.now();
      return { type: 'check-cancelled', at, sessionId, ...about };
    });
    return [...begun, ...cancelled, ...ended.map(evidenceEvent)];
  }

  return {
    async look(store, session) {
      const fresh = await newEvents(store);
      const found = fresh.flatMap((event) => [...calls(event), ...told(event)]);
      found.push(...(await newChecks(store, session)));
      if (known?.updatedAt !== session.updatedAt || known.epoch !== session.epoch) {
        found.push(...(await newDecisions(store, session)));
        if (session.usage.tokens > 0 && session.usage.tokens !== known?.usage.tokens)
          found.push(usageEvent(await store.usage(sessionId), session));
      }
      known = session;
      return found;
    },
  };
}

/** A call ends the oldest one of its tool that has not ended: hosts give calls no ids. */
function createCalls(): (event: Event) => RecordedEvent[] {
  const running = new Map<string, { readonly id: string; readonly at: number }[]>();
  return (event) => {
    if (event.type !== 'tool-started' && event.type !== 'tool-ended') return [];
    const { id, at, tool, sessionId } = event;
    const [first, ...rest] = running.get(tool) ?? [];
    if (event.type === 'tool-started') {
      running.set(tool, [...(running.get(tool) ?? []), { id, at }]);
      return [{ type: 'tool-started', at, sessionId, callId: id, tool, input: null }];
    }
    running.set(tool, rest);
    const milliseconds = first === undefined ? 0 : Math.max(0, at - first.at);
    const result = { ok: event.error === null, output: event.error ?? '', milliseconds };
    return [
      { type: 'tool-ended', at, sessionId, callId: first?.id ?? id, tool, ...result },
    ];
  };
}

/**
 * What a human would want to read of it; most events show in the state of the session
 * instead.
 */
function told(event: Event): RecordedEvent[] {
  const { at, sessionId } = event;
  const notice = (sentence: string): RecordedEvent[] => [
    { type: 'notice', at, sessionId, sentence },
  ];
  switch (event.type) {
    case 'human-spoke':
      if (event.text === null) return [];
      return [
        { type: 'human-message', at, sessionId, text: event.text, state: 'joined' },
      ];
    case 'human-aborted':
      return notice(`Stopped by the human (${event.how}).`);
    case 'human-paused':
      return notice(
        `Paused by the human${event.reason === null ? '' : `: ${event.reason}`}.`,
      );
    case 'human-resumed':
      return notice('Resumed by the human.');
    case 'model-paused':
      return notice(agentPauseSentence(event));
    case 'loop-alarmed':
      return notice(`The agent is repeating itself: ${event.pattern}`);
    case 'host-cap-reached':
      return notice(`The host takes no more than ${event.cap} continuations in a turn.`);
    case 'wait-started':
      return waitNotice(event.wait).flatMap(notice);
    case 'wait-ended':
      return event.wait.kind === 'background'
        ? notice(`Background work ended: ${event.wait.jobId}`)
        : [];
    case 'delivery-reported':
      return event.news === 'failed'
        ? notice(`A continuation could not be sent: ${event.error}`)
        : [];
    case 'record-broken':
      return notice(event.sentence);
    case 'error-occurred': {
      const { kind, message: sentence, retryAt } = event;
      return [{ type: 'error', at, sessionId, kind, sentence, retryAt }];
    }
    default:
      return [];
  }
}

function waitNotice(wait: EventOf<'wait-started'>['wait']): string[] {
  if (wait.kind === 'question') return ['The agent asks the human something.'];
  if (wait.kind === 'compaction') return ['The context is being compacted.'];
  return wait.kind === 'background'
    ? [`Background ${wait.job.kind} started: ${wait.job.description}`]
    : [];
}

/**
 * `text`: what was sent; empty where it is not known. `number`: continuations since the
 * human spoke.
 */
function decisionEvent(
  { at, sessionId, decision }: StoredDecision,
  text: string,
  number: number,
): RecordedEvent {
  const { answer, reason, sentence, outcome, dueAt } = decision;
  const base = { at, sessionId };
  if (decision.observed)
    return {
      type: 'notice',
      ...base,
      sentence: `Only observed, nothing was done (${answer}): ${sentence}`,
    };
  if (answer === 'wait')
    return { type: 'waiting', ...base, reason, sentence, until: dueAt };
  if (answer === 'let-go') {
    const how = outcome === null ? '' : `, outcome ${outcome}`;
    return { type: 'notice', ...base, sentence: `The agent may stop${how}: ${sentence}` };
  }
  const firmness = {
    textKind: decision.textKind ?? 'standard',
    level: decision.level ?? 1,
  };
  // By the time that it is read here, the agent may have done more of its plan.
  const { open, next, todos } = decision.inputs;
  const left = {
    ...(typeof open === 'number' && { open }),
    ...(typeof todos === 'number' && { total: todos }),
    ...(typeof next === 'string' && { next }),
  };
  return { type: 'continuation', ...base, ...firmness, sentence, text, number, ...left };
}

function usageEvent(
  rows: readonly UsageRow[],
  { id, updatedAt, usage }: Session,
): RecordedEvent {
  const total = totalUsage(rows.filter(({ at }) => at >= usage.since));
  return { type: 'usage', at: updatedAt, sessionId: id, step: total, total };
}

/** A sum with a part whose price is unknown has no price. */
export function totalUsage(rows: readonly UsageRow[]) {
  const sum = (of: (row: UsageRow) => number): number =>
    rows.reduce((total, row) => total + of(row), 0);
  const priced = rows.length > 0 && rows.every(({ cost }) => cost !== null);
  return {
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cachedTokens: 0,
    outputTokens: sum(({ outputTokens }) => outputTokens),
    cost: priced ? sum(({ cost }) => cost ?? 0) : null,
  };
}

function evidenceEvent({
  sessionId,
  at,
  check,
  todoId,
  ...seen
}: EvidenceRow): RecordedEvent {
  const { result, flaky, milliseconds, tail } = seen;
  const sentence = result === 'passed' ? '' : seen.sentence;
  return {
    type: 'check-ended',
    at,
    sessionId,
    check,
    todoId,
    result,
    flaky,
    sentence,
    milliseconds,
    tail,
  };
}
