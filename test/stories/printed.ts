// A run as the human reads it: the real printer, without colour, on a terminal of 80
// columns or into a file.
import type { AgentEvent } from '../../src/agent/agent-event.ts';
import { createLinePrinter } from '../../src/cli/show/lines.ts';

export function printed(events: readonly AgentEvent[], isTTY: boolean): string {
  let out = '';
  const write = (text: string) => {
    out += text;
  };
  const look = { columns: isTTY ? 80 : null, color: false, unicode: true };
  const { print } = createLinePrinter({ write, isTTY, look });
  for (const event of events) print(event);
  return out;
}
