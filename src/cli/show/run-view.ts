// The live view of a run of this process: draws its events and hands the human's keys to it. If the view breaks, the
// run goes on and prints lines.
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanAnswer } from '../../checks/checker.ts';
import { readApproval } from '../ask-at-terminal.ts';
import type { Io } from '../io.ts';
import { complain } from '../print.ts';
import type { ViewAct } from './keys.ts';
import { openLiveView } from './live-view.ts';
import { renderMarkdown } from './markdown.ts';
import { linesOf, printedOutput, type RunHand, type RunOutput } from './output.ts';

/** `open` is replaced by tests of a view that breaks. */
export function openRunView(io: Io, hand: RunHand, open = openLiveView): RunOutput {
  let lines: RunOutput | null = null;
  let answerCheck: ((answer: HumanAnswer | null) => void) | null = null;

  /** An agent that makes itself a terminal has keys too. */
  async function asHuman(work: () => Promise<unknown>): Promise<unknown> {
    return (await io.whyNoHuman()) ?? work();
  }

  async function perform(act: ViewAct): Promise<unknown> {
    const control = hand.control();
    switch (act.act) {
      case 'say':
        if (control === null) return 'The run has not begun: say it again in a moment.';
        return asHuman(() => control.say(act.text));
      case 'answer':
        return control === null ? null : asHuman(() => control.answer(act.requestId, act.remembered));
      case 'reply':
        return answerCheck?.(readApproval(act.text));
      case 'pause':
        return hand.pause();
      case 'resume':
        return hand.resume();
      default:
        return hand.interrupt();
    }
  }

  const view = open({
    kind: 'run',
    io,
    perform,
    onFailure: (error) => {
      lines = printedOutput(io, linesOf(io, { render: renderMarkdown }));
      const why = error instanceof Error ? error.message : String(error);
      complain(io, `The live view broke (${why}); the run goes on, in lines.`);
      answerCheck?.(null);
    },
  });

  const output: RunOutput = {
    emit(event: AgentEvent) {
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
        else for (const line of text.split('\n')) if (line.trim() !== '') view.notice(line);
      },
    },
    close: () => view.close(),
  };
  return output;
}
