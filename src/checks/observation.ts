// What every kind of check gets and returns, and the one way to match a pattern of a
// human.
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type CheckResult, compileExpression } from '../core/check-specs.ts';
import type { Environment } from '../engine/policy.ts';

/** What a check is run with. */
export type CheckContext = Readonly<{
  directory: string;
  /** A result that ends after the signal is no evidence. */
  signal: AbortSignal;
  environment: Environment;
  now: () => number;
  /** Marks the processes of a command, so that none of them can approve anything. */
  session?: string;
  readBaseline?: (key: string) => Promise<string | null>;
}>;

/**
 * A check's context, with the secrets that must not be shown and a way to quote text
 * without them.
 */
export type Looking = CheckContext &
  Readonly<{ secrets: readonly string[]; quote(text: string): string }>;

/** What a check found. Sentence and tail are plain text without secrets. */
export type Observation = Readonly<{ passed: boolean }> &
  Pick<CheckResult, 'sentence' | 'tail'> &
  Partial<Pick<CheckResult, 'exitCode' | 'timedOut'>>;

export const passedObservation = (sentence: string, tail = ''): Observation => ({
  passed: true,
  sentence,
  tail,
});
export const failed = (sentence: string, tail = ''): Observation => ({
  passed: false,
  sentence,
  tail,
});

/**
 * Source text and no file, so that it starts in the same way from sources and from a
 * bundle.
 */
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

/** Lines count from 1, columns from 0. */
type PatternMatch = Readonly<Record<'line' | 'column', number>>;

/**
 * Searches texts for a pattern in a thread, which can be ended: a pattern such as (a+)+b
 * can run for years over many a. The signal must not be aborted yet.
 */
export function openPatternSearch(
  { source, flags }: RegExp,
  milliseconds: number,
  signal: AbortSignal,
) {
  const workerData = { source, flags };
  const thread = new Worker(threadSource, {
    eval: true,
    env: {},
    execArgv: [],
    workerData,
  });
  const isOver = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  const answers = on(thread, 'message', { signal: isOver });
  return {
    /**
     * Finds at most `most` matches in each text. The first text without an answer took
     * too long.
     */
    async find(
      texts: readonly string[],
      most: number,
      by: 'line' | 'text',
    ): Promise<PatternMatch[][]> {
      const found: PatternMatch[][] = [];
      try {
        thread.postMessage({ texts, most, by });
        while (found.length < texts.length) found.push((await answers.next()).value?.[0]);
      } catch {
        // Safe: the time or the memory ran out, or the search was interrupted; missing
        // answers tell so.
      }
      return found;
    },
    close: () => thread.terminate(),
  };
}

/** Plain words need no thread. */
const plainSource = /^[\w \t:,;@#%&=<>'"!~`/-]*$/u;
const mostMatchMs = 2000;

/** Matches a human's pattern. `isMatch` is null if the time ran out. */
export async function matchText(
  source: string,
  text: string,
  { signal, quote }: Looking,
) {
  const isPlain = plainSource.test(source);
  const isMatch = isPlain
    ? text.includes(source)
    : await matchExpression(source, text, signal);
  const not =
    isMatch === null ? 'could not be matched in time against' : 'does not match';
  return { isMatch, words: `${isMatch ? 'matches' : not} ${quote(source)}` };
}

async function matchExpression(source: string, text: string, signal: AbortSignal) {
  const compiled = compileExpression(source);
  if (!compiled.ok || signal.aborted) return null;
  const search = openPatternSearch(compiled.expression, mostMatchMs, signal);
  const [found] = await search.find([text], 1, 'text');
  await search.close();
  return found === undefined ? null : found.length > 0;
}
