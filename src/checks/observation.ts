// What every kind of check is run with and answers, and the one way to match a human's
// pattern.
import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type CheckResult, compileExpression } from '../core/check-specs.ts';
import type { Environment } from '../engine/policy.ts';

export type CheckContext = Readonly<{
  directory: string;
  /** The answer is no evidence once it has come. */
  signal: AbortSignal;
  environment: Environment;
  now: () => number;
  /** Marks a command's processes, so that none can approve anything. */
  session?: string;
  readBaseline?: (key: string) => Promise<string | null>;
}>;

export type Looking = CheckContext &
  Readonly<{ secrets: readonly string[]; quote(text: string): string }>;

/** Sentence and tail are plain text without secrets. */
export type Observation = Readonly<{ passed: boolean }> &
  Pick<CheckResult, 'sentence' | 'tail'> &
  Partial<Pick<CheckResult, 'exitCode' | 'timedOut'>>;

export const passed = (sentence: string, tail = ''): Observation => ({
  passed: true,
  sentence,
  tail,
});
export const failed = (sentence: string, tail = ''): Observation => ({
  passed: false,
  sentence,
  tail,
});

/** Text and not a file: it starts alike from sources and from a bundle. */
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
 * In a thread: nothing else stops a pair such as (a+)+b and many a. The signal must not
 * be aborted yet.
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
    /** At most `most` of each text. The first text without an answer took too long. */
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
        // Out of time or memory, or interrupted: the missing answers tell it.
      }
      return found;
    },
    close: () => thread.terminate(),
  };
}

/** Plain words need no thread. */
const plainSource = /^[\w \t:,;@#%&=<>'"!~`/-]*$/u;
const mostMatchMs = 2000;

/** `isMatch` is null where time ran out. */
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
