// Where a run shows itself, as one value: the live view implements it; NDJSON, lines, and
// lines on a terminal where somebody sits stand here.
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
import { type Hand, perform } from './keys.ts';

export interface RunOutput {
  /** What the run tells, and that the human asked it to stop. */
  emit(event: AgentEvent | StopAsked): void;
  /**
   * Asks the human who looks at it and can answer what the run asks; null: nobody does.
   */
  readonly ask: ((question: string) => Promise<HumanAnswer | null>) | null;
  /** Where warnings go meanwhile. */
  readonly complaints: Output;
  close(): Promise<void>;
}

export interface OutputChoice {
  readonly json: boolean;
  /** Lines, although a view could be drawn. */
  readonly plain: boolean;
}

/** Drawing needs a terminal that can move its cursor, and one to read keys from. */
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
 * Markdown is laid out on a terminal; a log and another program get it as it was said.
 * Only what is used is loaded.
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
      answer(said: HumanAnswer | null): void;
    };

/**
 * What is typed is the answer to the question that is open, or a message to the agent,
 * which takes it up after the running step. It reads whole lines and changes no mode of
 * the terminal, so that Ctrl-C works as ever.
 */
export function plainTerminalOutput(
  io: Io,
  print: (event: AgentEvent) => void,
  hand: Hand,
  input: NodeJS.ReadableStream = process.stdin,
): RunOutput {
  /** The first of them is the one on the screen. */
  const questions: Question[] = [];
  const lines = createInterface({ input, terminal: false });
  const printed = printedOutput(io, print);

  function prompt(): void {
    const [question] = questions;
    if (question === undefined) return;
    if (question.requestId === null) io.stderr.write(`\n${question.text}\n`);
    const asks = question.requestId === null ? approvalPrompt : permissionPrompt;
    io.stderr.write(wrapPrompt(asks, terminalWidth(io)));
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

  /** A sentence that comes back is for the human. */
  async function hear(line: string): Promise<unknown> {
    const [question] = questions;
    if (question?.requestId === null) {
      question.answer(readApproval(line));
      return end(question);
    }
    const remembered = question === undefined ? null : readPermission(line);
    if (question !== undefined && remembered !== null)
      return perform(hand, { act: 'answer', requestId: question.requestId, remembered });
    if (question !== undefined && line.trim() === '')
      return 'Left open; y, s, a or n here, or `untildone approve` elsewhere.';
    if (question === undefined || !isNearAnswer(line))
      return perform(hand, { act: 'say', text: line });
    io.stderr.write(`${notUnderstood(line)} It was not sent to the agent.\n`);
    return prompt();
  }

  lines.on('line', async (line) => {
    // The run goes on without what was typed; whoever typed it must know.
    const failed = (error: unknown) =>
      `untildone: That was not taken: ${oneLine(messageOf(error), 200)}`;
    const sentence = await hear(line).catch(failed);
    if (typeof sentence === 'string') io.stderr.write(`${sentence}\n`);
  });
  // Nobody is there any more: what waits for this terminal is left open.
  lines.on('close', () => {
    for (const question of questions.splice(0))
      if (question.requestId === null) question.answer(null);
  });

  return {
    ...printed,
    emit(event) {
      const about = event.type === 'permission-answered' ? event : null;
      const answered = questions.find(
        ({ requestId }) => requestId !== null && requestId === about?.requestId,
      );
      // Nobody pressed Enter behind the prompt.
      if (
        answered !== undefined &&
        answered === questions[0] &&
        about?.by === 'elsewhere'
      )
        io.stderr.write('\n');
      printed.emit(event);
      if (answered !== undefined) end(answered);
      if (event.type === 'permission-asked') add({ requestId: event.requestId });
    },
    ask: (text) =>
      new Promise((answer) =>
        add({
          requestId: null,
          text: oneLine(visibleLines(text).join(' '), 500),
          answer,
        }),
      ),
    async close() {
      lines.close();
      // A terminal that is still read would keep the process alive.
      input.pause();
    },
  };
}
