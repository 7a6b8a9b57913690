// What the transcripts of hosts say of tokens: a stop reads what was added since the one
// before, and some of it again. Bounded, and empty where it cannot be read.
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { AskedHost, UsedTokens } from './asked-call.ts';
import { amountOf, type Fields, fieldsIn, textOf } from './untrusted.ts';

const mostTail = 8_388_608;
/** More than any model takes. */
const mostTokens = 100_000_000;

/**
 * One call of the model, as a line tells it; the same key again is the same call. Null:
 * the line tells of none.
 */
type ReadCall = (
  line: Fields,
) => { key: unknown; input: unknown[]; output: unknown[] } | null;

/** The last lines may still be unwritten. @param word stands in every line that counts */
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
 * Of its end, parsed: the first line is cut, the last may be half written. @param word
 * stands in every line that is wanted
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
    // A named pipe must not hold us until someone writes to it.
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
    // Safe: nothing is known of what was used.
    return '';
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}
