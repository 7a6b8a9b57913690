// `untildone say`: a message to our own agent while it works (T3). It is the human's, with all that follows from that.
import { queuedWords } from '../../agent/loop/run.ts';
import { UntildoneError } from '../../core/error.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { describeState } from '../describe-session.ts';
import { sessionCommand } from '../find-session.ts';
import { sendActs } from '../human-event.ts';
import { refuse, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';

export const say = sessionCommand({
  takes: '<TEXT>',
  about: [
    'Says something to an agent of `untildone run` that is at work. It reads the words after its running step; they join\nthe turn and zero its counters, as every message of yours does. A stop word alone, such as "stop", stops it. In\nClaude Code and OpenCode, write to the agent there.',
  ],
  options: {
    session: { value: 'SESSION', summary: 'To this session; default: the last one of this directory.' },
  },
  humanOnly: true,
  check(given) {
    if (given.positional(0)?.trim()) return;
    throw new UntildoneError('usage', 'Say something: untildone say "use tabs".');
  },
  async answer(here) {
    const { given, io } = here;
    const text = given.positional(0) ?? '';
    const { id: sessionId, descriptor, turn, policyHash } = here.session;
    const isOurs = descriptor.host === 'untildone';
    if (!isOurs || turn === null || turn.ended) {
      const how = isOurs
        ? `It is not at work; \`untildone run --resume ${shortId(sessionId)} "…"\` says it and goes on.`
        : `It belongs to ${shown(descriptor.host, 30)}: say it there.`;
      return refuse(io, `Session ${nameSession(here.session)} cannot be spoken to from here. ${how}`);
    }
    const base = { id: createIdentifiers(io.clock).next(), sessionId, at: io.clock.now() };
    // What was frozen at the first message holds on: a file that changed meanwhile may be the agent's work (V2).
    const { session } = await sendActs(here, [queuedWords(text, base, policyHash)]);
    const state = describeState(session, io.clock.now());
    const queued = session.latch === null;
    const next = queued ? 'The agent reads it after its running step' : shown(state.words);
    return { json: { queued, state }, lines: [`Said to session ${nameSession(session)}. ${next}.`] };
  },
});
