// `untildone pause`: no continuation for a session until the human resumes it (C3).
import { type Command, jsonOption } from '../command.ts';
import { actOnSession, report } from '../human-event.ts';
import { nameSession } from '../session-name.ts';

export const pause: Command = {
  usage: 'pause [session] [--reason TEXT] [--json]',
  about: [
    'The agent may stop whenever it likes, until `untildone resume`. A message to the agent does not lift a pause.\nWhat the host is doing right now is not interrupted.',
  ],
  options: { reason: { value: 'TEXT', summary: 'Why, for the record.' }, ...jsonOption },
  positionals: [0, 1],
  async run(given, io) {
    const above = await io.agentAbove();
    const why = [given.text('reason'), above && `asked for beneath ${above}`].filter(Boolean).join('; ');
    const act = { type: 'human-paused', reason: why || null } as const;
    const { session } = await actOnSession(io, given.positional(0), () => act);
    const sentence = `Session ${nameSession(session)} is paused. \`untildone resume\` lifts that.`;
    return report({ given, io, session }, { pause: session.pause }, [sentence]);
  },
};
