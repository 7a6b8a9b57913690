// The program as the engine sees it: where a continuation is put, whether it is shown, whether the session idles, and
// what its list says at the moment of acting.
import type { Session } from '../../core/session.ts';
import type { OutgoingText, ToldHost } from '../../engine/host.ts';
import type { Toast } from '../told/told-runtime.ts';
import { withinTime } from '../told/within-time.ts';
import { type EnforcerContext, programId } from './enforcer-context.ts';
import { lookAtBackground, lookForActivity, readList } from './look-at-session.ts';
import { isShown } from './own-message.ts';

/**
 * Some programs answer only when the whole turn is over. After this time the text counts as taken; the watchdog sees
 * whether anything follows. Other sessions' countdowns wait meanwhile.
 */
const injectPatienceMs = 2000;
/** How long a word about a turn's end is shown; a countdown's toasts have a setting of their own. */
const noticeDurationMs = 5000;

export function createEnforcerHost(context: EnforcerContext, onError: (error: unknown) => void): ToldHost {
  const { options, clock, store, program, memories } = context;

  async function inject(outgoing: OutgoingText): ReturnType<ToldHost['inject']> {
    const { key, text, session } = outgoing;
    const { name: agent, model, variant } = session.agent;
    const sessionId = programId(context, session.id);
    if (context.isHeld(sessionId))
      return { taken: false, error: 'something happened in the session meanwhile' };
    // Called in this very moment: after a detour the human might have acted.
    const sending = (async () => options.inject(sessionId, text, { agent, model, variant, key }))();
    let answered = false;
    sending.catch((error: unknown) => {
      // Refused after it counted as taken: the engine sends it again, unless it was seen meanwhile.
      if (answered) refusedLate(outgoing, error).catch(onError);
    });
    const answer = await withinTime(clock, injectPatienceMs, () => sending);
    answered = true;
    if (answer.answered || answer.late) return { taken: true };
    onError(answer.error);
    return { taken: false, error: String(answer.error).slice(0, 500) };
  }

  async function refusedLate({ key, epoch, session }: OutgoingText, cause: unknown): Promise<void> {
    onError(cause);
    const id = `${key}:refused:${session.injection?.attempts ?? 0}`;
    const error = String(cause).slice(0, 500);
    const base = { id, sessionId: session.id, at: clock.now() };
    await context.handle({ ...base, type: 'injection-failed', epoch, error });
  }

  return {
    inject,
    async find({ session, epoch }) {
      const messages = await program.messages(programId(context, session.id));
      if (messages === null) return 'unknown';
      const rows = await store.read(async (reader) => reader.outbox(session.id));
      return isShown(rows, epoch, messages) ? 'present' : 'absent';
    },
    async isIdle(stored) {
      const sessionId = programId(context, stored);
      const memory = memories.peek(sessionId);
      return (await program.isIdle(sessionId)) ?? (memory === null || memory.idle !== null);
    },
    async readPlan(session) {
      const sessionId = programId(context, session.id);
      await lookForActivity(context, sessionId);
      await lookAtBackground(context, sessionId, session);
      return (await readList(context, sessionId)).list;
    },
    notify: (session, notice) => toastOf(context, session, { ...notice, durationMs: noticeDurationMs }),
  };
}

export async function toastOf(context: EnforcerContext, session: Session, toast: Toast): Promise<void> {
  await context.options.toast?.(programId(context, session.id), toast);
}
