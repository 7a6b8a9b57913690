// grep: lines of the workspace's text files that fit a regular expression or hold a text.
// Bounded in time, matches and size; what it left out stands in the answer.
import { resolveInside } from '../../checks/files.ts';
import { displayName } from '../../core/display-name.ts';
import { createPathFilter } from '../../core/glob/path-filter.ts';
import { refuse } from '../../core/refusal.ts';
import { describeLeft } from './describe-left.ts';
import { explainMissing } from './missing-path.ts';
import { compilePattern, type LineMatch, openPatternSearch, type PatternSearch } from './pattern-search.ts';
import { type SearchableFile, searchableFiles } from './searchable-files.ts';
import { defineTool, type ToolContext, type ToolOutcome } from './tool.ts';

export const grep = defineTool({
  name: 'grep',
  description:
    'Searches the text files of the workspace line by line for a JavaScript regular expression, or for a plain text ' +
    'with literal: true. Answers "path:line: text". Leaves out .git, node_modules, binary files and what .gitignore names.',
  access: 'read',
  inputSchema: {
    type: 'object',
    properties: {
      pattern: {
        type: 'string',
        minLength: 1,
        maxLength: 2000,
        description: 'The regular expression or text.',
      },
      path: { type: 'string', description: 'The folder or file to search; default: the whole workspace.' },
      include: {
        type: 'string',
        minLength: 1,
        maxLength: 1000,
        description: 'Only files that fit this glob, such as "*.ts".',
      },
      literal: { type: 'boolean', description: 'Take the pattern as plain text; default false.' },
      ignoreCase: { type: 'boolean', description: 'Upper and lower case are the same; default false.' },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  async run(input, context) {
    const compiled = compilePattern(input.pattern, input.literal ?? false, input.ignoreCase ?? false);
    if (!compiled.ok) return compiled;
    const filter = createPathFilter(input.include ?? '**');
    if (!filter.ok) return filter;
    const resolved = await resolveInside(context.root, input.path ?? '.');
    if (!resolved.ok) return resolved;
    if (resolved.place.missing.length > 0) return refuse(await explainMissing(resolved.place));
    const search = openPatternSearch(compiled.expression, context.limits.grepMs, context.signal);
    const files = searchableFiles(resolved.place, filter.accepts, context.limits, context.signal);
    try {
      return await searchFiles(files, search, context);
    } finally {
      await search.close();
    }
  },
});

async function searchFiles(
  files: ReturnType<typeof searchableFiles>,
  search: PatternSearch,
  { limits, signal }: ToolContext,
): Promise<ToolOutcome> {
  const results: string[] = [];
  const notes: string[] = [];
  for await (const batch of files.batches) {
    const texts = batch.map((file) => file.text);
    const answers = await search.search(texts, limits.grepMatches + 1);
    if (signal.aborted) return refuse('The call was interrupted.');
    for (const [at, found] of answers.entries()) results.push(...describeMatches(batch[at], found));
    if (results.length > limits.grepMatches) break;
    const unanswered = batch[answers.length];
    if (unanswered !== undefined) {
      notes.push(
        `(Stopped after ${limits.grepMs / 1000} s in ${displayName(unanswered.path)}. Name a folder with "path", or ` +
          'simplify the pattern: nested repetitions such as (a+)+ never end.)',
      );
      break;
    }
  }
  if (results.length > limits.grepMatches) {
    results.length = limits.grepMatches;
    notes.push(`(More than ${limits.grepMatches} matches: narrow the pattern or name "path" or "include".)`);
  }
  if (files.left.tooLarge > 0) {
    notes.push(`(${files.left.tooLarge} files larger than ${limits.fileBytes} bytes were not searched.)`);
  }
  if (results.length === 0) results.push('No match.');
  return {
    ok: true,
    output: [...results, ...notes, ...describeLeft(files.left, limits.walkedEntries)].join('\n'),
  };
}

function describeMatches(file: SearchableFile | undefined, found: readonly LineMatch[]): string[] {
  if (file === undefined || found.length === 0) return [];
  const lines = file.text.split(/\r?\n/u);
  const path = displayName(file.path);
  return found.map(({ line, column }) => `${path}:${line}: ${cutAround(lines[line - 1] ?? '', column)}`);
}

/** Minified files have lines of megabytes: only what is around the match is shown. */
function cutAround(line: string, column: number): string {
  const before = 100;
  const width = 300;
  if (line.length <= width) return line;
  const start = Math.max(0, column - before);
  const end = start + width;
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}
