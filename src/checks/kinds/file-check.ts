// A file as a check: it is there, it is not, or its text matches. Never leaves the workspace, never follows a link out
// of it, never waits at a FIFO and never reads more than a text has.
import { lstat } from 'node:fs/promises';
import type { FileCheck } from '../../core/check-spec.ts';
import { endOf } from '../check-output.ts';
import { type Place, resolveInside } from '../files/confined-path.ts';
import { explainFileError } from '../files/file-error.ts';
import { readAtMost, withRegularFile } from '../files/regular-file.ts';
import { matchInTime } from '../match-in-time.ts';
import { plainText } from '../process/plain-text.ts';
import { maskSecrets, quoteMasked } from '../secrets.ts';
import { type CheckContext, matchMs, type Observation } from './check-context.ts';

const mostBytes = 8 * 1024 * 1024;

export async function runFileCheck(
  spec: FileCheck,
  context: CheckContext,
  secrets: readonly string[],
): Promise<Observation> {
  const resolved = await resolveInside(context.directory, spec.path);
  if (!resolved.ok) return observed(false, quoteMasked(resolved.error, secrets));
  const place = { ...resolved.place, shown: quoteMasked(resolved.place.shown, secrets) };
  const isThere = place.missing.length === 0 && (await exists(place));
  if (spec.expect === 'absent')
    return observed(
      !isThere,
      isThere ? `${place.shown} exists and should not.` : `${place.shown} does not exist.`,
    );
  if (!isThere) return observed(false, `${place.shown} does not exist.`);
  if (spec.expect === 'exists') return observed(true, `${place.shown} exists.`);
  return matchText(spec.expect.matches, place, secrets, context.signal);
}

function observed(passed: boolean, sentence: string): Observation {
  return { passed, sentence, tail: '' };
}

async function exists(place: Place): Promise<boolean> {
  try {
    await lstat(place.existing);
    return true;
  } catch {
    // It vanished since it was resolved: then it does not exist.
    return false;
  }
}

async function matchText(
  source: string,
  place: Place,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<Observation> {
  try {
    const opened = await withRegularFile(place.existing, (handle) => readAtMost(handle, mostBytes));
    if (opened.kind === 'other') return observed(false, `${place.shown} is not a regular file.`);
    if (opened.result === null)
      return observed(false, `${place.shown} is larger than ${mostBytes / 1_048_576} MB and was not read.`);
    const text = opened.result.toString('utf8');
    const answer = await matchInTime(source, text, matchMs, signal);
    const pattern = quoteMasked(source, secrets);
    if (answer === 'match') return observed(true, `${place.shown} matches ${pattern}.`);
    const sentence =
      answer === 'no-match'
        ? `${place.shown} does not match ${pattern}.`
        : `${place.shown} could not be matched in time against ${pattern}.`;
    return { passed: false, sentence, tail: endOf(maskSecrets(plainText(text), secrets)) };
  } catch (error) {
    // Every error of the file system here concerns this one path, and it is the answer.
    return observed(false, explainFileError(error, place.shown));
  }
}
