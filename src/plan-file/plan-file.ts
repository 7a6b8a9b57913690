// Reads Markdown as a plan: GitHub's task lists become todos. It runs nothing, and takes
// bounded time for any document.
import { FAILSAFE_SCHEMA, loadAll, type YAMLException } from 'js-yaml';
import MarkdownIt from 'markdown-it';
import type { CheckSpec } from '../core/check-specs.ts';
import { excerpt } from '../core/problem.ts';
import {
  choice,
  flag,
  isObject,
  list,
  nullable,
  text,
  type Values,
} from '../core/schema.ts';
import { priorities } from '../core/todo.ts';
import { sha256 } from '../engine/system.ts';
import { readTextFile } from '../engine/text-file.ts';
import type { Attribute } from './line-text.ts';
import {
  extendPath,
  findLostChecks,
  inLine,
  readCheckLine,
  readItemText,
  readPriority,
  shellCheck,
} from './line-text.ts';

/** What the file says about a todo, as Markdown; null: it says nothing. */
export const lineFields = {
  title: text(),
  /** From a `context:` line, otherwise the titles around the todo, outermost first. */
  context: nullable(text()),
  completionCriteria: nullable(text()),
  priority: nullable(choice(...priorities)),
  checked: flag,
  blocked: nullable(text()),
  checks: list(text()),
};

/** One todo of the file. */
export interface PlanItem extends Values<typeof lineFields> {
  /** The place of the one character between the brackets, in UTF-16 units. */
  readonly boxOffset: number;
  readonly line: number;
}

/**
 * What a plan file says. `goalChecks` and `checks` hold names or `$ ` and a shell line.
 */
export type PlanFile = Readonly<{
  title: string | null;
  goalChecks: readonly string[];
  items: readonly PlanItem[];
  warnings: readonly string[];
}>;

export type ParsedPlanFile = Readonly<{ ok: true; plan: PlanFile }>;
export type PlanReading = ParsedPlanFile & Readonly<{ text: string; hash: string }>;
/** A file that is refused, with sentences for people. */
export type WrongPlanFile = Readonly<{ ok: false; problems: readonly string[] }>;

// The default of maxTodos; as many long titles in UTF-16 units; and five lines for each
// todo.
const mostItems = 20_000;
/** The longest text that is read. */
export const mostCharacters = 4_194_304;
const mostLines = 100_000;
/** YAML takes long to refuse a text that is not YAML. */
const mostFrontMatter = 32_768;
/**
 * Twenty lists inside one another. Every level reads its lines again, so more would take
 * minutes.
 */
const maxNesting = 40;
const problemsTold = 20;

// Only blocks are read: emphasis and links cost time.
const markdown = new MarkdownIt('commonmark', { maxNesting });
markdown.core.ruler.enableOnly(['normalize', 'block']);

interface Draft extends Omit<PlanItem, 'completionCriteria' | 'blocked' | 'checks'> {
  readonly attributes: Attribute[];
  /** Attributes from list items inside the todo; those of its own lines come first. */
  readonly below: Attribute[];
}

interface OpenItem {
  readonly line: number;
  isEmpty: boolean;
  /** The context of todos inside this item. */
  path: string;
  /** Null: the item has no box. */
  draft: Draft | null;
}

/**
 * Reads the file's text. `pinned`: refuses a link that has taken the file's place, since
 * it could lead out of what the human handed over.
 */
export function readPlanText(path: string, pinned = false) {
  // In UTF-8 a character has at most four bytes.
  return readTextFile(path, 4 * mostCharacters, pinned);
}

/** Reads and parses the file. `last` is returned if the text is still the same. */
export function readPlanFile(
  path: string,
  pinned = false,
  last: PlanReading | null = null,
) {
  const file = readPlanText(path, pinned);
  if (!file.ok) return refuseFile(file.sentence);
  const { text } = file;
  const hash = sha256(text);
  if (last?.hash === hash) return last;
  const parsed = parsePlanFile(text);
  return parsed.ok ? { ...parsed, text, hash } : parsed;
}

/** @param sentence goes on after "the file" */
const refuseFile = (sentence: string): WrongPlanFile => ({
  ok: false,
  problems: [`the file ${sentence}`],
});

