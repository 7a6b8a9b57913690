// Reads a Markdown document as a plan: GitHub's task lists become todos, everything else is prose. It changes
// nothing, runs nothing, and answers a document of some megabytes in bounded time.
import { FAILSAFE_SCHEMA, loadAll, YAMLException } from 'js-yaml';
import MarkdownIt from 'markdown-it';
import type { CheckSpec } from '../core/check-specs.ts';
import { excerpt } from '../core/problem.ts';
import { choice, flag, isObject, list, nullable, text, type Values } from '../core/schema.ts';
import { priorities } from '../core/todo.ts';
import {
  type Attribute,
  extendPath,
  readCheckLine,
  readItemText,
  readPriority,
  shellCheck,
} from './line-text.ts';

/** What the file says of a todo, Markdown included; null: it does not say. */
export const lineFields = {
  title: text(),
  /** A `context:` line, else the titles of the list items above it, outermost first. */
  context: nullable(text()),
  completionCriteria: nullable(text()),
  priority: nullable(choice(...priorities)),
  checked: flag,
  /** Why. */
  blocked: nullable(text()),
  checks: list(text()),
};

export interface PlanItem extends Values<typeof lineFields> {
  /** Where the one character between the brackets stands, in UTF-16 units from the start of the text. */
  readonly boxOffset: number;
  readonly line: number;
}

export interface PlanFile {
  readonly title: string | null;
  readonly goalChecks: readonly string[];
  readonly items: readonly PlanItem[];
  /** What was probably meant otherwise; the file is used all the same. */
  readonly warnings: readonly PlanFileProblem[];
}

export interface PlanFileProblem {
  /** 1-based; null: the file as a whole. */
  readonly line: number | null;
  readonly sentence: string;
}

export type ParsedPlanFile =
  | { readonly ok: true; readonly plan: PlanFile }
  | { readonly ok: false; readonly problems: readonly PlanFileProblem[] };

export function problemText({ line, sentence }: PlanFileProblem): string {
  return line === null ? sentence : `line ${line}: ${sentence}`;
}

/** In UTF-16 units: a plan of 20,000 todos with long titles; a larger file is not a plan. */
export const mostCharacters = 4_194_304;
/** As many as a plan may hold by default. */
const mostItems = 20_000;
/** Five for each todo: what costs time in a hostile document is the number of its lines. */
const mostLines = 100_000;
/** A file that is wrong in more places is wrong in the same way everywhere. */
const problemsTold = 20;

type Findings = Readonly<Record<'problems' | 'warnings', PlanFileProblem[]>>;

export function parsePlanFile(text: string): ParsedPlanFile {
  const found: Findings = { problems: [], warnings: [] };
  const refuse = (sentence: string) => ({ ok: false, problems: [{ line: null, sentence }] }) as const;
  if (text.length > mostCharacters) return refuse(`the file has more than ${mostCharacters} characters`);
  const source = splitLines(text);
  if (source.lines.length > mostLines) return refuse(`the file has more than ${mostLines} lines`);
  const { endLine, ...front } = readFrontMatter(source, found);
  const items = readItems(source, endLine, found);
  if (items.length > mostItems)
    return refuse(`the file has ${items.length} todos; at most ${mostItems} are allowed`);
  const { problems, warnings } = found;
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, problemsTold) };
  return { ok: true, plan: { ...front, items, warnings: warnings.slice(0, problemsTold) } };
}

/** Lines without their ends as Markdown knows them (LF, CRLF, a lone CR), and where each one starts in the text. */
function splitLines(text: string) {
  const lines: string[] = [];
  // A byte order mark belongs to no line.
  const starts = [text.startsWith('\ufeff') ? 1 : 0];
  for (const { index, 0: end } of text.matchAll(/\r\n?|\n|$/g)) {
    lines.push(text.slice(starts.at(-1), index));
    starts.push(index + end.length);
  }
  return { text, lines, starts };
}

type Source = ReturnType<typeof splitLines>;

