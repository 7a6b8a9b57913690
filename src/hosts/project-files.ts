// What a project says in files that its host reads: settings, and the variables that they
// and .env files set. Anyone may have written those (V10). Bounded, and nothing throws:
// every hook reads them.
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { readBytes } from '../engine/system.ts';
import { type Fields, recordOf } from './untrusted.ts';

const mostBytes = 1_048_576;

/** Missing: without any. Null: the host may read what we cannot. */
export function readSettings(path: string, hasComments: boolean): Fields | null {
  const text = readText(path);
  if (text === null || text === '') return text === null ? null : {};
  try {
    return recordOf(JSON.parse(hasComments ? withoutComments(text) : text));
  } catch {
    // Safe: whoever asked takes it that anything may stand there.
    return null;
  }
}

/** Names of the variables; null: a file may set any. */
export function variablesOf(
  settings: readonly (Fields | null)[],
  dotEnv: readonly string[] = [],
) {
  const said = [
    ...settings.map((one) => one && Object.keys(recordOf(one['env']))),
    ...dotEnv.map((path) => {
      const text = readText(path);
      return text && namesIn(text);
    }),
  ];
  return said.includes(null) ? null : said.flatMap((names) => names || []);
}

/**
 * Where hosts that read one .env file look for it: here and above, below the home of the
 * user.
 */
export function dotEnvFiles(directory: string | null, folder: string): string[] {
  const files: string[] = [];
  const { homedir } = userInfo();
  for (
    let here = directory ?? '/', last = '';
    here !== last && here !== homedir;
    here = dirname(here)
  ) {
    files.push(join(here, folder, '.env'), join(here, '.env'));
    last = here;
  }
  return files;
}

/** Without the byte order mark, as hosts read it. Empty: no file. */
function readText(path: string): string | null {
  const folder = 'is a folder';
  const file = readBytes(path, mostBytes, (stats) =>
    stats.isDirectory() ? folder : null,
  );
  // A folder of that name, as Python's environments have, sets nothing.
  if (!file.ok) return file.isMissing || file.sentence === folder ? '' : null;
  return new TextDecoder().decode(file.bytes);
}

/**
 * Also within a value of several lines: one too many is only left aside. Blank lines are
 * each read once.
 */
const namesIn = (text: string) =>
  Array.from(
    text.matchAll(/^[^\S\r\n]*(?:export\s+)?([\w.-]+)\s*[=:]/gmu),
    ([, name = '']) => name,
  );

/** Each branch reads to the end of the text if it must: nothing is read twice. */
const withoutComments = (text: string) =>
  text.replace(
    /("(?:[^"\\]|\\[\s\S])*(?:"|$))|\/\/[^\n\r]*|\/\*[\s\S]*?(?:\*\/|$)/gu,
    (_whole, quoted: string | undefined) => quoted ?? ' ',
  );
