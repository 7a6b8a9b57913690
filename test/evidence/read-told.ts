// How a run ended, in the form in which tests say what they expect.
import type { Told } from './stage.ts';

export function told({ ended, code, events }: Told): {
  readonly outcome: string;
  readonly code: number;
  /** The kinds of the continuations, in order. */
  readonly texts: readonly string[];
} {
  const texts = events.flatMap((event) =>
    event.type === 'continuation' ? [event.textKind] : [],
  );
  return { outcome: ended.outcome, code, texts };
}
