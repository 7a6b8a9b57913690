// Protected paths as a check (V2, P27): they are as they were at the human's message, or what the work proves is void.
import type { ProtectedCheck } from '../../core/check-spec.ts';
import { oneLine } from '../../core/safe-text.ts';
import { baselineKey, changedSince, type ProtectedBaseline } from '../protected-paths.ts';
import type { CheckContext, Observation } from './check-context.ts';

/** Changed paths that are named; more would fill a continuation without helping. */
const namedPaths = 20;

export async function runProtectedCheck(spec: ProtectedCheck, context: CheckContext): Promise<Observation> {
  const text = (await context.readBaseline?.(spec.baseline)) ?? null;
  if (text === null || baselineKey(text) !== spec.baseline)
    return failed('What stood under the protected paths is not on record, or was changed there.');
  const baseline = JSON.parse(text) as ProtectedBaseline;
  const changes = await changedSince(baseline, context.directory, { signal: context.signal });
  if (!changes.ok) return failed(changes.sentence);
  const paths = [...changes.changed, ...changes.deleted, ...changes.added];
  if (paths.length === 0) return { passed: true, sentence: 'No protected path was changed.', tail: '' };
  const sentence = 'Protected paths were changed; restore them as they were, and mend the cause elsewhere.';
  const named = paths.slice(0, namedPaths).map((path) => oneLine(path, 200));
  const more = paths.length > namedPaths ? [`and ${paths.length - namedPaths} more`] : [];
  return { passed: false, sentence, tail: [...named, ...more].join('\n') };
}

function failed(sentence: string): Observation {
  return { passed: false, sentence, tail: '' };
}
