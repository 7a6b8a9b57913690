// Runs one check once and says what the system saw (V1). It never throws for what a check does, never answers with a
// secret of the environment in it, and leaves no process behind. Running a failed one again is the caller's business.
import { stat } from 'node:fs/promises';
import type { CheckResult, CheckSpec, CommandCheck, FileCheck, ProtectedCheck } from '../core/check-spec.ts';
import { displayName } from '../core/display-name.ts';
import { oneLine } from '../core/safe-text.ts';
import {
  explainFileError,
  isThere,
  type Place,
  readAtMost,
  resolveInside,
  withRegularFile,
} from './files.ts';
import { type CheckContext, failed, type Looking, matchInTime, type Observation } from './observation.ts';
import { CheckOutput, endOf, maskSecrets, plainText, quoteMasked, secretValues } from './output.ts';
import { type CommandEnd, commandEnvironment, sessionVariable, startCommand } from './process.ts';
import { baselineKey, changedSince, type ProtectedBaseline } from './protected-paths.ts';

/** When `context.signal` has come, the result says only that the check was interrupted: it is no evidence. */
export async function runCheck(spec: CheckSpec, context: CheckContext): Promise<CheckResult> {
  const secrets = secretValues(context.environment);
  const started = performance.now();
  const seen = await observe(spec, { ...context, secrets, quote: (text) => quoteMasked(text, secrets) });
  return {
    check: spec.id,
    result: seen.passed ? 'passed' : 'failed',
    sentence: seen.sentence,
    exitCode: seen.exitCode ?? null,
    milliseconds: Math.round(performance.now() - started),
    tail: seen.tail,
    timedOut: seen.timedOut ?? false,
    at: context.now(),
  };
}

function observe(spec: CheckSpec, looking: Looking): Promise<Observation> | Observation {
  switch (spec.kind) {
    case 'command':
      return runCommandCheck(spec, looking);
    case 'file':
      return runFileCheck(spec, looking);
    case 'http':
      // Loaded only when needed: HTTP is the slowest part of Node to load, and most checks are commands.
      return import('./http-check.ts').then(({ runHttpCheck }) => runHttpCheck(spec, looking));
    case 'human':
      return failed(`Waits for a human to approve: ${looking.quote(spec.question)}`);
    case 'protected':
      return runProtectedCheck(spec, looking);
  }
}

/** Between asking a command to end and ending it: time to write a report, not to go on. */
const endGraceMs = 2000;

/** What setTimeout can count to. */
const longestTimerMs = 2 ** 31 - 1;

