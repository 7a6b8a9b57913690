// What a human does to a session from a view: pause, resume, stop, answer, as the commands do it. Resuming and
// answering ask first whether a human is speaking; the others are never refused.
import type { PermissionChoice } from '../../agent/agent-event.ts';
import type { Session } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { answerPermission } from '../human-event.ts';
import type { Io } from '../io.ts';
import { openRuntime } from '../open-runtime.ts';

export interface HumanActs {
  pause(): Promise<void>;
  /** A sentence that says why not; null: it is resumed, or there was nothing to lift. */
  resume(): Promise<string | null>;
  stop(how: string): Promise<void>;
  /** Answers what the agent asks for; a sentence that says why not, as for `resume`. */
  answer(requestId: string, choice: PermissionChoice): Promise<string | null>;
}

export function createHumanActs(io: Io, store: Store, sessionId: string): HumanActs {
  const base = () => ({ id: createIdentifiers(io.clock).next(), sessionId, at: io.clock.now() });
  const session = (): Promise<Session | null> => store.state(sessionId);
  const beneath = async (): Promise<string | null> => {
    const above = await io.agentAbove();
    return above === null ? null : `asked for beneath ${above}`;
  };

  async function handle(event: Parameters<ReturnType<typeof openRuntime>['handle']>[0]): Promise<void> {
    const handled = await openRuntime(io, store).handle(event);
    // What the event set going must be on the record before the store is closed.
    await handled.checks;
  }

  return {
    async pause() {
      if ((await session())?.pause?.by === 'human') return;
      await handle({ ...base(), type: 'human-paused', reason: await beneath() });
    },
    async resume() {
      const refusal = await io.whyNoHuman();
      if (refusal !== null) return refusal;
      const current = await session();
      if (current === null || (current.latch === null && current.pause === null)) return null;
      await handle({ ...base(), type: 'human-resumed' });
      return null;
    },
    async answer(requestId, remembered) {
      const refusal = await io.whyNoHuman();
      if (refusal !== null) return refusal;
      await answerPermission(io, store, { sessionId, requestId }, remembered);
      return null;
    },
    async stop(how) {
      const where = await beneath();
      await handle({ ...base(), type: 'human-aborted', how: where === null ? how : `${how}, ${where}` });
    },
  };
}
