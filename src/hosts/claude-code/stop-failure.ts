// Claude Code's names for errors of the provider, by what they mean to us (G9).
import type { ErrorOccurred } from '../../core/events.ts';

const kindOf: Readonly<Record<string, ErrorOccurred['kind']>> = {
  rate_limit: 'rate-limit',
  overloaded: 'overload',
  server_error: 'overload',
  max_output_tokens: 'other',
};

export function errorKind(error: string): ErrorOccurred['kind'] {
  return Object.hasOwn(kindOf, error) ? (kindOf[error] ?? 'other') : 'other';
}
