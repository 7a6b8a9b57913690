// `untildone pause`, `stop`, `resume` and `say`: a human holds a session, takes that back
// (C3, G4), or speaks to our own agent (T3). An agent that calls `pause` or `stop` pauses
// its own session and no other (V12). Only a human may resume; budgets stay spent (G6).
import { UntildoneError } from '../../core/error.ts';
import { isTurnOver, type Session } from '../../core/state.ts';
import { createIdentifiers } from '../../engine/system.ts';
import { queuedWords } from '../../session/goal-session.ts';
import { describeState, nameSession, shortId } from '../describe-session.ts';
import {
  type Answer,
  adviceForHuman,
  type Here,
  sessionCommand,
} from '../find-session.ts';
import {
  pauseAsAgent,
  pauseSession,
  resumeSession,
  sendActs,
  stopSession,
} from '../human-event.ts';
import { escapeForTerminal, printRefusal } from '../print.ts';
import {
  createRunningSessionFinder,
  describeIdleSession,
  findHeldSession,
} from '../running-session.ts';
import { describeCurrentState, isRunning } from '../session-process.ts';

const defaultSessionHelp =
  'Without a session: the one that runs in this directory. If several run, it asks at a terminal and lists them elsewhere;\nif none runs, it takes the most recent one and says so.';

const agentHelp =
  'An agent that calls it pauses its own session; any other session is refused. So type it in a terminal of your own.';

async function pauseAgentSession(
  context: Here,
  agent: string,
  reason: string | null,
): Promise<Answer> {
  const { session } = await pauseAsAgent(context, reason);
  const { words } = describeState(session, context.io.clock.now());
  const effect = isTurnOver(session)
    ? 'its turn has ended already, and the outcome stays'
    : 'its next stop ends the turn as paused';
  const pausedSentence = `${agent} called this: the agent asked to stop, and ${effect}.`;
  const isHeldByHuman = session.latch !== null || session.pause?.by === 'human';
  const effectSentence = isHeldByHuman
    ? `${agent} called this, and nothing changes: ${escapeForTerminal(words, 300)}.`
    : pausedSentence;
  return {
    json: { pause: session.pause, latch: session.latch },
    lines: [`Session ${nameSession(session)}: ${effectSentence} ${adviceForHuman}`],
  };
}

export const pause = sessionCommand({
  about: [
    'The agent may stop whenever it likes, until `untildone resume`. A message to the agent does not lift a pause.\nWhat the host is doing right now is not interrupted.',
    agentHelp,
    defaultSessionHelp,
  ],
  options: { reason: { value: 'TEXT', summary: 'Why, for the record.' } },
  agentOwnOnly: true,
  find: createRunningSessionFinder((id) => `untildone pause ${id}`),
  async answer(context) {
    if (context.agent !== null)
      return pauseAgentSession(context, context.agent, context.given.text('reason'));
    const remarks = await describeIdleSession(context);
    const { session } = await pauseSession(context, context.given.text('reason'));
    const sentence = `Session ${nameSession(session)} is paused. \`untildone resume\` lifts that.`;
    return { json: { pause: session.pause }, lines: [...remarks, sentence] };
  },
});

export const stop = sessionCommand({
  about: [
    'Nothing more is sent to the agent until you write to it or run `untildone resume`; a countdown ends. A run of ours\nends after its step. What another host is doing right now is not interrupted: use its own key for that.',
    agentHelp,
    defaultSessionHelp,
  ],
  agentOwnOnly: true,
  find: createRunningSessionFinder((id) => `untildone stop ${id}`),
  async answer(context) {
    if (context.agent !== null) return pauseAgentSession(context, context.agent, null);
    const remarks = await describeIdleSession(context);
    const { session } = await stopSession(context, 'untildone stop');
    const next =
      session.descriptor.host === 'untildone'
        ? `\`untildone run --resume ${shortId(session.id)}\` takes it up again.`
        : 'A message from you or `untildone resume` lifts that.';
    return {
      json: { latch: session.latch },
      lines: [...remarks, `Session ${nameSession(session)} is stopped. ${next}`],
    };
  },
});

