// Parses the text of a configuration file and, where it is no JSON, says in which line and column and why.
// Plain JSON only: comments and trailing commas are refused, by name, instead of being half understood.

export type JsonResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

export function parseJsonText(text: string): JsonResult {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (plain.trim() === '') return { ok: false, message: 'is empty; write {} or remove the file' };
  try {
    return { ok: true, value: JSON.parse(plain) };
  } catch {
    // Safe: the engine's own words differ by runtime and may quote the file, so the place is found again here.
    const fault = findFault(plain);
    if (fault === null) return { ok: false, message: 'is not valid JSON' };
    return { ok: false, message: `is not valid JSON: ${placeOf(plain, fault.offset)}: ${fault.reason}` };
  }
}

interface Fault {
  readonly offset: number;
  readonly reason: string;
}

type Expected = 'value' | 'first value' | 'next value' | 'first key' | 'next key' | 'colon' | 'comma' | 'end';

const tokens = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const blanks = /[ \t\r\n]*/y;

/** A stack of its own instead of recursion: a megabyte of brackets must not overflow ours. */
function findFault(text: string): Fault | null {
  const closers: string[] = [];
  let expected: Expected = 'value';
  let offset = 0;
  const afterValue = (): Expected => (closers.length === 0 ? 'end' : 'comma');
  for (;;) {
    offset = endOfMatch(blanks, text, offset) ?? offset;
    const character = text[offset];
    if (character === undefined) return expected === 'end' ? null : { offset, reason: endsTooEarly };
    const isClosing = character === closers.at(-1);
    if (isClosing && (expected === 'comma' || expected.startsWith('first'))) {
      closers.pop();
      expected = afterValue();
      offset += 1;
    } else if (expected === 'comma' && character === ',') {
      expected = closers.at(-1) === '}' ? 'next key' : 'next value';
      offset += 1;
    } else if (expected === 'colon' && character === ':') {
      expected = 'value';
      offset += 1;
    } else if (expected.endsWith('value') && (character === '{' || character === '[')) {
      closers.push(character === '{' ? '}' : ']');
      expected = character === '{' ? 'first key' : 'first value';
      offset += 1;
    } else if (character === '"' && (expected.endsWith('key') || expected.endsWith('value'))) {
      const end = endOfString(text, offset);
      if (typeof end !== 'number') return end;
      expected = expected.endsWith('key') ? 'colon' : afterValue();
      offset = end;
    } else {
      const end = expected.endsWith('value') ? endOfMatch(tokens, text, offset) : null;
      if (end === null) return { offset, reason: reasonFor(expected, character, isClosing) };
      expected = afterValue();
      offset = end;
    }
  }
}

const endsTooEarly = 'the text ends too early; something was opened and not closed';

function endOfMatch(pattern: RegExp, text: string, offset: number): number | null {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function endOfString(text: string, start: number): number | Fault {
  let offset = start + 1;
  for (;;) {
    const character = text[offset];
    if (character === undefined) return { offset, reason: endsTooEarly };
    if (character === '"') return offset + 1;
    if (character < ' ') return { offset, reason: 'a text must end in the line in which it starts' };
    const end = character === '\\' ? endOfMatch(escapes, text, offset) : offset + 1;
    if (end === null) return { offset, reason: 'this escape is unknown; a backslash itself is written \\\\' };
    offset = end;
  }
}

function reasonFor(expected: Expected, character: string, isClosing: boolean): string {
  if (character === '/' || character === '#') return 'comments are not allowed';
  if (character === "'") return 'texts stand in double quotes';
  if (isClosing && expected.startsWith('next')) return 'a comma too many stands before this bracket';
  switch (expected) {
    case 'first key':
    case 'next key':
      return 'a key in double quotes is expected';
    case 'colon':
      return 'a colon is expected after the key';
    case 'comma':
      return 'a comma or a closing bracket is expected';
    case 'end':
      return 'nothing may follow the configuration';
    default:
      return 'a value is expected';
  }
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}
