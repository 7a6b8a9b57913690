// Sends what changed in a plan file through the engine, with `file` as the actor, and collects what the plan refused.

import type { Clock, Identifiers } from '../engine/clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { FileChange } from './compare-items.ts';

export interface Sender {
  readonly engine: Pick<Engine, 'handle'>;
  readonly sessionId: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly identifiers: Identifiers;
}

export interface Sent {
  readonly created: number;
  readonly changed: number;
  readonly dropped: number;
  /** Sentences of the plan for what it refused. */
  readonly refused: readonly string[];
  /** Settles when the checks of the claims that were made here are reported. */
  readonly checks: Promise<void>;
}

export async function sendChanges(sender: Sender, changes: readonly FileChange[]): Promise<Sent> {
  const { engine, sessionId, clock, identifiers } = sender;
  const refused: string[] = [];
  const checks: Promise<unknown>[] = [];
  let created = 0;
  let changed = 0;
  let dropped = 0;
  for (const change of changes) {
    const { reply, checks: running } = await engine.handle({
      ...change,
      id: identifiers.next(),
      sessionId,
      at: clock.now(),
      actor: 'file',
    });
    // Safe to go on without them: a check that was not reported is run again at the next stop attempt.
    if (running !== null) checks.push(running.catch(() => null));
    if (reply === null) continue;
    created += reply.created.length;
    if (change.type === 'todo-updated' && change.changes.status === 'cancelled')
      dropped += reply.changed.length;
    else changed += reply.changed.length;
    refused.push(...reply.refused.map(({ sentence }) => sentence));
  }
  return { created, changed, dropped, refused, checks: Promise.all(checks).then(() => undefined) };
}
