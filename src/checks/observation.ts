// What every kind of check is run with and what it answers, and the one way to match a human's pattern against a text.
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { compileExpression } from '../core/check-specs.ts';
import type { Environment } from '../engine/policy.ts';

export interface CheckContext {
  readonly directory: string;
  /** Ends the check; what it answers then is no evidence. */
  readonly signal: AbortSignal;
  /** The environment of this process: commands get a short list of it, and its secrets are masked. */
  readonly environment: Environment;
  readonly now: () => number;
  /** Marks the processes of a command as beneath this session, so that none of them can approve anything. */
  readonly session?: string;
  /** What stood under protected paths at the human's message, by its key; null: nothing is kept under it. */
  readonly readBaseline?: (key: string) => Promise<string | null>;
}

export interface Looking extends CheckContext {
  readonly secrets: readonly string[];
  /** Words of the configuration, made fit for a sentence. */
  quote(text: string): string;
}

/** What one kind saw. Sentence and tail are plain text, and no secret of the environment stands in them. */
export interface Observation {
  readonly passed: boolean;
  readonly sentence: string;
  readonly tail: string;
  readonly exitCode?: number | null;
  readonly timedOut?: boolean;
}

export const passed = (sentence: string, tail = ''): Observation => ({ passed: true, sentence, tail });
export const failed = (sentence: string, tail = ''): Observation => ({ passed: false, sentence, tail });

/** Source text and not a file: the thread starts alike from sources and from a bundle. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads');
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', ({ texts, most, by }) => {
  for (const text of texts) {
    const found = [];
    (by === 'line' ? text.split(/\\r?\\n/) : [text]).every((part, index) => {
      const match = expression.exec(part);
      if (match !== null) found.push({ line: index + 1, column: match.index });
      return found.length < most;
    });
    parentPort.postMessage(found);
  }
});
`;

/** The line counts from 1, the column from 0. */
export type PatternMatch = Readonly<Record<'line' | 'column', number>>;

export type PatternSearch = ReturnType<typeof openPatternSearch>;

/**
 * In a thread of its own, since a hopeless pair of expression and text, such as (a+)+b and many a, can run for years, and
 * nothing but ending its thread stops it. The signal must not be aborted yet.
 */
export function openPatternSearch({ source, flags }: RegExp, milliseconds: number, signal: AbortSignal) {
  const workerData = { source, flags };
  const thread = new Worker(threadSource, { eval: true, env: {}, execArgv: [], workerData });
  const isOver = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const answers = on(thread, 'message', { signal: isOver });
  return {
    /** The matches of each text, at most `most` of each. The first text without an answer took too long. */
    async find(texts: readonly string[], most: number, by: 'line' | 'text'): Promise<PatternMatch[][]> {
      const found: PatternMatch[][] = [];
      try {
        thread.postMessage({ texts, most, by });
        while (found.length < texts.length) {
          const { value } = await answers.next();
          if (value === undefined) break;
          found.push(value[0]);
        }
      } catch {
        // Out of time or memory, or interrupted: the texts without an answer tell it.
      }
      return found;
    },
    close: () => thread.terminate(),
  };
}

/** Most patterns are plain words, for which no thread is needed. */
const plainSource = /^[\w \t:,;@#%&=<>'"!~`/-]*$/u;

/** An honest pair of an expression and a text needs microseconds. */
const mostMatchMs = 2000;

/** Whether a human's expression matches a text, and how a sentence says so; null: it could not be told in time. */
export async function matchText(source: string, text: string, { signal, quote }: Looking) {
  const isMatch = plainSource.test(source)
    ? text.includes(source)
    : await matchExpression(source, text, signal);
  const not = isMatch === null ? 'could not be matched in time against' : 'does not match';
  return { isMatch, words: `${isMatch ? 'matches' : not} ${quote(source)}` };
}

async function matchExpression(source: string, text: string, signal: AbortSignal): Promise<boolean | null> {
  const compiled = compileExpression(source);
  if (!compiled.ok || signal.aborted) return null;
  const search = openPatternSearch(compiled.expression, mostMatchMs, signal);
  const [found] = await search.find([text], 1, 'text');
  await search.close();
  return found === undefined ? null : found.length > 0;
}
