// Turns whatever a call to a model throws or streams into one value (G9): what kind of failure, the same signature
// for the same cause, what to tell the human, whether and when to try again. It performs and decides nothing.
import { type ErrorFacts, errorFacts } from './error-facts.ts';
import { type ErrorKind, errorKind } from './error-kind.ts';
import { errorSentence, isCertificateCode } from './error-sentence.ts';
import { signatureText } from './provider-words.ts';
import type { ModelFacts } from './resolve-model.ts';
import { retryAt } from './retry-at.ts';

export interface ClassifiedError {
  readonly kind: ErrorKind;
  /** Same cause, same text; what opens the circuit. */
  readonly signature: string;
  readonly sentence: string;
  readonly retryable: boolean;
  /** Milliseconds since 1970; null: the provider does not say. */
  readonly retryAt: number | null;
}

export interface ErrorContext {
  readonly now: number;
  readonly about: ModelFacts;
}

/** Takes errors, the `error` of a stream part, and the `reason` of an abort part. */
export function classifyError(error: unknown, { now, about }: ErrorContext): ClassifiedError {
  const facts = errorFacts(error);
  const kind = errorKind(facts);
  const retryable = isRetryable(kind, facts);
  return {
    kind,
    signature: signatureOf(kind, facts),
    sentence: errorSentence(kind, facts, about),
    retryable,
    retryAt: retryable ? retryAt(facts, now) : null,
  };
}

function isRetryable(kind: ErrorKind, { networkCode }: ErrorFacts): boolean {
  switch (kind) {
    case 'rate-limit':
    case 'overload':
    case 'server':
    case 'other':
      return true;
    case 'network':
      return !isCertificateCode(networkCode);
    default:
      return false;
  }
}

function signatureOf(kind: ErrorKind, { status, codes, networkCode, names, message }: ErrorFacts): string {
  // A network's message names ports and addresses; its code alone says what is wrong.
  if (networkCode !== null) return `${kind} ${networkCode}`;
  const which = codes[0] ?? (status === null ? names[0] : undefined);
  const parts = [kind, status === null ? '' : String(status), which ?? '', signatureText(message)];
  return parts.filter((part) => part !== '').join(' ');
}
