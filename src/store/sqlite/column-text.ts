// Text that is compared or read back as a column must come back as it went in, on every runtime. SQLite's text is
// UTF-8, which has no lone surrogates, and drivers disagree about NUL: such text is kept as a JSON string instead.
// JSON columns need none of this: JSON escapes both by itself.

/** A text that begins with a quotation mark is kept as JSON too, so that no two texts share a form. */
const needsEscape = /^"|\0|\p{Surrogate}/u;

export function toColumn(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : text;
}

export function toNullableColumn(text: string | null): string | null {
  return text === null ? null : toColumn(text);
}

export function fromColumn(column: string): string {
  return column.startsWith('"') ? (JSON.parse(column) as string) : column;
}
