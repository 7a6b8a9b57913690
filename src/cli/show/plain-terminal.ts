// A run as lines on a terminal where somebody sits: what they type is the answer to the question that is open, or a
// message to the agent, which takes it up after the running step. It reads whole lines and changes no mode of the
// terminal, so that Ctrl-C works as ever.
import { createInterface } from 'node:readline';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanAnswer } from '../../checks/checker.ts';
import { oneLine, visibleLines } from '../../core/safe-text.ts';
import {
  approvalPrompt,
  isNearAnswer,
  notUnderstood,
  permissionPrompt,
  readApproval,
  readPermission,
} from '../ask-at-terminal.ts';
import type { Io } from '../io.ts';
import { terminalWidth } from '../print.ts';
import { wrapPrompt } from '../wrap-line.ts';
import { printedOutput, type RunHand, type RunOutput } from './output.ts';

type Question =
  | { readonly kind: 'permission'; readonly requestId: string }
  | { readonly kind: 'approval'; readonly text: string; answer(said: HumanAnswer | null): void };

export function plainTerminalOutput(
  io: Io,
  print: (event: AgentEvent) => void,
  hand: RunHand,
  input: NodeJS.ReadableStream = process.stdin,
): RunOutput {
  const questions: Question[] = [];
  const lines = createInterface({ input, terminal: false });
  const fitted = (prompt: string): string => wrapPrompt(prompt, terminalWidth(io));

  /** The first of them is the one on the screen. */
  function prompt(): void {
    const [question] = questions;
    if (question?.kind === 'permission') io.stderr.write(fitted(permissionPrompt));
    if (question?.kind === 'approval') io.stderr.write(`\n${question.text}\n${fitted(approvalPrompt)}`);
  }

  function add(question: Question): void {
    questions.push(question);
    if (questions.length === 1) prompt();
  }

  function end(question: Question): void {
    const index = questions.indexOf(question);
    if (index !== -1) questions.splice(index, 1);
    if (index === 0) prompt();
  }

  async function hear(line: string): Promise<void> {
    const [question] = questions;
    if (question?.kind === 'approval') {
      question.answer(readApproval(line));
      return end(question);
    }
    if (question?.kind === 'permission') {
      const choice = readPermission(line);
      if (choice !== null) return hand.control()?.answer(question.requestId, choice);
      if (line.trim() === '')
        return void io.stderr.write('Left open; y, s, a or n here, or `untildone approve` elsewhere.\n');
      if (isNearAnswer(line))
        return void io.stderr.write(
          `${notUnderstood(line)} It was not sent to the agent.\n${fitted(permissionPrompt)}`,
        );
    }
    await hand.control()?.say(line);
  }

  lines.on('line', (line) => {
    hear(line).catch((error: unknown) => {
      // The run goes on without what was typed; whoever typed it must know.
      const reason = error instanceof Error ? error.message : String(error);
      io.stderr.write(`untildone: That was not taken: ${oneLine(reason, 200)}\n`);
    });
  });
  // Nobody is there any more: what waits for this terminal is left open.
  lines.on('close', () => {
    for (const question of [...questions]) {
      if (question.kind === 'approval') question.answer(null);
      end(question);
    }
  });

  return {
    ...printedOutput(io, print),
    answers: true,
    emit(event) {
      if (event.type !== 'permission-answered') {
        print(event);
        if (event.type === 'permission-asked') add({ kind: 'permission', requestId: event.requestId });
        return;
      }
      const answered = questions.find(
        (question) => question.kind === 'permission' && question.requestId === event.requestId,
      );
      // Nobody pressed Enter behind the prompt.
      if (answered !== undefined && answered === questions[0] && event.by === 'elsewhere')
        io.stderr.write('\n');
      print(event);
      if (answered !== undefined) end(answered);
    },
    ask: (text) =>
      new Promise((resolve) =>
        add({ kind: 'approval', text: oneLine(visibleLines(text).join(' '), 500), answer: resolve }),
      ),
    async close() {
      lines.close();
      // A terminal that is still read would keep the process alive.
      input.pause();
    },
  };
}
