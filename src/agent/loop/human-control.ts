// What the human can do to a run from where it is shown: stop it, speak to it, answer what it asks. Everything is on
// the record before it takes effect.

import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { PermissionChoice } from '../agent-event.ts';
import type { PermissionGate } from '../permissions/permission-gate.ts';
import type { Control } from './control.ts';
import { queuedWords } from './hear-human.ts';

export interface HumanControl {
  /** First Ctrl-C: latch, and stop after this step. */
  stopAfterStep(): Promise<void>;
  /** Second Ctrl-C: at once. */
  stopNow(): void;
  /** A message to the agent: it joins the turn between two steps; exactly a stop word sets the latch (P20). */
  say(text: string): Promise<void>;
  /** Answers a permission request; one that is answered already stays as it is. */
  answer(requestId: string, answer: PermissionChoice): Promise<void>;
}

export interface HumanControlOptions {
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly sessionId: string;
  readonly control: Control;
  readonly gate: PermissionGate;
}

export function createHumanControl(options: HumanControlOptions): HumanControl {
  const { engine, identifiers, sessionId, clock, control, gate } = options;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
  return {
    async stopAfterStep() {
      control.letStepFinish();
      await engine.handle({ ...base(), type: 'human-aborted', how: 'Ctrl-C' });
      control.endWaits();
    },
    stopNow: () => control.abortStep(),
    async say(text) {
      if (text.trim() === '') return;
      await engine.handle(queuedWords(text, base(), null));
      await control.look();
    },
    answer: (requestId, answer) => gate.answer(requestId, answer),
  };
}
