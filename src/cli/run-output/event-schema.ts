// The JSON Schema (draft 2020-12) of what `untildone run --json` writes, from the agent's table of events.
import { eventFields, todoKind, usageKind } from '../../agent/agent-event.ts';
import type { Fields } from '../../core/schema.ts';
import { type JsonSchema, jsonSchema } from '../../core/schema.ts';

/** Rises when a field is taken away or means something else; new fields and events leave it as it is. */
export const formatVersion = 1;

export function eventSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'untildone run event',
    description: 'One line of `untildone run --json`.',
    oneOf: Object.entries<Fields>(eventFields).map(([type, fields]) => eventObject(type, fields)),
    $defs: { todo: jsonSchema(todoKind), 'token-usage': jsonSchema(usageKind) },
  };
}

function eventObject(type: string, fields: Fields): JsonSchema {
  const described = Object.entries(fields).map(([name, kind]) => [name, jsonSchema(kind)]);
  const properties = {
    v: { const: formatVersion },
    type: { const: type },
    at: { type: 'integer', description: 'Milliseconds since 1970.' },
    sessionId: { type: 'string' },
    ...Object.fromEntries(described),
  };
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
