// JSON Schema (draft 2020-12) of the kinds of schema.ts, for editors, models and readers of our events.
import { type Kind, linePattern, nameKind, reservedNames, unbounded } from './schema.ts';
import { type Setting, settingTable } from './settings.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

export function jsonSchema(kind: Kind): JsonSchema {
  const { summary, definition } = kind;
  if (definition !== undefined) return { $ref: `#/$defs/${definition}` };
  return { ...(summary === undefined ? {} : { description: summary }), ...shapeSchema(kind) };
}

function shapeSchema(kind: Kind): JsonSchema {
  switch (kind.type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
    case 'number':
      return { type: kind.type, minimum: kind.minimum, ...upTo('maximum', kind.maximum) };
    case 'choice':
      return { type: 'string', enum: kind.values };
    case 'text':
      return {
        type: 'string',
        ...(kind.minimum === 0 ? {} : { minLength: kind.minimum }),
        ...upTo('maxLength', kind.maximum),
      };
    case 'line':
      return { type: 'string', maxLength: kind.maximum, pattern: linePattern };
    case 'list':
      return { type: 'array', items: jsonSchema(kind.of), ...upTo('maxItems', kind.maximum) };
    case 'nullable':
      return { anyOf: [jsonSchema(kind.of), { type: 'null' }] };
    case 'either':
      return { anyOf: kind.of.map(jsonSchema) };
    case 'section':
      return { type: 'object', properties: propertiesOf(kind.fields), additionalProperties: false };
    case 'object':
      return objectSchema(kind.fields, {});
    case 'variant':
      return {
        oneOf: Object.entries(kind.of).map(([word, { fields }]) =>
          objectSchema(fields, { [kind.tag]: { const: word } }),
        ),
      };
    case 'named':
      return {
        type: 'object',
        propertyNames: { ...jsonSchema(nameKind), not: { enum: reservedNames } },
        additionalProperties: jsonSchema(kind.of),
        maxProperties: kind.maximum,
      };
    case 'taken':
      return {};
  }
}

function upTo(keyword: string, maximum: number): JsonSchema {
  return maximum === unbounded ? {} : { [keyword]: maximum };
}

function propertiesOf(fields: Readonly<Record<string, Kind>>): JsonSchema {
  return Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, jsonSchema(kind)]));
}

function objectSchema(fields: Readonly<Record<string, Kind>>, fixed: JsonSchema): JsonSchema {
  const required = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  return {
    type: 'object',
    properties: { ...fixed, ...propertiesOf(fields) },
    required: [...Object.keys(fixed), ...required],
    additionalProperties: false,
  };
}

export function configSchema(): JsonSchema {
  const properties = Object.entries<Setting>(settingTable).map(([name, setting]) => [
    name,
    { ...jsonSchema(setting), default: setting.default },
  ]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'untildone configuration',
    description: 'Settings of untildone for a project (untildone.json) or for a user.',
    type: 'object',
    properties: {
      $schema: { description: 'Address of this schema, for editors.', type: 'string' },
      ...Object.fromEntries(properties),
    },
    additionalProperties: false,
  };
}
