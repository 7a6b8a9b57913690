// Cancels what is planned for the sessions of one host instance: countdowns, stop attempts that wait, continuations on
// their way. One event per session goes through the engine, so that the record says why nothing came of them.
import type { Event } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Store } from '../../engine/store.ts';

/** More sessions than one host has waiting at once; what lies beyond is found at the next start, and by then too old. */
const mostTimers = 10_000;

export interface PlannedOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly instance: string;
  readonly handle: (event: Event) => Promise<Handled>;
}

/** `waiting`: sessions whose stop attempt waits without a timer. */
export async function closePlanned(options: PlannedOptions, waiting: ReadonlySet<string>): Promise<void> {
  const planned = await options.store.read(async (reader) => [
    ...(await reader.dueTimers(options.instance, Number.MAX_SAFE_INTEGER, mostTimers)),
    ...(await reader.openOutbox(options.instance)),
  ]);
  const sessions = new Set([...planned.map(({ sessionId }) => sessionId), ...waiting]);
  for (const sessionId of sessions) await closeSession(options, sessionId);
}

export async function closeSession(options: PlannedOptions, sessionId: string): Promise<void> {
  const { identifiers, clock, handle } = options;
  await handle({ type: 'session-closed', id: identifiers.next(), sessionId, at: clock.now() });
}
