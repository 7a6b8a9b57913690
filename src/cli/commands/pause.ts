// `untildone pause`: no continuation for a session until the human resumes it (C3).
import { type Command, jsonOption } from '../command.ts';
import { printJson, printWrapped } from '../print.ts';
import { sendHumanEvent } from '../send-human-event.ts';
import { nameSession, sessionFields } from '../session-name.ts';

export const pause: Command = {
  usage: 'pause [session] [--reason TEXT] [--json]',
  about: [
    'The agent may stop whenever it likes, until `untildone resume`. A message to the agent does not lift a pause.\nWhat the host is doing right now is not interrupted.',
  ],
  options: { reason: { value: 'TEXT', summary: 'Why, for the record.' }, ...jsonOption },
  positionals: [0, 1],
  async run(given, io) {
    const above = await io.agentAbove();
    const reason = [given.text('reason'), above === null ? null : `asked for beneath ${above}`];
    const { session } = await sendHumanEvent(io, given.positional(0), () => ({
      type: 'human-paused',
      reason: reason.filter((part) => part !== null).join('; ') || null,
    }));
    if (given.has('json')) printJson(io, { ...sessionFields(session), pause: session.pause });
    else printWrapped(io, [`Session ${nameSession(session)} is paused. \`untildone resume\` lifts that.`]);
    return 0;
  },
};