/** A title and a few checks; more is not front matter any more, and YAML is slow to refuse what is not YAML. */
const mostFrontMatter = 32_768;

/**
 * YAML between two lines of three dashes at the very top. `title` and `checks` (of the goal) are read; what other
 * programs keep there is theirs. What cannot be read is a problem, never skipped: a check that is silently lost would
 * let unproved work pass. `endLine`: of the first line behind it.
 */
function readFrontMatter({ text, lines, starts }: Source, { problems }: Findings) {
  const isFence = (line: string | undefined): boolean => line?.trimEnd() === '---';
  const close = isFence(lines[0]) ? lines.findIndex((line, at) => at > 0 && isFence(line)) : -1;
  const found = { title: null as string | null, goalChecks: [] as string[], endLine: close + 1 };
  const yaml = close < 0 ? '' : text.slice(starts[1], starts[close]);
  if (yaml.length > mostFrontMatter) {
    problems.push({ line: 1, sentence: `the front matter has more than ${mostFrontMatter} characters` });
    return found;
  }
  let value: unknown;
  try {
    // Every value as the text that stands there: `1.0` is no number here, and no tag makes an object.
    value = loadAll(yaml, { schema: FAILSAFE_SCHEMA })[0];
  } catch (error) {
    // Safe: nothing was taken from it, and the human is told.
    const isYaml = error instanceof YAMLException;
    const said = isYaml ? error.reason : error instanceof Error ? error.message : String(error);
    const line = (isYaml ? (error.mark?.line ?? 0) : 0) + 2;
    problems.push({ line, sentence: `the front matter is no YAML: ${excerpt(said)}` });
  }
  const { title, checks } = isObject(value) ? value : {};
  if (typeof title === 'string' && title.trim() !== '') found.title = title.trim();
  for (const entry of Array.isArray(checks) ? checks : (checks ?? '') === '' ? [] : [checks]) {
    const complain = (sentence: string) =>
      problems.push({ line: 1, sentence: `in the front matter, "checks": ${sentence}` });
    if (typeof entry === 'string') addCheck(entry, found.goalChecks, complain);
    else complain(`a check must be a text, got ${excerpt(entry)}`);
  }
  return found;
}

function addCheck(text: string, checks: string[], complain: (sentence: string) => void): void {
  const read = readCheckLine(text);
  if (!read.ok) complain(read.sentence);
  else if (!checks.includes(read.id)) checks.push(read.id);
}

/** Twenty lists in each other, two levels each. Every level reads its lines anew, so that more would cost minutes. */
const maxNesting = 40;

/** Blocks only: where emphasis and links begin does not matter here, and reading them is what costs time. */
const markdown = new MarkdownIt('commonmark', { maxNesting });
markdown.core.ruler.enableOnly(['normalize', 'block']);

interface Draft extends Omit<PlanItem, 'completionCriteria' | 'blocked' | 'checks'> {
  readonly attributes: Attribute[];
  /** Of the list items inside it; what its own lines say comes first. */
  readonly below: Attribute[];
}

/** A list item while the parser is inside it. */
interface OpenItem {
  readonly parent: OpenItem | null;
  readonly line: number;
  /** No block of it was seen yet. */
  isEmpty: boolean;
  /** Titles from the outermost item to this one: the context of those inside it. */
  path: string;
  /** null: it has no box. */
  draft: Draft | null;
}

