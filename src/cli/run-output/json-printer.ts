// A run as NDJSON: one event a line, exactly the fields of the event and the version of the format.
// Nothing is left out, cut or reworded; docs/run-events.md and event-schema.ts describe it.
import { escapeJsonLine } from '../../core/safe-text.ts';
import type { SessionEvent } from '../view/view-event.ts';
import { formatVersion } from './event-schema.ts';

export interface JsonPrinterOptions {
  readonly write: (text: string) => unknown;
}

/** `attach` prints the state of a session as well. */
export function createJsonPrinter({ write }: JsonPrinterOptions): (event: SessionEvent) => void {
  return (event) => {
    const { type, at, sessionId, ...fields } = event;
    const whole = { v: formatVersion, type, at, sessionId, ...fields };
    write(`${escapeJsonLine(JSON.stringify(whole, keepField))}\n`);
  };
}

/** JSON has no undefined: a call without an input says null instead of losing the field. */
function keepField(name: string, value: unknown): unknown {
  return name === 'input' && value === undefined ? null : value;
}
