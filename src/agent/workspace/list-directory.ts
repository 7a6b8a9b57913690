// list_directory: what stands in one folder, with kinds and sizes. Follows no link.
import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import {
  errorCode,
  explainFileError,
  type PinnedDirectory,
  type Place,
  resolveInside,
  withDirectory,
} from '../../checks/files.ts';
import { displayName } from '../../core/display-name.ts';
import { refuse } from '../../core/refusal.ts';
import { explainMissing } from './missing-path.ts';
import { defineTool, type ToolOutcome } from './tool.ts';

export const listDirectory = defineTool({
  name: 'list_directory',
  description:
    'Lists one folder of the workspace: folders end in "/", files come with their size, links with their target. Names ' +
    'with unusual characters are shown as JSON strings. To search in depth use glob.',
  access: 'read',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The folder, relative to the workspace root; default: the root.' },
    },
    required: [],
    additionalProperties: false,
  },
  async run(input, { root, limits }) {
    const resolved = await resolveInside(root, input.path ?? '.');
    if (!resolved.ok) return resolved;
    return listPlace(resolved.place, limits.entries);
  },
});

async function listPlace(place: Place, maxEntries: number): Promise<ToolOutcome> {
  if (place.missing.length > 0) return refuse(await explainMissing(place));
  try {
    return await withDirectory(place.existing, async (directory) => {
      const entries = await readdir(directory.self, { withFileTypes: true });
      if (entries.length === 0) return { ok: true, output: `${place.shown} is an empty folder.` };
      entries.sort((left, right) => (left.name < right.name ? -1 : 1));
      const lines = await Promise.all(
        entries.slice(0, maxEntries).map((entry) => describeEntry(directory, entry)),
      );
      const rest = entries.length - lines.length;
      return {
        ok: true,
        output: rest > 0 ? `${lines.join('\n')}\n(${rest} more: use glob with a pattern.)` : lines.join('\n'),
      };
    });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return refuse(`${place.shown} is a file: use read_file.`);
    // Every other error of the file system concerns this one folder; the model is told and can go on.
    return refuse(explainFileError(error, place.shown));
  }
}

async function describeEntry(directory: PinnedDirectory, entry: Dirent): Promise<string> {
  const name = displayName(entry.name);
  try {
    const path = directory.at(entry.name);
    if (entry.isDirectory()) return `${name}/`;
    if (entry.isSymbolicLink()) return `${name} -> ${displayName(await readlink(path))}`;
    return `${name} (${describeKind(await lstat(path))})`;
  } catch {
    // It vanished between being listed and being looked at: saying so is the whole truth.
    return `${name} (gone)`;
  }
}

function describeKind(stats: Stats): string {
  if (stats.isFile()) return `${stats.size} bytes`;
  if (stats.isFIFO()) return 'named pipe';
  return stats.isSocket() ? 'socket' : 'device';
}
