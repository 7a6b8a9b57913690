// Runs each check that a human has just accepted once, so that they see whether it would
// hold up their agents. It uses the same runner as at a stop and records nothing, because
// it belongs to no session.
import { couldNotStart, runCheck } from '../checks/run-check.ts';
import type { CheckResult, CommandCheck } from '../core/check-specs.ts';
import { pickFailedLines } from '../core/failed-lines.ts';
import type { Io } from './io.ts';
import { escapeForTerminal, printWrapped } from './print.ts';
import { whyNotPassed } from './show/words.ts';
import { createTimedLine } from './timed-line.ts';

/** A human who only sets something up does not wait longer for a command. */
const patienceSeconds = 60;
/** Enough lines to recognise the failure; `untildone verify` shows more. */
const mostFailedLines = 5;

type TryOptions = Readonly<{ directory: string; patienceSeconds?: number }>;

/**
 * Runs the checks one after the other, since they may use the same files. Ctrl-C ends the
 * running one and skips the rest.
 */
export async function tryChecks(
  io: Io,
  checks: readonly CommandCheck[],
  options: TryOptions,
): Promise<void> {
  const ending = new AbortController();
  const interrupt = (): void => ending.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  const line = createTimedLine(io);
  try {
    for (const check of checks) {
      const name = formatCheckCommand(check);
      if (io.isTTY)
        line.begin(`running ${escapeForTerminal(name, 60)} once (Ctrl-C ends that)`);
      const said = await tryCheck(io, check, options, ending.signal);
      line.close();
      printWrapped(io, said);
      if (ending.signal.aborted) return;
    }
  } finally {
    line.close();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
  }
}

/** The command as the human wrote it. */
export const formatCheckCommand = ({ command }: CommandCheck): string =>
  'shell' in command ? command.shell : command.join(' ');

async function tryCheck(
  io: Io,
  check: CommandCheck,
  { directory, patienceSeconds: patience = patienceSeconds }: TryOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const name = escapeForTerminal(formatCheckCommand(check), 200);
  const timeoutMs = Math.min(check.timeoutMs, patience * 1000);
  const context = { directory, environment: io.env, now: io.clock.now, signal };
  const seen = await runCheck({ ...check, timeoutMs }, context);
  const took = `${(seen.milliseconds / 1000).toFixed(1)} s`;
  const output = failedOutput(seen);
  if (signal.aborted)
    return [
      `You ended the try of ${name} after ${took}, and its processes with it.`,
      'All that was set up stays, the check too: agents here will be held until it passes.',
    ];
  if (seen.result === 'passed') return [`${name} passes, ${took}`];
  if (seen.timedOut && timeoutMs < check.timeoutMs)
    return [
      `${name} was still running after ${patience} s, so it was ended; agents will wait for it at each stop`,
    ];
  if (couldNotStart(seen))
    return [
      `${name} cannot start here: until it can, finished work ends as \`blocked\`, not \`done\``,
      ...output,
    ];
  return [
    `${name} fails now (${whyFailed(check, seen)}): agents here will be held until it passes`,
    ...output,
  ];
}

function whyFailed(
  check: CommandCheck,
  { exitCode, timedOut, sentence }: CheckResult,
): string {
  const { expectExit } = check;
  if (exitCode !== null && exitCode !== expectExit && !timedOut)
    return `exit ${exitCode}`;
  return `it ${whyNotPassed({ check: formatCheckCommand(check), sentence }).replace(/\.$/u, '')}`;
}

/**
 * The first lines that say what failed. A program that does not exist prints nothing, so
 * the system's error is shown.
 */
function failedOutput({ tail, sentence, exitCode }: CheckResult): string[] {
  const printed = pickFailedLines(tail, mostFailedLines);
  if (printed.length > 0)
    return printed.map((line) => `  ${escapeForTerminal(line, 200)}`);
  return exitCode === null ? [] : [`  ${escapeForTerminal(sentence, 200)}`];
}
