// Replaces the older part of a session's history by a summary (G8, P23). The engine knows while it is done, so that
// nothing is sent meanwhile; watchers are told if it helped.

import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Emit } from '../agent-event.ts';
import type { ContextWindow } from './context-window.ts';
import type { Transcript } from './transcript.ts';

export interface CompactOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly emit: Emit;
  readonly context: ContextWindow;
  readonly signal: () => AbortSignal;
}

export async function compactHistory(options: CompactOptions): Promise<void> {
  const { engine, clock, identifiers, sessionId } = options;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
  await engine.handle({ ...base(), type: 'compaction-started' });
  const { shrunk, before, after } = await options.context.compact(options.signal());
  await engine.handle({ ...base(), type: 'compaction-ended', shrunk });
  if (!shrunk) return;
  options.emit({
    type: 'compacted',
    at: clock.now(),
    sessionId,
    messagesBefore: before,
    messagesAfter: after,
  });
}

/** Before the window is full; what could not be made smaller is left alone until there is more of it. */
export function createCompaction(options: CompactOptions, transcript: Transcript): () => Promise<void> {
  let compactedLength = -1;
  return async () => {
    const { length } = transcript.messages();
    if (!options.context.isCompactionDue() || length === compactedLength) return;
    await compactHistory(options);
    compactedLength = transcript.messages().length;
  };
}
