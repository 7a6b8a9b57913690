// The conversation of a run, in the store first and in memory second: what is not written down did not happen.
// Keeps only what prompts can still need in memory; the rest stays in the store.
import type { ModelMessage } from 'ai';
import type { Clock } from '../../engine/clock.ts';
import type { Store } from '../../engine/store.ts';
import type { MessageKind, MessageRow } from '../../engine/transcript.ts';
import { markedHistory, transcriptKind } from '../context/synthetic.ts';
import { trimHistory } from '../context/trim-history.ts';

export interface TranscriptMessage {
  readonly kind: MessageKind;
  readonly message: ModelMessage;
}

export interface Transcript {
  /** What the next prompt is made from: everything since the last summary, the summary included. */
  messages(): readonly TranscriptMessage[];
  append(messages: readonly TranscriptMessage[], stepId?: string): Promise<void>;
  /** A summary takes the place of all that came before; the rows themselves stay in the store. */
  replace(messages: readonly TranscriptMessage[]): Promise<void>;
}

export interface TranscriptOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sessionId: string;
  readonly turnId: () => string | null;
  /** Messages that one prompt may hold; memory keeps a few times as many, the store keeps all. */
  readonly maxMessages: number;
}

/** How many prompts' worth of messages stay in memory before the older ones are let go. */
const memoryFactor = 3;

export async function openTranscript(options: TranscriptOptions): Promise<Transcript> {
  const { store, clock, sessionId } = options;
  const rows = await store.read(async (reader) => reader.messages(sessionId, 0));
  let window = afterLastCut(rows).map(fromRow);

  async function write(messages: readonly TranscriptMessage[], cut: boolean, stepId?: string): Promise<void> {
    const at = clock.now();
    const turnId = options.turnId();
    const added = messages.map(({ kind, message }) => ({
      sessionId,
      turnId,
      at,
      kind,
      body: JSON.stringify({ cut: false, message }),
    }));
    const first = added[0];
    if (cut && first !== undefined)
      added[0] = { ...first, body: JSON.stringify({ cut: true, message: messages[0]?.message }) };
    await store.transact(async (transaction) => {
      await transaction.addMessages(added);
      if (stepId !== undefined) await transaction.settleCalls(sessionId, stepId);
    });
  }

  return {
    messages: () => window,
    async append(messages, stepId) {
      await write(messages, false, stepId);
      window = forgetOld([...window, ...messages], options.maxMessages);
    },
    async replace(messages) {
      await write(messages, true);
      window = [...messages];
    },
  };
}

/** What prompts can no longer show need not stay in memory, however long the run. */
function forgetOld(window: TranscriptMessage[], maxMessages: number): TranscriptMessage[] {
  if (window.length <= maxMessages * memoryFactor) return window;
  return trimHistory(markedHistory(window), maxMessages * (memoryFactor - 1)).map((message) => ({
    kind: transcriptKind(message),
    message,
  }));
}

/** A row whose body carries `cut` begins the window anew: everything before it was summarised. */
function afterLastCut(rows: readonly MessageRow[]): readonly MessageRow[] {
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index];
    if (row !== undefined && (JSON.parse(row.body) as { cut: boolean }).cut) return rows.slice(index);
  }
  return rows;
}

function fromRow(row: MessageRow): TranscriptMessage {
  return { kind: row.kind, message: (JSON.parse(row.body) as { message: ModelMessage }).message };
}
