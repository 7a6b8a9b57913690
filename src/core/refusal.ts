// The answer of whatever refuses a request with a sentence: a value, since to be refused is nothing unexpected.

export interface Refusal {
  readonly ok: false;
  readonly error: string;
}

export function refuse(error: string): Refusal {
  return { ok: false, error };
}
