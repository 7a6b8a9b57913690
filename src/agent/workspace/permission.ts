// Whether a tool call may run: pure, from the tool, what the call is about, the human's policy and the human's answers
// so far. An allowed command that runs the workspace's code (npm test) runs what the agent wrote: patterns do not
// change that.
import { oneLine } from '../../core/safe-text.ts';
import { visibleLines } from '../../core/visible-text.ts';
import { matchesCall, proposePattern } from '../permissions/call-pattern.ts';
import { type CallSubject, guardedName } from '../permissions/call-subject.ts';
import type { ToolAccess } from './tool.ts';

export interface PermissionPolicy {
  /** read-only: nothing changes. allow-list: what fits a pattern. ask: the same, and the human is asked. auto: all. */
  readonly mode: 'ask' | 'allow-list' | 'read-only' | 'auto';
  /** Patterns of commands, see command-pattern.ts. */
  readonly shellAllow: readonly string[];
  /** Patterns by tool, besides; a file tool that is not named may write everywhere in the workspace. */
  readonly allow?: Readonly<Record<string, readonly string[]>>;
  /** Folders of untildone itself, absolute: no file tool writes there, wherever the workspace is. */
  readonly kept?: readonly string[];
}

/** What the human said in this session, and what was remembered for this directory. */
export interface KnownAnswers {
  readonly grants: readonly { readonly tool: string; readonly pattern: string }[];
  readonly refused: readonly { readonly tool: string; readonly pattern: string }[];
}

export const noAnswers: KnownAnswers = { grants: [], refused: [] };

export interface Askable {
  readonly tool: string;
  readonly subject: string;
  /** What a lasting answer would cover. */
  readonly pattern: string;
}
export interface Denial {
  /** For the model: what was refused and what it can do instead. */
  readonly deny: string;
  /** What a human could be asked to allow; null where the policy leaves nothing to ask. */
  readonly askable: Askable | null;
  /** What a human's answer on record must be about to count; null: no answer changes anything here. */
  readonly about: Pick<Askable, 'tool' | 'subject'> | null;
}
export type PermissionDecision = 'allow' | Denial;

export function decidePermission(
  tool: { readonly name: string; readonly access: ToolAccess },
  subject: CallSubject,
  policy: PermissionPolicy,
  known: KnownAnswers = noAnswers,
): PermissionDecision {
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
  if (policy.mode === 'ask' && !isReadable(subject.text))
    return refusal(
      `Nobody is asked about more than ${longestQuestion} characters or ${mostLines} lines. Put them into a script and run that.`,
    );
  const askable = policy.mode === 'ask' ? { ...about, pattern: proposePattern(subject) } : null;
  return { deny: explain(shown, subject, allowed), askable, about };
}

/** A human must be able to read all of what they allow. */
const longestQuestion = 2000;
const mostLines = 40;

function isReadable(text: string): boolean {
  return text.length <= longestQuestion && text.split('\n', mostLines + 1).length <= mostLines;
}

function refusal(deny: string, about: Denial['about'] = null): Denial {
  return { deny, askable: null, about };
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
  const guarded = guardedName(subject);
  const all = [...said, ...granted];
  // What makes other programs run commands is written to only where the human named it.
  return guarded === null ? all : all.filter((pattern) => pattern.toLowerCase().includes(guarded));
}

function explain(shown: string, subject: CallSubject, allowed: readonly string[]): string {
  const list = allowed
    .slice(0, 20)
    .map((pattern) => oneLine(pattern, 80))
    .join(' | ');
  if (subject.kind === 'file')
    return `Writing to ${shown} is not on the human's allow-list.${list === '' ? '' : ` Allowed: ${list}.`}`;
  const instead =
    list === ''
      ? 'No command is allowed in this session: use the file tools.'
      : `Allowed: ${list}. Run one command at a time, without ; & | $ < > or parentheses.`;
  return `The command ${shown} is not on the human's allow-list. ${instead}`;
}
