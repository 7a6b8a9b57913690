// Steps in which no proper answer arrives. Clients show no trace of them afterwards, so each happens once per
// conversation and server (or as often as `times` says), and then the script goes on.
import type { Breakage, FailureKind, ModelFailure } from '../model-reply.ts';
import { repeat } from './flow-steps.ts';
import { oneReply, type Step } from './step.ts';

export interface FailureOptions {
  readonly retryAfterSeconds?: number;
  readonly message?: string;
  readonly body?: unknown;
  readonly times?: number;
}

export interface BreakageOptions {
  /** So many events of the stream arrive before it breaks. */
  readonly afterEvents?: number;
  /** What the model was saying. */
  readonly text?: string;
  readonly times?: number;
}

function kindOf(status: number): FailureKind {
  switch (status) {
    case 401:
      return 'authentication';
    case 403:
      return 'permission';
    case 404:
      return 'unknown-model';
    case 429:
      return 'rate-limit';
    case 503:
    case 529:
      return 'overload';
    default:
      return status >= 500 ? 'server-error' : 'invalid-request';
  }
}

function failing(failure: ModelFailure, times: number): Step {
  const step = oneReply(false, () => ({ finish: 'stop', error: failure }));
  return times === 1 ? step : repeat(times, step);
}

function breaking(kind: Breakage['kind'], options: BreakageOptions, failure?: ModelFailure): Step {
  const { afterEvents = 3, text = 'I am in the middle of a longer answer', times = 1 } = options;
  const breakage: Breakage = { kind, afterEvents, ...(failure ? { failure } : {}) };
  return repeat(
    times,
    oneReply(false, () => ({ text, finish: 'stop', breakage })),
  );
}

/** An HTTP error in the protocol's own shape. */
export function fail(status: number, options: FailureOptions = {}): Step {
  const { times = 1, ...rest } = options;
  return failing({ kind: kindOf(status), status, ...rest }, times);
}

export function rateLimit(retryAfterSeconds: number, options: FailureOptions = {}): Step {
  return fail(429, { ...options, retryAfterSeconds });
}

/** Overload with the status that each provider uses for it (529 or 503). */
export function overload(options: FailureOptions = {}): Step {
  const { times = 1, ...rest } = options;
  return failing({ kind: 'overload', ...rest }, times);
}

/** The conversation no longer fits into the model's window. */
export function contextOverflow(options: FailureOptions = {}): Step {
  const { times = 1, ...rest } = options;
  return failing({ kind: 'context-length', ...rest }, times);
}

/** The connection is cut in mid-stream. */
export function reset(options: BreakageOptions = {}): Step {
  return breaking('reset', options);
}

/** Nothing comes any more, and the connection stays open; with `afterEvents` 0 nothing comes at all. */
export function stall(options: BreakageOptions = {}): Step {
  return breaking('stall', { afterEvents: 0, ...options });
}

/** The stream turns into something that is no JSON. */
export function malformed(options: BreakageOptions = {}): Step {
  return breaking('malformed', options);
}

/** A stream that began well reports overload in an event of its own. */
export function overloadMidStream(options: BreakageOptions = {}): Step {
  return breaking('error-event', options, { kind: 'overload' });
}
