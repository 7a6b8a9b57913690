// What every kind of check is run with and what it answers, and the one way to match a human's pattern against a text.
import { Worker } from 'node:worker_threads';
import { compileExpression } from '../core/check-specs/expression.ts';

export interface CheckContext {
  /** The workspace. */
  readonly directory: string;
  /** Ends the check; what it answers then is no evidence. */
  readonly signal: AbortSignal;
  /** The environment of this process: commands get a short list of it, and its secrets are masked. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  /** Marks the processes of a command as beneath this session, so that none of them can approve anything. */
  readonly session?: string;
  /** What stood under protected paths at the human's message, by its key; null: nothing is kept under it. */
  readonly readBaseline?: (key: string) => Promise<string | null>;
}

/** What a kind of check looks with: the context, and how words of the configuration are made fit for a sentence. */
export interface Looking extends CheckContext {
  readonly secrets: readonly string[];
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

export function failed(sentence: string): Observation {
  return { passed: false, sentence, tail: '' };
}

/** Source text and not a file: the thread starts alike from sources and from a bundle. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads');
const { source, flags, text } = workerData;
parentPort.postMessage(new RegExp(source, flags).test(text));
`;

export type MatchAnswer = 'match' | 'no-match' | 'out-of-time' | 'no-expression';

/** Most patterns are plain words, for which no thread is needed. */
const plainSource = /^[\w \t:,;@#%&=<>'"!~`/-]*$/u;

/**
 * Matches a human's expression against a hostile text in a thread of its own, since a hopeless pair of the two can run for
 * years and nothing but ending its thread stops it. An honest pair needs microseconds.
 */
export async function matchInTime(
  source: string,
  text: string,
  signal: AbortSignal,
  milliseconds = 2000,
): Promise<MatchAnswer> {
  if (plainSource.test(source)) return text.includes(source) ? 'match' : 'no-match';
  const compiled = compileExpression(source);
  if (!compiled.ok) return 'no-expression';
  if (signal.aborted) return 'out-of-time';
  const thread = new Worker(threadSource, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { source, flags: compiled.expression.flags, text },
  });
  let settle: (answer: MatchAnswer) => void = () => undefined;
  const answer = new Promise<MatchAnswer>((resolve) => {
    settle = resolve;
  });
  const giveUp = () => settle('out-of-time');
  const timer = setTimeout(giveUp, milliseconds);
  signal.addEventListener('abort', giveUp);
  thread.once('message', (isMatch: boolean) => settle(isMatch ? 'match' : 'no-match'));
  // Out of memory, for example: the same answer as out of time.
  thread.once('error', giveUp);
  const result = await answer;
  clearTimeout(timer);
  signal.removeEventListener('abort', giveUp);
  await thread.terminate();
  return result;
}
