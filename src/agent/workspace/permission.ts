// Whether a tool call may run: from what the call is about, the human's policy, and the human's answers so far. Only
// `subjectOf` looks at the disk; the rest is pure. An allowed command that runs the workspace's code (npm test) runs
// what the agent wrote: patterns do not change that.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isInside, resolveInside } from '../../checks/files.ts';
import { compileNames, createPathSet, matchesNames } from '../../core/glob.ts';
import { hasHidden, oneLine, visibleLines } from '../../core/safe-text.ts';
import type { ToolAccess } from './tool.ts';

export interface PermissionPolicy {
  /** read-only: nothing changes. allow-list: what fits a pattern. ask: the same, and the human is asked. auto: all. */
  readonly mode: 'ask' | 'allow-list' | 'read-only' | 'auto';
  readonly shellAllow: readonly string[];
  /** Patterns by tool, besides; a file tool that is not named may write everywhere in the workspace. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
  /** Folders of untildone itself, absolute: no file tool writes there, wherever the workspace is. */
  readonly kept?: readonly string[];
}

export type KnownAnswers = Readonly<
  Record<'grants' | 'refused', readonly { tool: string; pattern: string }[]>
>;

export const noAnswers: KnownAnswers = { grants: [], refused: [] };

type About = Readonly<Record<'tool' | 'subject', string>>;
interface Denial {
  readonly deny: string;
  /** What a human could be asked to allow, and what a lasting answer would cover; null: there is nothing to ask. */
  readonly askable: (About & { readonly pattern: string }) | null;
  /** What a human's answer on record must be about to count; null: no answer changes anything here. */
  readonly about: About | null;
}
export type PermissionDecision = 'allow' | Denial;

/** `file`: relative to the workspace root, with slashes. `kept`: a place of untildone itself. */
interface CallSubject {
  readonly kind: 'command' | 'file' | 'kept' | 'none';
  readonly text: string;
}

const longestQuestion = 2000;
const mostLines = 40;

export function decidePermission(
  tool: { readonly name: string; readonly access: ToolAccess },
  subject: CallSubject,
  policy: PermissionPolicy,
  known: KnownAnswers = noAnswers,
): PermissionDecision {
  const refusal = (deny: string, about: About | null = null): Denial => ({ deny, askable: null, about });
  if (tool.access === 'read') return 'allow';
  if (subject.kind === 'kept')
    return refusal(`${tool.name} is not allowed there: ${subject.text} belongs to untildone itself.`);
  if (policy.mode === 'auto') return 'allow';
  if (policy.mode === 'read-only')
    return refusal(`${tool.name} is not allowed: this session is read-only. Report what you would change.`);
  // Without a command or a path nothing is run or written: stop_job ends what was allowed to start.
  if (subject.kind === 'none') return 'allow';
  const allowed = patternsOf(tool.name, subject, policy, known);
  if (allowed.some((pattern) => matchesCall(pattern, subject))) return 'allow';
  const about = { tool: tool.name, subject: subject.text };
  const shown = JSON.stringify(oneLine(visibleLines(subject.text).join(' '), 120));
  if (known.refused.some((no) => no.tool === tool.name && matchesCall(no.pattern, subject)))
    return refusal(
      `The human said no to ${tool.name} ${shown}. Do not ask for it again: go on with something else, or say what you need.`,
      about,
    );
  const deny = explain(shown, subject, allowed);
  if (policy.mode !== 'ask') return refusal(deny, about);
  if (subject.text.length > longestQuestion || subject.text.split('\n', mostLines + 1).length > mostLines)
    return refusal(
      `Nobody is asked about more than ${longestQuestion} characters or ${mostLines} lines. Put them into a script and run that.`,
    );
  return { deny, askable: { ...about, pattern: proposePattern(subject) }, about };
}

const fileTools = ['write_file', 'edit_file'];

function patternsOf(
  tool: string,
  subject: CallSubject,
  policy: PermissionPolicy,
  { grants }: KnownAnswers,
): readonly string[] {
  const own = Object.hasOwn(policy.allow ?? {}, tool) ? policy.allow?.[tool] : undefined;
  const isFile = subject.kind === 'file';
  const said = isFile ? (own ?? ['**']) : [...(own ?? []), ...policy.shellAllow];
  const family = isFile ? [...fileTools, tool] : [tool];
  const granted = grants.filter((grant) => family.includes(grant.tool)).map(({ pattern }) => pattern);
  const all = [...said, ...granted];
  // What makes other programs run commands is written to only where the human named it.
  return isGuarded(subject) ? all.filter((pattern) => pattern.toLowerCase().includes(guardedName)) : all;
}

function explain(shown: string, subject: CallSubject, allowed: readonly string[]): string {
  const shownPatterns = allowed.slice(0, 20).map((pattern) => oneLine(pattern, 80));
  const list = shownPatterns.length === 0 ? '' : ` Allowed: ${shownPatterns.join(' | ')}.`;
  if (subject.kind === 'file') return `Writing to ${shown} is not on the human's allow-list.${list}`;
  const instead =
    list === ''
      ? ' No command is allowed in this session: use the file tools.'
      : `${list} Run one command at a time, without ; & | $ < > or parentheses.`;
  return `The command ${shown} is not on the human's allow-list.${instead}`;
}

/**
 * What a call is about: the command that it would run, or the real place that it would write to. Links are followed
 * first, so that no second name of a file escapes a pattern. A call without sense is refused by its tool.
 */
