// A run as lines that are readable on any terminal and in a log: no cursor movement,
// nothing redrawn (C3, C4). What is finished in the live view is printed by the same
// lines. What the agent says stands behind a margin on every line, so that it cannot pass
// for a line of ours.
import type { EventOf } from '../../agent/agent-event.ts';
import type { Io } from '../io.ts';
import { callLine, eventLines, isPlanTool, knownCall } from './event-lines.ts';
import type { ViewEvent } from './events.ts';
import { cleanLines, createPage, type Look, lookOf, type Page, wrap } from './page.ts';
import { createState, reduce } from './state.ts';

export interface LineOptions {
  readonly look: Look;
  readonly write: (text: string) => unknown;
  /** Somebody watches: a call is named when it begins, on a line that its result ends. */
  readonly isTTY?: boolean;
  /**
   * Above the living part of the view, which shows the plan, what runs and what is asked
   * by itself.
   */
  readonly forView?: boolean;
  /** Lays out a finished piece of what the agent says; absent: as it is. */
  readonly render?: RenderSpeech;
}

export type RenderSpeech = (text: string, page: Page, width: number | null) => string[];

/** How far in the lines of a worker stand. */
const workerIndent = '  ';
/** More of one paragraph is never held back. */
const longestSpeech = 3000;

export function createLinePrinter(options: LineOptions) {
  const { look, write, isTTY = false, forView = false, render = plainSpeech } = options;
  const page = createPage(look);
  /** A worker has two columns less. */
  const inner = createPage(look, workerIndent.length);
  /** What is being said, by session; `isGoing`: a paragraph of it was printed last. */
  const speech = new Map<string, { text: string; isGoing: boolean }>();
  let state = createState('run', 0);
  let runId: string | null = null;
  /** The call whose line is begun and not ended. */
  let openCall: string | null = null;

  /** What the view itself has to say may come before the run has a name. */
  const isOwn = (sessionId: string): boolean => sessionId === '' || sessionId === runId;

  /** What is said next starts a new block. */
  function interrupt(): void {
    for (const said of speech.values()) said.isGoing = false;
  }

  function put(sessionId: string, lines: readonly string[]): void {
    if (lines.length === 0) return;
    interrupt();
    const lead = isOwn(sessionId) ? '' : workerIndent;
    const begun = openCall === null ? '' : '\n';
    openCall = null;
    write(begun + lines.map((line) => `${line === '' ? '' : lead + line}\n`).join(''));
  }

  /** Prints what of it is finished: whole paragraphs and blocks of code, or all of it. */
  function speak(sessionId: string, isEnd: boolean): void {
    const said = speech.get(sessionId);
    while (said !== undefined) {
      // All blank lines at once: there may be a million of them.
      said.text = said.text.replace(/^(?:[ ]{0,200}\n)+/u, '');
      if (said.text === '') return;
      const [done, rest] =
        isEnd && said.text.length <= longestSpeech
          ? [said.text, '']
          : splitSpeech(said.text);
      if (done === '') return;
      said.text = rest;
      const { width, signs, paint, unicode } = isOwn(sessionId) ? page : inner;
      const text = cleanLines(done, unicode).trimEnd();
      if (text === '') continue;
      const margin = paint('dim', signs.margin);
      const lines = render(text, page, width === null ? null : width - 2);
      const { isGoing } = said;
      put(sessionId, [
        ...(isGoing ? [margin] : []),
        ...lines.map((line) => `${margin} ${line}`.trimEnd()),
      ]);
      said.isGoing = /\n *\n$/u.test(done);
    }
  }

  function print(event: ViewEvent): void {
    const sessionId = 'sessionId' in event ? event.sessionId : '';
    const own = isOwn(sessionId) ? page : inner;
    if (event.type === 'text') {
      const said = speech.get(sessionId) ?? { text: '', isGoing: false };
      speech.set(sessionId, { ...said, text: said.text + event.text });
      speak(sessionId, false);
      return;
    }
    if (event.type === 'step-started' || event.type === 'run-ended') {
      speak(sessionId, true);
      speech.delete(sessionId);
      const workerId = isOwn(sessionId) ? null : sessionId;
      const lost = state.calls.filter(
        (call) => call.ended === null && call.workerId === workerId,
      );
      if (!forView)
        for (const call of lost)
          put(sessionId, [`${callLine(own, call)} ${own.paint('dim', 'no result')}`]);
    }
    if (event.type === 'worker-ended') {
      speak(event.workerId, true);
      speech.delete(event.workerId);
    }
    if (event.type === 'tool-started') beginCall(event, own);
    const lines = eventLines(own, state, event, forView);
    if (lines.length === 0) return;
    // Above what the agent is still saying, never inside it.
    if (!(forView && event.type === 'plan-changed')) speak(sessionId, true);
    if (event.type === 'tool-ended' && openCall === event.callId) {
      openCall = null;
      write(`${lines.shift()?.slice(callLine(own, knownCall(state, event)).length)}\n`);
    }
    put(sessionId, lines);
  }

  /** Of calls that run side by side only the first can have the open line. */
  function beginCall(
    { sessionId, callId, tool, input }: EventOf<'tool-started'>,
    own: Page,
  ): void {
    speak(sessionId, true);
    interrupt();
    const isBusy = state.calls.some(({ ended }) => ended === null);
    if (!isTTY || forView || isBusy || isPlanTool(tool) || !isOwn(sessionId)) return;
    openCall = callId;
    write(callLine(own, { tool, input }));
  }

  return {
    print(event: ViewEvent): void {
      if ('sessionId' in event && event.sessionId !== '') runId ??= event.sessionId;
      print(event);
      state = reduce(state, event);
    },
    /** What the agent is saying and has not finished; for the living part. */
    speech: (): string => speech.get(runId ?? '')?.text ?? '',
    endSpeech: (): void => speak(runId ?? '', true),
  };
}

/** To standard output. */
export function linesOf(io: Io, render: RenderSpeech): (event: ViewEvent) => void {
  const write = (text: string) => io.stdout.write(text);
  return createLinePrinter({ look: lookOf(io), isTTY: io.isTTY, render, write }).print;
}

/** No honest block of code is opened by more. */
const longestFence = 20;

/**
 * Up to the first blank line outside a block of code; of a very long paragraph as much as
 * is ever held back.
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
  // Behind a line or a word, but never so early that no end is in sight.
  const cut = [start.lastIndexOf('\n'), start.lastIndexOf(' ')].find(
    (index) => index > longestSpeech / 2,
  );
  const at =
    cut === undefined
      ? longestSpeech - (/[\ud800-\udbff]$/.test(start) ? 1 : 0)
      : cut + 1;
  // What is left of a block of code is code.
  const reopened = fence === '' || fence.length > longestFence ? '' : `${fence}\n`;
  return [text.slice(0, at), reopened + text.slice(at)];
}

export const plainSpeech: RenderSpeech = (text, _page, width) =>
  text
    .replace(/\n{3,}/gu, '\n\n')
    .split('\n')
    .flatMap((line) => wrap(line, width));
