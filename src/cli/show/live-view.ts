// The live view on a terminal: takes events, draws the screen with Ink, and turns keys
// into acts (C3). It decides nothing. If it breaks, only the view ends, and its owner
// goes on with plain lines.
import displayWidth from 'fast-string-width';
import {
  Box,
  type Key,
  render,
  renderToString,
  Static,
  Text,
  useInput,
  usePaste,
} from 'ink';
import { Fragment, createElement as h, type ReactElement, type ReactNode } from 'react';
import type { HumanAnswer } from '../../checks/checker.ts';
import { messageOf } from '../../core/error.ts';
import { readApproval } from '../ask-at-terminal.ts';
import type { Io } from '../io.ts';
import { printComplaint } from '../print.ts';
import type { ViewEvent } from './events.ts';
import {
  type Hand,
  type KeyPress,
  namedKeys,
  performKey,
  pressKey,
  type ViewAct,
} from './keys.ts';
import { createLinePrinter, linesOf } from './lines.ts';
import { renderMarkdown } from './markdown.ts';
import { printedOutput, type RunOutput } from './output.ts';
import { createPage, readTerminalStyle } from './page.ts';
import { createState, reduceView, type ViewState } from './state.ts';
import { drawLiving } from './view.ts';

interface LiveViewOptions {
  readonly kind: ViewState['kind'];
  readonly io: Pick<Io, 'clock' | 'env'>;
  readonly hand: Hand;
  /** The view broke and is closed; the terminal is as it was before. */
  readonly onFailure: (error: unknown) => void;
  /** For tests of what happens when drawing fails. */
  readonly draw?: typeof drawLiving;
}

/**
 * Time between two drawings. Drawing more often than ten times a second shows nothing
 * more and costs a core.
 */
const frameMs = 100;
/** The same while only the clock moves. */
const idleMs = 1000;
/**
 * The same in `attach`: watching must not slow the other session down, and a slower
 * spinner is enough.
 */
const attachedMs = 480;