/**
 * Parses a plan. Returns all problems instead if there is one: a lost check or todo would
 * let unproved work pass.
 */
export function parsePlanFile(text: string): ParsedPlanFile | WrongPlanFile {
  if (text.length > mostCharacters)
    return refuseFile(`has more than ${mostCharacters} characters`);
  const lines: string[] = [];
  // A byte order mark belongs to no line.
  const starts = [text.startsWith('\ufeff') ? 1 : 0];
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n|$/g)) {
    lines.push(text.slice(starts.at(-1), index));
    starts.push(index + end.length);
  }
  if (lines.length > mostLines) return refuseFile(`has more than ${mostLines} lines`);
  const problems: string[] = [];
  const warnings: string[] = [];
  const drafts: Draft[] = [];

  function addCheck(value: string, checks: string[], line: number, where = '') {
    const read = readCheckLine(value);
    if (!read.ok) problems.push(inLine(line, `${where}${read.sentence}`));
    else if (!checks.includes(read.id)) checks.push(read.id);
  }

  /**
   * An unreadable front matter refuses the file: a lost check would let unproved work
   * pass.
   */
  function readFrontMatter() {
    const isFence = (line = '') => line.trimEnd() === '---';
    const close = isFence(lines[0])
      ? lines.findIndex((line, at) => at > 0 && isFence(line))
      : -1;
    const frontMatter = {
      title: null as string | null,
      goalChecks: [] as string[],
      endLine: close + 1,
    };
    const yaml = close < 0 ? '' : text.slice(starts[1], starts[close]);
    if (yaml.length > mostFrontMatter) {
      problems.push(
        inLine(1, `the front matter has more than ${mostFrontMatter} characters`),
      );
      return frontMatter;
    }
    let value: unknown;
    try {
      // Every value is a text: no tag makes an object.
      value = loadAll(yaml, { schema: FAILSAFE_SCHEMA })[0];
    } catch (error) {
      // Safe: the human gets the reason.
      const { reason, mark, message } = error as Partial<YAMLException>;
      const why = excerpt(reason ?? message ?? String(error));
      problems.push(
        inLine((mark?.line ?? 0) + 2, `the front matter is not YAML: ${why}`),
      );
    }
    const { title, checks } = isObject(value) ? value : {};
    if (typeof title === 'string' && title.trim() !== '')
      frontMatter.title = title.trim();
    const where = 'in the front matter, "checks": ';
    for (const entry of [checks || []].flat()) {
      if (typeof entry === 'string') addCheck(entry, frontMatter.goalChecks, 1, where);
      else
        problems.push(inLine(1, `${where}a check must be a text, got ${excerpt(entry)}`));
    }
    return frontMatter;
  }

  /**
   * Finds the todos. The parser leaves out code and HTML that only look like lists; block
   * quotes are left out here.
   */
  function readItems(firstLine: number) {
    const open: OpenItem[] = [];
    let quotes = 0;
    /** The text of a heading comes in the same kind of token. */
    let isParagraph = false;
    for (const { type, map, content } of markdown.parse(
      text.slice(starts[firstLine]),
      {},
    )) {
      const line = firstLine + (map?.[0] ?? 0);
      const item = open.at(-1);
      if (type === 'blockquote_open') quotes += 1;
      else if (type === 'blockquote_close') quotes -= 1;
      const isHead = item?.isEmpty && line === item.line;
      if (
        item &&
        (quotes > 0 || !/^(paragraph|bullet_list|ordered_list)_open$/.test(type))
      )
        item.isEmpty = false;
      if (quotes > 0) continue;
      if (type === 'list_item_open')
        open.push({ line, isEmpty: true, path: item?.path ?? '', draft: null });
      else if (type === 'list_item_close') open.pop();
      else if (type === 'inline' && isParagraph) {
        let isBelow = false;
        if (item && isHead) isBelow = readHead(item, open.at(-2)?.draft, content);
        else
          item?.draft?.attributes.push(
            ...readItemText(content, line + 1, false).attributes,
          );
        warnings.push(
          ...findLostChecks(content, line + 1, isBelow || Boolean(item?.draft)),
        );
      }
      isParagraph = type === 'paragraph_open';
    }
    return drafts.map(finishItem);
  }

  /**
   * Reads the first paragraph of a list item. Returns true if it belongs to the todo
   * above.
   */
  function readHead(item: OpenItem, above: Draft | null | undefined, content: string) {
    const line = item.line + 1;
    const first = content.split('\n', 1)[0] ?? '';
    // The parser keeps a line's end as it is.
    const end = (starts[item.line] ?? 0) + (lines[item.line] ?? '').trimEnd().length;
    const boxOffset = end - first.trimEnd().length + 1;
    // A box must have a title on the same line; a link such as `[x](…)` is no box.
    const mark = /^\[([ \txX])\][ \t]+\S/.exec(content)?.[1];
    if (mark === undefined || !isBox(text, boxOffset)) {
      // `- check: npm test` below a todo belongs to that todo. Any other item without a
      // box is context.
      const { attributes } = readItemText(content, line, false);
      const isBelow = attributes[0]?.line === line;
      if (above && isBelow) above.below.push(...attributes);
      else item.path = extendPath(item.path, readItemText(content, line).title);
      return Boolean(above) && isBelow;
    }
    const {
      title: titleText,
      attributes,
      warnings: titleWarnings,
    } = readItemText(content.slice(3), line);
    if (titleText === '') return false;
    warnings.push(...titleWarnings);
    const box = { checked: mark.toLowerCase() === 'x', boxOffset, line };
    item.draft = {
      ...readPriority(titleText),
      ...box,
      context: item.path || null,
      attributes,
      below: [],
    };
    item.path = extendPath(item.path, item.draft.title);
    drafts.push(item.draft);
    return false;
  }

  function finishItem({ attributes, below, ...item }: Draft) {
    const { checked, line } = item;
    const checks: string[] = [];
    const values: Partial<Record<Attribute['name'], string>> = {};
    for (const { name, value, line: at } of [...attributes, ...below]) {
      if (name === 'check') addCheck(value, checks, at);
      else if (value === '') warnings.push(inLine(at, `nothing follows "${name}:"`));
      else values[name] ??= value;
    }
    const {
      blocked = null,
      context = item.context,
      'done when': completionCriteria = null,
    } = values;
    if (blocked !== null && checked)
      warnings.push(
        inLine(line, 'a ticked todo cannot be blocked; it is read as ticked'),
      );
    return {
      ...item,
      context,
      completionCriteria,
      blocked: checked ? null : blocked,
      checks,
    };
  }

  const { endLine, ...front } = readFrontMatter();
  const items = readItems(endLine);
  if (items.length > mostItems)
    return refuseFile(`has ${items.length} todos; at most ${mostItems} are allowed`);
  if (problems.length > 0)
    return { ok: false, problems: problems.slice(0, problemsTold) };
  return {
    ok: true,
    plan: { ...front, items, warnings: warnings.slice(0, problemsTold) },
  };
}

