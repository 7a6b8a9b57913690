// Whether a tool call may run: by its subject, the human's policy and answers. An allowed
// command that runs the workspace's code (npm test) runs what the agent wrote.
import { join } from 'node:path';
import {
  isInside,
  realNames,
  resolveInside,
  type WorkspacePath,
} from '../../checks/files.ts';
import { compileNames, createPathSet, matchesNames } from '../../core/glob.ts';
import { hasHidden, oneLine, visibleLines } from '../../core/safe-text.ts';
import { isObject, ownValue } from '../../core/schema.ts';
import type { WorkspaceTool } from './tool.ts';

export type PermissionPolicy = Readonly<{
  /** allow-list: what fits a pattern; ask: else the human is asked; auto: all. */
  mode: 'ask' | 'allow-list' | 'read-only' | 'auto';
  shellAllow: readonly string[];
  /** By tool. A file tool not named may write everywhere in the workspace. */
  allow?: Readonly<Record<string, readonly string[]>>;
  /** Absolute folders of untildone itself: no file tool writes there. */
  kept?: readonly string[];
}>;

type Covered = Readonly<Record<'tool' | 'pattern', string>>;
export type KnownAnswers = Readonly<Record<'grants' | 'refused', readonly Covered[]>>;
type About = Readonly<Record<'tool' | 'subject', string>>;
type Denial = Readonly<{
  deny: string;
  /** `pattern`: what a lasting answer would cover. */
  askable: (About & Covered) | null;
  /** What an answer on record must be about; null: none changes anything. */
  about: About | null;
}>;
export type PermissionDecision = 'allow' | Denial;

/** `file`: from the root, with slashes. `kept`: a place of untildone. */
type CallSubject = Readonly<{ kind: 'command' | 'file' | 'kept' | 'none'; text: string }>;

const longestQuestion = 2000;
const mostLines = 40;

export function decidePermission(
  { name, access }: Pick<WorkspaceTool, 'name' | 'access'>,
  subject: CallSubject,
  policy: PermissionPolicy,
  known: KnownAnswers,
): PermissionDecision {
  const { kind, text } = subject;
  const refusal = (deny: string, about: About | null = null) => ({
    deny,
    askable: null,
    about,
  });
  if (access === 'read') return 'allow';
  if (kind === 'kept')
    return refusal(`${name} is not allowed there: ${text} belongs to untildone itself.`);
  if (policy.mode === 'auto') return 'allow';
  if (policy.mode === 'read-only')
    return refusal(
      `${name} is not allowed: this session is read-only. Report what you would change.`,
    );
  // Nothing is run or written: stop_job ends what was allowed.
  if (kind === 'none') return 'allow';
  const { said, granted } = patternsOf(name, subject, policy, known);
  const proposal = proposePattern(subject, policy);
  const isWide = (pattern: string) => kind === 'command' && !pattern.startsWith(exactly);
  // A wide grant covers the calls that it would be proposed for, and no others that fit
  // its words.
  const covers = (pattern: string) =>
    isWide(pattern) ? pattern === proposal : matchesCall(pattern, subject);
  if (said.some((pattern) => matchesCall(pattern, subject)) || granted.some(covers))
    return 'allow';
  const about = { tool: name, subject: text };
  const shown = JSON.stringify(oneLine(visibleLines(text).join(' '), 120));
  if (
    known.refused.some(
      ({ tool, pattern }) => tool === name && matchesCall(pattern, subject),
    )
  )
    return refusal(
      `The human said no to ${name} ${shown}. Do not ask for it again: go on with something else, or say what you need.`,
      about,
    );
  const counts = granted.filter((pattern) => !isWide(pattern) || !isConfined(policy));
  const isNear = counts.some((pattern) => matchesCall(pattern, subject));
  const deny = `${explain(shown, kind, [...said, ...counts])}${isNear ? nearMiss : ''}`;
  if (policy.mode !== 'ask') return refusal(deny, about);
  if (text.length > longestQuestion || text.split('\n', mostLines + 1).length > mostLines)
    return refusal(
      `Nobody is asked about more than ${longestQuestion} characters or ${mostLines} lines. Put them into a script and run that.`,
    );
  return { deny, askable: { ...about, pattern: proposal }, about };
}

function patternsOf(
  tool: string,
  subject: CallSubject,
  policy: PermissionPolicy,
  { grants }: KnownAnswers,
) {
  const own = ownValue(policy.allow ?? {}, tool);
  const isFile = subject.kind === 'file';
  const said = isFile ? (own ?? ['**']) : [...(own ?? []), ...policy.shellAllow];
  // A grant for one file tool counts for both.
  const family = isFile ? fileTools : [tool];
  const granted = grants
    .filter((grant) => family.includes(grant.tool))
    .map(({ pattern }) => pattern);
  // Only where the human named it.
  const counts = (pattern: string) =>
    !isGuarded(subject) || pattern.toLowerCase().includes(guardedName);
  return { said: said.filter(counts), granted: granted.filter(counts) };
}

const fileTools = ['write_file', 'edit_file'];

/**
 * The human holds a file tool to paths: the workspace's code is not the agent's to write.
 */
const isConfined = ({ allow = {} }: PermissionPolicy) =>
  fileTools.some((tool) => ownValue(allow, tool)?.includes('**') === false);

const nearMiss =
  ' What the human granted covers no other options, no NAME=value and no path outside the workspace.';

