// Makes an Event of anything: a line of an inbox, a plugin's object, a test's. What it returns holds only fields
// that the event has; keys it does not know are left behind. It judges shape and size, never whether a plan is good.
import { closestName } from './config/closest-name.ts';
import { excerpt } from './config/excerpt.ts';
import { isObject } from './config/read-value.ts';
import type { Event, EventType } from './events.ts';
import { eventShapes } from './parse-event/event-shapes.ts';
import {
  identifier,
  moment,
  object,
  type Read,
  type Shape,
  type ValueKind,
} from './parse-event/value-kinds.ts';

export type ParsedEvent =
  | { readonly ok: true; readonly event: Event }
  | { readonly ok: false; readonly sentence: string };

const base = { id: identifier, sessionId: identifier, at: moment };

const kinds = new Map<string, ValueKind<object>>(
  Object.entries(eventShapes).map(([type, shape]) => [type, object({ ...base, ...shape } as Shape<object>)]),
);

export function parseEvent(value: unknown): ParsedEvent {
  try {
    return parse(value);
  } catch {
    // Only a getter or proxy of the value can throw here: it is refused like any other value that cannot be read.
    return refuse('An event must be plain data, and this one cannot be read.');
  }
}

function parse(value: unknown): ParsedEvent {
  if (!isObject(value)) return refuse(`An event must be an object, got ${excerpt(value)}.`);
  const type = Object.hasOwn(value, 'type') ? value['type'] : undefined;
  if (typeof type !== 'string') return refuse(`The type of an event must be a text, got ${excerpt(type)}.`);
  const kind = kinds.get(type);
  if (kind === undefined) return refuse(unknownType(type));
  const fields: Read<object> = kind.read(value, '');
  if (!fields.ok) return refuse(`This ${type} event is not valid: ${fields.path} ${fields.problem}.`);
  // The kind was chosen by the type and made from its row of the table.
  return { ok: true, event: { type: type as EventType, ...fields.value } as Event };
}

function refuse(sentence: string): ParsedEvent {
  return { ok: false, sentence };
}

function unknownType(type: string): string {
  const closest = closestName(type, [...kinds.keys()]);
  const sentence = `There is no event of the type ${excerpt(type)}`;
  return closest === null ? `${sentence}.` : `${sentence}; did you mean "${closest}"?`;
}
