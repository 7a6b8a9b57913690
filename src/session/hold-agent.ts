// `hold`: calls the agent of a program until it may stop, each time with the whole
// conversation. Each answer is recorded before the session is asked
// whether the agent may stop.
import { messageOf, UntildoneError } from '../core/error.ts';
import { excerpt } from '../core/problem.ts';
import { recordedEvents } from '../engine/session-record.ts';
import type { BegunSession } from './begin-session.ts';
import { type Reply, readReply } from './reply.ts';
import type { AgentCall, Session } from './session.ts';
import type { OpenedOptions } from './session-options.ts';

export const wrongUse = (sentence: string) => new UntildoneError('usage', sentence);

/** What an agent waits for whose answer says only that it waits. */
const approval = { kind: 'permission', requestId: 'approval' } as const;

type Stops = Pick<Session, 'stop'> &
  Readonly<{
    /** Rejects once the session is closed. */
    ready(): Promise<void>;
    /** All that was told is on the record. */
    recorded(): Promise<unknown>;
    isClosed(): boolean;
  }>;

export function createHold(
  { id: sessionId, signal, onNotice }: OpenedOptions,
  { store, words, record, latest, outcome, goOn }: BegunSession,
  { stop, ready, recorded, isClosed }: Stops,
) {
  const history: unknown[] = [];
  let isHeld = false;
  let isUnusedTold = false;

  const say = (content: string) => void history.push({ role: 'user', content });
  words.forEach(say);

  /** The error is the program's own; what it means for the work is on the record. */
  async function noteFailure(error: unknown) {
    const name = error instanceof Error ? error.name : 'Error';
    if (signal.aborted || name === 'AbortError') return stop({ end: 'cancelled' });
    const message = messageOf(error).slice(0, 2000);
    const about = {
      signature: `${name}: ${message.slice(0, 200)}`,
      message,
      retryAt: null,
    };
    await record({ type: 'error-occurred', kind: 'other', ...about });
    return stop({ end: 'error' });
  }

  async function callAgent(agent: AgentCall) {
    try {
      signal.throwIfAborted();
      const answer = await agent([...history] as never[]);
      return { answer, reply: await readReply(answer, history) };
    } catch (error) {
      if (!(error instanceof UntildoneError) && !isClosed()) await noteFailure(error);
      throw error;
    }
  }

  async function note({ messages, usage, asks }: Reply) {
    history.push(...messages);
    const isPending = latest().waits.permissions.includes(approval.requestId);
    if (asks && !isPending) await record({ type: 'wait-started', wait: approval });
    if (!asks && isPending)
      await record({ type: 'wait-ended', wait: { ...approval, granted: true } });
    const unknown = { cost: null, contextTokens: null, contextLimit: null };
    if (usage !== null) await record({ type: 'usage-reported', ...usage, ...unknown });
  }

  async function holdAgent(agent: AgentCall) {
    for (;;) {
      const { answer, reply } = await callAgent(agent);
      await ready();
      await note(reply);
      const { text } = await stop({ text: reply.text, end: reply.end });
      await recorded();
      if (text === null) await tellUnused();
      if (text === null || signal.aborted) return answer;
      say(text);
    }
  }

  /**
   * A program that forgot to pass the tools on sees only an agent that never plans. Work
   * that is `done` needed none.
   */
  async function tellUnused() {
    if (isUnusedTold || !['claimed', 'exhausted', 'stagnant'].includes(outcome() ?? ''))
      return;
    for await (const event of recordedEvents(store, sessionId))
      if (event.type === 'tool-ended' && event.access === 'todo') return;
    isUnusedTold = true;
    onNotice(
      'The agent called no todo tool: if it is to keep a plan, pass session.tools to it.',
    );
  }

  return {
    /** For the agent, at its next call. */
    say,
    async hold(agent: AgentCall) {
      await ready();
      if (typeof agent !== 'function')
        throw wrongUse(
          `hold: must be a function that calls the agent, got ${excerpt(agent)}`,
        );
      if (isHeld)
        throw wrongUse('hold: the agent is held already: wait until that has ended.');
      if (history.length === 0)
        throw wrongUse(
          'hold: there is nothing to say to the agent: give openSession a goal.',
        );
      isHeld = true;
      try {
        await goOn();
        return await holdAgent(agent);
      } finally {
        isHeld = false;
      }
    },
  };
}
