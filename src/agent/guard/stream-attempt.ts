// Streams one attempt of a guarded step: everything that is not held passes before the next part is pulled, and a
// stream that breaks off ends with a part that says so. It does not know what is decided afterwards.
import type { HoldBack } from './hold-back.ts';
import type { Interruption } from './interruption.ts';
import { ModelStream } from './model-stream.ts';
import type { StepWatch } from './step-watch.ts';
import type { EndPart, PartLike } from './stream-part.ts';

/** One model call and what is known about it. */
export interface Attempt<Part extends PartLike> {
  /** 1 for the first. */
  readonly number: number;
  readonly hold: HoldBack<Part | EndPart>;
  readonly watch: StepWatch<Part | EndPart>;
  /** Told of each part that is held, for whoever shows that something is on its way (C3). */
  readonly onHeld?: ((part: Part | EndPart) => void) | undefined;
  /** Starts the model call. */
  open(): AsyncIterable<Part>;
}

export async function* streamAttempt<Part extends PartLike>(
  { number, hold, watch, onHeld, open }: Attempt<Part>,
  interruption: Interruption,
): AsyncGenerator<Part | EndPart, void, undefined> {
  const stream = new ModelStream(open, interruption);
  try {
    for (;;) {
      const pulled = await stream.pull();
      if (pulled.kind === 'end' || interruption.cancelled) return;
      const part = pulled.kind === 'part' ? pulled.part : endPart(pulled, interruption, watch);
      if (part === null) return;
      // A turn starts once.
      if (number > 1 && part.type === 'start') continue;
      watch.observe(part);
      const passing = hold.take(part);
      if (passing.at(-1) !== part) onHeld?.(part);
      yield* passing;
      if (pulled.kind !== 'part') return;
    }
  } finally {
    stream.close();
  }
}

type BrokenOff = { readonly kind: 'failed'; readonly cause: unknown } | { readonly kind: 'interrupted' };

/** Null when the stream has already said it by itself. */
function endPart<Part extends PartLike>(
  pulled: BrokenOff,
  interruption: Interruption,
  watch: StepWatch<Part>,
): EndPart | null {
  // What a stream throws after the human aborted is the abort, by whatever name.
  if (interruption.requested || pulled.kind === 'interrupted')
    return watch.aborted ? null : abortPart(interruption);
  return watch.error === null ? { type: 'error', error: pulled.cause } : null;
}

export function abortPart({ signal }: Interruption): EndPart {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? { type: 'abort', reason: reason.message } : { type: 'abort' };
}
