// Reading JSON that others sent: each function returns a harmless empty value where the shape is not as expected,
// since a scripted model must answer odd requests rather than crash. It validates nothing.

export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function recordsOf(value: unknown): readonly JsonRecord[] {
  return listOf(value).filter(isRecord);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is an ordinary answer here: the caller treats undefined as "nothing to read".
    return undefined;
  }
}

/** The text of a content value that is a string or a list of parts with a `text`. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return recordsOf(content)
    .map((part) => textOf(part['text']))
    .filter((text) => text !== '')
    .join('\n');
}

// Prose after the JSON rarely has more brackets than this; a hostile text must not cost quadratic time.
const MOST_ATTEMPTS = 32;

/** The first JSON value inside a tool result, which hosts and MCP wrap in prose or in lists of text parts. */
export function jsonWithin(text: string): unknown {
  const whole = parseJson(text);
  if (typeof whole === 'object' && whole !== null) return unwrapped(whole);
  const start = text.search(/[[{]/);
  if (start < 0) return undefined;
  let attempts = 0;
  for (let end = text.length; end > start && attempts < MOST_ATTEMPTS; end = lastBracket(text, end - 1)) {
    attempts += 1;
    const value = parseJson(text.slice(start, end));
    if (value !== undefined) return unwrapped(value);
  }
  return undefined;
}

function lastBracket(text: string, before: number): number {
  const at = Math.max(text.lastIndexOf('}', before - 1), text.lastIndexOf(']', before - 1));
  return at < 0 ? 0 : at + 1;
}

function unwrapped(value: unknown): unknown {
  if (isRecord(value) && isRecord(value['structuredContent'])) return value['structuredContent'];
  const parts = Array.isArray(value) ? value : isRecord(value) ? value['content'] : undefined;
  const texts = recordsOf(parts).filter((part) => part['type'] === 'text');
  if (texts.length === 0) return value;
  return jsonWithin(texts.map((part) => textOf(part['text'])).join('\n')) ?? value;
}
