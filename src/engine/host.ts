// The host port: what the engine may ask of the host that a session runs in. An adapter implements it and decides
// nothing. No method may throw for an expected outcome; a rejection counts as a failed send.
import type { RunChecksCommand } from '../core/commands.ts';
import type { Event } from '../core/events.ts';
import type { Session } from '../core/session.ts';

export interface OutgoingText {
  /** session id + epoch: the same key is the same continuation, however often it is sent. */
  readonly key: string;
  readonly session: Session;
  readonly epoch: number;
  readonly text: string;
}

export interface ToldHost {
  /**
   * Puts the text into the session; a refusal carries a sentence. Must settle within seconds, not when the turn ends:
   * what is due in other sessions waits for it. May be called again with the same key if nothing came of it.
   */
  inject(
    outgoing: OutgoingText,
  ): Promise<{ readonly taken: true } | { readonly taken: false; readonly error: string }>;
  /**
   * Does the host show this continuation? `unknown` where it cannot be looked up. `absent` also for one that it holds
   * and will never act on, if `inject` with the same key makes it act without doubling the text.
   */
  find(outgoing: OutgoingText): Promise<'present' | 'absent' | 'unknown'>;
  isIdle(sessionId: string): Promise<boolean>;
  /** The host's own list as an event, read at the moment of acting (G5); null where it cannot be read. */
  readPlan(session: Session): Promise<Event | null>;
  notify(
    session: Session,
    notice: { level: 'info' | 'warning'; title: string; message: string },
  ): Promise<void>;
}

/**
 * Runs checks outside any transaction; each result comes back through `report` as an event. For a stop attempt
 * (`stop` is not null) it also runs again what has gone stale, and ends with `final-run-ended`. Must not throw.
 */
export interface Checker {
  run(
    session: Session,
    request: Pick<RunChecksCommand, 'checks' | 'stop'>,
    report: (event: Event) => Promise<void>,
  ): Promise<void>;
}
