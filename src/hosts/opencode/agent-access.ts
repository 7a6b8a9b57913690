// May an agent of the host change files? Read from its permissions, an ordered list in which the last match wins (G4,
// P26). What cannot be read is unknown, and whoever is unknown is never continued.
import type { Knowledge } from '../../core/events.ts';
import { listOf, recordOf, textOf } from './payload.ts';

/** A file like any other: rules for single places do not make an agent a writer. */
const anyFile = 'src/some-file.txt';

/** `edit` is what the host asks before every tool that changes a file; a shell alone does not make a writer. */
export function canEdit(permission: unknown): Knowledge {
  if (!Array.isArray(permission)) return 'unknown';
  let action: string | null = null;
  for (const entry of listOf(permission)) {
    const rule = recordOf(entry);
    const name = textOf(rule['permission']);
    const pattern = textOf(rule['pattern']);
    if (name === null || pattern === null) continue;
    if (matches(name, 'edit') && matches(pattern, anyFile)) action = textOf(rule['action']);
  }
  if (action === 'allow' || action === 'ask') return 'yes';
  return action === 'deny' ? 'no' : 'unknown';
}

/** `*` stands for any text and `?` for one character, as in the host. */
function matches(pattern: string, text: string): boolean {
  // Longer than any honest rule: what a hostile one would cost is not paid.
  if (pattern.length > 200) return false;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/gu, '\\$&')
    .replace(/\*+/gu, '.*')
    .replace(/\?/gu, '.');
  return new RegExp(`^${source}$`, 'su').test(text);
}
