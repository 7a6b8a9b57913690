// A hook call as a process: stdin, stdout, signals and the exit. Nothing else may be written to stdout: hosts read
// a log line before the JSON as no answer at all. What few calls need is loaded when they need it.
import { writeSync } from 'node:fs';
import { claudeCode } from '../hosts/claude-code/claude-code.ts';
import type { HookedHost } from '../hosts/hook/hook-request.ts';
import { type HookProcess, runHook } from '../hosts/hook/run-hook.ts';

const hookedHosts: readonly HookedHost[] = [claudeCode];

/** Never throws, and ends the process: a check that still runs must not hold the host. */
export async function runHookProcess(hostName: string, options: readonly string[]): Promise<void> {
  const host = hookedHosts.find(({ name }) => name === hostName);
  // Nothing else keeps the process alive while it waits: the clock's own timers do not.
  const alive = setInterval(() => {}, 60_000);
  const line = host === undefined ? '{}' : await runHook(host, processOf(options));
  await print(`${line}\n`);
  clearInterval(alive);
  process.exit(0);
}

function processOf(options: readonly string[]): HookProcess {
  const prefix = options.find((option) => option.startsWith('--tools='))?.slice('--tools='.length);
  return {
    input: 0,
    environment: process.env,
    startedAt: Math.round(performance.timeOrigin),
    toolPrefix: prefix !== undefined && /^\w{1,120}$/u.test(prefix) ? prefix : null,
    program: [process.execPath, '--no-warnings', process.argv[1] ?? ''],
    loadLate: async () => (await import('./hook-late.ts')).latePart,
    onTermination: (listener) => {
      process.on('SIGTERM', listener);
      return () => process.off('SIGTERM', listener);
    },
  };
}

/** Without a stream, as the payload is read; a host that has gone away wants no answer. */
async function print(text: string): Promise<void> {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // Only a pipe that is full for the moment is worth another try.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}
