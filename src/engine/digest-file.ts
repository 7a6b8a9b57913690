// What a file holds, as one short text, so that a later change can be seen without keeping the content. It never
// blocks and never throws: what cannot be read differs from what could.
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** More than any configuration or plan may have; what has grown beyond it is another file anyway. */
const mostBytes = 67_108_864;

/** null: there is no such file, or it cannot be read. */
export function digestFile(path: string): string | null {
  const bytes = readRegularFile(path);
  return bytes === null ? null : createHash('sha256').update(bytes).digest('hex');
}

/** The same for a plan file, whose boxes follow the plan: ticks are no change of what it asks for. */
export function digestPlanFile(path: string): string | null {
  const bytes = readRegularFile(path);
  if (bytes === null) return null;
  // One character for each byte: text that is no UTF-8 must not look like other such text.
  return createHash('sha256')
    .update(emptyBoxes(bytes.toString('latin1')), 'latin1')
    .digest('hex');
}

/** Boxes behind the mark of a list item. Boxes in code or HTML are emptied too: they are nobody's checks. */
function emptyBoxes(text: string): string {
  return text.replace(
    /^((?:\xef\xbb\xbf)?[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)[ \txX]\]/gm,
    (_box, before: string) => `${before} ]`,
  );
}

function readRegularFile(path: string): Buffer | null {
  try {
    // Without blocking: somebody may have put a named pipe in its place.
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = fstatSync(file);
      return stats.isFile() && stats.size <= mostBytes ? readFileSync(file) : null;
    } finally {
      closeSync(file);
    }
  } catch {
    // Safe: a file that is gone or closed to us differs from one that was there, and that is all we ask.
    return null;
  }
}
