// Reads settings from a file that someone names, for `replay --policy`. Unlike the policy of a host it may be called
// anything, and it stands on the defaults alone, so that the same file means the same everywhere.
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { mergeSettings, validateConfig } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import { parseJsonText } from '../core/json-text.ts';
import { problemSentence } from '../core/problem.ts';
import type { Settings } from '../core/settings.ts';
import { shown } from './print.ts';

/** As for the files of a configuration: more is a mistake. */
const mostBytes = 1_048_576;

export function readPolicyFile(cwd: string, name: string): Settings {
  const path = resolve(cwd, name);
  const json = parseJsonText(readText(path));
  if (!json.ok) throw wrong(path, json.error);
  const result = validateConfig(json.value);
  if (!result.ok)
    throw wrong(
      path,
      `is wrong:\n${result.problems.map((problem) => `  ${problemSentence(problem)}`).join('\n')}`,
    );
  return mergeSettings({ flag: result.config }).settings;
}

function readText(path: string): string {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw wrong(path, 'must be a regular file');
    if (stat.size > mostBytes) throw wrong(path, `is larger than ${mostBytes} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof UntildoneError) throw error;
    throw wrong(path, `cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
}

function wrong(path: string, message: string, cause?: unknown): UntildoneError {
  return new UntildoneError('invalid-config', `${shown(path, 300)} ${message}`, cause);
}
