// The live view on a terminal: events in, the screen drawn by Ink, keys out as acts (C3).
// It never decides anything, and a failure of its own ends the view and nothing else:
// whoever opened it goes on with plain lines.
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
import { complain } from '../print.ts';
import type { ViewEvent } from './events.ts';
import {
  type Hand,
  type KeyPress,
  namedKeys,
  perform,
  pressKey,
  type ViewAct,
} from './keys.ts';
import { createLinePrinter, linesOf } from './lines.ts';
import { renderMarkdown } from './markdown.ts';
import { printedOutput, type RunOutput } from './output.ts';
import { createPage, lookOf } from './page.ts';
import { createState, reduce, type ViewState } from './state.ts';
import { drawLiving } from './view.ts';

interface LiveViewOptions {
  readonly kind: ViewState['kind'];
  readonly io: Pick<Io, 'clock' | 'env'>;
  readonly hand: Hand;
  /** The view broke and is gone; the terminal is as it was. */
  readonly onFailure: (error: unknown) => void;
  /** For tests of what happens when drawing fails. */
  readonly draw?: typeof drawLiving;
}

/**
 * Between two drawings: more often than ten times a second shows nothing more and costs a
 * core.
 */
const frameMs = 100;
/** Where nothing moves only the clock does. */
const idleMs = 1000;
/**
 * Whoever looks at another's session shall not be felt: a slower spinner is enough there.
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
  const look = lookOf({ isTTY: true, env: io.env });
  const page = createPage(look, 1);
  /** Printed, and not on the screen yet. */
  const told: string[] = [];
  const taken = (): string => told.splice(0).join('');
  const write = (text: string): unknown => told.push(text);
  const printer = createLinePrinter({
    look,
    forView: true,
    render: renderMarkdown,
    write,
  });
  let state = sized(createState(kind, clock.now()));
  let drawn: ViewState | null = null;
  /** Finished lines, several in one text; only ever added to. */
  let finished: string[] = [];
  let shown: ReactNode = null;
  let isOver = false;
  let leaving: Promise<void> | null = null;
  /**
   * The end of a run is printed below what the view showed, as it is: its lines are there
   * to be copied.
   */
  let afterwards = '';

  function sized(before: ViewState): ViewState {
    return reduce(before, {
      type: 'resized',
      columns: stdout.columns ?? 80,
      rows: stdout.rows ?? 24,
    });
  }

  const living = (): ReactNode => draw(page, state, printer.speech());

  /** Draws what changed since the last one. */
  function frame(): void {
    const at = clock.now();
    const movingMs = kind === 'attach' ? attachedMs : frameMs;
    const every = isMoving(state) ? movingMs : idleMs;
    if (at - state.now >= every) state = reduce(state, { type: 'tick', at });
    if (state === drawn && told.length === 0) return;
    drawn = state;
    // Drawn first, because it may fail: lines that were taken and not shown would be
    // lost.
    show(living());
  }

  function show(part: ReactNode): void {
    const lines = taken();
    // What was printed is not needed again: only its place in the list is. Ink leaves out
    // a text without letters, and with it the empty line.
    const text = lines.slice(0, -1).replace(/^$/gmu, ' ');
    if (lines !== '') finished = [...finished.map(() => ''), text];
    shown = part;
    instance.rerender(h(InkScreen, { finished, living: part, onKey }));
  }

  /**
   * Whatever goes wrong in here is told to the owner once, and the run goes on without
   * the view.
   */
  function guarded(work: () => void): void {
    if (isOver) return;
    try {
      work();
    } catch (error) {
      // Safe: the view only shows; the owner prints lines instead.
      fail(error);
    }
  }

  function fail(error: unknown): void {
    leaving ??= leave().then(() => onFailure(error));
  }

  /** Takes the living part away and prints what was told and not shown yet. */
  async function leave(): Promise<void> {
    isOver = true;
    clearInterval(frames);
    stdout.off('resize', onResize);
    try {
      show(null);
      await instance.waitUntilRenderFlush();
      instance.unmount();
      await instance.waitUntilExit();
    } catch {
      // Safe: Ink has failed and left by itself; what follows stands below what it drew.
    }
    const rest = taken();
    // Ink leaves an empty line where its frame was; the summary brings one of its own.
    stdout.write(rest + (rest === '' ? afterwards.replace(/^\n/u, '') : afterwards));
  }

  /**
   * What a human asked for and did not get is told, and asked for again by whoever wants
   * it.
   */
  async function carryOut(act: ViewAct): Promise<void> {
    try {
      const refusal = await perform(hand, act);
      if (typeof refusal === 'string') notice(refusal);
    } catch (error) {
      // Safe: nothing was done.
      notice(`That could not be done: ${messageOf(error)}`);
    }
  }

  /** A sentence of the view's own, among what is told. */
  function notice(sentence: string): void {
    emit({ type: 'notice', at: clock.now(), sessionId: state.sessionId ?? '', sentence });
  }

  function onKey(key: KeyPress): void {
    guarded(() => {
      const { state: next, acts } = pressKey(state, key, clock.now());
      state = next;
      for (const act of acts) void carryOut(act);
    });
  }

  /** Comes before Ink's own: what it would leave standing is erased first. */
  function onResize(): void {
    guarded(() => {
      const columns = stdout.columns ?? 80;
      if (columns < state.columns && breaksLines(io.env)) {
        const before = renderToString(h(Fragment, null, shown), {
          columns: state.columns,
        });
        stdout.write(
          '\u001b[2K\u001b[1A'.repeat(surplusRows(before.split('\n'), columns)),
        );
      }
      state = sized(state);
    });
  }

  stdout.on('resize', onResize);
  const instance = render(h(InkScreen, { finished, living: null, onKey }), {
    stdin,
    stdout,
    exitOnCtrlC: false,
    // A package that writes to the console writes above the living part, not into it.
    patchConsole: true,
    interactive: true,
    incrementalRendering: true,
  });
  instance.waitUntilExit().catch(fail);
  const frames = setInterval(() => guarded(frame), frameMs);
  guarded(frame);

  function emit(event: ViewEvent): void {
    // While it leaves, what is told is still printed.
    if (isOver) printer.print(event);
    guarded(() => {
      if (event.type === 'run-ended' && kind === 'run') {
        // Whatever came before stands above, where the view was.
        printer.endSpeech();
        show(shown);
        printer.print(event);
        afterwards = taken();
      } else printer.print(event);
      state = reduce(state, event);
    });
  }

  return {
    emit,
    notice,
    /** Leaves the terminal clean, with all that was told in its scrollback. */
    close(): Promise<void> {
      leaving ??= leave();
      return leaving;
    },
  };
}

/** Something turns or counts. */
function isMoving({ session, wait, outcome, stopping }: ViewState): boolean {
  if (session !== null) return session.state === 'running';
  return outcome === null && wait === null && stopping === 'no';
}

/**
 * Rows that drawn lines take beyond one each, once the terminal has broken them at
 * `columns`; Ink knows nothing of it.
 */
export function surplusRows(lines: readonly string[], columns: number): number {
  const rows = (line: string): number =>
    Math.max(1, Math.ceil(displayWidth(line) / Math.max(1, columns)));
  return lines.reduce((surplus, line) => surplus + rows(line) - 1, 0);
}

/**
 * xterm itself and screen cut lines off instead; there is no surplus then, and erasing
 * would eat what was said.
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

/** Letters that arrive at once are one text, and an Enter among them is an Enter. */
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
 * The view of a run of this process: if it breaks, the run goes on and prints lines.
 * `open` is replaced by tests of that.
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
      complain(
        io,
        `The live view broke (${messageOf(error)}); the run goes on, in lines.`,
      );
      answerCheck(null);
    },
  });

  return {
    emit(event) {
      (lines ?? view).emit(event);
      // A question must not hold up the end.
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
