// Wraps tools of the AI SDK's shape, `{ execute }`, so that their calls are told. What
// they do is not touched.
import { messageOf, UntildoneError } from '../core/error.ts';
import { excerpt } from '../core/problem.ts';

export interface ToolWatcher {
  began(tool: string): void;
  ended(tool: string, error: string | null): Promise<void>;
}

type Execute = (...given: readonly unknown[]) => unknown;

/** Bounds the text of one failure; the model reads all of it elsewhere. */
const longestError = 500;

export function watchTools<Tools extends Readonly<Record<string, object>>>(
  tools: Tools,
  watcher: ToolWatcher,
): Tools {
  if (typeof tools !== 'object' || tools === null || Array.isArray(tools))
    throw new UntildoneError(
      'usage',
      `watch: must be an object with tools by name, got ${excerpt(tools)}`,
    );
  const watched = Object.entries(tools).map(([name, tool]) => {
    const { execute } = (tool ?? {}) as { readonly execute?: unknown };
    // Someone else makes the call: the provider, or the program after the run.
    if (typeof execute !== 'function') return [name, tool];
    return [name, { ...tool, execute: watchCalls(name, execute.bind(tool), watcher) }];
  });
  return Object.fromEntries(watched) as Tools;
}

function watchCalls(
  name: string,
  execute: Execute,
  { began, ended }: ToolWatcher,
): Execute {
  const failed = (error: unknown) => ended(name, messageOf(error).slice(0, longestError));
  return (...given) => {
    began(name);
    const result = invoke(() => execute(...given));
    return isAsyncIterable(result) ? eachOf(result) : settle(result);
  };

  async function settle(result: unknown) {
    try {
      const output = await result;
      await ended(name, null);
      return output;
    } catch (error) {
      await failed(error);
      throw error;
    }
  }

  /** The last value is the result, those before it are shown meanwhile. */
  async function* eachOf(result: AsyncIterable<unknown>) {
    try {
      yield* result;
      await ended(name, null);
    } catch (error) {
      await failed(error);
      throw error;
    }
  }
}

/** A tool that throws at once fails like one that rejects. */
function invoke(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
