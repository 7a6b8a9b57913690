// edit_file: exact replacement of a piece of text. Refuses files that it could not write back unchanged
// elsewhere: binary ones and those that are not UTF-8.
import { type Place, readAtMost, resolveInside } from '../../checks/files.ts';
import { refuse } from '../../core/refusal.ts';
import { type Replacement, type Replacing, replaceExactly } from './exact-replacement.ts';
import { withFile } from './open-file.ts';
import { withPathLock } from './path-lock.ts';
import { findWriteProblem, replaceFile } from './replace-file.ts';
import { defineTool, type ToolOutcome } from './tool.ts';

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replaces a piece of text in a file of the workspace. oldText must be exactly what the file holds, white space ' +
    'included and without line numbers, and must occur once: include enough lines around it. With all: true every ' +
    'occurrence is replaced.',
  access: 'write',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file, relative to the workspace root.' },
      oldText: { type: 'string', minLength: 1, description: 'The exact text to replace.' },
      newText: { type: 'string', description: 'The text to put in its place; empty to delete.' },
      all: { type: 'boolean', description: 'Replace every occurrence; default false.' },
    },
    required: ['path', 'oldText', 'newText'],
    additionalProperties: false,
  },
  async run(input, { root, limits }) {
    const replacement: Replacement = {
      oldText: input.oldText,
      newText: input.newText,
      all: input.all ?? false,
    };
    if (input.oldText === input.newText)
      return refuse('oldText and newText are equal: there is nothing to change.');
    const resolved = await resolveInside(root, input.path);
    if (!resolved.ok) return resolved;
    return withPathLock(resolved.place.existing, () =>
      editPlace(resolved.place, replacement, limits.fileBytes),
    );
  },
});

async function editPlace(place: Place, replacement: Replacement, maxBytes: number): Promise<ToolOutcome> {
  const problem = findWriteProblem(place);
  if (problem !== null) return refuse(problem);
  const read = await readText(place, maxBytes);
  if (!read.ok) return read;
  const replacing = replaceExactly(read.text, replacement);
  if (!replacing.ok) return refuse(explain(replacing, place.shown));
  const replaced = await replaceFile(place, replacing.text);
  if (!replaced.ok) return replaced;
  const times = replacing.lines.length === 1 ? 'one place' : `${replacing.lines.length} places`;
  return { ok: true, output: `Edited ${place.shown} in ${times} (${describeLines(replacing.lines)}).` };
}

async function readText(
  place: Place,
  maxBytes: number,
): Promise<{ ok: true; text: string } | { ok: false; error: string }> {
  return withFile(place, async (handle) => {
    const bytes = await readAtMost(handle, maxBytes);
    if (bytes === null) {
      return refuse(
        `${place.shown} is larger than ${maxBytes} bytes: edit it with a command through the shell.`,
      );
    }
    try {
      return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      // The file is untouched; writing it back as UTF-8 would have damaged it.
      return refuse(`${place.shown} is not UTF-8 text: edit_file would damage it.`);
    }
  });
}

function explain(failed: Replacing & { ok: false }, shown: string): string {
  if (failed.reason === 'ambiguous') {
    const count = failed.isMore ? `at least ${failed.lines.length}` : String(failed.lines.length);
    return (
      `oldText occurs ${count} times in ${shown} (${describeLines(failed.lines)}); nothing was changed. ` +
      'Include more of the text around the one you mean, or set all: true.'
    );
  }
  const similar =
    failed.similarLine === null
      ? 'Read the file again: it may have changed.'
      : `The same words stand at line ${failed.similarLine} with other white space: copy them exactly.`;
  return `oldText does not occur in ${shown} (0 times); nothing was changed. ${similar}`;
}

function describeLines(lines: readonly number[]): string {
  const named = lines.slice(0, 20).join(', ');
  return `${lines.length === 1 ? 'line' : 'lines'} ${named}${lines.length > 20 ? ', …' : ''}`;
}
