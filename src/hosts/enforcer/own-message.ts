// Tells our own continuations from the human's messages: by the key that went with them, or by the text that the outbox
// has. Never by the marker in the text alone: anyone can write that (E6).
import type { OutboxRow } from '../../engine/store.ts';
import type { EnforcerMessage } from './enforcer-options.ts';

/** The epoch of the continuation that this message is; null: it is not ours. `rows`: the outbox of its session. */
export function findOwn(rows: readonly OutboxRow[], message: EnforcerMessage): number | null {
  if (message.role !== 'user') return null;
  if (message.key !== undefined) return rows.find((row) => keyOf(row) === message.key)?.epoch ?? null;
  const onItsWay = rows.filter(({ state }) => state === 'intended' || state === 'sent');
  // Nothing to compare, and something of ours was just sent: a human who writes in the same moment is rarer.
  if (message.text === undefined) return onItsWay.at(-1)?.epoch ?? null;
  const text = message.text.trim();
  const same = (row: OutboxRow): boolean => row.text.trim() === text;
  return (onItsWay.find(same) ?? rows.findLast(same))?.epoch ?? null;
}

/** Whether the program shows the continuation of this epoch; earlier ones with the same text account for earlier messages. */
export function isShown(
  rows: readonly OutboxRow[],
  epoch: number,
  messages: readonly EnforcerMessage[],
): boolean {
  const row = rows.find((candidate) => candidate.epoch === epoch);
  if (row === undefined) return false;
  const own = messages.filter(({ role }) => role === 'user');
  if (own.some(({ key }) => key === keyOf(row))) return true;
  const text = row.text.trim();
  const shown = own.filter((message) => message.key === undefined && message.text?.trim() === text);
  const earlier = rows.filter(
    (other) => other.epoch < epoch && other.state === 'observed' && other.text.trim() === text,
  );
  return shown.length > earlier.length;
}

function keyOf({ sessionId, epoch }: OutboxRow): string {
  return `${sessionId}:${epoch}`;
}
