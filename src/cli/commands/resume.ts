// `untildone resume`: lifts a stop and a pause, and nothing else: budgets stay spent (G4, G6). Only a human may say it,
// so it wants a controlling terminal and refuses beneath an agent.
import { type Command, jsonOption } from '../command.ts';
import { describeState } from '../describe-session.ts';
import { actOnSession, report } from '../human-event.ts';
import { refuse, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';

export const resume: Command = {
  usage: 'resume [session] [--json]',
  about: [
    'Lifts a pause or a stop. Counters and budgets stay as they are: only a message to the agent zeroes them. A run that\nhas ended is not started by it: `untildone run --resume` does that.',
    'An agent must not resume itself. This command needs a terminal (not only piped input and output) and refuses\nbeneath an agent host or a session of untildone. docs/cli.md says what that cannot prevent.',
  ],
  options: jsonOption,
  positionals: [0, 1],
  async run(given, io) {
    const refusal = await io.whyNoHuman();
    if (refusal !== null) return refuse(io, refusal);
    const { session, handled } = await actOnSession(io, given.positional(0), ({ latch, pause }) =>
      latch === null && pause === null ? null : { type: 'human-resumed' },
    );
    const decision = handled?.decision ?? null;
    const state = describeState(session, io.clock.now());
    const isOurs = session.descriptor.host === 'untildone';
    // Nothing starts by itself (first-use 25).
    const isOver = isOurs && session.turn?.ended !== false;
    const command = `\`untildone run --resume ${shortId(session.id)}\``;
    const unchanged = 'is neither paused nor stopped; nothing was changed';
    const what = handled === null ? unchanged : isOver ? 'is no longer stopped' : 'is resumed';
    const inHost = `Now: ${shown(decision?.sentence ?? `${state.words}.`, 300)}`;
    const goesOn = isOurs ? `Its run goes on; if that was killed, ${command} takes it up.` : inHost;
    const next = isOver ? `No run is at work in it: ${command} takes it up again.` : goesOn;
    const sentence = `Session ${nameSession(session)} ${what}. ${next}`;
    return report({ given, io, session }, { resumed: handled !== null, state, decision }, [sentence]);
  },
};
