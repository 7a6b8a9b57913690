// What the worker of our own agent says and does, from its own session: its steps, its calls and its report.
import type { Session } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import type { SessionEvent } from '../view/view-event.ts';
import { createStoredMessages, type StoredMessages } from './stored-messages.ts';

export interface WorkerWatch {
  /** `isFirst`: a worker that was over before anyone looked is the past. */
  look(store: Store, session: Session, isFirst: boolean): Promise<SessionEvent[]>;
}

const pageSize = 500;

interface Watched {
  readonly id: string;
  readonly messages: StoredMessages;
  applied: number;
  lastMessage: number;
  step: number;
  isOver: boolean;
}

export function createWorkerWatch(): WorkerWatch {
  let watched: Watched | null = null;

  async function read(store: Store, worker: Watched): Promise<SessionEvent[]> {
    const events = await store.events({ sessionId: worker.id, after: worker.applied, limit: pageSize });
    worker.applied = events.at(-1)?.applied ?? worker.applied;
    const rows = (await store.transcript(worker.id, worker.lastMessage)).messages;
    worker.lastMessage = rows.at(-1)?.sequence ?? worker.lastMessage;
    const calls = (await store.transcript(worker.id, 0)).calls;
    const told = worker.messages.take(
      rows,
      calls,
      events.map(({ event }) => event),
    );
    // The results of a step are written when it ends: what follows is the next one.
    const steps = rows
      .filter(({ kind }) => kind === 'tools')
      .map(({ at }): SessionEvent => {
        worker.step += 1;
        return { type: 'step-started', at, sessionId: worker.id, step: worker.step };
      });
    return [...told, ...steps];
  }

  return {
    async look(store, { delegation }, isFirst) {
      if (delegation === undefined) return [];
      const { workerId: id, startedAt, ended } = delegation;
      const begun: SessionEvent[] = [];
      if (watched?.id !== id) {
        const isOver = isFirst && ended !== null;
        watched = { id, messages: createStoredMessages(), applied: 0, lastMessage: 0, step: 1, isOver };
        if (!isOver) begun.push({ type: 'step-started', at: startedAt, sessionId: id, step: 1 });
      }
      if (watched.isOver) return [];
      watched.isOver = ended !== null;
      return [...begun, ...(await read(store, watched))];
    },
  };
}