/** Code, HTML, block quotes and all else that only looks like a list is left out: the parser knows, not a pattern. */
function readItems({ text, lines, starts }: Source, firstLine: number, found: Findings): PlanItem[] {
  const drafts: Draft[] = [];
  let open: OpenItem | null = null;
  let quotes = 0;
  let isParagraph = false;

  function readHead(item: OpenItem, content: string, index: number): void {
    const line = index + 1;
    const first = content.split('\n', 1)[0] ?? '';
    // What the parser keeps of that line is the line's own end.
    const start = (starts[index] ?? 0) + (lines[index] ?? '').trimEnd().length - first.trimEnd().length;
    // A box has at least one letter of a title on the same line; a link like `[x](…)` is none.
    const mark = /^\[([ \txX])\][ \t]+\S/.exec(content)?.[1];
    if (mark === undefined || !isBox(text, start + 1)) {
      // `- check: npm test` below a todo says something about that todo; any other item without a box is context.
      const { attributes } = readItemText(content, line, false);
      const above = item.parent?.draft;
      if (above && attributes[0]?.line === line) above.below.push(...attributes);
      else item.path = extendPath(item.path, readItemText(content, line).title);
      return;
    }
    const { title: said, attributes, warnings } = readItemText(content.slice(3), line);
    if (said === '') return;
    found.warnings.push(...warnings);
    const box = { checked: mark.toLowerCase() === 'x', boxOffset: start + 1, line };
    item.draft = { ...readPriority(said), ...box, context: item.path || null, attributes, below: [] };
    item.path = extendPath(item.path, item.draft.title);
    drafts.push(item.draft);
  }

  for (const { type, map, content } of markdown.parse(text.slice(starts[firstLine]), {})) {
    const line = firstLine + (map?.[0] ?? 0);
    const at = open as OpenItem | null;
    if (type === 'blockquote_open') quotes += 1;
    else if (type === 'blockquote_close') quotes -= 1;
    if (type === 'list_item_open' && quotes === 0) {
      if (at !== null) at.isEmpty = false;
      open = { parent: at, line, isEmpty: true, path: at?.path ?? '', draft: null };
    } else if (type === 'list_item_close' && quotes === 0) {
      open = at?.parent ?? null;
    } else if (at !== null && type === 'inline' && isParagraph && quotes === 0) {
      // A heading's text comes in the same kind of token as a paragraph's.
      if (at.isEmpty && line === at.line) readHead(at, content, line);
      else at.draft?.attributes.push(...readItemText(content, line + 1, false).attributes);
      at.isEmpty = false;
    } else if (at !== null && (quotes > 0 || !/^(paragraph|bullet_list|ordered_list)_open$/.test(type))) {
      at.isEmpty = false;
    }
    isParagraph = type === 'paragraph_open' && quotes === 0;
  }
  return drafts.map((draft) => finishItem(draft, found));
}

function finishItem({ attributes, below, ...item }: Draft, { problems, warnings }: Findings): PlanItem {
  const checks: string[] = [];
  const said = new Map<Attribute['name'], string>();
  for (const { name, value, line } of [...attributes, ...below]) {
    if (name === 'check') addCheck(value, checks, (sentence) => problems.push({ line, sentence }));
    else if (value === '') warnings.push({ line, sentence: `nothing is said behind "${name}:"` });
    else if (!said.has(name)) said.set(name, value);
  }
  const blocked = said.get('blocked') ?? null;
  if (blocked !== null && item.checked)
    warnings.push({ line: item.line, sentence: 'a ticked todo cannot be blocked; it is read as ticked' });
  const context = said.get('context') ?? item.context;
  const completionCriteria = said.get('done when') ?? null;
  return { ...item, context, completionCriteria, blocked: item.checked ? null : blocked, checks };
}

/** Whether the one character between two brackets stands here: a wrong offset must cost a tick, not someone's text. */
export function isBox(text: string, offset: number): boolean {
  return /^\[[ \txX]\]$/.test(text.slice(offset - 1, offset + 2));
}

/**
 * What a policy needs of the checks: shell lines as specifications, names to be looked up in untildone.json. Whoever
 * takes them into a policy answers for the file being the human's (V3).
 */
export function planChecks({ goalChecks, items }: PlanFile) {
  const ids = [...new Set([...goalChecks, ...items.flatMap(({ checks }) => checks)])];
  const specs: readonly CheckSpec[] = ids.flatMap((id) => shellCheck(id) ?? []);
  return { ids, specs, names: ids.filter((id) => shellCheck(id) === null), goalChecks };
}
