// Tells the human of a run who looks elsewhere (`notify`): by the terminal's bell, a
// command of their own, an address. What fails is one warning, and neither the run nor
// its exit code depends on it.
import type { AgentEvent } from '../agent/agent-event.ts';
import { createNotice, deliverNotice, type Notice } from '../engine/notify.ts';
import type { Store } from '../engine/store.ts';
import type { AgentSession } from './agent-session.ts';
import type { Io } from './io.ts';
import { complain } from './print.ts';

const bell = '\u0007';

type Moment = Pick<Notice, 'outcome' | 'sentence' | 'at'>;

/** `warn`: where a warning can be written at that moment. */
export function createRunNotifier(
  io: Io,
  store: Store,
  session: AgentSession,
  warn: () => Io,
) {
  const { sessionId, policy } = session;
  const { notify } = policy.settings;
  const sends = notify.command !== null || notify.webhook !== null;
  let warned = false;
  let telling: Promise<unknown> = Promise.resolve();

  async function tell(moment: Moment): Promise<void> {
    const state = await store.state(sessionId);
    const notice = state && createNotice(notify, state, moment);
    if (!notice) return;
    if (notify.bell && process.stderr.isTTY === true) io.stderr.write(bell);
    for (const sentence of sends ? await deliverNotice(notice, notify, io.env) : []) {
      if (!warned) complain(warn(), `warning: ${sentence}`);
      warned = true;
    }
  }

  function begin(moment: Moment | null): void {
    if (moment === null || !(sends || notify.bell)) return;
    // Safe: the run goes on as if nobody wanted to be told.
    telling = Promise.all([telling, tell(moment).catch(() => {})]);
  }

  return {
    see: (event: AgentEvent): void => begin(momentOf(event, sessionId)),
    /** The same question, of which the human is told. */
    asking<Answer>(ask: (question: string) => Answer): (question: string) => Answer {
      return (question) => {
        begin({
          outcome: null,
          at: io.clock.now(),
          sentence: `A check waits for your answer: ${question}`,
        });
        return ask(question);
      };
    },
    settled: async () => void (await telling),
  };
}

/**
 * Null: nothing that a human would want to know elsewhere. What a call holds may be a
 * secret, so that only the tool is named.
 */
function momentOf(event: AgentEvent, sessionId: string): Moment | null {
  const { at } = event;
  if (event.type === 'permission-asked')
    return {
      outcome: null,
      at,
      sentence: `The agent asks to be allowed to use ${event.tool}.`,
    };
  if (event.type === 'run-ended' && event.sessionId === sessionId)
    return { outcome: event.outcome, at, sentence: event.sentence };
  return null;
}
