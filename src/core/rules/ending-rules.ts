// Rules about how the model ended its step: only a normal end, an empty answer or the output limit may be
// continued; errors are retried by the loop or the host, refusals are never pressed (G2, P15).
import { letGo, type Rule } from './rule.ts';

export const endedAbnormally: Rule = {
  name: 'ended-abnormally',
  asks: 'Did the step end in an error or a cancellation?',
  inputs: ({ stop, session }) => ({
    end: stop.end,
    rateLimited: session.rateLimitedUntil !== null,
    sameErrors: session.circuit?.count ?? 0,
  }),
  answer: ({ stop, session, settings }) => {
    if (stop.end === 'cancelled') return letGo('aborted', 'The step was cancelled.');
    if (stop.end !== 'error') return null;
    // Rate limits have a reset to wait for, and an open circuit and repeated overflows have more precise reasons below.
    if (session.rateLimitedUntil !== null || session.overflows >= 2) return null;
    if ((session.circuit?.count ?? 0) >= settings.circuitAfter) return null;
    return letGo(
      'failed',
      'The step ended in an error; errors are retried by whoever runs the model, not by a continuation.',
    );
  },
};

export const refused: Rule = {
  name: 'refused',
  asks: 'Did the model refuse, or did a content filter cut in?',
  inputs: ({ stop }) => ({ end: stop.end }),
  answer: ({ stop }) => {
    if (stop.end === 'refusal') return letGo('failed', 'The model refused; it is not pressed.');
    if (stop.end === 'content-filter')
      return letGo('failed', "The provider's content filter cut the answer off.");
    return null;
  },
};
