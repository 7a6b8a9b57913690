// list_directory, glob, grep. No link is followed; every answer is bounded and says what
// it left out.
import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as files from '../../checks/files.ts';
import { openPatternSearch } from '../../checks/observation.ts';
import { type FolderWalk, type Walk, walkFolder } from '../../checks/walk.ts';
import { compileExpression } from '../../core/check-specs.ts';
import { refuse } from '../../core/error.ts';
import { createPathFilter, type PathFilter } from '../../core/glob.ts';
import { displayName } from '../../core/safe-text.ts';
import { described, flag, optional, text } from '../../core/schema.ts';
import { errorCode } from '../../engine/system.ts';
import { explainMissing, inPlace, isBinary, type UsePlace, withFile } from './files.ts';
import { type Answer, defineTool, type ToolContext } from './tool.ts';

function inExistingPlace(
  root: string,
  given: string | undefined,
  use: UsePlace,
): Promise<Answer> {
  return inPlace(root, given ?? '.', async (place) =>
    place.missing.length > 0 ? refuse(await explainMissing(place)) : use(place),
  );
}

export const listDirectory = defineTool({
  name: 'list_directory',
  description:
    'Lists one folder of the workspace: folders end in "/", files come with their size, links with their target. Names ' +
    'with unusual characters are shown as JSON strings. To search in depth use glob.',
  access: 'read',
  input: {
    path: optional(
      described(text(), 'The folder, relative to the workspace root; default: the root.'),
    ),
  },
  run: ({ path }, { root, limits }) =>
    inExistingPlace(root, path, async (place) => {
      try {
        return await files.withDirectory(place.existing, async (directory) => {
          const entries = await readdir(directory.self, { withFileTypes: true });
          if (entries.length === 0) return `${place.shown} is an empty folder.`;
          entries.sort((left, right) => (left.name < right.name ? -1 : 1));
          const shown = entries
            .slice(0, limits.entries)
            .map((entry) => describeEntry(directory, entry));
          const rest = entries.length - shown.length;
          const more = rest > 0 ? [`(${rest} more: use glob with a pattern.)`] : [];
          return [...(await Promise.all(shown)), ...more].join('\n');
        });
      } catch (error) {
        if (errorCode(error) === 'ENOTDIR')
          return refuse(`${place.shown} is a file: use read_file.`);
        // Safe: the model is told and can go on.
        return refuse(files.explainFileError(error, place.shown));
      }
    }),
});

async function describeEntry(
  directory: files.PinnedDirectory,
  entry: Dirent,
): Promise<string> {
  const name = displayName(entry.name);
  try {
    const path = directory.at(entry.name);
    if (entry.isDirectory()) return `${name}/`;
    if (entry.isSymbolicLink()) return `${name} -> ${displayName(await readlink(path))}`;
    const stats = await lstat(path);
    if (stats.isFile()) return `${name} (${stats.size} bytes)`;
    if (stats.isFIFO()) return `${name} (named pipe)`;
    return `${name} (${stats.isSocket() ? 'socket' : 'device'})`;
  } catch {
    // It vanished after it was listed.
    return `${name} (gone)`;
  }
}

export const findFiles = defineTool({
  name: 'glob',
  description:
    'Finds files of the workspace by pattern: "*" and "?" stand for characters of one name, names that start with a dot ' +
    'included; "**" for any number of folders; "[a-z]" and "{a,b}" for choices. A pattern without "/" fits at any ' +
    'depth ("*.ts"). Leaves out .git, node_modules and what .gitignore names. Paths are relative to the workspace root.',
  access: 'read',
  input: {
    pattern: described(text(1000, 1), 'For example "src/**/*.test.ts".'),
    path: optional(
      described(
        text(),
        'Only below this folder; the pattern stays relative to the root.',
      ),
    ),
  },
  async run({ pattern, path }, { root, limits, signal }) {
    const filter = createPathFilter(pattern);
    if (!filter.ok) return filter;
    return inExistingPlace(root, path, async (place) => {
      const walked = walkFolder(place, limits.walkedEntries, signal);
      const found: string[] = [];
      for await (const { names } of walked.files) {
        if (filter.accepts(names)) found.push(displayName(names.join('/')));
        if (found.length > limits.entries) break;
      }
      if (signal.aborted) return refuse('The call was interrupted.');
      if (found.length === 0) found.push(`No file fits ${displayName(pattern)}.`);
      const more = `(More than ${limits.entries} files: narrow the pattern.)`;
      if (found.length > limits.entries) found[limits.entries] = more;
      return [...found, ...describeLeft(walked.left, limits)].join('\n');
    });
  },
});

function describeLeft(
  left: Walk['left'],
  { walkedEntries }: ToolContext['limits'],
): string[] {
  const notes: string[] = [];
  if (left.unreadableFolders > 0)
    notes.push(`(${left.unreadableFolders} folders could not be read.)`);
  if (left.isCut)
    notes.push(`(Stopped after ${walkedEntries} names: name a folder with "path".)`);
  return notes;
}

