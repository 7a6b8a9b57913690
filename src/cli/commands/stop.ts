// `untildone stop`: the human's latch (G4). It is never refused: whoever wants an agent to end may say so, and the
// record says where it was asked from.
import { type Command, jsonOption } from '../command.ts';
import { actOnSession, report } from '../human-event.ts';
import { nameSession, shortId } from '../session-name.ts';

export const stop: Command = {
  usage: 'stop [session] [--json]',
  about: [
    'Nothing more is sent to the agent until you write to it or run `untildone resume`; a countdown ends. A run of ours\nends after its step. What another host is doing right now is not interrupted: use its own key for that.',
  ],
  options: jsonOption,
  positionals: [0, 1],
  async run(given, io) {
    const above = await io.agentAbove();
    const how = above === null ? 'untildone stop' : `untildone stop, beneath ${above}`;
    const { session } = await actOnSession(io, given.positional(0), () => ({ type: 'human-aborted', how }));
    const next =
      session.descriptor.host === 'untildone'
        ? `\`untildone run --resume ${shortId(session.id)}\` takes it up again.`
        : 'A message from you or `untildone resume` lifts that.';
    const sentence = `Session ${nameSession(session)} is stopped. ${next}`;
    return report({ given, io, session }, { latch: session.latch }, [sentence]);
  },
};
