// Runs one check once and says what was found (V1). It never throws, shows no secret and
// leaves no process behind.
import { stat } from 'node:fs/promises';
import type {
  CheckResult,
  CheckSpec,
  CommandCheck,
  FileCheck,
  ProtectedCheck,
} from '../core/check-specs.ts';
import { refuse } from '../core/error.ts';
import { displayName, oneLine } from '../core/safe-text.ts';
import { explainFileError, readAtMost, resolveInside, withRegularFile } from './files.ts';
import type { CheckContext, Looking, Observation } from './observation.ts';
import { failed, matchText, passedObservation } from './observation.ts';
import {
  BoundedOutput,
  evidenceOf,
  maskSecrets,
  quoteMasked,
  secretValues,
} from './output.ts';
import {
  commandEnvironment,
  endInTime,
  sessionVariable,
  startCommand,
} from './process.ts';
import { baselineKey, changedSince, type ProtectedBaseline } from './protected-paths.ts';

/** Runs the check. A check that cannot be run is a failed one, with the reason. */
export async function runCheck(
  spec: CheckSpec,
  context: CheckContext,
): Promise<CheckResult> {
  const secrets = secretValues(context.environment);
  const started = performance.now();
  const looking = {
    ...context,
    secrets,
    quote: (text: string) => quoteMasked(text, secrets),
  };
  const {
    passed,
    exitCode = null,
    timedOut = false,
    ...observation
  } = await observeCheck(spec, looking);
  const milliseconds = Math.round(performance.now() - started);
  const result = passed ? 'passed' : 'failed';
  return {
    check: spec.id,
    result,
    ...observation,
    exitCode,
    milliseconds,
    timedOut,
    at: context.now(),
  };
}

/**
 * Runs the check, and once more if it failed: if it passes then, it is flaky. If
 * `context.signal` aborts, the result is no evidence.
 */
export async function runCheckTwice(
  spec: CheckSpec,
  context: CheckContext,
  onRepeat?: () => void,
) {
  const first = await runCheck(spec, context);
  if (first.result === 'passed' || context.signal.aborted)
    return { ...first, flaky: false };
  onRepeat?.();
  const last = await runCheck(spec, context);
  return { ...last, flaky: last.result === 'passed' };
}

/**
 * The exit codes of a shell for a program that it may not run or cannot find. We use them
 * for a missing folder too.
 */
const notExecutable = 126;
const notFound = 127;

/** Tells whether the check failed in a way that says nothing about the work (V1, P44). */
export function couldNotStart({
  result,
  exitCode,
}: Pick<CheckResult, 'result' | 'exitCode'>): boolean {
  return result === 'failed' && (exitCode === notFound || exitCode === notExecutable);
}

function observeCheck(
  spec: CheckSpec,
  looking: Looking,
): Promise<Observation> | Observation {
  switch (spec.kind) {
    case 'command':
      return runCommandCheck(spec, looking);
    case 'file':
      return runFileCheck(spec, looking);
    case 'http':
      // node:http is the slowest part of Node to load, and most checks are commands.
      return import('./http-check.ts').then(({ runHttpCheck }) =>
        runHttpCheck(spec, looking),
      );
    case 'human':
      return failed(`Waits for a human to approve: ${looking.quote(spec.question)}`);
    case 'protected':
      return runProtectedCheck(spec, looking);
  }
}

const endGraceMs = 2000;
/** Half of this from the beginning of the output, half from its end. */
const searchedLength = 262_144;

async function runCommandCheck(spec: CommandCheck, looking: Looking) {
  const {
    quote,
    secrets,
    signal,
    environment,
    session = environment[sessionVariable] ?? 'check',
  } = looking;
  const command = 'shell' in spec.command ? spec.command.shell : spec.command;
  // Word by word: quotes around an odd word would hide a secret from the mask.
  const showWord = (one: string) => displayName(maskSecrets(one, secrets));
  const shown =
    typeof command === 'string'
      ? quote(command)
      : oneLine(command.map(showWord).join(' '), 200);
  const folder = await findDirectory(spec, looking.directory);
  if (!folder.ok)
    return {
      ...failed(`${shown} was not started: ${quote(folder.error)}`),
      exitCode: notFound,
    };
  if (signal.aborted) return failed(`${shown} was not started: it was interrupted.`);
  const output = new BoundedOutput(searchedLength, secrets);
  const started = performance.now();
  const running = startCommand({
    command,
    directory: folder.existing,
    endGraceMs,
    environment: commandEnvironment(environment, session, spec.environment),
    onOutput: (text) => output.append(text),
  });
  const ended = await endInTime(running, spec.timeoutMs, signal);
  const after = `after ${((performance.now() - started) / 1000).toFixed(1)} s`;
  const judged = await judgeEnd(spec, { ...ended, after }, output, looking);
  const { cause, leftRunning, notEnded } = ended;
  const exitCode = ended.startError === null ? ended.exitCode : notFound;
  const leftOver = leftRunning === 1 ? '1 process' : `${leftRunning} processes`;
  const fate =
    notEnded === 0 ? 'which were stopped' : `of which ${notEnded} could not be stopped`;
  const more = leftRunning === 0 ? '' : ` It left ${leftOver} running, ${fate}.`;
  const sentence = `${shown} ${judged.sentence}.${more}`;
  return {
    ...judged,
    sentence,
    tail: output.end(),
    exitCode,
    timedOut: cause === 'time',
  };
}

