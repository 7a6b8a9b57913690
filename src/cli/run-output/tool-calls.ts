// Tool calls, folded to one line each: the tool, its most telling argument, whether it worked and how long it took.
// On a terminal the line is begun when the call starts; if something else comes in between it is written anew at the
// end. Outputs are not shown, except the first line of what went wrong.
import type { EventOf } from '../../agent/agent-event.ts';
import { oneLine } from '../../core/safe-text.ts';
import { formatShort, shortWidth } from './describe-amounts.ts';
import { displayWidth } from './display-width.ts';
import type { LineOwner, LineWriter } from './line-writer.ts';
import type { Page } from './page.ts';
import { tellingArgument } from './telling-argument.ts';

export interface ToolCalls {
  started(event: EventOf<'tool-started'>): void;
  ended(event: EventOf<'tool-ended'>): void;
  /** Whether a call has started and not ended. */
  isBusy(): boolean;
  /** The step or the run is over: names the calls that never ended. */
  close(): void;
}

interface OpenCall extends LineOwner {
  readonly line: string;
}

const longestTool = 40;
/** An argument in a log, where no width limits it. */
const longestArgument = 160;

/** `opensLine`: the line of a call is begun when it starts. */
export function createToolCalls(page: Page, writer: LineWriter, opensLine: boolean): ToolCalls {
  const open = new Map<string, OpenCall>();

  return {
    started({ callId, tool, input }) {
      const isFirst = open.size === 0;
      const call = { line: callLine(page, tool, tellingArgument(tool, input)) };
      open.set(callId, call);
      // Of calls that run side by side only the first can have the open line.
      if (opensLine && isFirst) writer.add(call, call.line);
    },
    ended({ callId, tool, ok, output, milliseconds }) {
      const call = open.get(callId);
      open.delete(callId);
      const { signs, paint } = page;
      const sign = ok ? paint('green', signs.ok) : paint('red', signs.failed);
      // Of a call whose start nobody told it is not known how long it took.
      const took =
        call === undefined && milliseconds === 0 ? '' : ` ${paint('dim', formatShort(milliseconds))}`;
      const result = ` ${sign}${took}`;
      if (call !== undefined && writer.isOpenFor(call)) {
        writer.add(call, result);
        writer.endLine();
      } else writer.lines([`${call?.line ?? callLine(page, tool, '')}${result}`]);
      const complaint = ok ? '' : firstLine(output);
      if (complaint !== '')
        writer.lines(page.entry({ mark: '', indent: 4, text: complaint, style: 'red', cut: true }));
    },
    isBusy: () => open.size > 0,
    close() {
      for (const call of open.values()) writer.lines([`${call.line} ${page.paint('dim', 'no result')}`]);
      open.clear();
    },
  };
}

function callLine(page: Page, tool: string, argument: string): string {
  const { signs, width } = page;
  const name = page.clip(tool, longestTool);
  const lead = displayWidth(`${signs.call} ${name} `);
  const tail = Math.max(displayWidth(signs.ok), displayWidth(signs.failed)) + 2 + shortWidth;
  const room = width === null ? longestArgument : Math.max(8, width - lead - tail);
  return `${signs.call} ${page.paint('bold', name)} ${page.clip(argument, room)}`.trimEnd();
}

/** Of a long output only its start is looked at. */
function firstLine(output: string): string {
  const start = output.slice(0, 4000).split(/[\r\n]+/);
  return start.find((line) => oneLine(line, 1) !== '') ?? '';
}
