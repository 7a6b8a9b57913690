// Where a run shows itself, as one value. The live view implements it too; here are
// NDJSON, plain lines, and plain lines on a terminal that a human types into.
import { createInterface } from 'node:readline';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanAnswer } from '../../checks/checker.ts';
import { messageOf } from '../../core/error.ts';
import { oneLine, visibleLines } from '../../core/safe-text.ts';
import {
  approvalPrompt,
  isNearAnswer,
  notUnderstood,
  permissionPrompt,
  readApproval,
  readPermission,
} from '../ask-at-terminal.ts';
import type { Io, Output } from '../io.ts';
import { terminalWidth, wrapPrompt } from '../print.ts';
import { createJsonPrinter, type SessionEvent, type StopAsked } from './events.ts';
import { type Hand, performKey } from './keys.ts';

export interface RunOutput {
  /** Takes an event of the run, or the human's request to stop. */
  emit(event: AgentEvent | StopAsked): void;
  /** Asks the human at this terminal a question of the run. Null: no human can answer. */
  readonly ask: ((question: string) => Promise<HumanAnswer | null>) | null;
  /** Where warnings go while the run shows itself. */
  readonly complaints: Output;
  close(): Promise<void>;
}

export interface OutputChoice {
  readonly json: boolean;
  /** Lines even where a view could be drawn. */
  readonly plain: boolean;
}

/**
 * Whether a view can be drawn: it needs a terminal that can move its cursor, and one to
 * read keys from.
 */
export function drawsView(io: Io, { json, plain }: OutputChoice): boolean {
  return (
    io.isTTY &&
    process.stdin.isTTY === true &&
    !json &&
    !plain &&
    io.env['TERM'] !== 'dumb'
  );
}

/**
 * Creates the printer of a run. Markdown is laid out on a terminal; a log and another
 * program get the text as it is. Loads only what it uses.
 */
export async function createPrinter(
  io: Io,
  json: boolean,
): Promise<(event: SessionEvent) => void> {
  if (json) return createJsonPrinter((text) => io.stdout.write(text));
  const { linesOf, plainSpeech } = await import('./lines.ts');
  return linesOf(
    io,
    io.isTTY ? (await import('./markdown.ts')).renderMarkdown : plainSpeech,
  );
}

/** A run that is only printed: it takes no input. */
export function printedOutput(io: Io, print: (event: AgentEvent) => void): RunOutput {
  return {
    emit(event) {
      if (event.type !== 'stop-asked') print(event);
      else if (event.how === 'after-step')
        io.stderr.write('\nStopping after this step; Ctrl-C again stops at once.\n');
    },
    ask: null,
    complaints: io.stderr,
    close: async () => {},
  };
}

type Question =
  | { readonly requestId: string }
  | {
      readonly requestId: null;
      readonly text: string;
      answer(answer: HumanAnswer | null): void;
    };

/**
 * Takes typed lines: each is the answer to the open question, or a message to the agent,
 * which reads it after the running step. It reads whole lines and leaves the terminal's
 * mode alone, so that Ctrl-C works as ever.
 */
export function plainTerminalOutput(
  io: Io,
  print: (event: AgentEvent) => void,
  hand: Hand,
  input: NodeJS.ReadableStream = process.stdin,
): RunOutput {
  /** The first question is the one on the screen. */
  const questions: Question[] = [];
  const lines = createInterface({ input, terminal: false });
  const printed = printedOutput(io, print);

  function showPrompt(): void {
    const [question] = questions;
    if (question === undefined) return;
    if (question.requestId === null) io.stderr.write(`\n${question.text}\n`);
    const promptText = question.requestId === null ? approvalPrompt : permissionPrompt;
    io.stderr.write(wrapPrompt(promptText, terminalWidth(io)));
  }

  function addQuestion(question: Question): void {
    questions.push(question);
    if (questions.length === 1) showPrompt();
  }

  function endQuestion(question: Question): void {
    const index = questions.indexOf(question);
    if (index !== -1) questions.splice(index, 1);
    if (index === 0) showPrompt();
  }

  /** Handles one typed line. A returned sentence is for the human. */
  async function handleLine(line: string): Promise<unknown> {
    const [question] = questions;
    if (question?.requestId === null) {
      question.answer(readApproval(line));
      return endQuestion(question);
    }
    const remembered = question === undefined ? null : readPermission(line);
    if (question !== undefined && remembered !== null)
      return performKey(hand, {
        act: 'answer',
        requestId: question.requestId,
        remembered,
      });
    if (question !== undefined && line.trim() === '')
      return 'Left open; y, s, a or n here, or `untildone approve` elsewhere.';
    if (question === undefined || !isNearAnswer(line))
      return performKey(hand, { act: 'say', text: line });
    io.stderr.write(`${notUnderstood(line)} It was not sent to the agent.\n`);
    return showPrompt();
  }

  lines.on('line', async (line) => {
    // Safe: the run goes on without the line, and the human sees that it was not taken.
    const describeFailure = (error: unknown) =>
      `untildone: That was not taken: ${oneLine(messageOf(error), 200)}`;
    const sentence = await handleLine(line).catch(describeFailure);
    if (typeof sentence === 'string') io.stderr.write(`${sentence}\n`);
  });
  // No human is there any more, so the open questions stay unanswered.
  lines.on('close', () => {
    for (const question of questions.splice(0))
      if (question.requestId === null) question.answer(null);
  });

  return {
    ...printed,
    emit(event) {
      const answer = event.type === 'permission-answered' ? event : null;
      const answeredQuestion = questions.find(
        ({ requestId }) => requestId !== null && requestId === answer?.requestId,
      );
      // The prompt's line is still open, because nobody pressed Enter.
      const isPromptOpen =
        answeredQuestion !== undefined && answeredQuestion === questions[0];
      if (isPromptOpen && answer?.by === 'elsewhere') io.stderr.write('\n');
      printed.emit(event);
      if (answeredQuestion !== undefined) endQuestion(answeredQuestion);
      if (event.type === 'permission-asked') addQuestion({ requestId: event.requestId });
    },
    ask: (text) =>
      new Promise((answer) =>
        addQuestion({
          requestId: null,
          text: oneLine(visibleLines(text).join(' '), 500),
          answer,
        }),
      ),
    async close() {
      lines.close();
      // The process would not end while the terminal is still read.
      input.pause();
    },
  };
}
