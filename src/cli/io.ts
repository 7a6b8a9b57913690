// Everything of the process that a command may use, as one value, so that tests run
// commands without a process. If the reader of the output goes away (EPIPE), the output
// ends, but the work goes on.
import { fstatSync } from 'node:fs';
import { UntildoneError } from '../core/error.ts';
import type { Clock } from '../engine/host.ts';
import { systemClock } from '../engine/system.ts';

/** The build writes it in; a run from source has no published version. */
declare const UNTILDONE_VERSION: string | undefined;

export const programVersion: string =
  typeof UNTILDONE_VERSION === 'string' ? UNTILDONE_VERSION : '0.0.0-source';

export interface Output {
  write(text: string): unknown;
}

export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether standard output is a terminal. */
  readonly isTTY: boolean;
  readonly clock: Clock;
  /** Says in a sentence why the caller cannot count as a human. Null: it can. */
  whyNoHuman(): Promise<string | null>;
  /**
   * The agent host or session of ours that this process runs beneath, in words. Null:
   * none was found.
   */
  agentAbove(): Promise<string | null>;
  /**
   * The sessions that the agent above may belong to, nearest first. Empty: its host names
   * none.
   */
  agentSessions(): Promise<readonly string[]>;
}

export function processIo(): Io {
  const { env } = process;
  return {
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    env,
    cwd: process.cwd(),
    isTTY: process.stdout.isTTY === true,
    clock: systemClock,
    whyNoHuman: async () => (await import('./human-terminal.ts')).whyNoHuman(env),
    agentAbove: async () => (await import('./human-terminal.ts')).findAgentAbove(env),
    agentSessions: async () =>
      (await import('./human-terminal.ts')).findAgentSessions(env),
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    // A reader such as `head -1` has read enough. The work goes on and decides the exit
    // code.
    if (error.code === 'EPIPE') return;
    if (stream !== process.stderr)
      process.stderr.write(`untildone: The output failed (${error.code}).\n`);
    process.exit(1);
  });
  return { write: (text) => open && stream.write(text) };
}

/**
 * How long an open pipe may stay silent before it counts as empty: the program that
 * started us may have left it open by accident.
 */
const silentPipeMs = 3000;
/** A longer text is a document, not a goal; the agent can read it by itself. */
const longestInput = 200_000;

/** Whether standard input is a pipe, a file or a socket. */
export function hasPipedInput(): boolean {
  try {
    const input = fstatSync(0);
    return input.isFIFO() || input.isFile() || input.isSocket();
  } catch {
    // Safe: standard input is closed, and there is nothing to read.
    return false;
  }
}

/**
 * Reads all of standard input. `waits`: however long it takes; otherwise '' if nothing
 * arrives in a few seconds.
 */
export async function readInput(waits: boolean): Promise<string> {
  const { stdin } = process;
  const parts: Buffer[] = [];
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    const giveUp = waits ? undefined : setTimeout(resolve, silentPipeMs);
    stdin.on('data', (part: Buffer) => {
      clearTimeout(giveUp);
      parts.push(part);
      size += part.length;
      if (size > longestInput) resolve();
    });
    stdin.on('error', reject).on('end', resolve);
  });
  stdin.destroy();
  return asText(Buffer.concat(parts), 'What came on standard input');
}

export function asText(bytes: Buffer, what: string): string {
  if (bytes.includes(0)) throw new UntildoneError('usage', `${what} is no text.`);
  if (bytes.length > longestInput)
    throw new UntildoneError(
      'usage',
      `${what} is longer than ${longestInput / 1000} kB: put it into a file, and name the file in the goal.`,
    );
  return bytes.toString('utf8').trim();
}
