// The human of the demo, for everyone who only watches: answers the permission if nobody else does, and presses Ctrl-C
// once. It acts as a human in another terminal would, and says so each time.
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { Store } from '../../engine/store.ts';
import type { WatchedRun } from '../agent-session.ts';
import { answerPermission } from '../human-event.ts';
import type { Io } from '../io.ts';
import { completedAtInterrupt } from './story.ts';

export interface ScriptedHuman {
  watch(event: AgentEvent, run: WatchedRun): void;
  /** It was the script that stopped the run. */
  readonly hasInterrupted: boolean;
  /** A person did something: the story may run otherwise than written. */
  readonly hasHelp: boolean;
  /** The permission was refused: one todo cannot be done. */
  readonly hasRefused: boolean;
}

/** What the script says to the permission. */
export type ScriptedAnswer = 'once' | 'no';

/** How long a person who sits here has for an answer of their own. */
const answerSeconds = 6;

export function createScriptedHuman(
  io: Io,
  store: Store,
  isSomebodyHere: boolean,
  answer: ScriptedAnswer,
): ScriptedHuman {
  let completed = 0;
  let hasInterrupted = false;
  let hasHelp = false;
  let hasRefused = false;
  let cancelAnswer = (): void => {};

  function answerLater(sessionId: string, requestId: string, run: WatchedRun): void {
    const seconds = isSomebodyHere ? answerSeconds : 0;
    const word = answer === 'no' ? 'no' : 'yes';
    run.tell(
      isSomebodyHere
        ? `The script says ${word} in ${seconds} s, unless you answer first.`
        : `Nobody sits here, so the script says ${word}.`,
    );
    cancelAnswer = io.clock.wake(io.clock.now() + seconds * 1000, () => {
      answerPermission(io, store, { sessionId, requestId }, answer).catch((error: unknown) => {
        // The question stays open, and the run ends as paused: the story did not run as written, which is told.
        run.tell(`The script could not answer: ${error instanceof Error ? error.message : error}`);
      });
    });
  }

  return {
    watch(event, run) {
      if (event.type === 'permission-asked') answerLater(event.sessionId, event.requestId, run);
      if (event.type === 'permission-answered') {
        cancelAnswer();
        hasHelp ||= event.by === 'terminal';
        hasRefused ||= !event.granted;
      }
      if (event.type === 'human-message') hasHelp = true;
      if (event.type === 'plan-changed') completed = event.completed;
      if (event.type === 'step-started' && completed === completedAtInterrupt && !hasInterrupted) {
        hasInterrupted = true;
        run.tell('The script presses Ctrl-C.');
        run.interrupt();
      }
    },
    get hasInterrupted() {
      return hasInterrupted;
    },
    get hasHelp() {
      return hasHelp;
    },
    get hasRefused() {
      return hasRefused;
    },
  };
}
