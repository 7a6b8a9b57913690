// The JSON Schema (draft 2020-12) of untildone.json, from the table of settings.
// Editors use it; the validator does not: both read the same table and a test holds them together.

import type { Kind } from './kinds.ts';
import { nameKind, reservedNames, textPattern } from './read-value.ts';
import type { Setting } from './setting.ts';
import { settingTable } from './settings.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

export function configSchema(): JsonSchema {
  const properties = Object.entries<Setting>(settingTable).map(([name, setting]) => [
    name,
    { description: setting.summary, ...schemaOf(setting.kind), default: setting.default },
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

function schemaOf(kind: Kind): JsonSchema {
  switch (kind.type) {
    case 'boolean':
      return { type: 'boolean' };
    case 'integer':
    case 'number':
      return { type: kind.type, minimum: kind.minimum, maximum: kind.maximum };
    case 'choice':
      return { type: 'string', enum: kind.values };
    case 'text':
      return { type: 'string', maxLength: kind.maximumLength, pattern: textPattern };
    case 'list':
      return { type: 'array', items: schemaOf(kind.of), maxItems: kind.maximumItems };
    case 'nullable':
      return { anyOf: [schemaOf(kind.of), { type: 'null' }] };
    case 'either':
      return { anyOf: kind.of.map(schemaOf) };
    case 'section': {
      const fields = Object.entries(kind.fields);
      const properties = fields.map(([name, field]) => [
        name,
        { description: field.summary, ...schemaOf(field.kind) },
      ]);
      return { type: 'object', properties: Object.fromEntries(properties), additionalProperties: false };
    }
    case 'named':
      return {
        type: 'object',
        propertyNames: { ...schemaOf(nameKind), not: { enum: reservedNames } },
        additionalProperties: schemaOf(kind.of),
        maxProperties: kind.maximumEntries,
      };
  }
}
