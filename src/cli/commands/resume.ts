// `untildone resume`: lifts latch and pause, and nothing else: budgets stay spent (G4, G6). Only a human may say it,
// so it wants a controlling terminal and refuses beneath an agent.
import { type Command, jsonOption } from '../command.ts';
import { describeAnswer } from '../describe-decision.ts';
import { describeState } from '../describe-session.ts';
import { printJson, printWrapped, refuse, shown } from '../print.ts';
import { sendHumanEvent } from '../send-human-event.ts';
import { nameSession, sessionFields } from '../session-name.ts';

export const resume: Command = {
  usage: 'resume [session] [--json]',
  about: [
    'Lifts a pause or a stop. Counters and budgets stay as they are: only a message to the agent zeroes them.',
    'An agent must not resume itself. This command needs a terminal (not only piped input and output) and refuses\nbeneath an agent host or a session of untildone. docs/cli.md says what that cannot prevent.',
  ],
  options: jsonOption,
  positionals: [0, 1],
  async run(given, io) {
    const refusal = await io.whyNoHuman();
    if (refusal !== null) return refuse(io, refusal);
    const { session, handled } = await sendHumanEvent(io, given.positional(0), ({ latch, pause }) =>
      latch === null && pause === null ? null : { type: 'human-resumed' },
    );
    const state = describeState(session, io.clock.now());
    const decision = handled?.decision ?? null;
    if (given.has('json')) {
      printJson(io, { ...sessionFields(session), resumed: handled !== null, state, decision });
      return 0;
    }
    const id = nameSession(session);
    const done = handled === null ? 'is neither paused nor latched; nothing was changed' : 'is resumed';
    const next = decision === null ? state.words : describeAnswer(decision);
    printWrapped(io, [`Session ${id} ${done}. Now: ${shown(next)}.`]);
    return 0;
  },
};
