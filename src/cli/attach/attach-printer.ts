// A session that runs elsewhere as lines, or as NDJSON: its events as those of a run, and its state when that changed.
import type { Io } from '../io.ts';
import { createPage } from '../run-output/page.ts';
import { createJsonPrinter, createPrinter, lookOf } from '../run-output/run-output.ts';
import type { SessionEvent } from '../view/view-event.ts';

export function createAttachPrinter(io: Io, json: boolean): (event: SessionEvent) => void {
  if (json) return createJsonPrinter({ write: (text) => io.stdout.write(text) });
  const print = createPrinter(io, false);
  const page = createPage(lookOf(io));
  let shown = '';
  return (event) => {
    if (event.type === 'check-cancelled') return;
    if (event.type === 'permission-withdrawn')
      return tell('The permission is no longer asked for; nobody answered.');
    if (event.type !== 'session-state') return print(event);
    const { words, waits, host, agent } = event;
    const text = [`${host}, ${agent ?? 'unknown agent'}: ${words}`, ...waits].join('; ');
    if (text === shown) return;
    shown = text;
    tell(text);
  };

  function tell(text: string): void {
    for (const line of page.entry({ mark: page.signs.notice, markStyle: 'yellow', text })) {
      io.stdout.write(`${line}\n`);
    }
  }
}
