// How much work a human message asks for, judged by its form alone: steps, files, list items, "and then" (I6).
// Pure and in many languages; it guesses, so that its only consequence is a hint to plan, never a rule.
import {
  actionVerbs,
  conjunctions,
  leadIns,
  questionWords,
  sequenceWords,
  unspacedActionVerbs,
  unspacedSequenceWords,
} from './request-words.ts';

export type ComplexityReason =
  | 'list-items'
  | 'sequence-words'
  | 'several-actions'
  | 'files'
  | 'long'
  | 'code-block';

export interface Complexity {
  readonly score: number;
  readonly reasons: readonly ComplexityReason[];
  readonly isComplex: boolean;
}

/** One strong sign or two weak ones. A needless hint costs a line; a missing one costs nothing the plan rules miss. */
const complexFrom = 3;
/** A request shows its form early; what follows is pasted material, and reading it all would cost time. */
const readLength = 20_000;

export function analyseComplexity(message: string): Complexity {
  const text = message.slice(0, readLength).normalize('NFKC');
  const prose = withoutCode(text);
  if (isSimpleQuestion(prose)) return { score: 0, reasons: [], isComplex: false };
  const points: Record<ComplexityReason, number> = {
    'list-items': grade(countListItems(prose), [2, 2], [3, 3]),
    'sequence-words': grade(countSequenceWords(prose), [1, 2], [2, 3]),
    'several-actions': grade(countActions(prose), [2, 1], [3, 3]),
    files: grade(countFiles(prose), [2, 1], [3, 3]),
    long: grade(readingLength(prose), [500, 1], [1500, 3]),
    'code-block': prose === text ? 0 : 1,
  };
  const reasons = (Object.keys(points) as ComplexityReason[]).filter((reason) => points[reason] > 0);
  const score = reasons.reduce((sum, reason) => sum + points[reason], 0);
  return { score, reasons, isComplex: score >= complexFrom };
}

type Grade = readonly [from: number, points: number];

function grade(count: number, weak: Grade, strong: Grade): number {
  if (count >= strong[0]) return strong[1];
  return count >= weak[0] ? weak[1] : 0;
}

/** Fenced code and quoted output are material, not request: their lists, paths and words do not count. */
function withoutCode(text: string): string {
  let inside = false;
  const lines = text.split(/\r?\n/u).filter((line) => {
    if (!/^\s*(?:```|~~~)/u.test(line)) return !inside;
    inside = !inside;
    return false;
  });
  return lines.join('\n');
}

/** One sentence that asks to know something. "Can you add …?" is an order in the form of a question. */
function isSimpleQuestion(prose: string): boolean {
  const sentence = prose.trim();
  const asks = /[?？؟]$/u.test(sentence);
  if (!asks || /[.!?。！？;\n]\s*\S/u.test(sentence.slice(0, -1).replace(/[\w-]\.[\w-]/gu, ''))) return false;
  const [first = '', second = ''] = wordsOf(sentence.toLowerCase());
  return (
    questionWords.has(first) ||
    questionWords.has(`${first} ${second}`) ||
    /什么|什麼|怎么|如何|哪|吗|嗎|何|なぜ|どう|ですか|왜|무엇|어떻게|뭐/u.test(sentence)
  );
}

function countListItems(prose: string): number {
  const ownLine =
    prose.match(/^[ \t]{0,12}(?:[-*+•–]|\d{1,3}[.)、]|[a-z][.)]|\[[ x]\])[ \t]+\S/gimu)?.length ?? 0;
  const inline = prose.match(/(?:^|[\s,;:(])(?:\(\d{1,2}\)|\d{1,2}\)|[①-⑳])/gu)?.length ?? 0;
  return Math.max(ownLine, inline);
}

function countSequenceWords(prose: string): number {
  const plain = ` ${wordsOf(prose.toLowerCase()).join(' ')} `;
  const spaced = sequenceWords.filter((word) => plain.includes(` ${word} `));
  // "and then" contains "then": one sign, not two.
  const distinct = spaced.filter((word) => !spaced.some((other) => other !== word && other.includes(word)));
  return distinct.length + unspacedSequenceWords.filter((word) => prose.includes(word)).length;
}

function countActions(prose: string): number {
  const orders = new Set<string>();
  for (const clause of clausesOf(prose.toLowerCase())) {
    const verb = clause.find((word) => !leadIns.has(word));
    if (verb !== undefined && actionVerbs.has(verb)) orders.add(verb);
  }
  for (const verb of unspacedActionVerbs) if (prose.includes(verb)) orders.add(verb);
  return orders.size;
}

/** Sentences, parts between commas, and what "and" joins: each may open with an order of its own. */
function clausesOf(prose: string): string[][] {
  const clauses: string[][] = [];
  for (const part of prose.split(/[.,;:!?(]\s|\n|،/u)) {
    let clause: string[] = [];
    for (const word of wordsOf(part)) {
      if (conjunctions.has(word)) {
        clauses.push(clause);
        clause = [];
      } else clause.push(word);
    }
    clauses.push(clause);
  }
  return clauses;
}

/** Longer tokens are data; the patterns below would take their time with them. */
const longestPath = 200;

function countFiles(prose: string): number {
  const files = new Set<string>();
  for (const token of prose.split(/[\s"'`,;()[\]{}<>，、。：]+/u)) {
    if (token.length > longestPath) continue;
    const name = token.replace(/[.:!?]+$/u, '');
    if (/^[a-z][a-z\d+.-]*:\/\//iu.test(name)) continue;
    if (isFileName(name)) files.add(name);
  }
  return files.size;
}

/** `src/a`, `./x`, `readme.md`, `*.ts`; neither "and/or" nor "e.g" nor a version. */
function isFileName(name: string): boolean {
  if (/^(?:\.{0,2}|~)\/[\w.@*-]/u.test(name)) return true;
  if (/^[\w.@*-]+(?:\/[\w.@*-]+){2,}$/u.test(name)) return true;
  return (
    /^[\w./@*-]*[\w*]\.[a-z][a-z\d]{0,4}$/iu.test(name) && /[\w*]{2}.*\./u.test(name) && !/^\d/u.test(name)
  );
}

/** Ideographs carry about as much as two and a half letters. */
function readingLength(prose: string): number {
  const dense =
    prose.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu)?.length ?? 0;
  return prose.length + 1.5 * dense;
}

function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{M}\p{N}'’-]+/u).filter((word) => word !== '');
}
