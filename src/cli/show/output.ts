// Where a run shows itself, as one value: the live view implements it; NDJSON, lines, and lines on a terminal where
// somebody sits stand here.
import { createInterface } from 'node:readline';
import type { AgentEvent } from '../../agent/agent-event.ts';
import type { HumanControl } from '../../agent/run-agent.ts';
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
import { createJsonPrinter, type SessionEvent } from './events.ts';

/** What a view may do to the run that it shows. */
export interface RunHand {
  /** As Ctrl-C: the first stops after the step, the second at once. */
  interrupt(): void;
  /** null: the run has not begun. */
  control(): HumanControl | null;
  pause(): Promise<void>;
  /** A sentence that says why not; null: it goes on. */
  resume(): Promise<string | null>;
}

export interface RunOutput {
  readonly emit: (event: AgentEvent) => void;
  /** Told when the human asked the run to stop. */
  stopAsked(how: 'after-step' | 'now'): void;
  /** Asks the human who looks at it and can answer what the run asks; null: nobody does. */
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
  return io.isTTY && process.stdin.isTTY === true && !json && !plain && io.env['TERM'] !== 'dumb';
}

/** Markdown is laid out on a terminal; a log and another program get it as it was said. Only what is used is loaded. */
export async function createPrinter(io: Io, json: boolean): Promise<(event: SessionEvent) => void> {
  if (json) return createJsonPrinter((text) => io.stdout.write(text));
  const { linesOf, plainSpeech } = await import('./lines.ts');
  return linesOf(io, io.isTTY ? (await import('./markdown.ts')).renderMarkdown : plainSpeech);
}

export function printedOutput(io: Io, emit: (event: AgentEvent) => void): RunOutput {
  return {
    emit,
    stopAsked(how) {
      if (how === 'after-step') io.stderr.write('\nStopping after this step; Ctrl-C again stops at once.\n');
    },
    ask: null,
    complaints: io.stderr,
    close: async () => {},
  };
}

type Question =
  | { readonly kind: 'permission'; readonly requestId: string }
  | { readonly kind: 'approval'; readonly text: string; answer(said: HumanAnswer | null): void };

/**
 * What is typed is the answer to the question that is open, or a message to the agent, which takes it up after the running
 * step. It reads whole lines and changes no mode of the terminal, so that Ctrl-C works as ever.
 */
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
      io.stderr.write(`untildone: That was not taken: ${oneLine(messageOf(error), 200)}\n`);
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
