// How long the calls of our own agent took. Their messages are written when the step ends, and say nothing of time;
// the events of the session do, by the tool's name and in order.
import type { Event } from '../../core/events.ts';

export interface CallTimes {
  /** Each event once, however often it is given. */
  add(events: readonly Event[]): void;
  /** Of the oldest call of this tool that has not been asked for; null: nothing is known of it. */
  next(tool: string): number | null;
}

export function createCallTimes(): CallTimes {
  const seen = new Set<string>();
  const running = new Map<string, number[]>();
  const ended = new Map<string, number[]>();
  /** Calls that were told before the event of their end was there. */
  const ahead = new Map<string, number>();

  function addOne(event: Event): void {
    if (event.type !== 'tool-started' && event.type !== 'tool-ended') return;
    if (seen.has(event.id)) return;
    seen.add(event.id);
    const { tool, at } = event;
    if (event.type === 'tool-started') {
      running.set(tool, [...(running.get(tool) ?? []), at]);
      return;
    }
    const [startedAt, ...rest] = running.get(tool) ?? [];
    if (startedAt === undefined) return;
    running.set(tool, rest);
    const told = ahead.get(tool) ?? 0;
    if (told > 0) ahead.set(tool, told - 1);
    else ended.set(tool, [...(ended.get(tool) ?? []), Math.max(0, at - startedAt)]);
  }

  return {
    add(events) {
      for (const event of events) addOne(event);
    },
    next(tool) {
      const [first, ...rest] = ended.get(tool) ?? [];
      ended.set(tool, rest);
      if (first === undefined) ahead.set(tool, (ahead.get(tool) ?? 0) + 1);
      return first ?? null;
    },
  };
}
