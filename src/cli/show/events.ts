// The one stream of events that everything on a screen is made of: what a run tells (agent-event.ts), and what only
// `attach` and the view itself can tell. Here too: the stream as NDJSON and its JSON Schema (docs/run-events.md).
import { type AgentEvent, eventFields, todoKind, usageKind } from '../../agent/agent-event.ts';
import { escapeJsonLine } from '../../core/safe-text.ts';
import { type Fields, type JsonSchema, jsonSchema } from '../../core/schema.ts';
import type { StateName } from '../describe-session.ts';

type Seen<Type extends string, Body> = Readonly<{ type: Type; at: number; sessionId: string } & Body>;

/** How a session stands in the store; told whenever that changed (`attach`). */
export type SessionStateSeen = Seen<
  'session-state',
  {
    host: string;
    agent: string | null;
    model: string | null;
    directory: string | null;
    /** The first words of the human; null: none are known. */
    title: string | null;
    state: StateName;
    /** The state as one sentence. */
    words: string;
    /** Everything that holds the session up. */
    waits: readonly string[];
    /** When the countdown or the wait ends by itself; null: nothing counts. */
    until: number | null;
    /** When the running turn began; null: none runs. */
    turnSince: number | null;
  }
>;
/** A check that was begun and will not end (`attach`). */
type CheckCancelled = Seen<'check-cancelled', { check: string; todoId: string | null }>;
/** What was asked for is no longer: the agent was stopped. Nobody said no (`attach`). */
type PermissionWithdrawn = Seen<'permission-withdrawn', { requestId: string }>;

export type SessionEvent = AgentEvent | SessionStateSeen | CheckCancelled | PermissionWithdrawn;

/** What happens to the view itself. */
export type ViewEvent =
  | SessionEvent
  | Readonly<{ type: 'tick'; at: number }>
  | Readonly<{ type: 'resized'; columns: number; rows: number }>
  /** The human's Ctrl-C, as it was understood. */
  | Readonly<{ type: 'stop-asked'; how: 'after-step' | 'now' }>
  /** A check that only a human can answer; null: it was answered or given up. */
  | Readonly<{ type: 'check-question'; question: string | null }>;

/** Rises when a field is taken away or means something else; new fields and events leave it as it is. */
const formatVersion = 1;

/** One event a line, exactly its fields and the version of the format: nothing is left out, cut or reworded. */
export function createJsonPrinter(write: (text: string) => unknown): (event: SessionEvent) => void {
  return ({ type, at, sessionId, ...fields }) => {
    const whole = { v: formatVersion, type, at, sessionId, ...fields };
    write(`${escapeJsonLine(JSON.stringify(whole, keepField))}\n`);
  };
}

/** JSON has no undefined: a call without an input says null instead of losing the field. */
function keepField(name: string, value: unknown): unknown {
  return name === 'input' && value === undefined ? null : value;
}

/** Draft 2020-12, of what `untildone run --json` writes. */
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
