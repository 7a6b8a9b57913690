// Tells a human who looks elsewhere about a run (`notify`): by the terminal's bell, a
// command of their own, or an address. A failure is one warning; it changes neither the
// run nor its exit code.
import type { AgentEvent } from '../agent/agent-event.ts';
import { createNotice, deliverNotice, type Notice } from '../engine/notify.ts';
import type { Store } from '../engine/store.ts';
import type { AgentSession } from './agent-session.ts';
import type { Io } from './io.ts';
import { printComplaint } from './print.ts';

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
  let hasWarned = false;
  let sending: Promise<unknown> = Promise.resolve();

  async function sendNotice(moment: Moment): Promise<void> {
    const state = await store.state(sessionId);
    const notice = state && createNotice(notify, state, moment);
    if (!notice) return;
    if (notify.bell && process.stderr.isTTY === true) io.stderr.write(bell);
    for (const sentence of sends ? await deliverNotice(notice, notify, io.env) : []) {
      if (!hasWarned) printComplaint(warn(), `warning: ${sentence}`);
      hasWarned = true;
    }
  }

  function startNotice(moment: Moment | null): void {
    if (moment === null || !(sends || notify.bell)) return;
    // Safe: the run goes on without the notice.
    sending = Promise.all([sending, sendNotice(moment).catch(() => {})]);
  }

  return {
    see: (event: AgentEvent): void => startNotice(momentOf(event, sessionId)),
    /** Wraps a question, so that the human is also notified of it. */
    asking<Answer>(ask: (question: string) => Answer): (question: string) => Answer {
      return (question) => {
        startNotice({
          outcome: null,
          at: io.clock.now(),
          sentence: `A check waits for your answer: ${question}`,
        });
        return ask(question);
      };
    },
    settled: async () => void (await sending),
  };
}

/**
 * What a human wants to know elsewhere about an event. Null: nothing. A call may hold a
 * secret, so only its tool is named.
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
