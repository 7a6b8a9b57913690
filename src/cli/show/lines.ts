// Prints a run as lines that any terminal and a log can show: no cursor movement, nothing
// redrawn (C3, C4). The live view prints its finished lines here too. Every line of the
// agent stands behind a margin, so that none can pass for a line of ours.
import type { EventOf } from '../../agent/agent-event.ts';
import type { Io } from '../io.ts';
import { callLine, eventLines, isPlanTool, knownCall } from './event-lines.ts';
import type { ViewEvent } from './events.ts';
import {
  cleanLines,
  createPage,
  type Page,
  readTerminalStyle,
  type TerminalStyle,
  wrapText,
} from './page.ts';
import { createState, reduceView } from './state.ts';

export interface LineOptions {
  readonly look: TerminalStyle;
  readonly write: (text: string) => unknown;
  /**
   * A human watches: a call is named when it begins, and its result ends the same line.
   */
  readonly isTTY?: boolean;
  /**
   * The lines stand above the living part of the view, which itself shows the plan, what
   * runs and what is asked.
   */
  readonly forView?: boolean;
  /**
   * Lays out a finished piece of what the agent says. Absent: the text stays as it is.
   */
  readonly render?: RenderSpeech;
}

export type RenderSpeech = (text: string, page: Page, width: number | null) => string[];

/** The indentation of a worker's lines. */
const workerIndent = '  ';
/** A longer paragraph is printed before it is finished. */
const longestSpeech = 3000;

/**
 * Prints events as lines. It holds the agent's text back until a paragraph is finished.
 */
export function createLinePrinter(options: LineOptions) {
  const { look, write, isTTY = false, forView = false, render = plainSpeech } = options;
  const page = createPage(look);
  /** A worker's page is narrower by the indentation. */
  const workerPage = createPage(look, workerIndent.length);
  /**
   * Unfinished text by session. `isGoing`: a paragraph of the same text was printed last.
   */
  const speech = new Map<string, { text: string; isGoing: boolean }>();
  let state = createState('run', 0);
  let runId: string | null = null;
  /** The call whose line is open: begun and not ended. */
  let openCall: string | null = null;

  /** A sentence of the view itself may come before the run's id is known. */
  const isOwn = (sessionId: string): boolean => sessionId === '' || sessionId === runId;

  /** The next text starts a new block. */
  function startNewBlock(): void {
    for (const unfinished of speech.values()) unfinished.isGoing = false;
  }

  function printLines(sessionId: string, lines: readonly string[]): void {
    if (lines.length === 0) return;
    startNewBlock();
    const lead = isOwn(sessionId) ? '' : workerIndent;
    const begun = openCall === null ? '' : '\n';
    openCall = null;
    write(begun + lines.map((line) => `${line === '' ? '' : lead + line}\n`).join(''));
  }

  /**
   * Prints the finished part: whole paragraphs and blocks of code; at the end everything.
   */
  function printSpeech(sessionId: string, isEnd: boolean): void {
    const unfinished = speech.get(sessionId);
    while (unfinished !== undefined) {
      // Removes all blank lines at once: there may be a million of them.
      unfinished.text = unfinished.text.replace(/^(?:[ ]{0,200}\n)+/u, '');
      if (unfinished.text === '') return;
      const [done, rest] =
        isEnd && unfinished.text.length <= longestSpeech
          ? [unfinished.text, '']
          : splitSpeech(unfinished.text);
      if (done === '') return;
      unfinished.text = rest;
      const { width, signs, paint, unicode } = isOwn(sessionId) ? page : workerPage;
      const text = cleanLines(done, unicode).trimEnd();
      if (text === '') continue;
      const margin = paint('dim', signs.margin);
      const lines = render(text, page, width === null ? null : width - 2);
      const { isGoing } = unfinished;
      printLines(sessionId, [
        ...(isGoing ? [margin] : []),
        ...lines.map((line) => `${margin} ${line}`.trimEnd()),
      ]);
      unfinished.isGoing = /\n *\n$/u.test(done);
    }
  }

  function print(event: ViewEvent): void {
    const sessionId = 'sessionId' in event ? event.sessionId : '';
    const sessionPage = isOwn(sessionId) ? page : workerPage;
    if (event.type === 'text') {
      const unfinished = speech.get(sessionId) ?? { text: '', isGoing: false };
      speech.set(sessionId, { ...unfinished, text: unfinished.text + event.text });
      printSpeech(sessionId, false);
      return;
    }
    if (event.type === 'step-started' || event.type === 'run-ended') {
      printSpeech(sessionId, true);
      speech.delete(sessionId);
      const workerId = isOwn(sessionId) ? null : sessionId;
      const lost = state.calls.filter(
        (call) => call.ended === null && call.workerId === workerId,
      );
      if (!forView)
        for (const call of lost)
          printLines(sessionId, [
            `${callLine(sessionPage, call)} ${sessionPage.paint('dim', 'no result')}`,
          ]);
    }
    if (event.type === 'worker-ended') {
      printSpeech(event.workerId, true);
      speech.delete(event.workerId);
    }
    if (event.type === 'tool-started') beginCall(event, sessionPage);
    const lines = eventLines(sessionPage, state, event, forView);
    if (lines.length === 0) return;
    // The line stands above the agent's unfinished text, never inside it.
    if (!(forView && event.type === 'plan-changed')) printSpeech(sessionId, true);
    if (event.type === 'tool-ended' && openCall === event.callId) {
      openCall = null;
      write(
        `${lines.shift()?.slice(callLine(sessionPage, knownCall(state, event)).length)}\n`,
      );
    }
    printLines(sessionId, lines);
  }

  /** If several calls run side by side, only the first gets the open line. */
  function beginCall(
    { sessionId, callId, tool, input }: EventOf<'tool-started'>,
    sessionPage: Page,
  ): void {
    printSpeech(sessionId, true);
    startNewBlock();
    const isBusy = state.calls.some(({ ended }) => ended === null);
    if (!isTTY || forView || isBusy || isPlanTool(tool) || !isOwn(sessionId)) return;
    openCall = callId;
    write(callLine(sessionPage, { tool, input }));
  }

  return {
    print(event: ViewEvent): void {
      if ('sessionId' in event && event.sessionId !== '') runId ??= event.sessionId;
      print(event);
      state = reduceView(state, event);
    },
    /** The agent's unfinished text, for the living part. */
    speech: (): string => speech.get(runId ?? '')?.text ?? '',
    endSpeech: (): void => printSpeech(runId ?? '', true),
  };
}

