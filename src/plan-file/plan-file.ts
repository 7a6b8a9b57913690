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

/** What the file says of a todo, Markdown included; null: it does not say. */
export const lineFields = {
  title: text(),
  /** A `context:` line, else the titles around it, outermost first. */
  context: nullable(text()),
  completionCriteria: nullable(text()),
  priority: nullable(choice(...priorities)),
  checked: flag,
  blocked: nullable(text()),
  checks: list(text()),
};

export interface PlanItem extends Values<typeof lineFields> {
  /** Of the one character between the brackets, in UTF-16 units. */
  readonly boxOffset: number;
  readonly line: number;
}

export type PlanFile = Readonly<{
  title: string | null;
  goalChecks: readonly string[];
  items: readonly PlanItem[];
  warnings: readonly string[];
}>;

export type ParsedPlanFile = Readonly<{ ok: true; plan: PlanFile }>;
export type PlanReading = ParsedPlanFile & Readonly<{ text: string; hash: string }>;
export type WrongPlanFile = Readonly<{ ok: false; problems: readonly string[] }>;

// The default of maxTodos, that many long titles in UTF-16 units, and five lines for
// each.
const mostItems = 20_000;
export const mostCharacters = 4_194_304;
const mostLines = 100_000;
/** YAML is slow to refuse what is not YAML. */
const mostFrontMatter = 32_768;
/**
 * Twenty lists in each other. Every level reads its lines anew: more would cost minutes.
 */
const maxNesting = 40;
const problemsTold = 20;

// Blocks only: emphasis and links cost time.
const markdown = new MarkdownIt('commonmark', { maxNesting });
markdown.core.ruler.enableOnly(['normalize', 'block']);

interface Draft extends Omit<PlanItem, 'completionCriteria' | 'blocked' | 'checks'> {
  readonly attributes: Attribute[];
  /** Of the list items inside it; its own lines come first. */
  readonly below: Attribute[];
}

interface OpenItem {
  readonly line: number;
  isEmpty: boolean;
  /** The context of those inside it. */
  path: string;
  /** null: it has no box. */
  draft: Draft | null;
}

/** `pinned`: a link in its place would lead out of what the human handed over. */
export function readPlanText(path: string, pinned = false) {
  // In UTF-8 a character has at most four bytes.
  return readTextFile(path, 4 * mostCharacters, pinned);
}

/** @param last is not parsed again while the text is the same */
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

  /** What cannot be read refuses the file: a lost check would let unproved work pass. */
  function readFrontMatter() {
    const isFence = (line = '') => line.trimEnd() === '---';
    const close = isFence(lines[0])
      ? lines.findIndex((line, at) => at > 0 && isFence(line))
      : -1;
    const found = {
      title: null as string | null,
      goalChecks: [] as string[],
      endLine: close + 1,
    };
    const yaml = close < 0 ? '' : text.slice(starts[1], starts[close]);
    if (yaml.length > mostFrontMatter) {
      problems.push(
        inLine(1, `the front matter has more than ${mostFrontMatter} characters`),
      );
      return found;
    }
    let value: unknown;
    try {
      // Every value is a text: no tag makes an object.
      value = loadAll(yaml, { schema: FAILSAFE_SCHEMA })[0];
    } catch (error) {
      // Safe: the human is told.
      const { reason, mark, message } = error as Partial<YAMLException>;
      const why = excerpt(reason ?? message ?? String(error));
      problems.push(
        inLine((mark?.line ?? 0) + 2, `the front matter is not YAML: ${why}`),
      );
    }
    const { title, checks } = isObject(value) ? value : {};
    if (typeof title === 'string' && title.trim() !== '') found.title = title.trim();
    const where = 'in the front matter, "checks": ';
    for (const entry of [checks || []].flat()) {
      if (typeof entry === 'string') addCheck(entry, found.goalChecks, 1, where);
      else
        problems.push(inLine(1, `${where}a check must be a text, got ${excerpt(entry)}`));
    }
    return found;
  }

  /**
   * The parser leaves out code and HTML that only look like lists; block quotes are left
   * out here.
   */
  function readItems(firstLine: number) {
    const open: OpenItem[] = [];
    let quotes = 0;
    /** A heading's text comes in the same kind of token. */
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

  /** True: it says something of the todo above. */
  function readHead(item: OpenItem, above: Draft | null | undefined, content: string) {
    const line = item.line + 1;
    const first = content.split('\n', 1)[0] ?? '';
    // The parser keeps the line's end.
    const end = (starts[item.line] ?? 0) + (lines[item.line] ?? '').trimEnd().length;
    const boxOffset = end - first.trimEnd().length + 1;
    // With a title on the same line; a link like `[x](…)` is none.
    const mark = /^\[([ \txX])\][ \t]+\S/.exec(content)?.[1];
    if (mark === undefined || !isBox(text, boxOffset)) {
      // `- check: npm test` below a todo is about that todo; any other item without a box
      // is context.
      const { attributes } = readItemText(content, line, false);
      const isBelow = attributes[0]?.line === line;
      if (above && isBelow) above.below.push(...attributes);
      else item.path = extendPath(item.path, readItemText(content, line).title);
      return Boolean(above) && isBelow;
    }
    const {
      title: said,
      attributes,
      warnings: doubts,
    } = readItemText(content.slice(3), line);
    if (said === '') return false;
    warnings.push(...doubts);
    const box = { checked: mark.toLowerCase() === 'x', boxOffset, line };
    item.draft = {
      ...readPriority(said),
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
    const said: Partial<Record<Attribute['name'], string>> = {};
    for (const { name, value, line: at } of [...attributes, ...below]) {
      if (name === 'check') addCheck(value, checks, at);
      else if (value === '') warnings.push(inLine(at, `nothing follows "${name}:"`));
      else said[name] ??= value;
    }
    const {
      blocked = null,
      context = item.context,
      'done when': completionCriteria = null,
    } = said;
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

/** @param boxes which shall be ticked */
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

/** A wrong offset must cost a tick, not someone's text. */
const isBox = (text: string, offset: number) =>
  /^\[[ \txX]\]$/.test(text.slice(offset - 1, offset + 2));

/**
 * `names` stand in untildone.json. Whoever takes the checks answers for the file being
 * the human's (V3).
 */
export function planChecks({ goalChecks, items }: PlanFile) {
  const ids = [...new Set([...goalChecks, ...items.flatMap(({ checks }) => checks)])];
  const specs: readonly CheckSpec[] = ids.flatMap((id) => shellCheck(id) ?? []);
  return { ids, specs, names: ids.filter((id) => shellCheck(id) === null), goalChecks };
}
