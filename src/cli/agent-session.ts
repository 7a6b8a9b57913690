// Starts a run for a command, of our own agent or of a program that it drives: store,
// output, Ctrl-C. The one place where a run meets the process it lives in.

import type { AgentEvent } from '../agent/agent-event.ts';
import { createStreamWriter } from '../agent/event-stream.ts';
import { type Asking, noAsking } from '../agent/loop/tool-calls.ts';
import { type AgentRunOptions, type HumanControl, runAgent } from '../agent/run-agent.ts';
import { messageOf, UntildoneError } from '../core/error.ts';
import { findCheck } from '../core/same-checks.ts';
import { ownSession } from '../engine/session-owner.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import { freezePolicy } from '../open.ts';
import { planFileOf } from './agent-policy.ts';
import { canAnswerHere } from './ask-at-terminal.ts';
import { shortId } from './describe-session.ts';
import { createHumanActs } from './human-event.ts';
import type { Io } from './io.ts';
import { createRunNotifier } from './notify.ts';
import { openPlanFileSync } from './open-runtime.ts';
import { printComplaint } from './print.ts';
import type { DrivenAgent } from './run-with.ts';
import type { Hand } from './show/keys.ts';
import {
  createPrinter,
  drawsView,
  type OutputChoice,
  plainTerminalOutput,
  printedOutput,
  type RunOutput,
} from './show/output.ts';

// Remarks of the provider packages are for programmers; they would stand between the
// lines that people read.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

type OfRun = 'goal' | 'sessionId' | 'resume' | 'policy' | 'directory';

type OwnAgent = Pick<AgentRunOptions, 'model' | 'permissions' | 'workers'> & {
  /**
   * How the human is asked; whether somebody is here is known only when the output is
   * open.
   */
  readonly asking?: Omit<Asking, 'here'>;
};

export interface AgentSession
  extends Pick<AgentRunOptions, OfRun | 'replacedChecks' | 'acceptClaims'>,
    OutputChoice {
  readonly agent: OwnAgent | DrivenAgent;
  /** The human names the plan file in this command. */
  readonly namesPlan?: boolean;
  /** Whether the session can be taken up again after this run; absent: it can. */
  readonly isKept?: () => boolean;
  /**
   * Takes what the human types instead of the agent, which is a script and cannot read
   * it. Null: their Ctrl-C, which acts too.
   */
  readonly hear?: (words: string | null, run: WatchedRun) => void;
  /** Sees every event too, before it is shown. */
  readonly watch?: (event: AgentEvent, run: WatchedRun) => void;
}

/** What somebody who watches a run from within this process may do to it. */
export interface WatchedRun {
  /** A sentence of theirs among the events. */
  tell(sentence: string): void;
  /** As Ctrl-C. */
  interrupt(): void;
}

export async function runSession(io: Io, store: Store, session: AgentSession) {
  const { sessionId } = session;
  // First: beneath a living owner nothing of its work may be touched (P41).
  const owned = await ownSession({ store, clock: io.clock }, sessionId);
  if (!owned.ok) {
    const id = shortId(sessionId);
    const helps = `\`untildone attach ${id}\` shows it, \`untildone say --session ${id} "…"\` speaks to it, \`untildone stop ${id}\` ends it`;
    throw new UntildoneError(
      'usage',
      `Session ${id} runs in ${owned.process}: ${helps}.`,
    );
  }
  try {
    return await runOwned(io, owned.store, session);
  } finally {
    await owned.release();
  }
}

