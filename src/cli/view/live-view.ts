// The live view on a terminal: events in, the screen drawn, keys out as acts (C3). It never decides anything, and a
// failure of its own ends the view and nothing else: whoever opened it goes on with plain lines.
import { render } from 'ink';
import { createElement } from 'react';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { Clock } from '../../engine/host.ts';
import { createPage } from '../run-output/page.ts';
import { drawFrame } from './draw-frame.ts';
import { InkScreen, type Screen } from './ink-screen.ts';
import { type KeyPress, pressKey, type ViewAct } from './key-press.ts';
import { reduceView } from './reduce-view.ts';
import { eraseRows, surplusRows } from './reflow.ts';
import { createScrollLines } from './scroll-lines.ts';
import { spinnerMs } from './spinner.ts';
import type { ViewEvent } from './view-event.ts';
import { createViewState, type ViewState } from './view-state.ts';

export interface LiveViewOptions {
  readonly kind: ViewState['kind'];
  readonly clock: Pick<Clock, 'now'>;
  readonly color: boolean;
  readonly unicode: boolean;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  /** Whether the terminal breaks its lines anew when it gets narrower. */
  readonly breaksLines: boolean;
  readonly perform: (act: ViewAct) => void;
  /** The view broke and is gone; the terminal is as it was. */
  readonly onFailure: (error: unknown) => void;
  /** For tests of what happens when drawing fails. */
  readonly draw?: typeof drawFrame;
}

export interface LiveView {
  emit(event: ViewEvent): void;
  /** Leaves the terminal clean, with all that was told in its scrollback. */
  close(): Promise<void>;
}

/** Between two drawings: more often than eyes can follow costs only time. */
const drawMs = 40;
const idleTickMs = 1000;
/** Whoever looks at another's session shall not be felt: a slower spinner is enough there. */
const attachedTickMs = 480;

export function openLiveView(options: LiveViewOptions): LiveView {
  const { clock, stdout, color, unicode } = options;
  const draw = options.draw ?? drawFrame;
  const look = {
    get columns() {
      return stdout.columns ?? 80;
    },
    color,
    unicode,
  };
  const page = createPage(look);
  const scroll = createScrollLines(look);
  const movingMs = options.kind === 'attach' ? attachedTickMs : spinnerMs;
  const listeners = new Set<() => void>();
  let state = sized(createViewState(options.kind, clock.now()));
  let screen: Screen = { finished: [], frame: [] };
  let drawing: NodeJS.Timeout | null = null;
  let isOver = false;
  let leaving: Promise<void> | null = null;
  /** The end of a run is printed below what the view showed, as it is: its lines are there to be copied. */
  let afterwards: string[] = [];

  function sized(before: ViewState): ViewState {
    return reduceView(before, { type: 'resized', columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 });
  }

  function redraw(): void {
    drawing = null;
    guarded(() => {
      // First, because it may fail: lines that were taken and not shown would be lost.
      const frame = draw(page, state, scroll.open());
      show(frame);
    });
  }

  function show(frame: readonly string[]): void {
    const lines = scroll.finished();
    // What was printed is not needed again: only its place in the list is.
    const finished = lines.length === 0 ? screen.finished : [...screen.finished.map(() => ''), textOf(lines)];
    screen = { finished, frame };
    for (const listener of listeners) listener();
  }

  function redrawSoon(): void {
    if (!isOver) drawing ??= setTimeout(redraw, drawMs);
  }

  function change(next: ViewState): void {
    if (next === state) return;
    state = next;
    redrawSoon();
  }

  /** Whatever goes wrong in here is told to the owner once, and the run goes on without the view. */
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
    leaving ??= leave().then(() => options.onFailure(error));
  }

  /** Takes the living part away and prints what was told and not shown yet. */
  async function leave(): Promise<void> {
    isOver = true;
    if (drawing !== null) clearTimeout(drawing);
    clearTimeout(ticking);
    stdout.off('resize', onResize);
    try {
      show([]);
      await instance.waitUntilRenderFlush();
      instance.unmount();
      await instance.waitUntilExit();
    } catch {
      // Safe: Ink has failed and left by itself; what follows stands below what it drew.
    }
    const rest = [...scroll.finished(), ...(scroll.open() === '' ? [] : [scroll.open()])];
    // Ink leaves an empty line where its frame was; the summary brings one of its own.
    const summary = rest.length === 0 && afterwards[0] === '' ? afterwards.slice(1) : afterwards;
    stdout.write([...rest, ...summary].map((line) => `${line}\n`).join(''));
  }

  function onKey(key: KeyPress): void {
    guarded(() => {
      const { state: next, acts } = pressKey(state, key, clock.now());
      change(next);
      for (const act of acts) options.perform(act);
    });
  }

  /** Comes before Ink's own: what it would leave standing is erased first. */
  function onResize(): void {
    guarded(() => {
      const surplus = options.breaksLines
        ? surplusRows(screen.frame, state.columns, stdout.columns ?? 80)
        : 0;
      if (surplus > 0) stdout.write(eraseRows(surplus));
      change(sized(state));
    });
  }

  function tick(): void {
    guarded(() => change(reduceView(state, { type: 'tick', at: clock.now() })));
    if (!isOver) ticking = setTimeout(tick, isMoving(state) ? movingMs : idleTickMs);
  }

  const source = {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    screen: () => screen,
    onKey,
  };
  stdout.on('resize', onResize);
  const instance = render(createElement(InkScreen, { source }), {
    stdin: options.stdin,
    stdout,
    exitOnCtrlC: false,
    // A package that writes to the console writes above the living part, not into it.
    patchConsole: true,
    interactive: true,
  });
  instance.waitUntilExit().catch(fail);
  let ticking = setTimeout(tick, spinnerMs);
  redraw();

  return {
    emit(event) {
      // While it leaves, what is told is still printed.
      if (isOver && isPrinted(event)) scroll.take(event);
      guarded(() => {
        if (event.type === 'run-ended') {
          show(screen.frame);
          scroll.take(event);
          afterwards = scroll.finished();
        } else if (isPrinted(event)) scroll.take(event);
        change(reduceView(state, event));
      });
    },
    close() {
      leaving ??= leave();
      return leaving;
    },
  };
}

/** Lines as one text. Ink leaves out a text without letters, and with it the empty line. */
function textOf(lines: readonly string[]): string {
  return lines.map((line) => (line === '' ? ' ' : line)).join('\n');
}

/** Something turns or counts. */
function isMoving({ session, wait, outcome, stopping }: ViewState): boolean {
  if (session !== null) return session.state === 'running';
  return outcome === null && wait === null && stopping === 'no';
}

/** What only the living part shows. */
const unprinted: ReadonlySet<string> = new Set([
  'tick',
  'resized',
  'stop-asked',
  'check-question',
  'session-state',
  'check-cancelled',
  'permission-withdrawn',
] satisfies Exclude<ViewEvent, AgentEvent>['type'][]);

function isPrinted(event: ViewEvent): event is AgentEvent {
  return !unprinted.has(event.type);
}