/** Its exit status, and a pattern on its output if wanted. An argv never meets a shell; only a human's line does. */
async function runCommandCheck(spec: CommandCheck, looking: Looking): Promise<Observation> {
  const shown = describeCommand(spec.command, looking);
  const place = await findDirectory(spec, looking.directory);
  if (!place.ok) return failed(`${shown} was not started: ${looking.quote(place.error)}`);
  if (looking.signal.aborted) return failed(`${shown} was not started: it was interrupted.`);
  const output = new CheckOutput(looking.secrets);
  const started = performance.now();
  const running = startCommand({
    command: 'shell' in spec.command ? spec.command.shell : spec.command,
    directory: place.directory,
    environment: commandEnvironment(looking.environment, {
      session: looking.session ?? looking.environment[sessionVariable] ?? 'check',
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
  looking.signal.addEventListener('abort', onAbort);
  const ended = await running.ended;
  clearTimeout(timer);
  looking.signal.removeEventListener('abort', onAbort);
  const after = `after ${((performance.now() - started) / 1000).toFixed(1)} s`;
  const { passed, what } = await judge(spec, ended, cause, output, after, looking);
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
  { quote, signal }: Looking,
): Promise<{ passed: boolean; what: string }> {
  const not = (what: string) => ({ passed: false, what });
  if (cause === 'time') return not(`did not end within ${spec.timeoutMs / 1000} s and was ended`);
  if (cause === 'interruption') return not(`was interrupted ${after}`);
  if (ended.startError !== null) return not(`could not be started: ${quote(ended.startError)}`);
  if (ended.exitCode === null) return not(`was ended by ${ended.signal ?? 'an unknown cause'} ${after}`);
  if (ended.exitCode !== spec.expectExit)
    return not(`exited with ${ended.exitCode} instead of ${spec.expectExit} ${after}`);
  const exited = `exited with ${ended.exitCode} ${after}`;
  if (spec.expectOutput === null) return { passed: true, what: exited };
  const answer = await matchInTime(spec.expectOutput, output.searched(), signal);
  const pattern = quote(spec.expectOutput);
  if (answer === 'match') return { passed: true, what: `${exited}, and its output matches ${pattern}` };
  const where = output.isCut ? ', of which only the beginning and the end were looked at,' : '';
  return not(
    answer === 'no-match'
      ? `${exited}, but its output${where} does not match ${pattern}`
      : `${exited}, but its output could not be matched in time against ${pattern}`,
  );
}

async function findDirectory(
  { directory }: CommandCheck,
  workspace: string,
): Promise<{ ok: true; directory: string } | { ok: false; error: string }> {
  const resolved = await resolveInside(workspace, directory ?? '.');
  if (!resolved.ok) return resolved;
  const { place } = resolved;
  if (place.missing.length > 0) return { ok: false, error: `the folder ${place.shown} does not exist.` };
  // What vanished between two looks gets the same answer as what is no folder.
  const stats = await stat(place.existing).catch(() => null);
  if (stats?.isDirectory() === true) return { ok: true, directory: place.existing };
  return { ok: false, error: `${place.shown} is not a folder.` };
}

function describeCommand(command: CommandCheck['command'], { secrets, quote }: Looking): string {
  if ('shell' in command) return quote(command.shell);
  // Masked word by word first: the quotes around an odd word would hide a secret from the mask.
  return oneLine(command.map((word) => displayName(maskSecrets(word, secrets))).join(' '), 200);
}

function describeRest({ leftRunning, notEnded }: CommandEnd): string {
  if (leftRunning === 0) return '';
  const left = leftRunning === 1 ? '1 process' : `${leftRunning} processes`;
  const rest = notEnded === 0 ? 'which were ended' : `of which ${notEnded} could not be ended`;
  return ` It left ${left} running, ${rest}.`;
}

const mostFileBytes = 8 * 1024 * 1024;

/** It is there, it is not, or its text matches. Never leaves the workspace, waits at a FIFO or reads without end. */
async function runFileCheck(spec: FileCheck, looking: Looking): Promise<Observation> {
  const resolved = await resolveInside(looking.directory, spec.path);
  if (!resolved.ok) return failed(looking.quote(resolved.error));
  const { place } = resolved;
  const shown = looking.quote(place.shown);
  const exists = place.missing.length === 0 && (await isThere(place.existing));
  if (spec.expect === 'absent')
    return exists
      ? failed(`${shown} exists and should not.`)
      : { passed: true, sentence: `${shown} does not exist.`, tail: '' };
  if (!exists) return failed(`${shown} does not exist.`);
  if (spec.expect === 'exists') return { passed: true, sentence: `${shown} exists.`, tail: '' };
  return matchFile(spec.expect.matches, place, shown, looking);
}

async function matchFile(
  source: string,
  { existing }: Place,
  shown: string,
  looking: Looking,
): Promise<Observation> {
  try {
    const opened = await withRegularFile(existing, (handle) => readAtMost(handle, mostFileBytes));
    if (opened.kind === 'other') return failed(`${shown} is not a regular file.`);
    if (opened.result === null)
      return failed(`${shown} is larger than ${mostFileBytes / 1_048_576} MB and was not read.`);
    const text = opened.result.toString('utf8');
    const answer = await matchInTime(source, text, looking.signal);
    const pattern = looking.quote(source);
    if (answer === 'match') return { passed: true, sentence: `${shown} matches ${pattern}.`, tail: '' };
    const what = answer === 'no-match' ? 'does not match' : 'could not be matched in time against';
    const tail = endOf(maskSecrets(plainText(text), looking.secrets));
    return { passed: false, sentence: `${shown} ${what} ${pattern}.`, tail };
  } catch (error) {
    // Every error of the file system here concerns this one path, and it is the answer.
    return failed(explainFileError(error, shown));
  }
}

/** Changed paths that are named; more would fill a continuation without helping. */
const namedPaths = 20;

/** They are as they were at the human's message, or what the work proves is void (V2, P27). */
async function runProtectedCheck(spec: ProtectedCheck, looking: Looking): Promise<Observation> {
  const text = (await looking.readBaseline?.(spec.baseline)) ?? null;
  if (text === null || baselineKey(text) !== spec.baseline)
    return failed('What stood under the protected paths is not on record, or was changed there.');
  const baseline = JSON.parse(text) as ProtectedBaseline;
  const changes = await changedSince(baseline, looking.directory, { signal: looking.signal });
  if (!changes.ok) return failed(changes.sentence);
  const paths = [...changes.changed, ...changes.deleted, ...changes.added];
  if (paths.length === 0) return { passed: true, sentence: 'No protected path was changed.', tail: '' };
  const sentence = 'Protected paths were changed; restore them as they were, and mend the cause elsewhere.';
  const named = paths.slice(0, namedPaths).map((path) => oneLine(path, 200));
  const more = paths.length > namedPaths ? [`and ${paths.length - namedPaths} more`] : [];
  return { passed: false, sentence, tail: [...named, ...more].join('\n') };
}
