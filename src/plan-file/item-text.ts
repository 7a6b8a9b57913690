// The text of a list item: its title, and the lines below it that say something about it (`check:`, `blocked:`,
// `context:`, `done when:`). Every other line belongs to the title before the first of these, and to nobody after.
import { hiddenRanges } from './hidden-ranges.ts';
import type { PlanFileProblem } from './plan-file.ts';

export interface Attribute {
  readonly name: 'check' | 'blocked' | 'context' | 'done when';
  readonly value: string;
  readonly line: number;
}

export interface ItemText {
  readonly title: string;
  readonly attributes: readonly Attribute[];
  readonly warnings: readonly PlanFileProblem[];
}

/** The paragraph behind a box: its first line is the title, whatever it says. @param line 1-based, of that line */
export function readItemText(paragraph: string, line: number): ItemText {
  const ranges = hiddenRanges(paragraph);
  const title: string[] = [];
  const attributes: Attribute[] = [];
  const warnings: PlanFileProblem[] = [];
  let start = 0;
  let range = 0;
  paragraph.split('\n').forEach((text, index) => {
    const end = start + text.length;
    const first = start + (text.length - text.trimStart().length);
    while ((ranges[range]?.to ?? Number.POSITIVE_INFINITY) <= first) range += 1;
    const within = ranges[range];
    const hidden = within !== undefined && within.from < first ? within.kind : null;
    const shown = visible(paragraph, start, end, ranges, range);
    const attribute = index === 0 || hidden !== null ? null : readAttribute(shown, line + index);
    if (attribute !== null) attributes.push(attribute);
    else if (attributes.length === 0) title.push(shown);
    if (hidden === 'code' && /^\s*check:/i.test(text)) {
      warnings.push({
        line: line + index,
        sentence: 'this looks like a check but stands inside backticks that began on a line above',
      });
    }
    start = end + 1;
  });
  return { title: joined(title), attributes, warnings };
}

/** A paragraph that is no title: every line of it may be an attribute. */
export function readAttributes(paragraph: string, line: number): readonly Attribute[] {
  return readItemText(`\n${paragraph}`, line - 1).attributes;
}

function readAttribute(text: string, line: number): Attribute | null {
  const match = /^(check|blocked|context|done when):(?:\s+(.*))?$/is.exec(text.trim());
  if (match === null) return null;
  const name = (match[1] ?? '').toLowerCase() as Attribute['name'];
  return { name, value: unescapeComment((match[2] ?? '').trim()), line };
}

/** One line without its comments. */
function visible(
  text: string,
  start: number,
  end: number,
  ranges: readonly { kind: string; from: number; to: number }[],
  first: number,
): string {
  let shown = '';
  let at = start;
  for (let index = first; (ranges[index]?.from ?? end) < end; index += 1) {
    const range = ranges[index];
    if (range === undefined || range.kind !== 'comment') continue;
    shown += text.slice(at, Math.max(at, range.from));
    at = Math.min(end, Math.max(at, range.to));
  }
  return shown + text.slice(at, end);
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
