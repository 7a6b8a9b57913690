// What stands between two steps: calls that wait for the human's permission are asked about again, and words that the
// human said meanwhile join the conversation, behind the results of the step before, so that no call loses its result.
import type { Session } from '../../core/session.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Emit } from '../agent-event.ts';
import { humanMessageId } from '../context/synthetic.ts';
import type { PermissionGate } from '../permissions/permission-gate.ts';
import type { Control } from './control.ts';
import { humanWords } from './hear-human.ts';
import type { WaitingCalls } from './interrupted-calls.ts';
import type { IterationBudget } from './iteration-budget.ts';
import type { Transcript } from './transcript.ts';

export interface TakeUpOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly emit: Emit;
  readonly session: () => Promise<Session | null>;
  readonly transcript: Transcript;
  readonly control: Control;
  readonly gate: PermissionGate;
  readonly iterations: IterationBudget;
  readonly settle: (waiting: WaitingCalls) => Promise<'settled' | 'waiting'>;
}

export interface TakeUp {
  takeUp(): Promise<'ready' | 'unanswered'>;
  hasWords(): Promise<boolean>;
  /** What waited for an answer is given up: the human said something else. */
  giveUpRequests(): Promise<void>;
}

export function createTakeUp(options: TakeUpOptions): TakeUp {
  const { engine, clock, identifiers, sessionId, emit, session, transcript } = options;
  const shown = new Set<string>();
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });

  options.control.onLook(({ words = [] }) => {
    for (const { messageId, text } of words) {
      if (shown.has(messageId)) continue;
      shown.add(messageId);
      emit({ type: 'human-message', at: clock.now(), sessionId, text, state: 'queued' });
    }
  });

  async function joinWords(): Promise<void> {
    for (const { messageId, text } of (await session())?.words ?? []) {
      const isThere = transcript.messages().some(({ message }) => humanMessageId(message) === messageId);
      if (!isThere) await transcript.append([humanWords(text, messageId)]);
      await engine.handle({ ...base(), type: 'words-joined', messageId });
      shown.add(messageId);
      options.iterations.renew();
      emit({ type: 'human-message', at: clock.now(), sessionId, text, state: 'joined' });
    }
  }

  /** No call of a step is under way here: whatever is still asked for, nobody waits for it. */
  async function withdrawLost(): Promise<void> {
    const requests = (await session())?.permissions?.requests ?? [];
    await options.gate.withdraw(requests.filter(({ answer }) => answer === null));
  }

  return {
    async takeUp() {
      if ((await options.settle('ask')) === 'waiting') return 'unanswered';
      await withdrawLost();
      await joinWords();
      return 'ready';
    },
    async hasWords() {
      const current = await session();
      if (current === null || current.latch !== null || current.pause?.by === 'human') return false;
      return (current.words ?? []).length > 0;
    },
    async giveUpRequests() {
      await options.settle('give-up');
      await options.gate.withdraw((await session())?.permissions?.requests ?? []);
    },
  };
}
