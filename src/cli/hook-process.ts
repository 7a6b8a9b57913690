// A hook call as a process: stdin, stdout, signals and the exit. Nothing else may be written to stdout: hosts read
// a log line before the JSON as no answer at all. What few calls need is loaded when they need it.
import { writeSync } from 'node:fs';
import { claudeCode } from '../hosts/claude-code/claude-code.ts';
import type { HookedHost } from '../hosts/hook/hook-request.ts';
import { keepLogShort } from '../hosts/hook/keep-log-short.ts';
import { type HookProcess, runHook } from '../hosts/hook/run-hook.ts';
import { stateDirectory } from '../store/state-directory.ts';

const hookedHosts: readonly HookedHost[] = [claudeCode];

/** Never throws, and ends the process: a check that still runs must not hold the host. */
export async function runHookProcess(hostName: string, options: readonly string[]): Promise<void> {
  const host = hookedHosts.find(({ name }) => name === hostName);
  // Nothing else keeps the process alive while it waits: the clock's own timers do not.
  const alive = setInterval(() => {}, 60_000);
  const line = host === undefined ? await refuse(hostName) : await runHook(host, processOf(options));
  await print(`${line}\n`);
  await keepLogShort(process.env);
  clearInterval(alive);
  process.exit(0);
}

async function refuse(hostName: string): Promise<string> {
  const { latePart } = await import('./hook-late.ts');
  const names = hookedHosts.map(({ name }) => name).join(', ');
  const message = `There is no host "${hostName.slice(0, 80)}" with hooks; known are ${names}.`;
  const failure = { at: Date.now(), host: 'unknown', hook: null, sessionId: null, code: 'host', message };
  latePart.appendFailure(stateDirectory(process.env), failure);
  return '{}';
}

function processOf(options: readonly string[]): HookProcess {
  const prefix = optionValue(options, 'tools', /^\w{1,120}$/u);
  const timeout = optionValue(options, 'timeout', /^\d{1,6}$/u);
  const termination = createTermination();
  return {
    input: 0,
    environment: process.env,
    // Not `performance.timeOrigin`: the module behind it takes longer to load than all the rest of this file.
    startedAt: Math.round(Date.now() - process.uptime() * 1000),
    toolPrefix: prefix,
    timeout: timeout === null ? null : Number(timeout),
    program: [process.execPath, '--no-warnings', process.argv[1] ?? ''],
    loadLate: async () => {
      termination.listen();
      return (await import('./hook-late.ts')).latePart;
    },
    onTermination: termination.on,
  };
}

/** Heard from before the rest is loaded: an interrupt that comes meanwhile would end the process unrecorded. */
function createTermination() {
  let listener: (() => void) | null = null;
  let heard = false;
  return {
    listen: (): void => {
      process.on('SIGTERM', () => {
        heard = true;
        listener?.();
      });
    },
    on: (wanted: () => void): (() => void) => {
      listener = wanted;
      if (heard) queueMicrotask(wanted);
      return () => {
        listener = null;
      };
    },
  };
}

/** A value that makes no sense is left aside: a hook has nobody to complain to. */
function optionValue(options: readonly string[], name: string, shape: RegExp): string | null {
  const start = `--${name}=`;
  const value = options.find((option) => option.startsWith(start))?.slice(start.length);
  return value !== undefined && shape.test(value) ? value : null;
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
