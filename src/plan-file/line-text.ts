// The words of a plan file, read and written: a todo's title and priority, its checks,
// and the other facts about it.
import { type CommandCheck, createCommandCheck } from '../core/check-specs.ts';
import { closestName } from '../core/problem.ts';
import { oneLine, stripTerminalControls } from '../core/safe-text.ts';
import { priorities, type Todo } from '../core/todo.ts';

/**
 * Code spans and HTML comments, which may run over several lines. It reads any text in
 * one pass.
 */
function hiddenRanges(text: string) {
  const ranges: {
    readonly kind: 'code' | 'comment';
    readonly from: number;
    readonly to: number;
  }[] = [];
  const lastRun = new Map(
    Array.from(text.matchAll(/`+/g), ({ 0: run, index }) => [run.length, index]),
  );
  const lastComment = text.lastIndexOf('-->');
  const runs = text.matchAll(/`+/g);
  for (const { 0: mark, index: from } of text.matchAll(/\\[\s\S]|`+|<!--/g)) {
    if (from < (ranges.at(-1)?.to ?? 0) || mark.startsWith('\\')) continue;
    const { length } = mark;
    const behind = from + length;
    if (mark === '<!--' && behind <= lastComment)
      ranges.push({ kind: 'comment', from, to: text.indexOf('-->', behind) + 3 });
    else if (mark !== '<!--' && (lastRun.get(length) ?? 0) >= behind) {
      let run = runs.next().value;
      while (run && (run.index < behind || run[0].length !== length))
        run = runs.next().value;
      ranges.push({ kind: 'code', from, to: (run?.index ?? from) + length });
    }
  }
  return ranges;
}

/** A sentence about one line of the file. */
export const inLine = (line: number, sentence: string) => `line ${line}: ${sentence}`;
const escapeComment = (text: string) => text.replaceAll('<!--', '\\<!--');
const unescapeComment = (text: string) => text.replaceAll('\\<!--', '<!--');

/** A line such as `check: …` below a todo. */
export type Attribute = Readonly<{
  name: 'check' | 'blocked' | 'context' | 'done when';
  value: string;
  line: number;
}>;

/**
 * Reads the paragraph behind a box: a title, then lines such as `check: …`. Without
 * `hasTitle` the first line may be such a line.
 */
export function readItemText(paragraph: string, line: number, hasTitle = true) {
  const ranges = hiddenRanges(paragraph);
  // Comments become NULs, which the parser leaves in no text, so that all positions stay
  // the same.
  let shown = '';
  for (const { from, to } of ranges.filter(({ kind }) => kind === 'comment'))
    shown += paragraph.slice(shown.length, from) + '\0'.repeat(to - from);
  shown += paragraph.slice(shown.length);
  const title: string[] = [];
  const attributes: Attribute[] = [];
  const warnings: string[] = [];
  let start = 0;
  let range = 0;
  paragraph.split('\n').forEach((text, index) => {
    const lineNumber = line + index;
    const end = start + text.length;
    const first = end - text.trimStart().length;
    while ((ranges[range]?.to ?? Number.POSITIVE_INFINITY) <= first) range += 1;
    const hidden = (ranges[range]?.from ?? first) < first ? ranges[range]?.kind : null;
    const visible = shown.slice(start, end).replaceAll('\0', '');
    const mayBe = !hidden && (index > 0 || !hasTitle);
    const attribute =
      mayBe && /^(check|blocked|context|done when):(?:\s+(.*))?$/is.exec(visible.trim());
    if (attribute) {
      const name = attribute[1]?.toLowerCase() as Attribute['name'];
      attributes.push({
        name,
        value: unescapeComment((attribute[2] ?? '').trim()),
        line: lineNumber,
      });
    } else if (attributes.length === 0) title.push(visible);
    const sentence =
      'this looks like a check but is inside backticks that began on a line above';
    if (hidden === 'code' && /^\s*check:/i.test(text))
      warnings.push(inLine(lineNumber, sentence));
    start = end + 1;
  });
  // A backslash that breaks a line is not part of the title.
  const joined = title.join('\n').replace(/\\?\n/g, ' ').replace(/\s+/g, ' ').trim();
  return { title: unescapeComment(joined), attributes, warnings };
}

/**
 * Warns of checks that would be lost in silence (V1): those that belong to no todo, or
 * are misspelt.
 */
export function findLostChecks(paragraph: string, line: number, hasTodo: boolean) {
  const ranges = hiddenRanges(paragraph);
  let end = -1;
  return paragraph.split('\n').flatMap((text, index) => {
    const start = end + 1;
    end = start + text.length;
    if (ranges.some(({ from, to }) => from < start && start < to)) return [];
    const word = /^\s*(?:[-*+]\s+)?([a-z]{4,6}):\s+\S/i.exec(text)?.[1]?.toLowerCase();
    if (
      word === undefined ||
      (word === 'check' && hasTodo) ||
      closestName(word, ['check']) === null
    )
      return [];
    const sentence =
      word === 'check'
        ? 'this check belongs to no todo, so it is not run; write it below a todo, or under "checks" in the front matter'
        : `"${word}:" is not understood; for a check write "check:"`;
    return [inLine(line + index, sentence)];
  });
}

const longestPath = 1_000;

/**
 * The context of a nested todo; '' at the top. It is bounded, since it grows with every
 * level.
 */
export function extendPath(path: string, title: string) {
  const longer = [path, title].filter((part) => part !== '').join(' › ');
  return longer.length > longestPath ? path : longer;
}

/** Reads a priority from the end of a title, such as `!high`. */
export function readPriority(text: string) {
  const [, title = '', word = ''] = /^(.*) !([a-z]+)$/is.exec(text) ?? [];
  const priority =
    priorities.find((candidate) => candidate === word.toLowerCase()) ?? null;
  return priority && title.trim()
    ? { title: title.trim(), priority }
    : { title: text, priority: null };
}

/** Events take no longer ids. */
const longestCheckId = 200;
/** Stands before a shell line in its id: a todo with this id says what will be run. */
const shellMark = '$ ';

/**
 * Reads the value of a `check:` line. One word or a text in double quotes names a check
 * of untildone.json, in any letter case; everything else is a shell line.
 */
export function readCheckLine(text: string) {
  const fail = (sentence: string) => ({ ok: false, sentence }) as const;
  const value = text.trim();
  const span = codeSpan(value);
  const name = span === null ? nameIn(value)?.toLowerCase() : undefined;
  const id = name ?? `${shellMark}${span ?? value}`;
  if (/^`*$/.test(value) || id === shellMark) return fail('this check is empty');
  if (id.length <= longestCheckId) return { ok: true, id } as const;
  const most = `this check has more than ${longestCheckId - shellMark.length} characters`;
  return fail(`${most}; give it a name in untildone.json and write the name here`);
}

function nameIn(value: string) {
  const quoted = /^"([^"]+)"$/.exec(value)?.[1]?.trim() ?? '';
  // A name that looks like a shell line would be run as one.
  if (quoted !== '' && !quoted.startsWith(shellMark)) return quoted;
  return /^[\p{L}\p{N}][\p{L}\p{N}_.:-]*$/u.exec(value)?.[0] ?? null;
}

/** Null: something stands beside the backticks. */
function codeSpan(value: string) {
  const [range] = hiddenRanges(value);
  if (range?.kind !== 'code' || range.from > 0 || range.to < value.length) return null;
  const fence = /^`*/.exec(value)?.[0].length ?? 0;
  return value.slice(fence, -fence).trim();
}

/** The text behind `check:` that `readCheckLine` reads back as this id. */
export function formatCheckLine(id: string) {
  if (!id.startsWith(shellMark)) return nameIn(id) === id ? id : `"${id}"`;
  const shell = id.slice(shellMark.length);
  const longest = Math.max(
    0,
    ...Array.from(shell.matchAll(/`+/g), ([run]) => run.length),
  );
  const fence = '`'.repeat(longest + 1);
  const space = shell.startsWith('`') || shell.endsWith('`') ? ' ' : '';
  return `${fence}${space}${shell}${space}${fence}`;
}

