// Parses a configuration file, JSON with comments. If it is none, says where and why, and
// quotes nothing of it.
import { type Refusal, refuse } from './error.ts';

/** Parses JSON with comments; a refusal says in which line and column the fault is. */
export function parseJsonText(text: string): { ok: true; value: unknown } | Refusal {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (plain.trim() === '') return refuse('is empty; write {} or remove the file');
  const bare = plain.replace(stringOrComment, blankComment);
  try {
    return { ok: true, value: JSON.parse(bare) };
  } catch {
    // Safe: the message of the JavaScript engine differs by runtime and may quote the
    // file, so we find the fault ourselves.
    const fault = findFault(bare);
    if (fault === null) return refuse('is not valid JSON');
    const before = plain.slice(0, fault.offset).split('\n');
    const position = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
    return refuse(`is not valid JSON: ${position}: ${fault.reason}`);
  }
}

/**
 * Both match up to their end or that of the text, so that no hostile text is looked
 * through twice.
 */
const stringOrComment = /"(?:[^"\\\n]+|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** Puts blanks in the place of a comment, so that every line and column stays. */
function blankComment(found: string): string {
  const isComment = found.startsWith('//') || /^\/\*[\s\S]*\*\/$/.test(found);
  return isComment ? found.replace(/[^\r\n]/g, ' ') : found;
}

type Fault = Readonly<{ offset: number; reason: string }>;
type Expected =
  | 'value'
  | 'first value'
  | 'next value'
  | 'first key'
  | 'next key'
  | 'colon'
  | 'comma'
  | 'end';

const tokens = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** A text without its closing quote: if anything else follows, that is the fault. */
const strings = /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const blanks = /[ \t\r\n]*/y;

/**
 * Finds the first fault. There is no recursion, because a megabyte of brackets must not
 * overflow our stack.
 */
function findFault(text: string): Fault | null {
  const closers: string[] = [];
  let expected: Expected = 'value';
  let offset = 0;
  const afterValue = (): Expected => (closers.length === 0 ? 'end' : 'comma');
  for (;;) {
    offset = endOfMatch(blanks, text, offset) ?? offset;
    const character = text[offset];
    if (character === undefined)
      return expected === 'end' ? null : { offset, reason: endsTooEarly };
    const isClosing = character === closers.at(-1);
    let end: number | Fault | null = offset + 1;
    if (isClosing && (expected === 'comma' || expected.startsWith('first'))) {
      closers.pop();
      expected = afterValue();
    } else if (expected === 'comma' && character === ',')
      expected = closers.at(-1) === '}' ? 'next key' : 'next value';
    else if (expected === 'colon' && character === ':') expected = 'value';
    else if (expected.endsWith('value') && (character === '{' || character === '[')) {
      closers.push(character === '{' ? '}' : ']');
      expected = character === '{' ? 'first key' : 'first value';
    } else if (
      character === '"' &&
      (expected.endsWith('key') || expected.endsWith('value'))
    ) {
      end = endOfString(text, offset);
      expected = expected.endsWith('key') ? 'colon' : afterValue();
    } else {
      end = expected.endsWith('value') ? endOfMatch(tokens, text, offset) : null;
      if (end === null)
        return { offset, reason: reasonFor(expected, character, isClosing) };
      expected = afterValue();
    }
    if (typeof end !== 'number') return end;
    offset = end;
  }
}

const endsTooEarly = 'the text ends too early; something was opened and not closed';

function endOfMatch(pattern: RegExp, text: string, offset: number): number | null {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function endOfString(text: string, start: number): number | Fault {
  const offset = endOfMatch(strings, text, start) ?? start;
  const character = text[offset];
  if (character === '"') return offset + 1;
  if (character === undefined) return { offset, reason: endsTooEarly };
  if (character < ' ')
    return { offset, reason: 'a text must end in the line in which it starts' };
  return { offset, reason: 'this escape is unknown; a backslash itself is written \\\\' };
}

const reasons: Readonly<Record<string, string>> = {
  key: 'a key in double quotes is expected',
  value: 'a value is expected',
  colon: 'a colon is expected after the key',
  comma: 'a comma or a closing bracket is expected',
  end: 'nothing may follow the configuration',
};

function reasonFor(expected: Expected, character: string, isClosing: boolean): string {
  if (character === '/' || character === '#')
    return 'a comment begins with //, or stands between /* and */';
  if (character === "'") return 'texts must be in double quotes';
  if (isClosing && expected.startsWith('next'))
    return 'there is a comma too many before this bracket';
  return reasons[expected.replace(/^.* /, '')] ?? '';
}