export function openLiveView({
  kind,
  io,
  hand,
  onFailure,
  draw = drawLiving,
}: LiveViewOptions) {
  const { stdin, stdout } = process;
  const { clock } = io;
  const terminalLook = readTerminalStyle({ isTTY: true, env: io.env });
  const page = createPage(terminalLook, 1);
  /** Text that was printed but is not on the screen yet. */
  const printedTexts: string[] = [];
  const takePrinted = (): string => printedTexts.splice(0).join('');
  const write = (text: string): unknown => printedTexts.push(text);
  const printer = createLinePrinter({
    look: terminalLook,
    forView: true,
    render: renderMarkdown,
    write,
  });
  let state = withTerminalSize(createState(kind, clock.now()));
  let drawnState: ViewState | null = null;
  /** Finished lines, several in one text. Lines are only added, never changed. */
  let finished: string[] = [];
  let shownPart: ReactNode = null;
  let isOver = false;
  let closing: Promise<void> | null = null;
  /**
   * The end of a run. It is printed below the view without Ink, because people copy its
   * lines.
   */
  let endText = '';

  function withTerminalSize(before: ViewState): ViewState {
    return reduceView(before, {
      type: 'resized',
      columns: stdout.columns ?? 80,
      rows: stdout.rows ?? 24,
    });
  }

  const drawLivingPart = (): ReactNode => draw(page, state, printer.speech());

  /** Draws again if something changed since the last drawing. */
  function drawFrame(): void {
    const at = clock.now();
    const movingMs = kind === 'attach' ? attachedMs : frameMs;
    const every = isMoving(state) ? movingMs : idleMs;
    if (at - state.now >= every) state = reduceView(state, { type: 'tick', at });
    if (state === drawnState && printedTexts.length === 0) return;
    drawnState = state;
    // Draws before it takes the lines: if drawing fails, lines that were taken would be
    // lost.
    renderScreen(drawLivingPart());
  }

  function renderScreen(part: ReactNode): void {
    const lines = takePrinted();
    // Ink needs only the position of a text that it has printed, so the text is dropped.
    // Ink also leaves out a text without letters, so an empty line gets a space.
    const text = lines.slice(0, -1).replace(/^$/gmu, ' ');
    if (lines !== '') finished = [...finished.map(() => ''), text];
    shownPart = part;
    instance.rerender(h(InkScreen, { finished, living: part, onKey }));
  }

  /**
   * If the view's own code fails, the owner is told once, and the run goes on without the
   * view.
   */
  function runGuarded(work: () => void): void {
    if (isOver) return;
    try {
      work();
    } catch (error) {
      // Safe: the view only shows; the owner prints lines instead.
      fail(error);
    }
  }

  function fail(error: unknown): void {
    closing ??= closeView().then(() => onFailure(error));
  }

  /** Removes the living part and prints every line that is not on the screen yet. */
  async function closeView(): Promise<void> {
    isOver = true;
    clearInterval(frames);
    stdout.off('resize', onResize);
    try {
      renderScreen(null);
      await instance.waitUntilRenderFlush();
      instance.unmount();
      await instance.waitUntilExit();
    } catch {
      // Safe: Ink has failed and closed itself; the text below goes under what Ink drew.
    }
    const rest = takePrinted();
    // Ink leaves an empty line where its frame was, and the summary begins with one.
    stdout.write(rest + (rest === '' ? endText.replace(/^\n/u, '') : endText));
  }

  /**
   * Performs an act of the human. If it is refused or fails, the human sees why and can
   * try again.
   */
  async function carryOut(act: ViewAct): Promise<void> {
    try {
      const refusal = await performKey(hand, act);
      if (typeof refusal === 'string') notice(refusal);
    } catch (error) {
      // Safe: the act did nothing.
      notice(`That could not be done: ${messageOf(error)}`);
    }
  }

  /** Shows a sentence of the view itself among the run's lines. */
  function notice(sentence: string): void {
    emit({ type: 'notice', at: clock.now(), sessionId: state.sessionId ?? '', sentence });
  }

  function onKey(key: KeyPress): void {
    runGuarded(() => {
      const { state: next, acts } = pressKey(state, key, clock.now());
      state = next;
      for (const act of acts) void carryOut(act);
    });
  }

  /**
   * Must run before Ink's own handler: it erases the rows that Ink would leave behind.
   */
  function onResize(): void {
    runGuarded(() => {
      const columns = stdout.columns ?? 80;
      if (columns < state.columns && breaksLines(io.env)) {
        const before = renderToString(h(Fragment, null, shownPart), {
          columns: state.columns,
        });
        stdout.write(
          '\u001b[2K\u001b[1A'.repeat(surplusRows(before.split('\n'), columns)),
        );
      }
      state = withTerminalSize(state);
    });
  }

  stdout.on('resize', onResize);
  const instance = render(h(InkScreen, { finished, living: null, onKey }), {
    stdin,
    stdout,
    exitOnCtrlC: false,
    // If a package writes to the console, the text goes above the living part, not into
    // it.
    patchConsole: true,
    interactive: true,
    incrementalRendering: true,
  });
  instance.waitUntilExit().catch(fail);
  const frames = setInterval(() => runGuarded(drawFrame), frameMs);
  runGuarded(drawFrame);

  function emit(event: ViewEvent): void {
    // Events that arrive while the view closes are still printed.
    if (isOver) printer.print(event);
    runGuarded(() => {
      if (event.type === 'run-ended' && kind === 'run') {
        // Shows the lines before the end where the view was.
        printer.endSpeech();
        renderScreen(shownPart);
        printer.print(event);
        endText = takePrinted();
      } else printer.print(event);
      state = reduceView(state, event);
    });
  }

  return {
    emit,
    notice,
    /**
     * Closes the view; every line that was printed stays in the terminal's scrollback.
     */
    close(): Promise<void> {
      closing ??= closeView();
      return closing;
    },
  };
}

