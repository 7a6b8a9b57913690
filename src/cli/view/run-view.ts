// The live view of a run of this process: draws its events and hands the human's keys to it. If the view breaks, the
// run goes on and prints lines.
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanAnswer } from '../../checks/checker.ts';
import { readApproval } from '../ask-at-terminal.ts';
import type { Io } from '../io.ts';
import { complain } from '../print.ts';
import {
  createPrinter,
  lookOf,
  printedOutput,
  type RunHand,
  type RunOutput,
} from '../run-output/run-output.ts';
import type { ViewAct } from './key-press.ts';
import { openLiveView } from './live-view.ts';
import { breaksLines } from './reflow.ts';

/** `open` is replaced by tests of a view that breaks. */
export function openRunView(io: Io, hand: RunHand, open = openLiveView): RunOutput {
  let lines: RunOutput | null = null;
  let answerCheck: ((answer: HumanAnswer | null) => void) | null = null;
  let sessionId = '';
  const look = lookOf(io);

  function notice(sentence: string): void {
    output.emit({ type: 'notice', at: io.clock.now(), sessionId, sentence });
  }

  /** What a human asked for and did not get is told, and asked for again by whoever wants it. */
  function attempt(work: Promise<unknown>): void {
    work.then(
      (refusal) => {
        if (typeof refusal === 'string') notice(refusal);
      },
      (error: unknown) => notice(`That could not be done: ${error instanceof Error ? error.message : error}`),
    );
  }

  /** An agent that makes itself a terminal has keys too. */
  async function asHuman(work: () => Promise<unknown>): Promise<unknown> {
    return (await io.whyNoHuman()) ?? work();
  }

  function perform(act: ViewAct): void {
    const control = hand.control();
    switch (act.act) {
      case 'interrupt':
        hand.interrupt();
        return;
      case 'say':
        if (control === null) notice('The run has not begun: say it again in a moment.');
        else attempt(asHuman(() => control.say(act.text)));
        return;
      case 'answer':
        if (control !== null) attempt(asHuman(() => control.answer(act.requestId, act.remembered)));
        return;
      case 'reply':
        answerCheck?.(readApproval(act.text));
        return;
      case 'pause':
        attempt(hand.pause());
        return;
      case 'resume':
        attempt(hand.resume());
        return;
      case 'stop':
      case 'quit':
        hand.interrupt();
        return;
    }
  }

  const view = open({
    kind: 'run',
    clock: io.clock,
    color: look.color,
    unicode: look.unicode,
    breaksLines: breaksLines(io.env),
    stdin: process.stdin,
    stdout: process.stdout,
    perform,
    onFailure: (error) => {
      lines = printedOutput(io, createPrinter(io, false));
      const why = error instanceof Error ? error.message : String(error);
      complain(io, `The live view broke (${why}); the run goes on, in lines.`);
      answerCheck?.(null);
    },
  });

  const output: RunOutput = {
    emit(event: AgentEvent) {
      sessionId = event.sessionId;
      if (lines === null) view.emit(event);
      else lines.emit(event);
    },
    stopAsked(how) {
      if (lines === null) view.emit({ type: 'stop-asked', how });
      else lines.stopAsked(how);
      // A question must not hold up the end.
      answerCheck?.(null);
    },
    async ask(question) {
      if (lines !== null || (await io.whyNoHuman()) !== null) return null;
      view.emit({ type: 'check-question', question });
      const answer = await new Promise<HumanAnswer | null>((resolve) => {
        answerCheck = resolve;
      });
      answerCheck = null;
      view.emit({ type: 'check-question', question: null });
      return answer;
    },
    answers: true,
    complaints: {
      write(text) {
        if (lines !== null) io.stderr.write(text);
        else for (const line of text.split('\n')) if (line.trim() !== '') notice(line);
      },
    },
    close: () => view.close(),
  };
  return output;
}