export const resume = sessionCommand({
  about: [
    'Lifts a pause or a stop. Counters and budgets stay as they are: only a message to the agent zeroes them. A run that\nhas ended is not started by it: `untildone run --resume` does that.',
    'Without a session: the one that is paused or stopped in this directory.',
  ],
  humanOnly: true,
  find: findHeldSession,
  async answer(context) {
    const { session, handled } = await resumeSession(context);
    const decision = handled?.decision ?? null;
    const now = context.io.clock.now();
    const state = await describeCurrentState(context.store, session, now);
    const isOurs = session.descriptor.host === 'untildone';
    // `resume` starts no run (first-use 25).
    const isOver = isOurs && !(await isRunning(context.store, session, now));
    const command = `\`untildone run --resume ${shortId(session.id)}\``;
    const unchanged = 'is neither paused nor stopped; nothing was changed';
    const changed = isOver ? 'is no longer stopped' : 'is resumed';
    const what = handled === null ? unchanged : changed;
    const inHost = `Now: ${escapeForTerminal(decision?.sentence ?? `${state.words}.`, 300)}`;
    const goesOn = isOurs ? 'Its run goes on.' : inHost;
    const next = isOver
      ? `No run is at work in it: ${command} takes it up again.`
      : goesOn;
    const sentence = `Session ${nameSession(session)} ${what}. ${next}`;
    return { json: { resumed: handled !== null, state, decision }, lines: [sentence] };
  },
});

const isRunSession = ({ descriptor }: Session): boolean =>
  descriptor.host === 'untildone';

export const say = sessionCommand({
  takes: '<TEXT>',
  about: [
    'Says something to an agent of `untildone run` that is at work. It reads the words after its running step; they join\nthe turn and zero its counters, as every message of yours does. A stop word alone, such as "stop", stops it. In\nClaude Code and OpenCode, write to the agent there.',
  ],
  options: {
    session: {
      value: 'SESSION',
      summary: 'To this session; default: the one that runs in this directory.',
    },
  },
  humanOnly: true,
  find: createRunningSessionFinder(
    (id) => `untildone say --session ${id} "…"`,
    isRunSession,
  ),
  check(given) {
    if (given.positional(0)?.trim()) return;
    throw new UntildoneError('usage', 'Say something: untildone say "use tabs".');
  },
  async answer(context) {
    const { given, io } = context;
    const text = given.positional(0) ?? '';
    const { id: sessionId, descriptor, turn, policyHash } = context.session;
    const isOurs = isRunSession(context.session);
    const now = io.clock.now();
    const isMidTurn = turn !== null && !turn.ended;
    if (
      !isOurs ||
      !isMidTurn ||
      !(await isRunning(context.store, context.session, now))
    ) {
      const advice = isOurs
        ? `It is not at work; \`untildone run --resume ${shortId(sessionId)} "…"\` says it and goes on.`
        : `It belongs to ${escapeForTerminal(descriptor.host, 30)}: say it there.`;
      return printRefusal(
        io,
        `Session ${nameSession(context.session)} cannot be spoken to from here. ${advice}`,
      );
    }
    const base = {
      id: createIdentifiers(io.clock).next(),
      sessionId,
      at: io.clock.now(),
    };
    // The policy frozen at the first message stays in force: a file that changed since
    // may be the agent's work (V2).
    const { session } = await sendActs(context, [queuedWords(text, base, policyHash)]);
    const after = describeState(session, io.clock.now());
    const queued = session.latch === null;
    const next = queued
      ? 'The agent reads it after its running step'
      : escapeForTerminal(after.words);
    return {
      json: { queued, state: after },
      lines: [`Said to session ${nameSession(session)}. ${next}.`],
    };
  },
});
