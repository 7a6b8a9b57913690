// What a tool call is about: the command that it would run, or the real place that it would write to. Symbolic links
// are followed first, so that no second name of a file escapes a pattern.
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isInside, resolveInside } from '../../checks/files.ts';
import type { ToolAccess } from '../workspace/tool.ts';

export type CallSubject =
  | { readonly kind: 'command'; readonly text: string }
  /** Relative to the workspace root, with slashes. */
  | { readonly kind: 'file'; readonly text: string }
  /** A place of untildone itself. */
  | { readonly kind: 'kept'; readonly text: string }
  /** Nothing that a permission is about; a call without sense is refused by its tool. */
  | { readonly kind: 'none'; readonly text: '' };

const nothing: CallSubject = { kind: 'none', text: '' };

export async function subjectOf(
  access: ToolAccess,
  input: unknown,
  root: string,
  kept: readonly string[] = [],
): Promise<CallSubject> {
  const key = access === 'execute' ? 'command' : 'path';
  const value = typeof input === 'object' && input !== null ? Reflect.get(input, key) : null;
  if (access === 'read' || typeof value !== 'string') return nothing;
  return access === 'execute' ? { kind: 'command', text: value } : fileSubject(value, root, kept);
}

async function fileSubject(path: string, root: string, kept: readonly string[]): Promise<CallSubject> {
  const located = await resolveInside(root, path);
  if (!located.ok) return nothing;
  const { existing, missing } = located.place;
  const real = join(existing, ...missing);
  const text = relative(located.place.root, real).split(sep).join('/');
  for (const folder of kept) if (isInside(await realFolder(folder), real)) return { kind: 'kept', text };
  return { kind: 'file', text };
}

/** As far as it exists: what is not there yet can still be named. */
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
const guardedNames = ['untildone.json'];

/** The name that makes this file one of those; null: it is an ordinary file. */
export function guardedName(subject: CallSubject): string | null {
  if (subject.kind !== 'file') return null;
  const names = subject.text.toLowerCase().split('/');
  return guardedNames.find((name) => names.includes(name)) ?? null;
}