function explain(
  shown: string,
  kind: CallSubject['kind'],
  allowed: readonly string[],
): string {
  const patterns = allowed.slice(0, 20).map((pattern) => oneLine(pattern, 80));
  const list = patterns.length === 0 ? '' : ` Allowed: ${patterns.join(' | ')}.`;
  if (kind === 'file')
    return `Writing to ${shown} is not on the human's allow-list.${list}`;
  const instead =
    list === ''
      ? ' No command is allowed in this session: use the file tools.'
      : `${list} Run one command at a time, without ; & | $ < > or parentheses.`;
  return `The command ${shown} is not on the human's allow-list.${instead}`;
}

/** Links are followed. Its tool refuses what has no sense. */
export async function subjectOf(
  access: WorkspaceTool['access'],
  input: unknown,
  root: string,
  kept: readonly string[] = [],
): Promise<CallSubject> {
  const none = { kind: 'none', text: '' } as const;
  const value = isObject(input) ? input[access === 'execute' ? 'command' : 'path'] : null;
  if (access === 'read' || typeof value !== 'string') return none;
  if (access === 'execute') return { kind: 'command', text: value };
  const located = await resolveInside(root, value);
  if (!located.ok) return none;
  const realPath = ({ existing, missing }: WorkspacePath) => join(existing, ...missing);
  const text = realNames(located.place).join('/');
  for (const folder of kept) {
    const own = await resolveInside('/', folder);
    // Safe: what cannot be resolved cannot be written through a link either.
    const real = own.ok ? realPath(own.place) : folder;
    if (isInside(real, realPath(located.place))) return { kind: 'kept', text };
  }
  return { kind: 'file', text };
}

/** It names the commands that are run as checks. */
const guardedName = 'untildone.json';

const isGuarded = ({ kind, text }: CallSubject) =>
  kind === 'file' && text.toLowerCase().split('/').includes(guardedName);

/** A "*" behind it is no wildcard. */
const exactly = '= ';

export function matchesCall(pattern: string, { kind, text }: CallSubject): boolean {
  if (kind === 'command')
    return pattern.startsWith(exactly)
      ? pattern === `${exactly}${text}`
      : matchesCommand(pattern, text);
  if (kind !== 'file') return false;
  // "/notes.md" is the one at the root; without a slash a name fits at any depth.
  const names = text.split('/');
  if (pattern.startsWith('/'))
    return matchesNames(compileNames(pattern.slice(1).split('/')), names);
  const set = createPathSet([pattern]);
  return set.ok && set.paths.has(names);
}

// "*" and "?" stay in one word, "**" is any number of words: "npm run *" allows "npm run
// build", not "npm run build --force". What could make the shell run something else fits
// only itself.
function matchesCommand(pattern: string, command: string): boolean {
  if (pattern === command) return true;
  const words = plainWords(command);
  return words !== null && matchesNames(compileNames(splitWords(pattern) ?? []), words);
}

const quotes = /'[^']*'|"[^"]*"/gu;
/** More than one program's words. */
const shellSyntax = /[;&|`$()<>\n\r\\\0]/u;

function plainWords(command: string): readonly string[] | null {
  // The shell makes other words of these, from names the agent may have written.
  if (shellSyntax.test(command) || /[*?[~{#!]/u.test(command.replace(quotes, '')))
    return null;
  const words = splitWords(command);
  // NAME=value can change which program runs (PATH, LD_PRELOAD).
  return words?.[0] === undefined || /^[A-Za-z_]\w*=/u.test(words[0]) ? null : words;
}

/** null: a quote is not closed. */
function splitWords(text: string): string[] | null {
  if (/['"]/u.test(text.replace(quotes, ''))) return null;
  const words = text.match(/(?:'[^']*'|"[^"]*"|[^ \t'"])+/gu) ?? [];
  return words.map((word) => word.replace(quotes, (quoted) => quoted.slice(1, -1)));
}

/** These run the workspace's code: names and paths inside it give no new right. */
const ownCode = [
  /^(?:npm|pnpm|yarn|bun) (?:test|run [A-Za-z][\w:.-]*)(?= |$)/u,
  /^cargo (?:test|build|check|run|bench|clippy)(?= |$)/u,
  /^go (?:test|build|vet)(?= |$)/u,
  /^(?:npx )?(?:vitest|jest)(?= |$)/u,
  /^npx playwright test(?= |$)/u,
  /^make [A-Za-z][\w:.-]*(?= |$)/u,
];
/** These load whatever file they are given: only options may follow. */
const loadsFiles = /^(?:pytest|(?:npx )?mocha)(?= |$)/u;

// Known to choose no code in any of the above. All others may (-f, --prefix, --config,
// -exec …), so they are asked for.
const harmlessOption = /^(?:--|-[vqs]|--verbose|--quiet|--silent)$/u;
/** No option, no NAME=value, no version (@), nothing that leads out of the workspace. */
const insideName = /^(?!(?:.*\/)?\.\.(?:\/|$))[\w%.][\w%+:,./-]*$/u;

/**
 * Wider than the call only where that gives no new right; never shell syntax or what
 * hides something.
 */
export function proposePattern(
  { kind, text }: CallSubject,
  policy: PermissionPolicy,
): string {
  if (kind !== 'command') return `/${text.replace(/[*?[\\]/gu, '\\$&')}`;
  const words = hasHidden(text) || isConfined(policy) ? [] : (plainWords(text) ?? []);
  const line = words.some((word) => word.includes(' ')) ? '' : words.join(' ');
  const kept =
    [...ownCode, loadsFiles].map((pattern) => pattern.exec(line)?.[0]).find(Boolean) ??
    '';
  const isFree = (word: string) =>
    harmlessOption.test(word) || (insideName.test(word) && !loadsFiles.test(kept));
  const isWide = kept !== '' && words.slice(kept.split(' ').length).every(isFree);
  return isWide ? `${kept} **` : `${exactly}${text}`;
}
