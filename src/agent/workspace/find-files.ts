// glob: the files of the workspace whose path fits a pattern. Finds names only; grep looks inside.
import { resolveInside } from '../../checks/files.ts';
import { walk } from '../../checks/walk.ts';
import { displayName } from '../../core/display-name.ts';
import { createPathFilter } from '../../core/glob/path-filter.ts';
import { refuse } from '../../core/refusal.ts';
import { describeLeft } from './describe-left.ts';
import { explainMissing } from './missing-path.ts';
import { defineTool } from './tool.ts';

export const findFiles = defineTool({
  name: 'glob',
  description:
    'Finds files of the workspace by pattern: "*" and "?" stand for characters of one name, names that start with a dot ' +
    'included; "**" for any number of folders; "[a-z]" and "{a,b}" for choices. A pattern without "/" fits at any ' +
    'depth ("*.ts"). Leaves out .git, node_modules and what .gitignore names. Paths are relative to the workspace root.',
  access: 'read',
  inputSchema: {
    type: 'object',
    properties: {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description: 'For example "src/**/*.test.ts".',
      },
      path: {
        type: 'string',
        description: 'Only below this folder; the pattern stays relative to the root.',
      },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  async run(input, { root, limits, signal }) {
    const filter = createPathFilter(input.pattern);
    if (!filter.ok) return filter;
    const resolved = await resolveInside(root, input.path ?? '.');
    if (!resolved.ok) return resolved;
    if (resolved.place.missing.length > 0) return refuse(await explainMissing(resolved.place));
    const walked = walk(resolved.place, limits.walkedEntries, signal);
    const found: string[] = [];
    for await (const { names } of walked.files) {
      if (!filter.accepts(names)) continue;
      if (found.length === limits.entries) {
        found.push(`(More than ${limits.entries} files: narrow the pattern.)`);
        break;
      }
      found.push(displayName(names.join('/')));
    }
    if (signal.aborted) return refuse('The call was interrupted.');
    if (found.length === 0) found.push(`No file fits ${displayName(input.pattern)}.`);
    return { ok: true, output: [...found, ...describeLeft(walked.left, limits.walkedEntries)].join('\n') };
  },
});
