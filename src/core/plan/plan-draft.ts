// Collects what one event changes in the plan: rows, counts, ledger entries, refusals and notices for the model.
// Every change of a row goes through put(), so that counts, progress and ledger cannot disagree.
import type { PlanReply, Refusal } from '../commands.ts';
import type { LedgerChange, LedgerDraft } from '../ledger.ts';
import { countProgress } from '../progress.ts';
import type { RowChanges } from '../rows.ts';
import type { Session } from '../session.ts';
import { type Actor, isFinal, type Todo } from '../todo.ts';
import { shiftCounts } from './tally.ts';
import { rowState } from './verify-record.ts';

export interface PlanDraft {
  readonly actor: Actor;
  readonly at: number;
  session(): Session;
  setSession(session: Session): void;
  /** Records the change of a row; `before` null creates it. Returns the row as stored. */
  put(before: Todo | null, after: Todo, change: LedgerChange, detail?: LedgerDraft['detail']): Todo;
  log(change: LedgerChange, todoId: string | null, detail?: LedgerDraft['detail']): void;
  refuse(refusal: Refusal): void;
  notice(sentence: string): void;
  finish(): { session: Session; rowChanges: RowChanges; reply: PlanReply };
}

export function createPlanDraft(start: Session, actor: Actor, at: number): PlanDraft {
  let session = start;
  const created = new Map<string, Todo>();
  const updated = new Map<string, Todo>();
  const ledger: LedgerDraft[] = [];
  const refused: Refusal[] = [];
  const notices: string[] = [];

  function log(change: LedgerChange, todoId: string | null, detail: LedgerDraft['detail'] = {}): void {
    const { planId, id, descriptor } = session;
    ledger.push({ planId, sessionId: id, host: descriptor.host, actor, at, change, todoId, detail });
  }

  return {
    actor,
    at,
    session: () => session,
    setSession: (next) => {
      session = next;
    },
    log,
    refuse: (refusal) => {
      refused.push(refusal);
    },
    notice: (sentence) => {
      notices.push(sentence);
    },
    put(before, after, change, detail) {
      const row = markFirstFinal(session, before, after, at);
      session = { ...session, counts: shiftCounts(session.counts, before, row) };
      session = countRowProgress(session, before, row);
      if (before === null || created.has(row.id)) created.set(row.id, row);
      else updated.set(row.id, row);
      log(change, row.id, { ...detail, state: rowState(row) });
      return row;
    },
    finish() {
      const changed = [...updated.values()];
      const reply: PlanReply = {
        applied: created.size + changed.length > 0,
        duplicate: ledger.some(({ change }) => change === 'duplicate-write'),
        created: [...created.values()],
        changed,
        refused,
        notices,
      };
      return {
        session,
        rowChanges: { created: [...created.values()], updated: changed, ledger, fingerprints: [] },
        reply,
      };
    },
  };
}

/** A completion counts once in a todo's life; one that was added late counts only with work before it (G7, P6). */
function markFirstFinal(session: Session, before: Todo | null, row: Todo, at: number): Todo {
  // It was completed already and did not count then: work that came after it does not make it count now.
  if (before?.status === 'completed' && isFinal(before)) return row;
  if (row.finalAt !== null || row.status !== 'completed' || !isFinal(row)) return row;
  if (row.late && session.work.calls <= row.createdWork) return row;
  return { ...row, finalAt: at };
}

function countRowProgress(session: Session, before: Todo | null, after: Todo): Session {
  const moved: Session = { ...session, progress: { ...session.progress, planMoved: true } };
  if (after.passedAt !== null && (before?.passedAt ?? null) === null)
    return countProgress(moved, 'first-pass');
  if (after.finalAt !== null && (before?.finalAt ?? null) === null)
    return countProgress(moved, 'first-final');
  if (before === null) return countProgress(moved, 'weak');
  const firstStart = before.startedAt === null && after.status === 'in_progress';
  const firstClaim = before.completedAt === null && after.status === 'completed' && before.finalAt === null;
  const claimOfChecked = firstClaim && after.checks.length > 0 && before.verification === 'none';
  return firstStart || claimOfChecked ? countProgress(moved, 'weak') : moved;
}
