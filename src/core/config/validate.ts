// Validates a whole configuration as it stands in a file (C1).
// All problems are told at once; a configuration with a single problem applies in no part.

import { excerpt } from './excerpt.ts';
import { collectProblems, type Problem } from './problem.ts';
import { isObject, readValue } from './read-value.ts';
import { configKind, type PartialSettings } from './settings.ts';

export type ConfigResult =
  | { readonly ok: true; readonly config: PartialSettings }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export function validateConfig(value: unknown): ConfigResult {
  if (!isObject(value)) {
    const message = `the configuration must be an object with settings, got ${excerpt(value)}`;
    return { ok: false, problems: [{ path: '', message }] };
  }
  const { report, problems } = collectProblems();
  // Editors want `$schema` in the file; it is theirs, not a setting.
  const { $schema: schema, ...settings } = value;
  if (schema !== undefined && typeof schema !== 'string') {
    report('$schema', `must be the address of the JSON Schema, got ${excerpt(schema)}`);
  }
  const config = readValue(configKind, settings, '', report) as PartialSettings;
  return problems().length === 0 ? { ok: true, config } : { ok: false, problems: problems() };
}