/** The check of a shell line; null: the id is a name in untildone.json. */
export const shellCheck = (id: string): CommandCheck | null =>
  id.startsWith(shellMark)
    ? createCommandCheck(id, { shell: id.slice(shellMark.length) })
    : null;

/** Well below what the reader takes. Deeper todos say their context in words. */
const mostLevels = 10;

/**
 * Writes todos as a task list, in plan order. Cancelled todos are left out, since an open
 * box would bring them back.
 */
export function formatPlan(todos: readonly Todo[]) {
  // The context that each open level gives to the todos nested in it.
  const paths: string[] = [];
  const lines = todos.flatMap(
    ({ title, status, priority, context, completionCriteria, reason, checks }) => {
      if (status === 'cancelled') return [];
      const found = context === null ? 0 : paths.lastIndexOf(context) + 1;
      const depth = found > mostLevels ? 0 : found;
      const line = oneLine(title, Number.MAX_SAFE_INTEGER);
      paths.splice(depth, paths.length, extendPath(paths[depth - 1] ?? '', line));
      const shown = escapeComment(line);
      // A title that ends like a priority gets one even if it is the default.
      const isMarked = priority !== 'medium' || readPriority(shown).priority !== null;
      const facts = [
        ['context', depth === 0 ? context : null],
        ['done when', completionCriteria],
        ['blocked', status === 'blocked' ? reason : null],
      ].map(([name, text]) => [
        name,
        escapeComment(oneLine(text ?? '', Number.MAX_SAFE_INTEGER)),
      ]);
      const below = [
        ...facts,
        ...checks.map((check) => ['check', formatCheckLine(check)]),
      ];
      return [
        `- [${status === 'completed' ? 'x' : ' '}] ${shown}${isMarked ? ` !${priority}` : ''}`,
        ...below
          .filter(([, value]) => value !== '')
          .map(([name, value]) => `  - ${name}: ${value}`),
      ].map((text) => `${'  '.repeat(depth)}${text}`);
    },
  );
  return lines.map((line) => `${stripTerminalControls(line)}\n`).join('');
}
