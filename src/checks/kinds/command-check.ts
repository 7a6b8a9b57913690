// A command as a check: its exit status, and a pattern on its output if wanted. Everything that it started has ended
// when this answers. An argv never meets a shell; only a human's line does.
import { stat } from 'node:fs/promises';
import type { CommandCheck } from '../../core/check-spec.ts';
import { displayName } from '../../core/display-name.ts';
import { oneLine } from '../../core/safe-text.ts';
import { CheckOutput } from '../check-output.ts';
import { resolveInside } from '../files/confined-path.ts';
import { matchInTime } from '../match-in-time.ts';
import { commandEnvironment, sessionVariable } from '../process/command-environment.ts';
import { type CommandEnd, startCommand } from '../process/run-command.ts';
import { maskSecrets, quoteMasked } from '../secrets.ts';
import { type CheckContext, matchMs, type Observation } from './check-context.ts';

/** Between asking a command to end and ending it: time to write a report, not to go on. */
const endGraceMs = 2000;

/** What setTimeout can count to. */
const longestTimerMs = 2 ** 31 - 1;

export async function runCommandCheck(
  spec: CommandCheck,
  context: CheckContext,
  secrets: readonly string[],
): Promise<Observation> {
  const quote = (text: string) => quoteMasked(text, secrets);
  const shown = describeCommand(spec.command, secrets);
  const place = await findDirectory(spec, context);
  if (!place.ok)
    return { passed: false, sentence: `${shown} was not started: ${quote(place.error)}`, tail: '' };
  if (context.signal.aborted)
    return { passed: false, sentence: `${shown} was not started: it was interrupted.`, tail: '' };
  const output = new CheckOutput(secrets);
  const started = performance.now();
  const running = startCommand({
    command: 'shell' in spec.command ? spec.command.shell : spec.command,
    directory: place.directory,
    environment: commandEnvironment(context.environment, {
      session: context.session ?? context.environment[sessionVariable] ?? 'check',
      alsoPassOn: spec.environment,
    }),
    endGraceMs,
    onOutput: (text) => output.append(text),
  });
  let cause: 'time' | 'interruption' | null = null;
  const endFor = (reason: 'time' | 'interruption') => {
    cause ??= reason;
    running.end();
  };
  const timer = setTimeout(() => endFor('time'), Math.min(spec.timeoutMs, longestTimerMs));
  const onAbort = () => endFor('interruption');
  context.signal.addEventListener('abort', onAbort);
  const ended = await running.ended;
  clearTimeout(timer);
  context.signal.removeEventListener('abort', onAbort);
  const after = `after ${((performance.now() - started) / 1000).toFixed(1)} s`;
  const { passed, what } = await judge(spec, ended, cause, output, after, quote, context.signal);
  return {
    passed,
    sentence: `${shown} ${what}.${describeRest(ended)}`,
    tail: output.tail(),
    exitCode: ended.exitCode,
    timedOut: cause === 'time',
  };
}

async function judge(
  spec: CommandCheck,
  ended: CommandEnd,
  cause: 'time' | 'interruption' | null,
  output: CheckOutput,
  after: string,
  quote: (text: string) => string,
  signal: AbortSignal,
): Promise<{ passed: boolean; what: string }> {
  const failed = (what: string) => ({ passed: false, what });
  if (cause === 'time') return failed(`did not end within ${spec.timeoutMs / 1000} s and was ended`);
  if (cause === 'interruption') return failed(`was interrupted ${after}`);
  if (ended.startError !== null) return failed(`could not be started: ${quote(ended.startError)}`);
  if (ended.exitCode === null) return failed(`was ended by ${ended.signal ?? 'an unknown cause'} ${after}`);
  if (ended.exitCode !== spec.expectExit)
    return failed(`exited with ${ended.exitCode} instead of ${spec.expectExit} ${after}`);
  const exited = `exited with ${ended.exitCode} ${after}`;
  if (spec.expectOutput === null) return { passed: true, what: exited };
  const answer = await matchInTime(spec.expectOutput, output.searched(), matchMs, signal);
  const pattern = quote(spec.expectOutput);
  if (answer === 'match') return { passed: true, what: `${exited}, and its output matches ${pattern}` };
  const where = output.isCut ? ', of which only the beginning and the end were looked at,' : '';
  return failed(
    answer === 'no-match'
      ? `${exited}, but its output${where} does not match ${pattern}`
      : `${exited}, but its output could not be matched in time against ${pattern}`,
  );
}

async function findDirectory(
  { directory }: CommandCheck,
  context: CheckContext,
): Promise<{ ok: true; directory: string } | { ok: false; error: string }> {
  const resolved = await resolveInside(context.directory, directory ?? '.');
  if (!resolved.ok) return resolved;
  const { place } = resolved;
  if (place.missing.length > 0) return { ok: false, error: `the folder ${place.shown} does not exist.` };
  try {
    if ((await stat(place.existing)).isDirectory()) return { ok: true, directory: place.existing };
  } catch {
    // It vanished between two looks: the same answer as for what is no folder.
  }
  return { ok: false, error: `${place.shown} is not a folder.` };
}

function describeCommand(command: CommandCheck['command'], secrets: readonly string[]): string {
  if ('shell' in command) return quoteMasked(command.shell, secrets);
  // Masked word by word first: the quotes around an odd word would hide a secret from the mask.
  return oneLine(command.map((word) => displayName(maskSecrets(word, secrets))).join(' '), 200);
}

function describeRest({ leftRunning, notEnded }: CommandEnd): string {
  if (leftRunning === 0) return '';
  const left = leftRunning === 1 ? '1 process' : `${leftRunning} processes`;
  const rest = notEnded === 0 ? 'which were ended' : `of which ${notEnded} could not be ended`;
  return ` It left ${left} running, ${rest}.`;
}
