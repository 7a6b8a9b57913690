// Whether a newer session has begun where this one is over: whoever attached a moment too early would look at the old
// one for ever. It tells of each once, and leaves it to the human to go there.
import type { Store } from '../../engine/store.ts';
import { findSession } from '../find-session.ts';
import type { Io } from '../io.ts';
import { shortId } from '../session-name.ts';
import type { SessionEvent } from '../view/view-event.ts';

export function createNewerSessionLook(
  io: Io,
  store: Store,
  sessionId: string,
): () => Promise<SessionEvent[]> {
  let told = sessionId;
  return async () => {
    const watched = await store.state(sessionId);
    const newest = await findSession(store, null, io);
    if (watched === null || newest.id === told || newest.createdAt <= watched.createdAt) return [];
    told = newest.id;
    const sentence = `A newer session has begun here: q leaves, \`untildone attach ${shortId(newest.id)}\` shows it.`;
    return [{ type: 'notice', at: io.clock.now(), sessionId, sentence }];
  };
}
