import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { event, sampleRun } from '../../../test/support/sample-run.ts';
import { type AgentEvent, eventFields, eventSchema } from '../../agent/agent-event.ts';
import type { JsonSchema } from '../../core/schema.ts';
import { createJsonPrinter } from './events.ts';

const schema = eventSchema();
const understood = new Set(
  `$schema $defs $ref title description type const enum anyOf oneOf items minimum
   properties required additionalProperties`.split(/\s+/),
);

/**
 * The part of draft 2020-12 that our schema uses; a keyword that it does not know fails
 * the test.
 */
function accepts(part: JsonSchema, value: unknown): boolean {
  const unknown = Object.keys(part).filter((keyword) => !understood.has(keyword));
  if (unknown.length > 0) throw new Error(`the evaluator lacks ${unknown.join(', ')}`);
  const {
    $ref,
    type,
    const: constant,
    enum: values,
    anyOf,
    oneOf,
    items,
    minimum,
  } = part as Record<string, never>;
  const among = (schemas: readonly JsonSchema[]): number =>
    schemas.filter((each) => accepts(each, value)).length;
  if ($ref !== undefined) return accepts(resolve($ref), value);
  if (type !== undefined && !isOfType(type, value)) return false;
  if (constant !== undefined && constant !== value) return false;
  if (values !== undefined && !(values as unknown[]).includes(value)) return false;
  if (anyOf !== undefined && among(anyOf) === 0) return false;
  if (oneOf !== undefined && among(oneOf) !== 1) return false;
  if (typeof value === 'number' && minimum !== undefined && value < minimum) return false;
  if (Array.isArray(value))
    return items === undefined || value.every((item) => accepts(items, item));
  return typeof value !== 'object' || value === null || acceptsObject(part, value);
}

function resolve(reference: string): JsonSchema {
  const found = (schema['$defs'] as Record<string, JsonSchema>)[
    reference.replace('#/$defs/', '')
  ];
  if (found === undefined) throw new Error(`${reference} leads nowhere`);
  return found;
}

function isOfType(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object')
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function acceptsObject(part: JsonSchema, value: object): boolean {
  const properties = (part['properties'] ?? {}) as Record<string, JsonSchema>;
  const required = (part['required'] ?? []) as readonly string[];
  if (required.some((name) => !Object.hasOwn(value, name))) return false;
  return Object.entries(value).every(([name, inner]) => {
    const known = properties[name];
    return known === undefined
      ? part['additionalProperties'] !== false
      : accepts(known, inner);
  });
}

function lines(): Record<string, unknown>[] {
  const writes: string[] = [];
  const print = createJsonPrinter((text) => writes.push(text));
  for (const event of sampleRun) print(event);
  return writes.map((line) => JSON.parse(line) as Record<string, unknown>);
}

const documentation = readFileSync(
  new URL('../../../docs/run-events.md', import.meta.url),
  'utf8',
);

describe('the schema of the events', () => {
  it('the sample run has every type of event', () => {
    expect(new Set(sampleRun.map(({ type }) => type))).toEqual(
      new Set(Object.keys(eventFields)),
    );
  });

  it.each(lines().map((line) => [line['type'], line] as const))(
    'accepts %s as it is written',
    (_type, line) => {
      expect(accepts(schema, line)).toBe(true);
    },
  );

  it.each(lines().map((line) => [line['type'], line] as const))(
    'refuses %s with a field less, a field more, or another version',
    (_type, line) => {
      for (const name of Object.keys(line)) {
        const { [name]: _left, ...rest } = line;
        expect(accepts(schema, rest), `without ${name}`).toBe(false);
      }
      expect(accepts(schema, { ...line, another: 1 })).toBe(false);
      expect(accepts(schema, { ...line, v: 2 })).toBe(false);
      expect(accepts(schema, { ...line, at: 'now' })).toBe(false);
    },
  );

  it('refuses words that are none of ours', () => {
    const ended = lines().find(({ type }) => type === 'run-ended') ?? {};
    expect(accepts(schema, { ...ended, outcome: 'finished' })).toBe(false);
    expect(
      accepts(schema, { ...ended, continuations: [{ textKind: 'nudge', count: 1 }] }),
    ).toBe(false);
    expect(accepts(schema, { ...ended, steps: -1 })).toBe(false);
  });
});

describe('docs/run-events.md', () => {
  it.each(Object.entries(eventFields))(
    'describes %s with each of its fields',
    (type, fields) => {
      const row =
        documentation.split('\n').find((line) => line.startsWith(`| \`${type}\` |`)) ??
        '';
      const named = [...(row.split(' | ')[1] ?? '').matchAll(/`(\w+)`/g)].map(
        ([, name]) => name,
      );
      expect(named).toEqual(Object.keys(fields));
    },
  );

  it('shows lines that the schema accepts', () => {
    const example = /```ndjson\n([\s\S]*?)```/.exec(documentation)?.[1] ?? '';
    const shown = example.trim().split('\n');
    expect(shown.length).toBeGreaterThan(3);
    for (const line of shown) expect(accepts(schema, JSON.parse(line)), line).toBe(true);
  });

  it('carries the schema of this version', () => {
    const block = /```json\n([\s\S]*?)```/.exec(documentation)?.[1] ?? 'null';
    const current = JSON.stringify(schema, null, 2);
    // The message is what to put there instead.
    expect(JSON.parse(block), current).toEqual(JSON.parse(current));
  });
});

function written(events: readonly AgentEvent[]): string[] {
  const writes: string[] = [];
  const print = createJsonPrinter((text) => writes.push(text));
  for (const each of events) print(each);
  return writes;
}

describe('a run as NDJSON', () => {
  it('has one line for every event, with its fields and the version', () => {
    const lines = written(sampleRun);
    expect(lines).toHaveLength(sampleRun.length);
    for (const [index, line] of lines.entries()) {
      expect(line).toMatch(/^\{[^\n]*\}\n$/);
      expect(JSON.parse(line)).toEqual({ v: 1, ...sampleRun[index] });
    }
  });

  it('starts every line with the same four fields', () => {
    const line = written([event(0, { type: 'notice', sentence: 'x' })]).join('');
    expect(line).toMatch(
      /^\{"v":1,"type":"notice","at":\d+,"sessionId":"0198c7e4","sentence":"x"\}\n$/,
    );
  });

  it('keeps the field of a call without an input', () => {
    const call = event(0, {
      type: 'tool-started',
      callId: '1',
      tool: 'list_jobs',
      input: undefined,
    });
    expect(JSON.parse(written([call]).join(''))).toHaveProperty('input', null);
  });
});
