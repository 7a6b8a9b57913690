// `untildone pause`, `stop` and `resume`: a human holds a session, or takes that back (C3, G4). Holding is never refused:
// whoever wants an agent to end may say so, and the record says where it was asked from. Only a human may resume, so that
// wants a controlling terminal and refuses beneath an agent. It lifts nothing else: budgets stay spent (G6).
import { type Command, jsonOption } from '../command.ts';
import { describeState } from '../describe-session.ts';
import { actOnSession, report } from '../human-event.ts';
import { refuse, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';

export const pause: Command = {
  takes: '[session]',
  about: [
    'The agent may stop whenever it likes, until `untildone resume`. A message to the agent does not lift a pause.\nWhat the host is doing right now is not interrupted.',
  ],
  options: { reason: { value: 'TEXT', summary: 'Why, for the record.' }, ...jsonOption },
  async run(given, io) {
    const above = await io.agentAbove();
    const why = [given.text('reason'), above && `asked for beneath ${above}`].filter(Boolean).join('; ');
    const act = { type: 'human-paused', reason: why || null } as const;
    const { session } = await actOnSession(io, given.positional(0), () => act);
    const sentence = `Session ${nameSession(session)} is paused. \`untildone resume\` lifts that.`;
    return report({ given, io, session }, { pause: session.pause }, [sentence]);
  },
};

export const stop: Command = {
  takes: '[session]',
  about: [
    'Nothing more is sent to the agent until you write to it or run `untildone resume`; a countdown ends. A run of ours\nends after its step. What another host is doing right now is not interrupted: use its own key for that.',
  ],
  options: jsonOption,
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

export const resume: Command = {
  takes: '[session]',
  about: [
    'Lifts a pause or a stop. Counters and budgets stay as they are: only a message to the agent zeroes them. A run that\nhas ended is not started by it: `untildone run --resume` does that.',
    'An agent must not resume itself. This command needs a terminal (not only piped input and output) and refuses\nbeneath an agent host or a session of untildone. docs/cli.md says what that cannot prevent.',
  ],
  options: jsonOption,
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