async function runOwned(io: Io, store: Store, session: AgentSession) {
  let control: HumanControl | null = null;
  let interrupts = 0;
  const onInterrupt = (): void => {
    interrupts += 1;
    // First of all: what follows writes to the store, which may be busy for seconds.
    if (interrupts <= 2)
      output.emit({ type: 'stop-asked', how: interrupts === 1 ? 'after-step' : 'now' });
    if (control !== null && interrupts === 1) stop(control);
    else control?.stopNow();
  };
  /** The run itself writes the latch; if that fails, the step is ended. */
  const stop = ({ stopAfterStep, stopNow }: HumanControl): void =>
    void stopAfterStep().catch(stopNow);
  const { sessionId } = session;
  // What is complained about meanwhile must not be written into the middle of a drawn
  // screen.
  const quiet: Io = { ...io, stderr: { write: (text) => output.complaints.write(text) } };
  const acts = createHumanActs(quiet, store, sessionId);
  const onHumanInterrupt = (): void => {
    session.hear?.(null, watched);
    onInterrupt();
  };
  /** An agent that makes itself a terminal has keys too. */
  const asHuman = async (work: (run: HumanControl) => unknown): Promise<unknown> => {
    if (control === null) return 'The run has not begun: say it again in a moment.';
    return (await io.whyNoHuman()) ?? work(control);
  };
  const output = await openRunOutput(io, session, {
    interrupt: onHumanInterrupt,
    say: ({ text }) => asHuman((run) => run.say(text)),
    answer: ({ requestId, remembered }) =>
      asHuman((run) => run.answer(requestId, remembered)),
    pause: acts.pause,
    resume: acts.resume,
  });
  const watched: WatchedRun = {
    tell: (sentence) =>
      output.emit({ type: 'notice', at: io.clock.now(), sessionId, sentence }),
    interrupt: onInterrupt,
  };
  const stream = createStreamWriter(store, sessionId);
  let isShown = true;
  const notifier = createRunNotifier(io, store, session, () => (isShown ? quiet : io));
  const emit = (event: AgentEvent): void => {
    session.watch?.(event, watched);
    const isLost = event.type === 'run-ended' && session.isKept?.() === false;
    const told = isLost ? { ...event, resumeCommand: '' } : event;
    stream.take(told);
    output.emit(told);
    notifier.see(told);
  };
  process.on('SIGINT', onHumanInterrupt);
  process.on('SIGTERM', onHumanInterrupt);
  try {
    // An agent that makes itself a terminal must not answer for the human.
    const here = output.ask !== null && (await io.whyNoHuman()) === null;
    // A session that goes on without a message keeps what its last one froze.
    const prepared =
      session.goal === null
        ? { ok: true as const, policy: session.policy }
        : await freezePolicy(store, session.policy, session.directory, io.env);
    if (!prepared.ok) throw new UntildoneError('invalid-config', prepared.error);
    const { policy } = prepared;
    const realPath = planFileOf(policy);
    // V3: the agent can edit the file; only checks that the human's message froze are put
    // on its new lines.
    const allowedId = (check: string) => findCheck(policy.checks, check)?.id ?? null;
    const isNamed = session.namesPlan ?? false;
    const planFile =
      realPath === null
        ? {}
        : {
            planFile: await openPlanFileSync(quiet, store, {
              realPath,
              sessionId,
              allowedId,
              isNamed,
            }),
          };
    const { agent } = session;
    const options = {
      ...session,
      policy,
      store,
      clock: io.clock,
      identifiers: createIdentifiers(io.clock),
      environment: io.env,
      emit,
      ...(here && output.ask && { askHuman: notifier.asking(output.ask) }),
      onControl: (given: HumanControl) => {
        const { hear } = session;
        control =
          hear === undefined
            ? given
            : { ...given, say: async (words) => hear(words, watched) };
        // A Ctrl-C that came before there was anything to stop.
        if (interrupts > 0) stop(given);
      },
      ...planFile,
    };
    if ('driver' in agent)
      return await (await import('../agent/drive.ts')).runDriven({
        ...options,
        ...agent,
      });
    return await runAgent({
      ...options,
      ...agent,
      asking: { ...noAsking, ...agent.asking, here },
    });
  } finally {
    process.off('SIGINT', onHumanInterrupt);
    process.off('SIGTERM', onHumanInterrupt);
    await output.close();
    isShown = false;
    await stream.close();
    await notifier.settled();
  }
}

/** The live view, lines, or NDJSON. The view is loaded only where it is drawn. */
async function openRunOutput(
  io: Io,
  choice: OutputChoice,
  hand: Hand,
): Promise<RunOutput> {
  if (drawsView(io, choice)) {
    try {
      return (await import('./show/live-view.ts')).openRunView(io, hand);
    } catch (error) {
      // Safe: lines show the same.
      printComplaint(
        io,
        `The live view could not be opened (${messageOf(error)}); the run is shown in lines.`,
      );
    }
  }
  const print = await createPrinter(io, choice.json);
  if (choice.json || !(await canAnswerHere(io))) return printedOutput(io, print);
  return plainTerminalOutput(io, print, hand);
}
