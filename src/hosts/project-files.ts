// Reads what a project says in files of its host: settings, and the variables that they
// and .env files set. Anyone may have written those files (V10). Reads a bounded part and
// never throws, because every hook reads them.
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { readBytes } from '../engine/system.ts';
import { type Fields, recordOf } from './untrusted.ts';

const mostBytes = 1_048_576;

/**
 * The settings in a file; empty: there is no file. Null: we cannot read it, but the host
 * may.
 */
export function readSettings(path: string, hasComments: boolean): Fields | null {
  const text = readText(path);
  if (text === null || text === '') return text === null ? null : {};
  try {
    return recordOf(JSON.parse(hasComments ? withoutComments(text) : text));
  } catch {
    // Safe: null makes the caller assume that anything may stand there.
    return null;
  }
}

/** The names of the variables that these files set; null: one of them may set any. */
export function variablesOf(
  settings: readonly (Fields | null)[],
  dotEnv: readonly string[] = [],
) {
  const names = [
    ...settings.map((one) => one && Object.keys(recordOf(one['env']))),
    ...dotEnv.map((path) => {
      const text = readText(path);
      return text && namesIn(text);
    }),
  ];
  return names.includes(null) ? null : names.flatMap((list) => list || []);
}

/**
 * The .env files among which a host picks one: in the folder and those above it, below
 * the home of the user.
 */
export function dotEnvFiles(directory: string | null, folder: string): string[] {
  const files: string[] = [];
  const { homedir } = userInfo();
  for (
    let current = directory ?? '/', previous = '';
    current !== previous && current !== homedir;
    current = dirname(current)
  ) {
    files.push(join(current, folder, '.env'), join(current, '.env'));
    previous = current;
  }
  return files;
}

/**
 * A text without its byte order mark, as hosts read it. Empty: no file; null: it cannot
 * be read.
 */
function readText(path: string): string | null {
  const folder = 'is a folder';
  const file = readBytes(path, mostBytes, (stats) =>
    stats.isDirectory() ? folder : null,
  );
  // A folder of that name, as the environments of Python have it, sets nothing.
  if (!file.ok) return file.isMissing || file.sentence === folder ? '' : null;
  return new TextDecoder().decode(file.bytes);
}

/**
 * The names that a .env file sets. It may find names inside a value of several lines: one
 * name too many is only ignored. The pattern reads no blank line twice.
 */
const namesIn = (text: string) =>
  Array.from(
    text.matchAll(/^[^\S\r\n]*(?:export\s+)?([\w.-]+)\s*[=:]/gmu),
    ([, name = '']) => name,
  );

/** Each branch reads to the end of the text if it must, so nothing is read twice. */
const withoutComments = (text: string) =>
  text.replace(
    /("(?:[^"\\]|\\[\s\S])*(?:"|$))|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$)/gu,
    (_whole, quoted: string | undefined) => quoted ?? ' ',
  );
