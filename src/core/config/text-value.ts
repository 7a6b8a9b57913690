// Turns the text of an environment variable or a flag into the value that a file would hold.
// It never complains: what it cannot read stays text, and the validator says what was expected.

import type { Kind } from './kinds.ts';

const yes: readonly string[] = ['true', '1', 'yes', 'on'];
const no: readonly string[] = ['false', '0', 'no', 'off'];

export function valueFromText(kind: Kind, text: string): unknown {
  const plain = text.trim();
  const word = plain.toLowerCase();
  switch (kind.type) {
    case 'boolean':
      return yes.includes(word) ? true : no.includes(word) ? false : text;
    case 'integer':
    case 'number':
      return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(plain) ? Number(plain) : text;
    case 'choice':
      return plain;
    case 'text':
      return plain;
    case 'nullable':
      return word === 'null' || word === 'none' ? null : valueFromText(kind.of, text);
    case 'list':
      // Brackets allow entries with commas, and the empty list.
      if (plain.startsWith('[')) return valueFromJson(plain);
      return plain.split(',').map((part) => valueFromText(kind.of, part));
    case 'either':
      return plain.startsWith('[') ? valueFromJson(plain) : plain;
    case 'section':
    case 'named':
      return valueFromJson(plain);
  }
}

function valueFromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Safe: the text itself goes on to the validator, which refuses it where a list or an object is expected.
    return text;
  }
}
