// The hint to plan a complex request first (I6). How complex a request is follows from its
// form alone: a needless hint costs a line, and without one the system prompt still asks
// for a plan.
import type { ModelMessage } from 'ai';
import type { TodoToolName } from '../../tools/todo-tools.ts';
import { isHuman, partsOf, syntheticKind } from './history.ts';

/** `many` make a request complex; so do `some` of two signs. */
type Sign = Readonly<{
  words: string;
  count: (prose: string) => number;
  some: number;
  many: number;
}>;
const signs: readonly Sign[] = [
  { words: 'a list of points', count: countListItems, some: 2, many: 3 },
  { words: 'steps that follow each other', count: countSteps, some: 1, many: 2 },
  { words: 'several files', count: countFiles, some: 2, many: 3 },
  { words: 'several sentences', count: countSentences, some: 4, many: 6 },
];

/** What follows is pasted material, and reading it would cost time. */
const readLength = 20_000;

/**
 * Null: the request is not complex. `unplanned`: complex requests that were worked on
 * without a plan just before. Quotes nothing of the request (V9).
 */
export function planningHint(request: string, unplanned: number): string | null {
  const found = findSigns(request);
  if (found.length === 0) return null;
  const seen = `This request has ${found.map(({ words }) => words).join(', ')}.`;
  if (unplanned <= 0)
    return `${seen} Plan it with the todo tools first, then work through the todos and mark each one when it is finished.`;
  return unplanned === 1
    ? `${seen} The last complex request was worked on without a plan. Write the todos before the first other tool call this time, one for each part.`
    : `${seen} The last ${unplanned} complex requests were worked on without a plan. Your first call must write the todos, one for each part; call no other tool before that.`;
}

const planTools: readonly TodoToolName[] = [
  'create_todo',
  'todo_write',
  'update_todo',
  'complete_todo',
];

/**
 * Complex requests since the agent last wrote to a plan. Whether it did so in messages
 * that were left out is unknown, so the count ends there.
 */
export function countUnplanned(conversation: readonly ModelMessage[]): number {
  let unplanned = 0;
  for (const message of conversation.toReversed()) {
    if (isStandIn(message) || writesPlan(message)) break;
    const request = isHuman(message) ? message.content : null;
    if (typeof request === 'string' && findSigns(request).length > 0) unplanned += 1;
  }
  return unplanned;
}

function isStandIn(message: ModelMessage): boolean {
  const kind = syntheticKind(message);
  return kind === 'note' || kind === 'summary';
}

function writesPlan(message: ModelMessage): boolean {
  return partsOf(message).some(
    (part) =>
      part.type === 'tool-call' && planTools.some((tool) => tool === part.toolName),
  );
}

/** Empty: the request is not complex. */
function findSigns(request: string): readonly Sign[] {
  const prose = withoutCode(request.slice(0, readLength));
  if (isSimpleQuestion(prose)) return [];
  const found = signs.filter(({ count, some }) => count(prose) >= some);
  const isComplex =
    found.length > 1 || found.some(({ count, many }) => count(prose) >= many);
  return isComplex ? found : [];
}

/** Fenced code is material: its lists, paths and words do not count. */
function withoutCode(text: string): string {
  let isCode = false;
  const lines = text.split(/\r?\n/u).filter((line) => {
    const isFence = /^\s*(?:```|~~~)/u.test(line);
    if (isFence) isCode = !isCode;
    return !isFence && !isCode;
  });
  return lines.join('\n');
}

/** "Can you add …?" is an order in the form of a question. */
function isSimpleQuestion(prose: string): boolean {
  const line = prose.trim();
  const isOrder = /^(?:please|can|could|would|will)\b/iu.test(line);
  return /^[^\n]*[?？]$/u.test(line) && !isOrder && countSentences(line) <= 1;
}

function countListItems(prose: string): number {
  const ownLine = prose.match(
    /^[ \t]{0,12}(?:[-*+•–]|\d{1,3}[.)、]|[a-z][.)]|\[[ x]\])[ \t]+\S/gimu,
  );
  const inline = prose.match(/(?:^|[\s,;:(])\(?\d{1,2}\)/gu);
  return Math.max(ownLine?.length ?? 0, inline?.length ?? 0);
}

/** No "next": it is more often a release, a week or a framework. */
function countSteps(prose: string): number {
  return prose.match(/\b(?:then|after that|afterwards|finally)\b/giu)?.length ?? 0;
}

/** Neither "and/or" nor "e.g" nor a version nor an address. */
function countFiles(prose: string): number {
  const isPath = /^(?:\.{0,2}|~)\/[\w.@*-]|^[\w.@*-]+(?:\/[\w.@*-]+){2,}$/u;
  const isName = /^(?!\d)(?=.*[\w*]{2}.*\.)[\w./@*-]*[\w*]\.[a-z][a-z\d]{0,4}$/iu;
  // Longer tokens are data and would take the patterns long.
  const tokens = prose
    .split(/[\s"'`,;()[\]{}<>，、。：]+/u)
    .filter(({ length }) => length <= 200);
  const names = [...new Set(tokens.map((token) => token.replace(/[.:!?]+$/u, '')))];
  return names.filter(
    (name) => !name.includes('://') && (isPath.test(name) || isName.test(name)),
  ).length;
}

/** The number of a list item ends no sentence. */
function countSentences(prose: string): number {
  return prose.match(/(?<!\d)[.!?](?=\s|$)|[。！？]/gu)?.length ?? 0;
}
