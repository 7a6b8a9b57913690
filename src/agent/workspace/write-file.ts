// write_file: a whole file, new or replaced. Creates the folders it needs.
import { resolveInside } from '../../checks/files.ts';
import { withPathLock } from './path-lock.ts';
import { replaceFile } from './replace-file.ts';
import { defineTool } from './tool.ts';

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a whole text file of the workspace: creates it, with the folders it needs, or replaces what it holds. To ' +
    'change a part of a file use edit_file.',
  access: 'write',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file, relative to the workspace root.' },
      content: { type: 'string', description: 'All that the file shall hold.' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  async run(input, { root }) {
    const located = await resolveInside(root, input.path);
    if (!located.ok) return located;
    const { existing, missing } = located.place;
    return withPathLock([existing, ...missing].join('/'), async () => {
      // Resolved again: a call that ran before this one may have created what was missing.
      const resolved = await resolveInside(root, input.path);
      if (!resolved.ok) return resolved;
      const replaced = await replaceFile(resolved.place, input.content);
      if (!replaced.ok) return replaced;
      const lines = countLines(input.content);
      const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${Buffer.byteLength(input.content)} bytes`;
      return {
        ok: true,
        output: `${replaced.created ? 'Created' : 'Replaced'} ${resolved.place.shown} (${size}).`,
      };
    });
  },
});

function countLines(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}