type Ended = Awaited<ReturnType<typeof endInTime>> & { readonly after: string };

async function judgeEnd(
  spec: CommandCheck,
  ended: Ended,
  output: BoundedOutput,
  looking: Looking,
) {
  const { exitCode, startError, cause, after } = ended;
  if (cause === 'time')
    return failed(`did not end within ${spec.timeoutMs / 1000} s and was stopped`);
  if (cause === 'interruption') return failed(`was interrupted ${after}`);
  if (startError !== null)
    return failed(`could not be started: ${looking.quote(startError)}`);
  if (exitCode === null)
    return failed(`was ended by ${ended.signal ?? 'an unknown cause'} ${after}`);
  if (exitCode !== spec.expectExit)
    return failed(`exited with ${exitCode} instead of ${spec.expectExit} ${after}`);
  const exited = `exited with ${exitCode} ${after}`;
  if (spec.expectOutput === null) return passedObservation(exited);
  const { isMatch, words } = await matchText(
    spec.expectOutput,
    output.searched(),
    looking,
  );
  if (isMatch) return passedObservation(`${exited}, and its output ${words}`);
  const isPartly = isMatch === false && output.isCut;
  const where = isPartly
    ? ', of which only the beginning and the end were looked at,'
    : '';
  return failed(`${exited}, but its output${where} ${words}`);
}

async function findDirectory({ directory }: CommandCheck, workspace: string) {
  const target = await resolveInside(workspace, directory ?? '.');
  if (!target.ok) return target;
  const { existing, missing, shown } = target.place;
  if (missing.length > 0) return refuse(`the folder ${shown} does not exist.`);
  // Safe: a path that vanished is no folder.
  const stats = await stat(existing).catch(() => null);
  return stats?.isDirectory()
    ? { ok: true as const, existing }
    : refuse(`${shown} is not a folder.`);
}

const mostFileBytes = 8 * 1024 * 1024;

/** Checks a file. It never leaves the workspace, waits at a FIFO or reads without end. */
async function runFileCheck({ path, expect }: FileCheck, looking: Looking) {
  const target = await resolveInside(looking.directory, path);
  if (!target.ok) return failed(looking.quote(target.error));
  const { existing, missing } = target.place;
  const shown = looking.quote(target.place.shown);
  if (missing.length > 0)
    return {
      passed: expect === 'absent',
      sentence: `${shown} does not exist.`,
      tail: '',
    };
  if (expect === 'absent') return failed(`${shown} exists and should not.`);
  if (expect === 'exists') return passedObservation(`${shown} exists.`);
  try {
    const opened = await withRegularFile(existing, (handle) =>
      readAtMost(handle, mostFileBytes),
    );
    if (opened.kind === 'other') return failed(`${shown} is not a regular file.`);
    if (opened.result === null)
      return failed(
        `${shown} is larger than ${mostFileBytes / 1_048_576} MB and was not read.`,
      );
    const text = opened.result.toString('utf8');
    const { isMatch, words } = await matchText(expect.matches, text, looking);
    if (isMatch) return passedObservation(`${shown} ${words}.`);
    return failed(`${shown} ${words}.`, evidenceOf(text, looking.secrets));
  } catch (error) {
    // The error for this path is the answer.
    return failed(explainFileError(error, shown));
  }
}

const namedPaths = 20;

/** Compares the protected paths with their baseline (V2, P27). */
async function runProtectedCheck(spec: ProtectedCheck, looking: Looking) {
  const text = (await looking.readBaseline?.(spec.baseline)) ?? null;
  if (text === null || baselineKey(text) !== spec.baseline)
    return failed(
      'What stood under the protected paths is not on record, or was changed there.',
    );
  const baseline = JSON.parse(text) as ProtectedBaseline;
  const changes = await changedSince(baseline, looking.directory, {
    signal: looking.signal,
  });
  if (!changes.ok) return failed(changes.error);
  const paths = [...changes.changed, ...changes.deleted, ...changes.added];
  if (paths.length === 0) return passedObservation('No protected path was changed.');
  const sentence =
    'Protected paths were changed; restore them as they were, and fix the cause elsewhere.';
  const named = paths.slice(0, namedPaths).map((path) => oneLine(path, 200));
  const more = paths.length > namedPaths ? [`and ${paths.length - namedPaths} more`] : [];
  return failed(sentence, [...named, ...more].join('\n'));
}
