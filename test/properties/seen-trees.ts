// The workspace fingerprints that a session has seen: the engine keeps them in a table
// and says with each event whether it knows the one in it. Here they are a set.
import type { Event } from '../../src/core/events.ts';
import type { State } from '../../src/core/state.ts';

export interface SeenTrees {
  stamp(event: Event): Event;
  remember(state: State): void;
}

export function createSeenTrees(): SeenTrees {
  const seen = new Set<string>();
  return {
    stamp: (event) =>
      'known' in event || !('fingerprint' in event) || event.type === 'check-finished'
        ? event
        : { ...event, known: event.fingerprint !== null && seen.has(event.fingerprint) },
    remember: ({ work: { fingerprint } }) => {
      if (fingerprint !== null) seen.add(fingerprint);
    },
  };
}