/** Whether a spinner turns. */
function isMoving({ session, wait, outcome, stopping }: ViewState): boolean {
  if (session !== null) return session.state === 'running';
  return outcome === null && wait === null && stopping === 'no';
}

/**
 * Counts the rows that drawn lines take beyond one each after the terminal has broken
 * them at `columns`. Ink does not know about these rows.
 */
export function surplusRows(lines: readonly string[], columns: number): number {
  const rows = (line: string): number =>
    Math.max(1, Math.ceil(displayWidth(line) / Math.max(1, columns)));
  return lines.reduce((surplus, line) => surplus + rows(line) - 1, 0);
}

/**
 * Whether the terminal breaks lines that are too long. xterm and screen cut them off
 * instead: there are no surplus rows, and erasing would remove the agent's text.
 */
export function breaksLines(
  environment: Readonly<Record<string, string | undefined>>,
): boolean {
  if ((environment['XTERM_VERSION'] ?? '') !== '') return false;
  return (
    !(environment['TERM'] ?? '').startsWith('screen') ||
    (environment['TMUX'] ?? '') !== ''
  );
}

type Screen = Readonly<{
  finished: string[];
  living: ReactNode;
  onKey: (key: KeyPress) => void;
}>;

/** The thin layer over Ink: finished lines above, the living part below, keys in. */
function InkScreen({ finished, living, onKey }: Screen): ReactElement {
  useInput((input, key) => keyPresses(input, key).forEach(onKey));
  usePaste((text) => onKey({ name: 'text', text, isControl: false }));
  const children = (lines: string, index: number): ReactElement =>
    h(Text, { key: index }, lines);
  const above = h(Static<string>, { items: finished, children });
  return h(Fragment, null, above, h(Box, { flexDirection: 'column' }, living));
}

/**
 * One press for each key. Letters that arrive together are one text; an Enter among them
 * is a press of its own.
 */
export function keyPresses(input: string, key: Key): KeyPress[] {
  if (key.eventType === 'release') return [];
  const name = namedKeys.find((each) => key[each]);
  if (name !== undefined) return [{ name, text: '', isControl: false }];
  if (key.ctrl || key.meta) return [{ name: 'text', text: input, isControl: true }];
  const parts = input.split(/([\r\n])/u).filter((part) => part !== '');
  return parts.map((text): KeyPress => {
    const isEnter = text === '\r' || text === '\n';
    return {
      name: isEnter ? 'return' : 'text',
      text: isEnter ? '' : text,
      isControl: false,
    };
  });
}

/**
 * Opens the view of a run in this process. If the view breaks, the run goes on and prints
 * lines. Tests replace `open`.
 */
export function openRunView(io: Io, hand: Hand, open = openLiveView): RunOutput {
  let lines: RunOutput | null = null;
  let answerCheck: (answer: HumanAnswer | null) => void = () => {};
  const view = open({
    kind: 'run',
    io,
    hand: { ...hand, reply: ({ text }) => answerCheck(readApproval(text)) },
    onFailure: (error) => {
      lines = printedOutput(io, linesOf(io, renderMarkdown));
      printComplaint(
        io,
        `The live view broke (${messageOf(error)}); the run goes on, in lines.`,
      );
      answerCheck(null);
    },
  });

  return {
    emit(event) {
      (lines ?? view).emit(event);
      // An open question must not delay the stop.
      if (event.type === 'stop-asked') answerCheck(null);
    },
    async ask(question) {
      if (lines !== null || (await io.whyNoHuman()) !== null) return null;
      view.emit({ type: 'check-question', question });
      const answer = await new Promise<HumanAnswer | null>((resolve) => {
        answerCheck = resolve;
      });
      view.emit({ type: 'check-question', question: null });
      return answer;
    },
    complaints: {
      write(text) {
        if (lines !== null) io.stderr.write(text);
        else
          for (const line of text.split('\n')) if (line.trim() !== '') view.notice(line);
      },
    },
    close: () => view.close(),
  };
}
