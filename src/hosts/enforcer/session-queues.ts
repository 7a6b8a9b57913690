// One thing after the other within a session, sessions beside each other: a message that arrives while an idle is being
// looked at comes after it and cancels what it started, never the other way round.

export interface SessionQueues {
  /** `work` must not reject. */
  add(sessionId: string, work: () => Promise<void>): Promise<void>;
  /** Something came after what is being dealt with now. */
  hasLater(sessionId: string): boolean;
}

export function createSessionQueues(): SessionQueues {
  const queues = new Map<string, { last: Promise<void>; length: number }>();
  return {
    add(sessionId, work) {
      const queue = queues.get(sessionId) ?? { last: Promise.resolve(), length: 0 };
      queues.set(sessionId, queue);
      queue.length += 1;
      queue.last = queue.last.then(work).finally(() => {
        queue.length -= 1;
        if (queue.length === 0) queues.delete(sessionId);
      });
      return queue.last;
    },
    hasLater: (sessionId) => (queues.get(sessionId)?.length ?? 0) > 1,
  };
}
