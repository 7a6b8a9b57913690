// What a command may touch of the process, as one value, so that tests run commands without a process.
// A reader that went away (EPIPE) ends the output, never the work.

import type { Clock } from '../engine/host.ts';
import { systemClock } from '../engine/system.ts';

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
  /** The agent host or session of ours that this process runs beneath, in words; null: none was found. */
  agentAbove(): Promise<string | null>;
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
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  let open = true;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false;
    // `| head -1` has read all it wanted. The work goes on and decides the exit code.
    if (error.code === 'EPIPE') return;
    if (stream !== process.stderr) process.stderr.write(`untildone: The output failed (${error.code}).\n`);
    process.exit(1);
  });
  return { write: (text) => open && stream.write(text) };
}
