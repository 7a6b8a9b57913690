// Turns list items into todos: box, title, priority, the attributes below it, and the items above it as context.
// An item without a box is no todo; it lends its title as context, or its `check:` to the todo it stands in.
import { readCheckLine } from './check-line.ts';
import { extendPath } from './context-path.ts';
import { type Attribute, readAttributes, readItemText } from './item-text.ts';
import { headOffset, type ListItem } from './list-items.ts';
import type { PlanFileProblem, PlanItem } from './plan-file.ts';
import { readPriority } from './priority-mark.ts';
import type { SourceLines } from './source-lines.ts';

export interface ItemReader {
  /** In document order, an item before those inside it. */
  add(item: ListItem): void;
  finish(): { items: PlanItem[]; warnings: PlanFileProblem[]; problems: PlanFileProblem[] };
}

interface ReadItem {
  /** Titles from the outermost item to this one: the context of those inside it. */
  readonly path: string;
  readonly todo: { readonly item: PlanItem; readonly attributes: Attribute[] } | null;
}

/** @param firstLine index of the line where the list items' document begins; @param bom units before line 0 */
export function createItemReader(lines: SourceLines, firstLine: number, bom: number): ItemReader {
  const known = new Map<ListItem, ReadItem>();
  const todos: NonNullable<ReadItem['todo']>[] = [];
  const warnings: PlanFileProblem[] = [];

  function read({ head }: ListItem, parent: ReadItem | null): ReadItem {
    const path = parent?.path ?? '';
    if (head === null) return { path, todo: null };
    const line = head.line + firstLine;
    const box = readBox(head.text, headOffset({ ...head, line }, lines), lines, line);
    if (box === null) return readPlainItem(head.text, line + 1, parent);
    const { title: said, attributes, warnings: found } = readItemText(head.text.slice(3), line + 1);
    if (said === '') return { path, todo: null };
    warnings.push(...found);
    const { title, priority } = readPriority(said);
    const item: PlanItem = {
      title,
      context: path === '' ? null : path,
      completionCriteria: null,
      priority,
      checked: box.checked,
      blocked: null,
      checks: [],
      boxOffset: bom + box.offset,
      line: line + 1,
    };
    return { path: extendPath(path, title), todo: { item, attributes: [...attributes] } };
  }

  return {
    add(item) {
      const found = read(item, item.parent === null ? null : (known.get(item.parent) ?? null));
      known.set(item, found);
      if (found.todo === null) return;
      todos.push(found.todo);
      for (const { text, line } of item.paragraphs) {
        found.todo.attributes.push(...readAttributes(text, line + firstLine + 1));
      }
    },
    finish() {
      const problems: PlanFileProblem[] = [];
      const items = todos.map(({ item, attributes }) =>
        applyAttributes(item, attributes, warnings, problems),
      );
      return { items, warnings, problems };
    },
  };
}

/** `- check: npm test` below a todo says something about that todo; any other item without a box is context. */
function readPlainItem(text: string, line: number, parent: ReadItem | null): ReadItem {
  const path = parent?.path ?? '';
  const attributes = readAttributes(text, line);
  if (!parent?.todo || attributes[0]?.line !== line)
    return { path: extendPath(path, readItemText(text, line).title), todo: null };
  parent.todo.attributes.push(...attributes);
  return { path, todo: null };
}

/** The box and at least one letter of a title on the same line; a link like `[x](…)` is none. */
function readBox(
  text: string,
  offset: number,
  lines: SourceLines,
  line: number,
): { readonly offset: number; readonly checked: boolean } | null {
  const mark = /^\[([ \txX])\][ \t]+\S/.exec(text)?.[1];
  const source = lines.text(line).slice(offset - lines.start(line), offset - lines.start(line) + 3);
  if (mark === undefined || !/^\[[ \txX]\]$/.test(source)) return null;
  return { offset: offset + 1, checked: mark.toLowerCase() === 'x' };
}

function applyAttributes(
  item: PlanItem,
  attributes: readonly Attribute[],
  warnings: PlanFileProblem[],
  problems: PlanFileProblem[],
): PlanItem {
  const checks: string[] = [];
  const said = new Map<Attribute['name'], string>();
  for (const { name, value, line } of attributes) {
    if (name !== 'check') {
      if (value === '') warnings.push({ line, sentence: `nothing is said behind "${name}:"` });
      else if (!said.has(name)) said.set(name, value);
      continue;
    }
    const read = readCheckLine(value);
    if (!read.ok) problems.push({ line, sentence: read.sentence });
    else if (!checks.includes(read.id)) checks.push(read.id);
  }
  const blocked = said.get('blocked') ?? null;
  if (blocked !== null && item.checked) {
    warnings.push({ line: item.line, sentence: 'a ticked todo cannot be blocked; it is read as ticked' });
  }
  return {
    ...item,
    context: said.get('context') ?? item.context,
    completionCriteria: said.get('done when') ?? null,
    blocked: item.checked ? null : blocked,
    checks,
  };
}
