// Reads how many tokens a session used from the transcript of its host. A stop reads what
// was added since the stop before it, and some of that again. Reads a bounded tail, and
// nothing if it cannot be read.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { AskedHost, UsedTokens } from './asked-call.ts';
import { amountOf, type Fields, fieldsIn, textOf } from './untrusted.ts';

const mostTail = 8_388_608;
/** More tokens than any model takes. */
const mostTokens = 100_000_000;

/**
 * Reads one call of the model from a line; null: the line reports none. The same key
 * again is the same call.
 */
type ReadCall = (
  line: Fields,
) => { key: unknown; input: unknown[]; output: unknown[] } | null;

/**
 * Makes the function that reads the calls of a host's transcript; its last lines may
 * still be unwritten.
 * @param word stands in every line that counts
 */
export function usageIn(
  word: string,
  read: ReadCall,
): NonNullable<AskedHost['readUsage']> {
  return (transcript, since) => {
    const used = new Map<string, UsedTokens>();
    for (const line of linesWith(transcript, word)) {
      const call = read(line);
      const key = textOf(call?.key);
      if (call === null || !key || !(Date.parse(String(line['timestamp'])) >= since))
        continue;
      used.set(key, {
        key,
        inputTokens: sumOf(call.input),
        outputTokens: sumOf(call.output),
      });
    }
    return [...used.values()];
  };
}

/**
 * Lines at the end of a transcript, parsed. The first line is cut, and the last may be
 * half written: both may have no fields.
 * @param word stands in every line that is wanted
 */
export function linesWith(transcript: string, word: string): Fields[] {
  const texts = isAbsolute(transcript) ? readTail(transcript).split('\n') : [];
  return texts.filter((text) => text.includes(word)).map(fieldsIn);
}

const sumOf = (amounts: readonly unknown[]) =>
  amounts.reduce<number>(
    (sum, one) => sum + Math.min(Math.ceil(amountOf(one)), mostTokens),
    0,
  );

function readTail(path: string): string {
  let descriptor: number | null = null;
  try {
    // Without blocking: a named pipe must not hold us until someone writes to it.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return '';
    const bytes = Buffer.alloc(Math.min(stats.size, mostTail));
    const length = readSync(
      descriptor,
      bytes,
      0,
      bytes.length,
      stats.size - bytes.length,
    );
    return bytes.toString('utf8', 0, length);
  } catch {
    // Safe: it only stays unknown what was used.
    return '';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
