// Reads the record of a session from the store: its events, its plans and whether their
// history is intact (V4), and what proves what: how each check ended last, on which state
// of the files, and when each todo was worked on. It changes nothing.
import type { Decision, Outcome } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type { Event } from '../core/events.ts';
import { findDamage, type LedgerReport, verifyLedger } from '../core/ledger.ts';
import { type Checks, findCheck, otherNames } from '../core/same-checks.ts';
import { findFailedBefore } from '../core/settlement.ts';
import type { Session, State } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import type { EvidenceRow } from './host.ts';
import { frozenPolicy } from './policy.ts';
import type { Store, StoredDecision } from './store.ts';
import { brokenSeal, sealOf, sha256 } from './system.ts';

/** How many events are read at once: a long session is never in memory as a whole. */
const pageSize = 500;

/** Yields the applied events in their order. */
export async function* recordedEvents(
  store: Store,
  sessionId: string,
): AsyncGenerator<Event> {
  for (let after = 0; ; ) {
    const page = await store.events({ sessionId, after, limit: pageSize });
    yield* page.map(({ event }) => event);
    const last = page.at(-1)?.applied ?? null;
    if (last === null || page.length < pageSize) return;
    after = last;
  }
}

/**
 * The session's plans, oldest first, with the time when each began. A message of the
 * human may begin a new plan, which is named after the turn.
 */
export async function plansOf(
  store: Store,
  session: Session,
): Promise<Map<string, number>> {
  const plans = new Map([[session.id, session.createdAt]]);
  if (session.planId === session.id) return plans;
  for await (const event of recordedEvents(store, session.id))
    if (event.type === 'human-spoke' && !plans.has(event.turnId))
      plans.set(event.turnId, event.at);
    else if (event.type === 'plan-moved') plans.set(event.id, event.at);
  if (!plans.has(session.planId)) plans.set(session.planId, session.createdAt);
  return plans;
}

/**
 * Checks a plan's ledger, and compares the todos and the session with it, as the engine
 * does before `done`.
 */
export async function verifyPlan(
  store: Store,
  plan: string,
  session: State,
): Promise<LedgerReport> {
  try {
    const entries = await store.ledger(plan);
    const chain = verifyLedger(entries, sha256);
    if (!chain.intact) return chain;
    const { recordBroken } = session;
    const todos = await store.todos({ planId: plan });
    const sealed = () =>
      sealOf(session, entries.at(-1)?.hash ?? null, todos.length, sha256);
    const isUnsealed =
      recordBroken === null && plan === session.planId && session.seal !== sealed();
    const sentence = isUnsealed
      ? brokenSeal
      : (recordBroken ?? findDamage(entries, todos, sha256));
    return sentence === null
      ? chain
      : { intact: false, brokenAt: chain.length, sentence };
  } catch (error) {
    // Safe: an unreadable entry is just the kind of damage that is looked for.
    if (!(error instanceof UntildoneError) || error.code !== 'store-corrupt') throw error;
    return { intact: false, brokenAt: 1, sentence: 'an entry cannot be read' };
  }
}

/** How many results are looked through; a long session has thousands. */
const recentEvidence = 2000;

/**
 * How each check ended last until this moment, newest first: once for the goal, and once
 * for each todo that has the check.
 */
async function latestResults(
  store: Store,
  sessionId: string,
  until: number,
  checks?: Checks,
): Promise<EvidenceRow[]> {
  const last = new Map<string, EvidenceRow>();
  for (const row of await store.evidence(sessionId, recentEvidence)) {
    // The row may be older than the human's message that changed the check's id to
    // another of its names.
    const check = findCheck(checks, row.check)?.id ?? row.check;
    const key = JSON.stringify([check, row.todoId]);
    if (row.at <= until && !last.has(key)) last.set(key, { ...row, check });
  }
  return [...last.values()];
}

/**
 * Every check that the session is judged by, also those that never ran. `onFinalState`:
 * the check passed, and it began after the last call that can write, or it saw the files
 * as they are now.
 */
export async function checkStandings(
  store: Store,
  session: State,
  lastWriteAt: number,
  now: number,
) {
  const { plan, work } = session;
  const { goalChecks = [], checks } = (await frozenPolicy(store, session)) ?? {};
  const results = await latestResults(store, session.id, now, checks);
  const tree = work.writesSeen >= work.writes ? work.fingerprint : null;
  const isFinal = ({ at, milliseconds, fingerprint }: EvidenceRow): boolean =>
    at - milliseconds >= lastWriteAt || (tree !== null && fingerprint === tree);
  const known = [
    ...plan.flatMap(({ checks }) => checks),
    ...results.map(({ check }) => check),
  ];
  return [...new Set([...goalChecks, ...known])].map((check) => {
    const rows = results.filter((row) => row.check === check);
    const [row] = rows;
    return {
      check,
      names: otherNames(checks, check),
      goal: goalChecks.includes(check) || rows.some(({ todoId }) => todoId === null),
      todos: plan.filter(({ checks }) => checks.includes(check)).map(({ id }) => id),
      result: row?.result ?? ('not-run' as const),
      at: row?.at ?? null,
      flaky: row?.flaky ?? false,
      onFinalState: row !== undefined && row.result === 'passed' && isFinal(row),
      sentence: row?.sentence ?? '',
      tail: row?.tail ?? '',
      failedBefore:
        row?.result === 'failed' && findFailedBefore(session, [check]).length > 0,
    };
  });
}

