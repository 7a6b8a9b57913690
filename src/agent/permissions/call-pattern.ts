// The patterns of permissions: whether a call fits one, and which one a lasting answer would cover.
// A proposed pattern is wider than the call only where that gives no new right: other arguments for a command that runs
// the workspace's own code anyway, other files of the same folder. Shell syntax is never widened, nor is what hides
// something from the reader.
import { compileNames, matchesNames } from '../../core/glob/glob-pattern.ts';
import { createPathSet } from '../../core/glob/path-set.ts';
import { hasHidden } from '../../core/visible-text.ts';
import { matchesCommand, plainWords } from '../workspace/command-pattern.ts';
import { type CallSubject, guardedName } from './call-subject.ts';

/** In front of a command that is meant as it stands: a "*" in it is no wildcard. */
const exactly = '= ';

export function matchesCall(pattern: string, subject: CallSubject): boolean {
  if (subject.kind === 'command') {
    return pattern.startsWith(exactly)
      ? pattern.slice(exactly.length) === subject.text
      : matchesCommand(pattern, subject.text);
  }
  return subject.kind === 'file' && matchesPath(pattern, subject.text.split('/'));
}

/** "/notes.md" is the one at the root; without a slash in front a single name fits at any depth. */
function matchesPath(pattern: string, names: readonly string[]): boolean {
  if (pattern.startsWith('/')) return matchesNames(compileNames(pattern.slice(1).split('/')), names);
  const set = createPathSet([pattern]);
  return set.ok && set.paths.has(names);
}

export function proposePattern(subject: CallSubject): string {
  if (subject.kind === 'command') return commandPattern(subject.text);
  const folder = subject.text.slice(0, Math.max(0, subject.text.lastIndexOf('/')));
  return folder === '' || guardedName(subject) !== null || isPattern(folder) || hasHidden(subject.text)
    ? `/${escapeWildcards(subject.text)}`
    : `/${folder}/**`;
}

/** A name that looks like a pattern would cover other names than its own. */
function isPattern(text: string): boolean {
  return /[*?[\]{}\\]/u.test(text);
}

function escapeWildcards(text: string): string {
  return text.replace(/[*?[\\]/gu, (character) => `\\${character}`);
}

const packageManagers = ['npm', 'pnpm', 'yarn', 'bun'];
/** Programs whose first argument names a piece of the workspace's code that they run. */
const runners: Readonly<Record<string, readonly string[]>> = {
  cargo: ['test', 'build', 'check', 'run', 'bench', 'clippy'],
  go: ['test', 'build', 'run', 'vet'],
  npx: ['vitest', 'jest', 'mocha', 'playwright'],
};
const testPrograms = ['vitest', 'jest', 'mocha', 'pytest'];

/** The command itself, unless it runs code of the workspace: then with any arguments. */
function commandPattern(command: string): string {
  const words = hasHidden(command) ? null : plainWords(command);
  const prefix = words === null ? 0 : prefixLength(words);
  if (words === null || prefix === 0) return `${exactly}${command}`;
  const kept = words.slice(0, prefix);
  // Quoted words and words with wildcards would have to be written otherwise in a pattern.
  return kept.every((word) => /^[\w@%+:,./-]+$/u.test(word))
    ? `${kept.join(' ')} **`
    : `${exactly}${command}`;
}

/** How many of the words say which code of the workspace runs; 0: it is not known to be that. */
function prefixLength([program = '', first = '', second = '']: readonly string[]): number {
  const isName = (word: string): boolean => /^[A-Za-z][\w:.-]*$/u.test(word);
  if (packageManagers.includes(program)) {
    if (first === 'test') return 2;
    return first === 'run' && isName(second) ? 3 : 0;
  }
  if (Object.hasOwn(runners, program)) return runners[program]?.includes(first) ? 2 : 0;
  if (program === 'make') return isName(first) ? 2 : 0;
  return testPrograms.includes(program) ? 1 : 0;
}
