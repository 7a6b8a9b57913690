import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { configSchema, validateConfig } from './config.ts';
import type { JsonSchema, Kind } from './schema.ts';
import { defaultSettings, settingNames, settingTable } from './settings.ts';

const understood = new Set(
  `$schema title description default type properties additionalProperties propertyNames maxProperties
   enum not anyOf items maxItems minimum maximum maxLength pattern deprecated`.split(
    /\s+/,
  ),
);

/**
 * The part of draft 2020-12 that our schema uses; a keyword that it does not know fails
 * the test.
 */
function accepts(schema: JsonSchema, value: unknown): boolean {
  const unknown = Object.keys(schema).filter((keyword) => !understood.has(keyword));
  if (unknown.length > 0) throw new Error(`the evaluator lacks ${unknown.join(', ')}`);
  const { type, anyOf, not, enum: values } = schema as Record<string, never>;
  if (type !== undefined && !isOfType(type, value)) return false;
  if (values !== undefined && !(values as unknown[]).includes(value)) return false;
  if (
    anyOf !== undefined &&
    !(anyOf as JsonSchema[]).some((inner) => accepts(inner, value))
  )
    return false;
  if (not !== undefined && accepts(not, value)) return false;
  if (typeof value === 'number')
    return (
      value >= bound(schema, 'minimum', -Infinity) && value <= bound(schema, 'maximum')
    );
  if (typeof value === 'string') {
    const pattern = new RegExp((schema['pattern'] as string | undefined) ?? '', 'u');
    return [...value].length <= bound(schema, 'maxLength') && pattern.test(value);
  }
  if (Array.isArray(value)) {
    const items = (schema['items'] ?? {}) as JsonSchema;
    return (
      value.length <= bound(schema, 'maxItems') &&
      value.every((item) => accepts(items, item))
    );
  }
  return typeof value !== 'object' || value === null || acceptsObject(schema, value);
}

function bound(schema: JsonSchema, keyword: string, otherwise = Infinity): number {
  return (schema[keyword] as number | undefined) ?? otherwise;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object')
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function acceptsObject(schema: JsonSchema, value: object): boolean {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  const names = (schema['propertyNames'] ?? {}) as JsonSchema;
  const others = (schema['additionalProperties'] ?? true) as JsonSchema | boolean;
  if (Object.keys(value).length > bound(schema, 'maxProperties')) return false;
  return Object.entries(value).every(([key, inner]) => {
    if (!accepts(names, key)) return false;
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (known !== undefined) return accepts(known, inner);
    return typeof others === 'boolean' ? others : accepts(others, inner);
  });
}

/** Values just outside what a kind allows, and of other kinds. */
function wrongValues(kind: Kind): readonly unknown[] {
  switch (kind.type) {
    case 'boolean':
      return ['true', 1, null, [], {}];
    case 'integer':
      return [
        kind.minimum - 1,
        kind.maximum + 1,
        kind.minimum + 0.5,
        String(kind.minimum),
        true,
        null,
        [],
      ];
    case 'number':
      return [
        kind.minimum - 0.01,
        kind.maximum + 0.01,
        String(kind.minimum),
        false,
        null,
        {},
      ];
    case 'choice':
      return [
        '',
        `${kind.values[0]} `,
        kind.values[0]?.toUpperCase(),
        0,
        null,
        [kind.values[0]],
      ];
    case 'line':
      return ['', ' ', 'a\nb', '\u0000', '\ud800', 'x'.repeat(kind.maximum + 1), 3, null];
    case 'list':
      return [
        'a',
        {},
        null,
        Array(kind.maximum + 1).fill('a'),
        ...wrongValues(kind.of).map((item) => [item]),
      ];
    case 'nullable':
      return wrongValues(kind.of).filter((value) => value !== null);
    case 'either':
      // A text is never a mistaken list: of each kind only what looks like it.
      return kind.of.flatMap((one) =>
        wrongValues(one).filter(
          (value) => (one.type === 'list') === Array.isArray(value) && value !== 'a',
        ),
      );
    case 'section':
      return [
        [],
        null,
        'x',
        { unknown: 1 },
        ...Object.entries(kind.fields).flatMap(([key, field]) =>
          wrongValues(field).map((value) => ({ [key]: value })),
        ),
      ];
    case 'named':
      return [
        [],
        null,
        { ' ': {} },
        { constructor: {} },
        ...wrongValues(kind.of).map((value) => ({ build: value })),
      ];
    default:
      throw new Error(`no setting is a ${kind.type}`);
  }
}

function edgeValues(kind: Kind): readonly unknown[] {
  if (kind.type === 'integer' || kind.type === 'number')
    return [kind.minimum, kind.maximum];
  if (kind.type === 'choice') return kind.values;
  if (kind.type === 'nullable') return [null, ...edgeValues(kind.of)];
  return [];
}

describe('C1: the JSON Schema and the validator', () => {
  const schema = configSchema();

  it.each(settingNames)('both accept the default and the edges of %s', (name) => {
    for (const value of [defaultSettings[name], ...edgeValues(settingTable[name])]) {
      expect([value, accepts(schema, { [name]: value })]).toEqual([value, true]);
      expect([value, validateConfig({ [name]: value }).ok]).toEqual([value, true]);
    }
  });

  it.each(settingNames)('both refuse wrong values of %s', (name) => {
    for (const value of wrongValues(settingTable[name])) {
      expect([value, accepts(schema, { [name]: value })]).toEqual([value, false]);
      expect([value, validateConfig({ [name]: value }).ok]).toEqual([value, false]);
    }
  });

  it.each([
    { unknown: 1 },
    JSON.parse('{"__proto__": 1}'),
    { $schema: 3 },
    [],
    null,
    'x',
  ])('both refuse %j as a whole', (value) => {
    expect(accepts(schema, value)).toBe(false);
    expect(validateConfig(value).ok).toBe(false);
  });

  it('agree about whatever JSON comes in', () => {
    const key = fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom<string>(...settingNames, '$schema') },
      fc.string(),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.integer({ min: -2, max: 200 }),
      fc.boolean(),
      fc.constantFrom('off', 'on'),
    );
    fc.assert(
      fc.property(
        fc.dictionary(
          key,
          fc.oneof(value, fc.dictionary(fc.string(), fc.dictionary(key, value))),
        ),
        (config) => {
          expect(validateConfig(config).ok).toBe(accepts(schema, config));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('say what every setting is for and what it is by default', () => {
    const properties = schema['properties'] as Record<string, JsonSchema>;
    for (const name of settingNames) {
      expect(properties[name]).toMatchObject({
        description: settingTable[name].summary,
        default: defaultSettings[name],
      });
    }
  });

  it('are plain data: the schema survives being written to a file', () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
  });
});