/** A printer to standard output. */
export function linesOf(io: Io, render: RenderSpeech): (event: ViewEvent) => void {
  const write = (text: string) => io.stdout.write(text);
  return createLinePrinter({
    look: readTerminalStyle(io),
    isTTY: io.isTTY,
    render,
    write,
  }).print;
}

/** Only an artificial block of code begins with a longer mark. */
const longestFence = 20;

/**
 * Splits at the first blank line outside a block of code. A very long paragraph is split
 * where the limit is reached.
 */
function splitSpeech(text: string): readonly [done: string, rest: string] {
  const start = text.slice(0, longestSpeech);
  let fence = '';
  let end = 0;
  for (const line of start.split('\n').slice(0, -1)) {
    end += line.length + 1;
    const [mark = ''] = /^ {0,3}(?:`{3,}|~{3,})/u.exec(line) ?? [];
    if (fence === '') fence = mark.trim();
    else if (mark.trim().startsWith(fence) && line.trim() === mark.trim()) fence = '';
    if (fence === '' && line.trim() === '') return [text.slice(0, end), text.slice(end)];
  }
  if (text.length <= longestSpeech) return ['', text];
  // Splits behind a line or a word, unless that would cut off less than half of the
  // limit.
  const cut = [start.lastIndexOf('\n'), start.lastIndexOf(' ')].find(
    (index) => index > longestSpeech / 2,
  );
  const at =
    cut === undefined
      ? longestSpeech - (/[\ud800-\udbff]$/.test(start) ? 1 : 0)
      : cut + 1;
  // The rest of a block of code is still code.
  const reopened = fence === '' || fence.length > longestFence ? '' : `${fence}\n`;
  return [text.slice(0, at), reopened + text.slice(at)];
}

export const plainSpeech: RenderSpeech = (text, _page, width) =>
  text
    .replace(/\n{3,}/gu, '\n\n')
    .split('\n')
    .flatMap((line) => wrapText(line, width));
