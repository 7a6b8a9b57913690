// What a file holds, as one short text, so that a later change can be seen without keeping the content.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** null: there is no such file, or it cannot be read. */
export function digestFile(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    // Safe: a file that is gone or closed to us differs from one that was there, and that is all we ask.
    return null;
  }
}
