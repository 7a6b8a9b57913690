// Reading JSON that others sent. An odd shape gives an empty value: a scripted model
// answers odd requests, too.

export type JsonRecord = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads what stands at a path of keys. */
const reader =
  <Value>(read: (found: unknown) => Value) =>
  (value: unknown, ...path: readonly string[]) =>
    read(path.reduce((inner, key) => (isRecord(inner) ? inner[key] : undefined), value));

export const recordOf = reader((found): JsonRecord => (isRecord(found) ? found : {}));
export const recordsOf = reader((found) =>
  Array.isArray(found) ? found.filter(isRecord) : [],
);
export const textOf = reader((found) => (typeof found === 'string' ? found : ''));

/** A string, or a list of parts with a `text`. */
export const contentText = (content: unknown) =>
  textOf(content) || joinTexts(recordsOf(content).map((part) => textOf(part, 'text')));

export const joinTexts = (texts: readonly string[]) =>
  texts.filter((text) => text !== '').join('\n');

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Safe: undefined means "nothing to read".
    return undefined;
  }
}

/** A hostile text must not cost quadratic time. */
const mostAttempts = 32;

/**
 * The first JSON value of a tool result, which hosts and MCP wrap in prose or lists of
 * text parts.
 */
export function jsonWithin(text: string): unknown {
  const start = text.search(/[[{]/);
  let end = start < 0 ? start : text.length;
  for (let attempts = 0; end > start && attempts < mostAttempts; attempts += 1) {
    const value = parseJson(text.slice(start, end));
    if (value !== undefined) return unwrapped(value);
    end = Math.max(text.lastIndexOf('}', end - 2), text.lastIndexOf(']', end - 2)) + 1;
  }
  return undefined;
}

function unwrapped(value: unknown): unknown {
  const { structuredContent, content } = recordOf(value);
  if (isRecord(structuredContent)) return structuredContent;
  const texts = recordsOf(Array.isArray(value) ? value : content).filter(
    ({ type }) => type === 'text',
  );
  return texts.length === 0 ? value : (jsonWithin(contentText(texts)) ?? value);
}

export function keepNewest<Value>(
  map: Map<string, Value>,
  key: string,
  value: Value,
  most: number,
): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) return;
    map.delete(oldest);
  }
}
