// What stands behind `check:` and in the front matter's list: one word or a text in double quotes is the name of a
// check of untildone.json, anything else a shell line (in backticks or bare). A shell line's id is the line itself
// behind `$ `, so that a todo that carries it says what will be run. Running it is the business of src/checks.
import type { CommandCheck } from '../core/check-spec.ts';
import { hiddenRanges } from './hidden-ranges.ts';

/** Ids of checks travel in events, which take no longer ones. */
const longestCheckId = 200;
const shellMark = '$ ';
/** As long as a slow test suite: ending an honest check early is worse than waiting for a stuck one. */
const defaultTimeoutMs = 600_000;

export type CheckLine =
  | { readonly ok: true; readonly id: string }
  | { readonly ok: false; readonly sentence: string };

export function readCheckLine(text: string): CheckLine {
  const value = text.trim();
  if (/^`*$/.test(value)) return { ok: false, sentence: 'this check is empty' };
  const span = codeSpan(value);
  // Names are compared without letter case, as all names in a configuration.
  const name = span === null ? (nameIn(value)?.toLowerCase() ?? null) : null;
  const id = name ?? `${shellMark}${span ?? value}`;
  if (id === shellMark) return { ok: false, sentence: 'this check is empty' };
  if (id.length <= longestCheckId) return { ok: true, id };
  const most = longestCheckId - shellMark.length;
  return {
    ok: false,
    sentence: `this check has more than ${most} characters; give it a name in untildone.json and write the name here`,
  };
}

function nameIn(value: string): string | null {
  const quoted = /^"([^"]+)"$/.exec(value)?.[1]?.trim();
  if (quoted !== undefined && quoted !== '') return quoted;
  return /^[\p{L}\p{N}][\p{L}\p{N}_.:-]*$/u.test(value) ? value : null;
}

/** What stands in backticks, if nothing stands beside them. One space on each side belongs to them, as in Markdown. */
function codeSpan(value: string): string | null {
  const [range] = hiddenRanges(value);
  if (range?.kind !== 'code' || range.from > 0 || range.to < value.length) return null;
  const fence = /^`*/.exec(value)?.[0].length ?? 0;
  return value.slice(fence, -fence).trim();
}

/** The text that reads as this check again. */
export function formatCheckLine(id: string): string {
  if (!id.startsWith(shellMark)) return nameIn(id) === id ? id : `"${id}"`;
  const line = id.slice(shellMark.length);
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const touches = line.startsWith('`') || line.endsWith('`');
  return touches ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}

/** The check behind a shell line's id; null: the id is a name, and what it means stands in untildone.json. */
export function shellCheck(id: string): CommandCheck | null {
  if (!id.startsWith(shellMark)) return null;
  return {
    id,
    kind: 'command',
    command: { shell: id.slice(shellMark.length) },
    directory: null,
    expectExit: 0,
    expectOutput: null,
    environment: [],
    files: [],
    timeoutMs: defaultTimeoutMs,
  };
}
