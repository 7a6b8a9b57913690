// Matches a human's expression against a hostile text in a thread of its own, since a hopeless pair of the two can run
// for years and nothing but ending its thread stops it.
import { Worker } from 'node:worker_threads';
import { compileExpression } from '../core/check-specs/expression.ts';

/** Source text and not a file: the thread starts alike from sources and from a bundle. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads');
const { source, flags, text } = workerData;
parentPort.postMessage(new RegExp(source, flags).test(text));
`;

export type MatchAnswer = 'match' | 'no-match' | 'out-of-time' | 'no-expression';

/** Most patterns are plain words, for which no thread is needed. */
const plainSource = /^[\w \t:,;@#%&=<>'"!~`/-]*$/u;

export async function matchInTime(
  source: string,
  text: string,
  milliseconds: number,
  signal: AbortSignal,
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
