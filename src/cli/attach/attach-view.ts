// The live view of a session that runs elsewhere: what the store says, and the human's hand on it. Leaving it leaves
// the session as it is.
import type { Store } from '../../engine/store.ts';
import type { Io } from '../io.ts';
import { complain } from '../print.ts';
import { lookOf } from '../run-output/run-output.ts';
import { createHumanActs } from '../view/human-acts.ts';
import type { ViewAct } from '../view/key-press.ts';
import { type LiveView, openLiveView } from '../view/live-view.ts';
import { breaksLines } from '../view/reflow.ts';
import type { SessionEvent } from '../view/view-event.ts';
import { toldHere } from './told-here.ts';

export interface AttachView {
  show(events: readonly SessionEvent[]): void;
  /** Resolves when the human leaves, or the view broke. */
  readonly left: Promise<void>;
  close(): Promise<void>;
}

export function openAttachView(io: Io, store: Store, sessionId: string, lookSoon: () => void): AttachView {
  // What is complained about must not be written into the middle of a drawn screen.
  const shown: Io = { ...io, stderr: { write: (text) => notice(text) } };
  const acts = createHumanActs(shown, store, sessionId);
  const look = lookOf(io);
  /** What a key here answered: told as the human's own. */
  const answeredHere = new Set<string>();
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });

  function notice(sentence: string): void {
    view.emit({ type: 'notice', at: io.clock.now(), sessionId, sentence });
  }

  function attempt(work: Promise<unknown>): void {
    work.then(
      (refusal) => {
        if (typeof refusal === 'string') notice(refusal);
        lookSoon();
      },
      (error: unknown) => notice(`That could not be done: ${error instanceof Error ? error.message : error}`),
    );
  }

  function perform(act: ViewAct): void {
    switch (act.act) {
      case 'pause':
        attempt(acts.pause());
        break;
      case 'resume':
        attempt(acts.resume());
        break;
      case 'stop':
        attempt(acts.stop('a key in untildone attach'));
        break;
      case 'answer':
        answeredHere.add(act.requestId);
        attempt(
          acts.answer(act.requestId, act.remembered).then((refusal) => {
            if (refusal !== null) answeredHere.delete(act.requestId);
            return refusal;
          }),
        );
        break;
      case 'quit':
      case 'interrupt':
        leave();
        break;
      case 'say':
      case 'reply':
        break;
    }
  }

  const view: LiveView = openLiveView({
    kind: 'attach',
    clock: io.clock,
    color: look.color,
    unicode: look.unicode,
    breaksLines: breaksLines(io.env),
    stdin: process.stdin,
    stdout: process.stdout,
    perform,
    onFailure: (error) => {
      const why = error instanceof Error ? error.message : String(error);
      complain(
        io,
        `The live view broke (${why}). The session goes on; \`untildone attach --plain\` shows it.`,
      );
      leave();
    },
  });

  return {
    show(events) {
      for (const event of events) view.emit(toldHere(event, answeredHere));
    },
    left,
    close: () => view.close(),
  };
}
