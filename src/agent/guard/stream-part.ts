// The parts of a model's stream as far as the guard must know them, described by shape: every AI SDK stream fits,
// and so do parts of the caller's own (loop alarms, notices). It imports no SDK and never changes a part.

export interface PartLike {
  readonly type: string;
}

/** Shown dimmed or not at all, never as an answer: what the model said in an attempt that was sent back. */
export interface HeldBackPart {
  readonly type: 'held-back';
  readonly text: string;
  readonly reason: HeldBackReason;
}
export type HeldBackReason = 'todos-open' | 'duplicate-plan' | 'empty-answer';

/** Written by the guard only when a stream breaks off without such a part of its own. */
export type EndPart =
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'abort'; readonly reason?: string };

/** The model's answer: what a person would take for the result of the turn. */
export function isAnswerPart({ type }: PartLike): boolean {
  return type.startsWith('text-') || type === 'source' || type === 'file';
}

/**
 * From this part on the step cannot be a silent stop: it works with tools, or it broke off. The beginning of a
 * tool's input counts, so that text stays in front of the call that it announces.
 */
export function endsHolding({ type }: PartLike): boolean {
  return type.startsWith('tool-') || type === 'error' || type === 'abort';
}

/** A call that was made, answered, refused or failed; an input that is still being written is none yet. */
export function isToolWork({ type }: PartLike): boolean {
  return type.startsWith('tool-') && !type.startsWith('tool-input-');
}

/** A streaming tool repeats its result until the last one, which alone is not preliminary. */
export function isFinalResult(part: PartLike): boolean {
  return part.type === 'tool-result' && fieldOf(part, 'preliminary') !== true;
}

export function textOf(part: PartLike): string {
  const text = part.type === 'text-delta' ? fieldOf(part, 'text') : undefined;
  return typeof text === 'string' ? text : '';
}

export function finishReasonOf(part: PartLike): string | null {
  const reason = part.type === 'finish' || part.type === 'finish-step' ? fieldOf(part, 'finishReason') : null;
  return typeof reason === 'string' ? reason : null;
}

export function fieldOf(part: object, name: string): unknown {
  return (part as Readonly<Record<string, unknown>>)[name];
}
