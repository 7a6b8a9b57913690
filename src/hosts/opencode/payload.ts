// Reads what the host gives, field by field: nothing of it is trusted to have the shape that it had last time. A value
// of another type counts as missing.

export type Fields = Readonly<Record<string, unknown>>;

export function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Amounts of tokens and money; anything that cannot be counted is none. */
export function amountOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : 0;
}
