// Runs a model's regular expression in a thread of its own, since a hopeless one, such as (a+)+b, can run
// for years and nothing but ending its thread stops it. One thread serves one grep.
import { Worker } from 'node:worker_threads';

export interface LineMatch {
  /** 1-based. */
  readonly line: number;
  /** Where in the line the match begins. */
  readonly column: number;
}

/** Source text and not a file: the thread starts alike from sources and from a bundle. */
const threadSource = `
const { parentPort, workerData } = require('node:worker_threads');
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on('message', ({ texts, most }) => {
  for (const text of texts) {
    const found = [];
    text.split(/\\r?\\n/).every((line, index) => {
      const match = expression.exec(line);
      if (match !== null) found.push({ line: index + 1, column: match.index });
      return found.length < most;
    });
    parentPort.postMessage(found);
  }
});
`;

export interface PatternSearch {
  /**
   * The matches of each text, at most `most` of each. Shorter than `texts` once the time is over or the signal
   * came: the first text without an answer is the one that took too long.
   */
  search(texts: readonly string[], most: number): Promise<readonly (readonly LineMatch[])[]>;
  close(): Promise<void>;
}

export function openPatternSearch(
  expression: RegExp,
  milliseconds: number,
  signal: AbortSignal,
): PatternSearch {
  const thread = new Worker(threadSource, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { source: expression.source, flags: expression.flags },
  });
  let isOver = false;
  let onAnswer: (found: readonly LineMatch[]) => void = () => undefined;
  let giveUp: () => void = () => undefined;
  const stop = async () => {
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    giveUp();
    await thread.terminate();
  };
  const timer = setTimeout(stop, milliseconds);
  signal.addEventListener('abort', stop);
  thread.on('message', (found: readonly LineMatch[]) => onAnswer(found));
  // Out of memory, for example: the same answer as out of time.
  thread.on('error', stop);
  if (signal.aborted) void stop();
  return {
    search(texts, most) {
      const answers: (readonly LineMatch[])[] = [];
      if (isOver || texts.length === 0) return Promise.resolve(answers);
      return new Promise((resolve) => {
        giveUp = () => resolve(answers);
        onAnswer = (found) => {
          answers.push(found);
          if (answers.length === texts.length) resolve(answers);
        };
        thread.postMessage({ texts, most });
      });
    },
    close: stop,
  };
}

type Compiled = { ok: true; expression: RegExp } | { ok: false; error: string };

export function compilePattern(pattern: string, isLiteral: boolean, ignoreCase: boolean): Compiled {
  // A leading (?i) is how other engines say it; JavaScript has no such form.
  const isPrefixed = !isLiteral && pattern.startsWith('(?i)');
  const source = isLiteral
    ? pattern.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')
    : pattern.slice(isPrefixed ? 4 : 0);
  const flags = ignoreCase || isPrefixed ? 'i' : '';
  try {
    return { ok: true, expression: new RegExp(source, `${flags}u`) };
  } catch {
    // Stricter than other engines about escapes such as \-: the lenient form gets a try before refusing.
  }
  try {
    return { ok: true, expression: new RegExp(source, flags) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it cannot be read';
    return {
      ok: false,
      error: `The pattern is not a JavaScript regular expression: ${reason}. For plain text set literal: true.`,
    };
  }
}
