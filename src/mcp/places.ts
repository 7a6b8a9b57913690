// Where a server process works, one place after the other: a provisional session of its own, then the host's session
// that a receipt bound it to. Kept beside the policies, which are write-once and small: one row per place, not per call.
import type { StoreReader, StoreTransaction } from '../engine/store.ts';

export interface Place {
  readonly sessionId: string;
  /** A session of the server's own, because nobody has told it the host's. */
  readonly provisional: boolean;
}

export interface NumberedPlace extends Place {
  readonly index: number;
}

/** A receipt has four hex digits for the place. */
const mostPlaces = 0x1_0000;

function keyOf(server: string, index: number): string {
  return `mcp server ${server} place ${index}`;
}

export async function readPlace(
  reader: StoreReader,
  server: string,
  index: number,
): Promise<NumberedPlace | null> {
  const text = await reader.policy(keyOf(server, index));
  return text === null ? null : { ...(JSON.parse(text) as Place), index };
}

/** The place where the server works now; `from` is any earlier one. Null: it has made no call yet. */
export async function lastPlace(
  reader: StoreReader,
  server: string,
  from: number,
): Promise<NumberedPlace | null> {
  let last = await readPlace(reader, server, from);
  while (last !== null) {
    const next = await readPlace(reader, server, last.index + 1);
    if (next === null) return last;
    last = next;
  }
  return null;
}

/** The server works there from its next call on. Past the last number it stays where it is. */
export async function addPlace(
  transaction: StoreTransaction,
  server: string,
  index: number,
  { sessionId, provisional }: Place,
): Promise<void> {
  if (index >= mostPlaces) return;
  await transaction.savePolicy(keyOf(server, index), JSON.stringify({ sessionId, provisional }));
}
