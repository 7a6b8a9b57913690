// Rules about the human's will and the model's escape hatch: the latch and the pauses (G4, M6).
import { oneLine } from '../safe-text.ts';
import { letGo, type Rule, wait } from './rule.ts';

export const aborted: Rule = {
  name: 'aborted',
  asks: 'Did the human stop the agent?',
  inputs: ({ session }) => ({ latched: session.latch !== null, how: session.latch?.how ?? null }),
  answer: ({ session }) =>
    session.latch === null
      ? null
      : letGo(
          'aborted',
          'The human stopped the agent; only a message from the human or `untildone resume` lifts that.',
        ),
};

export const pausedByHuman: Rule = {
  name: 'paused-by-human',
  asks: 'Did the human pause the session or reject a request?',
  inputs: ({ session }) => ({ by: session.pause?.by ?? null, reason: session.pause?.reason ?? null }),
  answer: ({ session }) => {
    if (session.pause?.by === 'human') return letGo('paused', 'The human paused this session.');
    if (session.pause?.by === 'rejection')
      return letGo('paused', 'The human rejected what the agent asked for.');
    return null;
  },
};

export const timerExpired: Rule = {
  name: 'timer-expired',
  asks: 'Was a countdown found that is too old to act on?',
  inputs: ({ session }) => ({ by: session.pause?.by ?? null }),
  answer: ({ session }) =>
    session.pause?.by === 'system'
      ? letGo('paused', 'A countdown from an earlier run was too old to act on; send a message or resume.')
      : null,
};

export const pausedByModel: Rule = {
  name: 'paused-by-model',
  asks: 'Did the agent pause because it needs a human?',
  inputs: ({ session }) => ({ by: session.pause?.by ?? null, reason: session.pause?.reason ?? null }),
  answer: ({ session }) =>
    session.pause?.by === 'model'
      ? letGo('paused', `The agent paused: ${oneLine(session.pause.reason ?? '', 300)}`.trim())
      : null,
};

/** Told hosts idle twice, or idle after an abort on an idle session: the second one is not a new stop (E4). */
export const alreadyAnswered: Rule = {
  name: 'already-answered',
  asks: 'Is this the same stop again, with nothing done since it was answered?',
  inputs: ({ session }) => ({ mode: session.descriptor.mode, activeSinceAnswer: session.activeSinceAnswer }),
  answer: ({ session }) =>
    session.descriptor.mode === 'told' && !session.activeSinceAnswer
      ? wait('This stop was answered already and nothing happened since.')
      : null,
};
