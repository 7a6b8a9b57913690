// `untildone say`: a message to our own agent while it works (T3). It is the human's, with all that follows from that,
// so it is held to the same rules as `resume`: a terminal, and no agent above.
import { queuedWords } from '../../agent/loop/run.ts';
import { UntildoneError } from '../../core/error.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { type Command, jsonOption } from '../command.ts';
import { describeState } from '../describe-session.ts';
import { withSession } from '../find-session.ts';
import { report } from '../human-event.ts';
import { openRuntime } from '../open-runtime.ts';
import { refuse, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';

export const say: Command = {
  takes: '<TEXT>',
  about: [
    'Says something to an agent of `untildone run` that is at work. It reads the words after its running step; they join\nthe turn and zero its counters, as every message of yours does. A stop word alone, such as "stop", stops it.',
    'An agent must not speak for you. This command needs a terminal (not only piped input and output) and refuses\nbeneath an agent host or a session of untildone. In Claude Code and OpenCode, write to the agent there.',
  ],
  options: {
    session: { value: 'SESSION', summary: 'To this session; default: the last one of this directory.' },
    ...jsonOption,
  },
  async run(given, io) {
    const refusal = await io.whyNoHuman();
    if (refusal !== null) return refuse(io, refusal);
    const text = given.positional(0) ?? '';
    if (text.trim() === '') throw new UntildoneError('usage', 'Say something: untildone say "use tabs".');
    return withSession(io, given.text('session'), async (store, found) => {
      const { id, descriptor, turn, policyHash } = found;
      const isOurs = descriptor.host === 'untildone';
      if (!isOurs || turn === null || turn.ended) {
        const how = isOurs
          ? `It is not at work; \`untildone run --resume ${shortId(id)} "…"\` says it and goes on.`
          : `It belongs to ${shown(descriptor.host, 30)}: say it there.`;
        return refuse(io, `Session ${nameSession(found)} cannot be spoken to from here. ${how}`);
      }
      const base = { id: createIdentifiers(io.clock).next(), sessionId: id, at: io.clock.now() };
      // What was frozen at the first message holds on: a file that changed meanwhile may be the agent's work (V2).
      const handled = await openRuntime(io, store).handle(queuedWords(text, base, policyHash));
      const session = handled.state;
      const state = describeState(session, io.clock.now());
      const queued = session.latch === null;
      const next = queued ? 'The agent reads it after its running step' : shown(state.words);
      const sentence = `Said to session ${nameSession(session)}. ${next}.`;
      return report({ given, io, session }, { queued, state }, [sentence]);
    });
  },
};