/**
 * When each completed todo was worked on: from its start, or from the completion of the
 * one before, until its completion.
 */
export async function workTimes(store: Store, { plan, planId }: State) {
  const completed = new Set(
    plan.filter(({ status }) => status === 'completed').map(({ id }) => id),
  );
  const started = new Map<string, number>();
  const times = new Map<string, Readonly<{ id: string; from: number; to: number }>>();
  let before = 0;
  for (const { change, todoId, at } of await store.ledger(planId)) {
    if (todoId === null || !completed.has(todoId)) continue;
    if (change === 'started') started.set(todoId, at);
    if (change !== 'completed') continue;
    times.set(todoId, { id: todoId, from: started.get(todoId) ?? before, to: at });
    before = at;
  }
  return [...times.values()];
}

/**
 * How the session stands. A skipped or merely observed decision settles nothing: the
 * agent ended by itself, and nobody verified anything.
 */
export function settlementOf(
  state: State,
  last: Decision | null,
): { outcome: Outcome; reason: string } {
  const { settled, plan, lastStop } = state;
  if (settled !== null) return settled;
  if (last === null || (last.answer !== 'let-go' && !last.observed))
    return { outcome: 'failed', reason: 'failed' };
  const { outcome, observed, reason } = last;
  const wasBrokenOff = outcome === 'failed' || outcome === 'aborted';
  if (outcome !== null && (!observed || wasBrokenOff)) return { outcome, reason };
  // The agent claimed nothing, since the model did not answer.
  const hasFailed =
    !observed && ['error', 'refusal', 'content-filter'].includes(lastStop?.end ?? '');
  if (hasFailed) return { outcome: 'failed', reason };
  return { outcome: plan.some(isOpen) ? 'paused' : 'claimed', reason };
}

/** One decision of a session with what it was based on (V6). */
export async function explainDecision(
  store: Store,
  { decision: { answer, observed, epoch }, ...stored }: StoredDecision,
) {
  const outbox =
    answer === 'continue' && !observed
      ? await store.outbox({ sessionId: stored.sessionId })
      : [];
  const results = await latestResults(store, stored.sessionId, stored.at);
  const state = await store.state(stored.sessionId);
  // A later goal has another baseline.
  const isOfThisTurn =
    state !== null && state.turn !== null && state.turn.startedAt <= stored.at;
  return {
    /** The text that went to the agent; null: none did. */
    text: outbox.find((row) => row.epoch === epoch)?.text ?? null,
    /**
     * The checks that had failed by then; each once, even if the goal and several todos
     * asked for it.
     */
    failedChecks: results
      .filter(({ result }) => result !== 'passed')
      .filter(
        ({ check }, index, failed) =>
          failed.findIndex((row) => row.check === check) === index,
      )
      .map(({ check, sentence, tail, at }) => ({
        check,
        sentence,
        tail,
        at,
        /** True: the check had failed before the first call of the model too. */
        failedBefore:
          findFailedBefore(isOfThisTurn ? state : { baseline: null }, [check]).length > 0,
      })),
  };
}

/**
 * The earlier decisions of the same turn that sent the agent back, with their texts,
 * oldest first (V6).
 */
export async function refusalsBefore(
  store: Store,
  session: State,
  { at, sequence }: StoredDecision,
) {
  const since = await findTurnStart(store, session, at);
  const decisions = await store.decisions(session.id, Number.MAX_SAFE_INTEGER);
  const outbox = await store.outbox({ sessionId: session.id });
  return decisions
    .filter((row) => row.sequence < sequence && row.at >= since)
    .filter(({ decision }) => decision.answer === 'continue' && !decision.observed)
    .map(({ decision: { textKind, level, sentence, epoch }, ...row }) => ({
      sequence: row.sequence,
      at: row.at,
      textKind,
      level,
      sentence,
      text: outbox.find((sent) => sent.epoch === epoch)?.text ?? null,
    }))
    .reverse();
}

/**
 * When the turn of this moment began. Of an earlier turn we know only the human's last
 * message before the moment.
 */
async function findTurnStart(
  store: Store,
  { id, turn }: State,
  at: number,
): Promise<number> {
  if (turn !== null && turn.startedAt <= at) return turn.startedAt;
  let since = 0;
  for await (const event of recordedEvents(store, id))
    if (event.type === 'human-spoke' && event.at <= at) since = event.at;
  return since;
}
