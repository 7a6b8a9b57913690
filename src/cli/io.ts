// What a command may touch of the process, as one value, so that tests run commands
// without a process. A reader that went away (EPIPE) ends the output, never the work.
import { fstatSync } from 'node:fs';
import { UntildoneError } from '../core/error.ts';
import type { Clock } from '../engine/host.ts';
import { systemClock } from '../engine/system.ts';

/** Written in by the build; a run from source has no published version. */
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
  /** Of standard output. */
  readonly isTTY: boolean;
  readonly clock: Clock;
  /** A sentence that says why a human's word cannot be taken from here; null: it can. */
  whyNoHuman(): Promise<string | null>;
  /**
   * The agent host or session of ours that this process runs beneath, in words; null:
   * none was found.
   */
  agentAbove(): Promise<string | null>;
  /**
   * The sessions that such an agent may belong to, the nearest first; empty: its host
   * names none.
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
    // `| head -1` has read all it wanted. The work goes on and decides the exit code.
    if (error.code === 'EPIPE') return;
    if (stream !== process.stderr)
      process.stderr.write(`untildone: The output failed (${error.code}).\n`);
    process.exit(1);
  });
  return { write: (text) => open && stream.write(text) };
}

/**
 * A pipe that stays open and says nothing is no goal: whoever started us just left it
 * there.
 */
const patienceMs = 3000;
/** More is no goal but a document, which the agent can read by itself. */
const longestInput = 200_000;

/** Whether something else than a terminal or nothing stands at standard input. */
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
 * All of standard input. `waits`: for as long as it takes; otherwise '' if nothing comes
 * in a few seconds.
 */
export async function readInput(waits: boolean): Promise<string> {
  const { stdin } = process;
  const parts: Buffer[] = [];
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    const giveUp = waits ? undefined : setTimeout(resolve, patienceMs);
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