/**
 * Writes the boxes into the text and changes nothing else. `boxes`: which of them are
 * ticked.
 */
export function writeBoxes(text: string, { items }: PlanFile, boxes: readonly boolean[]) {
  let written = '';
  let at = 0;
  items.forEach(({ boxOffset, checked }, index) => {
    const wanted = boxes[index] ?? checked;
    if (wanted === checked || !isBox(text, boxOffset)) return;
    written += text.slice(at, boxOffset) + (wanted ? 'x' : ' ');
    at = boxOffset + 1;
  });
  return written + text.slice(at);
}

/** Checked again before writing: a wrong offset must cost a tick, not somebody's text. */
const isBox = (text: string, offset: number) =>
  /^\[[ \txX]\]$/.test(text.slice(offset - 1, offset + 2));

/**
 * The plan's checks. `specs`: its shell lines; `names`: those that untildone.json must
 * have. The caller makes sure that the file is the human's (V3).
 */
export function planChecks({ goalChecks, items }: PlanFile) {
  const ids = [...new Set([...goalChecks, ...items.flatMap(({ checks }) => checks)])];
  const specs: readonly CheckSpec[] = ids.flatMap((id) => shellCheck(id) ?? []);
  return { ids, specs, names: ids.filter((id) => shellCheck(id) === null), goalChecks };
}