export const grep = defineTool({
  name: 'grep',
  description:
    'Searches the text files of the workspace line by line for a JavaScript regular expression, or for a plain text ' +
    'with literal: true. Answers "path:line: text". Leaves out .git, node_modules, binary files and what .gitignore names.',
  access: 'read',
  input: {
    pattern: described(text(2000, 1), 'The regular expression or text.'),
    path: optional(
      described(text(), 'The folder or file to search; default: the whole workspace.'),
    ),
    include: optional(
      described(text(1000, 1), 'Only files that fit this glob, such as "*.ts".'),
    ),
    literal: optional(described(flag, 'Take the pattern as plain text; default false.')),
    ignoreCase: optional(
      described(flag, 'Upper and lower case are the same; default false.'),
    ),
  },
  async run(
    { pattern, path, include = '**', literal = false, ignoreCase = false },
    context,
  ) {
    // How other engines say it.
    const isPrefixed = !literal && pattern.startsWith('(?i)');
    const plain = literal ? pattern.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&') : pattern;
    const compiled = compileExpression(
      plain.slice(isPrefixed ? 4 : 0),
      ignoreCase || isPrefixed ? 'i' : '',
    );
    const hint = 'For plain text set literal: true.';
    if (!compiled.ok)
      return refuse(
        `The pattern is not a JavaScript regular expression: ${compiled.reason}. ${hint}`,
      );
    const filter = createPathFilter(include);
    if (!filter.ok) return filter;
    return inExistingPlace(context.root, path, (place) =>
      searchFiles(place, compiled.expression, filter.accepts, context),
    );
  },
});

/** One by one is slow; times `fileBytes` is the memory at most. */
const filesAtOnce = 16;

async function searchFiles(
  place: files.WorkspacePath,
  pattern: RegExp,
  accepts: PathFilter,
  context: ToolContext,
) {
  const { limits, signal } = context;
  const { grepMatches, grepMs, fileBytes } = limits;
  const results: string[] = [];
  const notes: string[] = [];
  let tooLarge = 0;
  let isLate = false;
  const read = async ({ names }: FolderWalk) => {
    const path = names.join('/');
    const file = { ...place, existing: join(place.root, path), shown: path };
    const bytes = await withFile(file, async (handle, { size }) =>
      size > fileBytes ? null : files.readAtMost(handle, fileBytes),
    );
    if (bytes === null) tooLarge += 1;
    if (!(bytes instanceof Buffer) || isBinary(bytes)) return [];
    return [{ path: displayName(path), content: bytes.toString('utf8') }];
  };
  const isFile = (await withFile(place, async () => true)) === true;
  const walked = walkFolder(place, limits.walkedEntries, signal);
  const found = isFile
    ? [{ names: files.realNames(place), isLink: false }]
    : walked.files;
  // Nothing is awaited in between: with a signal that has come the thread would be left
  // behind.
  if (signal.aborted) return refuse('The call was interrupted.');
  const search = openPatternSearch(pattern, grepMs, signal);
  try {
    for await (const batch of inBatches(found, accepts)) {
      const texts = (await Promise.all(batch.map(read))).flat();
      const contents = texts.map(({ content }) => content);
      const answers = await search.find(contents, grepMatches + 1, 'line');
      if (signal.aborted) return refuse('The call was interrupted.');
      for (const [at, { path, content }] of texts.entries()) {
        const lines = answers[at]?.length ? content.split(/\r?\n/u) : [];
        for (const { line, column } of answers[at] ?? [])
          results.push(`${path}:${line}: ${cutAround(lines[line - 1] ?? '', column)}`);
      }
      const unanswered = texts[answers.length];
      if (results.length > grepMatches)
        notes.push(
          `(More than ${grepMatches} matches: narrow the pattern or name "path" or "include".)`,
        );
      else if (unanswered !== undefined) {
        isLate = true;
        notes.push(
          `(Stopped after ${grepMs / 1000} s in ${unanswered.path}. Name a folder with "path", or ` +
            'simplify the pattern: nested repetitions such as (a+)+ never end.)',
        );
      }
      if (notes.length > 0) break;
    }
  } finally {
    await search.close();
  }
  if (tooLarge > 0)
    notes.push(`(${tooLarge} files larger than ${fileBytes} bytes were not searched.)`);
  const none = isLate ? 'No match so far.' : 'No match.';
  const shown = results.length === 0 ? [none] : results.slice(0, grepMatches);
  const text = [...shown, ...notes, ...describeLeft(walked.left, limits)].join('\n');
  return isLate ? { ...refuse(text), timedOut: true as const } : text;
}

async function* inBatches(
  found: AsyncIterable<FolderWalk> | FolderWalk[],
  accepts: PathFilter,
) {
  let batch: FolderWalk[] = [];
  for await (const file of found) {
    // A link's target is found under its own name.
    if (!file.isLink && accepts(file.names)) batch.push(file);
    if (batch.length < filesAtOnce) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

function cutAround(line: string, column: number): string {
  const width = 300;
  if (line.length <= width) return line;
  const start = Math.max(0, column - 100);
  const end = start + width;
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}
