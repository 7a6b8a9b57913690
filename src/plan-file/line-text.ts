// The words of a plan file: what is code or comment in a paragraph, the title of a todo, the lines below it that say
// something about it, its priority, and its checks. Pure text, read and written.
import { type CommandCheck, createCommandCheck } from '../core/check-specs.ts';
import { type Priority, priorities } from '../core/todo.ts';

/** Where words are not words of the author: code spans and HTML comments, which may run over lines. */
function hiddenRanges(text: string) {
  const ranges: { readonly kind: 'code' | 'comment'; readonly from: number; readonly to: number }[] = [];
  // One pass, whatever the text: each closing mark is searched for once.
  const findCodeEnd = backtickRuns(text);
  const lastComment = text.lastIndexOf('-->');
  for (const { 0: mark, index: from } of text.matchAll(/\\[\s\S]|`+|<!--/g)) {
    if (from < (ranges.at(-1)?.to ?? 0) || mark.startsWith('\\')) continue;
    const behind = from + mark.length;
    if (mark !== '<!--') {
      const to = findCodeEnd(mark.length, behind);
      if (to !== null) ranges.push({ kind: 'code', from, to });
    } else if (behind <= lastComment)
      ranges.push({ kind: 'comment', from, to: text.indexOf('-->', behind) + 3 });
  }
  return ranges;
}

/** Finds the end of the first run of exactly this length at or behind a place; asked for rising places only. */
function backtickRuns(text: string): (length: number, from: number) => number | null {
  /** By length of the run, the last one first. */
  const ends = new Map<number, number[]>();
  for (const { index, 0: run } of [...text.matchAll(/`+/g)].reverse()) {
    if (!ends.has(run.length)) ends.set(run.length, []);
    ends.get(run.length)?.push(index + run.length);
  }
  return (length, from) => {
    const runs = ends.get(length) ?? [];
    while ((runs.at(-1) ?? Number.POSITIVE_INFINITY) - length < from) runs.pop();
    return runs.at(-1) ?? null;
  };
}

export interface Attribute {
  readonly name: 'check' | 'blocked' | 'context' | 'done when';
  readonly value: string;
  readonly line: number;
}

/**
 * The paragraph behind a box: its first line is the title, whatever it says. Lines that say something about the todo
 * (`check:`, `blocked:` …) are attributes; every other line belongs to the title before the first of these, and to
 * nobody after. @param line 1-based, of the first line @param hasTitle false: also the first line may be an attribute
 */
export function readItemText(paragraph: string, line: number, hasTitle = true) {
  const ranges = hiddenRanges(paragraph);
  // Every character of a comment as NUL, which the parser leaves in no text, so that all places stay the same.
  let shown = '';
  for (const { from, to } of ranges.filter(({ kind }) => kind === 'comment'))
    shown += paragraph.slice(shown.length, from) + '\0'.repeat(to - from);
  shown += paragraph.slice(shown.length);
  const title: string[] = [];
  const attributes: Attribute[] = [];
  const warnings: { readonly line: number; readonly sentence: string }[] = [];
  let start = 0;
  let range = 0;
  paragraph.split('\n').forEach((text, index) => {
    const end = start + text.length;
    const first = end - text.trimStart().length;
    while ((ranges[range]?.to ?? Number.POSITIVE_INFINITY) <= first) range += 1;
    const within = ranges[range];
    const hidden = within !== undefined && within.from < first ? within.kind : null;
    const visible = shown.slice(start, end).replaceAll('\0', '');
    const mayBe = hidden === null && (index > 0 || !hasTitle);
    const said = mayBe ? /^(check|blocked|context|done when):(?:\s+(.*))?$/is.exec(visible.trim()) : null;
    if (said !== null) {
      const name = said[1]?.toLowerCase() as Attribute['name'];
      attributes.push({ name, value: unescapeComment((said[2] ?? '').trim()), line: line + index });
    } else if (attributes.length === 0) title.push(visible);
    if (hidden === 'code' && /^\s*check:/i.test(text)) {
      const sentence = 'this looks like a check but stands inside backticks that began on a line above';
      warnings.push({ line: line + index, sentence });
    }
    start = end + 1;
  });
  return { title: joined(title), attributes, warnings };
}

/** A backslash at the end of a line is Markdown's way to break it and no part of the title. */
function joined(lines: readonly string[]): string {
  const broken = lines.map((text, index) => (index + 1 < lines.length ? text.replace(/\\$/, '') : text));
  return unescapeComment(broken.join(' ').replace(/\s+/g, ' ').trim());
}

export function escapeComment(text: string): string {
  return text.replaceAll('<!--', '\\<!--');
}

function unescapeComment(text: string): string {
  return text.replaceAll('\\<!--', '<!--');
}

/** A text for people: titles of fifty levels would grow with every level. */
const longestPath = 1_000;

/** The context of a nested todo: the titles of the items above it, outermost first. @param path '' at the top */
export function extendPath(path: string, title: string): string {
  const longer = [path, title].filter((part) => part !== '').join(' › ');
  return longer.length > longestPath ? path : longer;
}

/** The priority at the end of a title: `!high`, `!medium` or `!low`, behind a space. null: the file does not say. */
export function readPriority(text: string): { readonly title: string; readonly priority: Priority | null } {
  const [, title = '', word = ''] = /^(.*) !([a-z]+)$/is.exec(text) ?? [];
  const priority = priorities.find((candidate) => candidate === word.toLowerCase());
  const isMark = priority !== undefined && title.trim() !== '';
  return isMark ? { title: title.trim(), priority } : { title: text, priority: null };
}

/** A title that ends like a mark gets its mark said even where it is the default, or it would be read as one. */
export function formatPriority(title: string, priority: Priority): string {
  const needed = priority !== 'medium' || readPriority(title).priority !== null;
  return needed ? `${title} !${priority}` : title;
}

/** Events take no longer ids. */
const longestCheckId = 200;
/** A shell line's id is the line itself behind this, so that a todo that carries it says what will be run. */
const shellMark = '$ ';

/**
 * What stands behind `check:` and in the front matter's list: one word or a text in double quotes is the name of a check
 * of untildone.json, anything else a shell line (in backticks or bare).
 */
export function readCheckLine(text: string) {
  const fail = (sentence: string) => ({ ok: false, sentence }) as const;
  const value = text.trim();
  const span = codeSpan(value);
  // Names are compared without letter case, as all names in a configuration.
  const name = span === null ? nameIn(value)?.toLowerCase() : undefined;
  const id = name ?? `${shellMark}${span ?? value}`;
  if (/^`*$/.test(value) || id === shellMark) return fail('this check is empty');
  if (id.length <= longestCheckId) return { ok: true, id } as const;
  const most = `this check has more than ${longestCheckId - shellMark.length} characters`;
  return fail(`${most}; give it a name in untildone.json and write the name here`);
}

function nameIn(value: string): string | null {
  const quoted = /^"([^"]+)"$/.exec(value)?.[1]?.trim();
  if (quoted) return quoted;
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
  const shell = id.slice(shellMark.length);
  const longest = Math.max(0, ...[...shell.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const touches = shell.startsWith('`') || shell.endsWith('`');
  return touches ? `${fence} ${shell} ${fence}` : `${fence}${shell}${fence}`;
}

/** The check behind a shell line's id; null: the id is a name, and what it means stands in untildone.json. */
export function shellCheck(id: string): CommandCheck | null {
  return id.startsWith(shellMark) ? createCommandCheck(id, { shell: id.slice(shellMark.length) }) : null;
}