export async function subjectOf(
  access: ToolAccess,
  input: unknown,
  root: string,
  kept: readonly string[] = [],
): Promise<CallSubject> {
  const key = access === 'execute' ? 'command' : 'path';
  const value = typeof input === 'object' && input !== null ? Reflect.get(input, key) : null;
  if (access === 'read' || typeof value !== 'string') return { kind: 'none', text: '' };
  if (access === 'execute') return { kind: 'command', text: value };
  const located = await resolveInside(root, value);
  if (!located.ok) return { kind: 'none', text: '' };
  const real = join(located.place.existing, ...located.place.missing);
  const text = relative(located.place.root, real).split(sep).join('/');
  for (const folder of kept) if (isInside(await realFolder(folder), real)) return { kind: 'kept', text };
  return { kind: 'file', text };
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch {
    // Not there yet: its parent tells where it would be.
    const parent = dirname(folder);
    return parent === folder ? folder : join(await realFolder(parent), basename(folder));
  }
}

/** The file that says which commands the system runs as checks. What belongs to git no file tool writes at all. */
const guardedName = 'untildone.json';

function isGuarded({ kind, text }: CallSubject): boolean {
  return kind === 'file' && text.toLowerCase().split('/').includes(guardedName);
}

/** In front of a command that is meant as it stands: a "*" in it is no wildcard. */
const exactly = '= ';

export function matchesCall(pattern: string, { kind, text }: CallSubject): boolean {
  if (kind === 'command')
    return pattern.startsWith(exactly)
      ? pattern.slice(exactly.length) === text
      : matchesCommand(pattern, text);
  if (kind !== 'file') return false;
  // "/notes.md" is the one at the root; without a slash in front a single name fits at any depth.
  const names = text.split('/');
  if (pattern.startsWith('/')) return matchesNames(compileNames(pattern.slice(1).split('/')), names);
  const set = createPathSet([pattern]);
  return set.ok && set.paths.has(names);
}

/**
 * The whole command is compared, word by word: "*" and "?" stand for characters of one word, a word "**" for any
 * number of words. So "npm run *" allows "npm run build" and not "npm run build --force"; "npm test **" allows both.
 * A command by which the shell could run something else as well never fits, unless it equals the pattern.
 */
function matchesCommand(pattern: string, command: string): boolean {
  if (pattern === command) return true;
  const words = plainWords(command);
  return words !== null && matchesNames(compileNames(splitWords(pattern) ?? []), words);
}

/** Joins and chains commands, substitutes, redirects, escapes, ends a line: more than one program's words. */
const shellSyntax = /[;&|`$()<>\n\r\\\0]/u;

function plainWords(command: string): readonly string[] | null {
  if (shellSyntax.test(command)) return null;
  // Outside quotes the shell makes other words of these, from the names of files that the agent may have written.
  if (/[*?[~{#!]/u.test(command.replace(/'[^']*'|"[^"]*"/gu, ''))) return null;
  const words = splitWords(command);
  // NAME=value before a command can change which program runs (PATH, LD_PRELOAD).
  return words?.[0] === undefined || /^[A-Za-z_]\w*=/u.test(words[0]) ? null : words;
}

/** Words as the shell splits them where nothing is substituted; null if a quote is not closed. */
function splitWords(text: string): string[] | null {
  const quotes = /'[^']*'|"[^"]*"/gu;
  if (/['"]/u.test(text.replace(quotes, ''))) return null;
  const words = text.match(/(?:'[^']*'|"[^"]*"|[^ \t'"])+/gu) ?? [];
  return words.map((word) => word.replace(quotes, (quoted) => quoted.slice(1, -1)));
}

const packageManagers = ['npm', 'pnpm', 'yarn', 'bun'];
/** Programs whose first argument names a piece of the workspace's code that they run. */
const runners: Readonly<Record<string, readonly string[]>> = {
  cargo: ['test', 'build', 'check', 'run', 'bench', 'clippy'],
  go: ['test', 'build', 'run', 'vet'],
  npx: ['vitest', 'jest', 'mocha', 'playwright'],
};
const testPrograms = ['vitest', 'jest', 'mocha', 'pytest'];

/**
 * The pattern that a lasting answer covers. It is wider than the call only where that gives no new right: other
 * arguments for a command that runs the workspace's own code anyway, other files of the same folder. Shell syntax is
 * never widened, nor is what hides something from the reader.
 */
export function proposePattern(subject: CallSubject): string {
  const { kind, text } = subject;
  if (kind === 'command') {
    const words = hasHidden(text) ? [] : (plainWords(text) ?? []);
    const kept = words.slice(0, prefixLength(words));
    // Quoted words and words with wildcards would have to be written otherwise in a pattern.
    const isPlain = kept.length > 0 && kept.every((word) => /^[\w@%+:,./-]+$/u.test(word));
    return isPlain ? `${kept.join(' ')} **` : `${exactly}${text}`;
  }
  const folder = text.slice(0, Math.max(0, text.lastIndexOf('/')));
  // A folder whose name looks like a pattern would cover other names than its own.
  const isExact = folder === '' || isGuarded(subject) || /[*?[\]{}\\]/u.test(folder) || hasHidden(text);
  return isExact ? `/${text.replace(/[*?[\\]/gu, '\\$&')}` : `/${folder}/**`;
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
