// `untildone stop`: the human's latch (G4). It is never refused: whoever wants an agent to end may say so, and the
// record says where it was asked from.
import { type Command, jsonOption } from '../command.ts';
import { printJson, printWrapped } from '../print.ts';
import { sendHumanEvent } from '../send-human-event.ts';
import { nameSession, sessionFields } from '../session-name.ts';

export const stop: Command = {
  usage: 'stop [session] [--json]',
  about: [
    'Latches the session: no continuation is sent until you write to the agent or run `untildone resume`. A countdown\nthat runs is cancelled. What the host is doing right now is not interrupted: use its own key for that.',
  ],
  options: jsonOption,
  positionals: [0, 1],
  async run(given, io) {
    const above = await io.agentAbove();
    const how = above === null ? 'untildone stop' : `untildone stop, beneath ${above}`;
    const { session } = await sendHumanEvent(io, given.positional(0), () => ({ type: 'human-aborted', how }));
    if (given.has('json')) printJson(io, { ...sessionFields(session), latch: session.latch });
    else {
      const id = nameSession(session);
      printWrapped(io, [`Session ${id} is latched. A message from you or \`untildone resume\` lifts that.`]);
    }
    return 0;
  },
};
