// The human's hand on a running agent: Ctrl-C in this terminal, `untildone stop|pause|resume|say` in another one, and
// what the human said. Everything is on the record before it takes effect; nothing is decided here.
import type { EventOf } from '../../core/events.ts';
import type { Session, State } from '../../core/state.ts';
import type { Clock } from '../../engine/host.ts';
import type { PermissionChoice } from '../agent-event.ts';
import { humanMessageId, type Transcript } from '../context/history.ts';
import type { Run } from './run.ts';

/** Starts to listen for one thing; what it returns stops that. */
type Listening<Result> = (end: (result: Result) => void) => () => void;

/** The first of these that happens ends the listening for all of them. */
export function firstOf<Result>(...waits: Listening<Result>[]): Promise<Result> {
  let stops: (() => void)[] = [];
  const first = new Promise<Result>((resolve) => {
    stops = waits.map((wait) => wait(resolve));
  });
  return first.finally(() => {
    for (const stop of stops) stop();
  });
}

export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  else signal.addEventListener('abort', callback, { once: true });
  return () => signal.removeEventListener('abort', callback);
}

/** Commands from another terminal take effect within a second; half of it is for everything else. */
const pollMs = 400;

/** Looks at the store twice a second; what it sees there aborts the step that runs. */
export function createControl(read: () => Promise<State | null>, clock: Clock) {
  const stopped = new AbortController();
  const listeners = new Set<(state: State) => void>();
  let step = new AbortController();
  let cancel = (): void => {};
  let isFinishing = false;
  let isClosed = false;
  const control = {
    watch(): void {
      if (isClosed) return;
      // A store that cannot be read now is read again at the next tick; nothing is decided here.
      cancel = clock.wake(clock.now() + pollMs, () => control.look().then(control.watch, control.watch));
    },
    async look(): Promise<void> {
      const state = await read();
      if (state === null) return;
      if ((state.latch !== null || state.pause?.by === 'human') && !isFinishing) step.abort();
      for (const listener of [...listeners]) listener(state);
    },
    onLook(listener: (state: State) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Resolves when no human's pause holds the run. Unless it was stopped, the next step may then be aborted anew. */
    async whilePaused(onPause: () => void): Promise<State | null> {
      for (let isTold = false; ; isTold = true) {
        const state = await read();
        const isStopped = state !== null && state.latch !== null;
        if (isStopped || state?.pause?.by !== 'human') {
          if (!isStopped && step.signal.aborted) step = new AbortController();
          return state;
        }
        if (!isTold) onPause();
        await firstOf(control.onLook);
      }
    },
    /** Aborted as soon as the human wants the running step to end. */
    get signal() {
      return step.signal;
    },
    /** Aborted once the human's stop is on the record: a wait is no step that could be finished. */
    stopping: stopped.signal,
    abortStep: (): void => step.abort(),
    /** The running step may finish; every wait ends as soon as `latched` says that the stop is on the record. */
    async stopAfterStep(latched: () => Promise<unknown>): Promise<void> {
      isFinishing = true;
      await latched();
      stopped.abort();
    },
    close(): void {
      isClosed = true;
      cancel();
    },
  };
  return control;
}

/** What the human can do to a run from where it is shown. */
export type HumanControl = ReturnType<typeof createHumanControl>;

export function createHumanControl({ control, gate, record, engine, base }: Run) {
  return {
    /** First Ctrl-C: latch, and stop after this step. */
    stopAfterStep: () => control.stopAfterStep(() => record({ type: 'human-aborted', how: 'Ctrl-C' })),
    stopNow: (): void => control.abortStep(),
    /** A message to the agent: it joins the turn between two steps; exactly a stop word sets the latch (P20). */
    async say(text: string): Promise<void> {
      if (text.trim() === '') return;
      await engine.handle(queuedWords(text, base(), null));
      await control.look();
    },
    answer: (requestId: string, answer: PermissionChoice): Promise<void> => gate.answer(requestId, answer),
  };
}

export function whilePaused({ control, tell }: Run): Promise<State | null> {
  const sentence = 'Paused by a human. `untildone resume` in another terminal goes on; Ctrl-C ends the run.';
  return control.whilePaused(() =>
    tell({ type: 'waiting', reason: 'paused-by-human', sentence, until: null }),
  );
}

/**
 * Words for an agent that is at work: the engine hears them now, the loop takes them up between two steps.
 * `policyHash` null: what holds where this is said becomes the snapshot of the session (V2).
 */
export function queuedWords(
  text: string,
  base: Pick<EventOf<'human-spoke'>, 'id' | 'sessionId' | 'at'>,
  policyHash: string | null,
): EventOf<'human-spoke'> {
  const messageId = `said:${base.id}`;
  const words = { text, messageId, turnId: messageId, agent: null, fingerprint: null, policyHash };
  return { ...base, type: 'human-spoke', ...words, queued: true };
}

/**
 * Tells the engine what the human said last. It is in the transcript before: a run that is killed in between finds it
 * there when it is resumed. A message that the agent has answered already was heard.
 */
export async function hearHuman(
  { record, fingerprint }: Pick<Run, 'record' | 'fingerprint'>,
  transcript: Pick<Transcript, 'messages'>,
): Promise<void> {
  const last = transcript.messages().at(-1)?.message;
  const messageId = last === undefined ? null : humanMessageId(last);
  if (last === undefined || messageId === null) return;
  const text = typeof last.content === 'string' ? last.content : '';
  const words = { text, messageId, turnId: messageId, agent: null, policyHash: null };
  await record({ type: 'human-spoke', ...words, fingerprint: await fingerprint() });
}

export function hasWords(session: Session | null): boolean {
  if (session === null || session.latch !== null || session.pause?.by === 'human') return false;
  return (session.words ?? []).length > 0;
}

export function showQueuedWords({ control, shownWords, tell }: Run): void {
  control.onLook(({ words = [] }) => {
    for (const { messageId, text } of words) {
      if (!shownWords.has(messageId)) tell({ type: 'human-message', text, state: 'queued' });
      shownWords.add(messageId);
    }
  });
}
