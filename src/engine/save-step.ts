// Writes what one step changed: rows, ledger links, fingerprints, timer, outbox, usage, decision.
// The session itself is saved once per transaction by the engine.
import type { Event } from '../core/events.ts';
import { type HashFunction, type LedgerDraft, type LedgerEntry, linkEntry } from '../core/ledger.ts';
import type { Session } from '../core/session.ts';
import type { Step } from '../core/step.ts';
import type { StoreTransaction } from './store.ts';

export async function saveStep(
  transaction: StoreTransaction,
  before: Session,
  step: Step,
  event: Event,
  hash: HashFunction,
): Promise<void> {
  const { session, rowChanges, decision } = step;
  if (rowChanges.created.length > 0) await transaction.createTodos(rowChanges.created);
  for (const todo of rowChanges.updated) await transaction.updateTodo(todo);
  if (rowChanges.ledger.length > 0) await saveLedger(transaction, rowChanges.ledger, hash);
  for (const fingerprint of rowChanges.fingerprints) {
    await transaction.addFingerprint(session.id, fingerprint, event.at);
  }
  // A session that is opened in another instance takes what is planned for it along: whoever runs it acts.
  const moved = session.descriptor.instance !== before.descriptor.instance;
  if (session.timer !== before.timer || (moved && session.timer !== null)) {
    await transaction.saveTimer(session.id, session.descriptor.instance, session.timer);
  }
  if (session.injection !== before.injection) await saveInjection(transaction, step, event.at);
  else if (moved) await moveInjection(transaction, session);
  if (event.type === 'usage-reported') {
    const { inputTokens, outputTokens, cost, at } = event;
    const turnId = session.turn?.id ?? null;
    await transaction.addUsage({ sessionId: session.id, turnId, at, inputTokens, outputTokens, cost });
  }
  if (decision !== null) {
    await transaction.addDecision({
      sessionId: session.id,
      turnId: session.turn?.id ?? null,
      eventId: event.id,
      at: event.at,
      policyHash: session.policyHash,
      decision,
    });
  }
}

async function saveLedger(
  transaction: StoreTransaction,
  drafts: readonly LedgerDraft[],
  hash: HashFunction,
): Promise<void> {
  const entries: LedgerEntry[] = [];
  for (const draft of drafts) {
    const last =
      entries.findLast(({ planId }) => planId === draft.planId) ??
      (await transaction.lastLedgerEntry(draft.planId));
    entries.push(linkEntry(draft, last, hash));
  }
  await transaction.addLedgerEntries(entries);
}

async function saveInjection(
  transaction: StoreTransaction,
  { session, commands }: Step,
  at: number,
): Promise<void> {
  const { injection, descriptor } = session;
  if (injection === null) return;
  const text = commands.find((command) => 'text' in command && command.text !== null);
  if (text !== undefined && 'text' in text && text.text !== null) {
    await transaction.saveOutbox({
      sessionId: session.id,
      epoch: injection.epoch,
      instance: descriptor.instance,
      mode: descriptor.mode,
      text: text.text,
      state: injection.state,
      attempts: injection.attempts,
      createdAt: at,
      updatedAt: at,
    });
    return;
  }
  const row = await transaction.outboxRow(session.id, injection.epoch);
  if (row === null) return;
  await transaction.saveOutbox({
    ...row,
    state: injection.state,
    attempts: injection.attempts,
    updatedAt: at,
  });
}

async function moveInjection(
  transaction: StoreTransaction,
  { id, injection, descriptor }: Session,
): Promise<void> {
  const row = injection === null ? null : await transaction.outboxRow(id, injection.epoch);
  if (row?.state === 'intended' || row?.state === 'sent')
    await transaction.saveOutbox({ ...row, instance: descriptor.instance });
}
