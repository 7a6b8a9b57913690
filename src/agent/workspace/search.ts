// list_directory, glob, grep: what is in the workspace, by name and by content. No link is followed. Every answer is
// bounded in names, matches, size and time, and says what it left out.
import type { Dirent } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  explainFileError,
  type PinnedDirectory,
  type Place,
  readAtMost,
  realNames,
  withDirectory,
} from '../../checks/files.ts';
import { openPatternSearch, type PatternMatch, type PatternSearch } from '../../checks/observation.ts';
import { type Walk, type WalkedFile, walk } from '../../checks/walk.ts';
import { type Refusal, refuse } from '../../core/error.ts';
import { createPathFilter, type PathFilter } from '../../core/glob.ts';
import { displayName } from '../../core/safe-text.ts';
import { described, flag, optional, text } from '../../core/schema.ts';
import { errorCode } from '../../engine/system.ts';
import { explainMissing, inPlace, isBinary, withFile } from './files.ts';
import { defineTool, type ToolContext, type ToolOutcome } from './tool.ts';

function inExistingPlace(
  root: string,
  given: string | undefined,
  use: (place: Place) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
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
    path: optional(described(text(), 'The folder, relative to the workspace root; default: the root.')),
  },
  run: ({ path }, { root, limits }) =>
    inExistingPlace(root, path, async (place) => {
      try {
        return await withDirectory(place.existing, async (directory) => {
          const entries = await readdir(directory.self, { withFileTypes: true });
          if (entries.length === 0) return { ok: true, output: `${place.shown} is an empty folder.` };
          entries.sort((left, right) => (left.name < right.name ? -1 : 1));
          const shown = entries.slice(0, limits.entries).map((entry) => describeEntry(directory, entry));
          const rest = entries.length - shown.length;
          const more = rest > 0 ? [`(${rest} more: use glob with a pattern.)`] : [];
          return { ok: true, output: [...(await Promise.all(shown)), ...more].join('\n') };
        });
      } catch (error) {
        if (errorCode(error) === 'ENOTDIR') return refuse(`${place.shown} is a file: use read_file.`);
        // Every other error of the file system concerns this one folder; the model is told and can go on.
        return refuse(explainFileError(error, place.shown));
      }
    }),
});

async function describeEntry(directory: PinnedDirectory, entry: Dirent): Promise<string> {
  const name = displayName(entry.name);
  try {
    const path = directory.at(entry.name);
    if (entry.isDirectory()) return `${name}/`;
    if (entry.isSymbolicLink()) return `${name} -> ${displayName(await readlink(path))}`;
    const stats = await lstat(path);
    if (stats.isFile()) return `${name} (${stats.size} bytes)`;
    return `${name} (${stats.isFIFO() ? 'named pipe' : stats.isSocket() ? 'socket' : 'device'})`;
  } catch {
    // It vanished between being listed and being looked at: saying so is the whole truth.
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
    path: optional(described(text(), 'Only below this folder; the pattern stays relative to the root.')),
  },
  async run({ pattern, path }, { root, limits, signal }) {
    const filter = createPathFilter(pattern);
    if (!filter.ok) return filter;
    return inExistingPlace(root, path, async (place) => {
      const walked = walk(place, limits.walkedEntries, signal);
      const found: string[] = [];
      for await (const { names } of walked.files) {
        if (!filter.accepts(names)) continue;
        const isFull = found.length === limits.entries;
        found.push(
          isFull ? `(More than ${limits.entries} files: narrow the pattern.)` : displayName(names.join('/')),
        );
        if (isFull) break;
      }
      if (signal.aborted) return refuse('The call was interrupted.');
      if (found.length === 0) found.push(`No file fits ${displayName(pattern)}.`);
      return { ok: true, output: [...found, ...describeLeft(walked.left, limits)].join('\n') };
    });
  },
});

function describeLeft(left: Walk['left'], { walkedEntries }: ToolContext['limits']): string[] {
  const notes: string[] = [];
  if (left.unreadableFolders > 0) notes.push(`(${left.unreadableFolders} folders could not be read.)`);
  if (left.isCut) notes.push(`(Stopped after ${walkedEntries} names: name a folder with "path".)`);
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
    path: optional(described(text(), 'The folder or file to search; default: the whole workspace.')),
    include: optional(described(text(1000, 1), 'Only files that fit this glob, such as "*.ts".')),
    literal: optional(described(flag, 'Take the pattern as plain text; default false.')),
    ignoreCase: optional(described(flag, 'Upper and lower case are the same; default false.')),
  },
  async run({ pattern, path, include = '**', literal = false, ignoreCase = false }, context) {
    const compiled = compilePattern(pattern, literal, ignoreCase);
    if (!compiled.ok) return compiled;
    const filter = createPathFilter(include);
    if (!filter.ok) return filter;
    return inExistingPlace(context.root, path, async (place) => {
      if (context.signal.aborted) return refuse('The call was interrupted.');
      const search = openPatternSearch(compiled.expression, context.limits.grepMs, context.signal);
      try {
        return await searchFiles(searchableFiles(place, filter.accepts, context), search, context);
      } finally {
        await search.close();
      }
    });
  },
});

async function searchFiles(
  { batches, left }: ReturnType<typeof searchableFiles>,
  search: PatternSearch,
  { limits, signal }: ToolContext,
): Promise<ToolOutcome> {
  const results: string[] = [];
  const notes: string[] = [];
  for await (const batch of batches) {
    const texts = batch.map((file) => file.content);
    const answers = await search.find(texts, limits.grepMatches + 1, 'line');
    if (signal.aborted) return refuse('The call was interrupted.');
    for (const [at, found] of answers.entries()) results.push(...describeMatches(batch[at], found));
    const unanswered = batch[answers.length];
    const isFull = results.length > limits.grepMatches;
    if (isFull)
      notes.push(
        `(More than ${limits.grepMatches} matches: narrow the pattern or name "path" or "include".)`,
      );
    else if (unanswered !== undefined)
      notes.push(
        `(Stopped after ${limits.grepMs / 1000} s in ${displayName(unanswered.path)}. Name a folder with "path", or ` +
          'simplify the pattern: nested repetitions such as (a+)+ never end.)',
      );
    if (isFull || unanswered !== undefined) break;
  }
  if (left.tooLarge > 0)
    notes.push(`(${left.tooLarge} files larger than ${limits.fileBytes} bytes were not searched.)`);
  const shown = results.length === 0 ? ['No match.'] : results.slice(0, limits.grepMatches);
  return { ok: true, output: [...shown, ...notes, ...describeLeft(left, limits)].join('\n') };
}

/** `path`: from the workspace root. */
type SearchableFile = { readonly path: string; readonly content: string };

function describeMatches(file: SearchableFile | undefined, found: readonly PatternMatch[]): string[] {
  if (file === undefined || found.length === 0) return [];
  const lines = file.content.split(/\r?\n/u);
  const path = displayName(file.path);
  return found.map(({ line, column }) => `${path}:${line}: ${cutAround(lines[line - 1] ?? '', column)}`);
}

function cutAround(line: string, column: number): string {
  const width = 300;
  if (line.length <= width) return line;
  const start = Math.max(0, column - 100);
  const end = start + width;
  return `${start > 0 ? '…' : ''}${line.slice(start, end)}${end < line.length ? '…' : ''}`;
}

/** Waiting for the disk file by file is what makes a search slow. Times `fileBytes` is what one holds in memory at most. */
const filesAtOnce = 16;

/** Binary and unreadable files are left out. */
function searchableFiles(place: Place, accepts: PathFilter, { limits, signal }: ToolContext) {
  const left = { unreadableFolders: 0, isCut: false, tooLarge: 0 };
  const read = async ({ names }: WalkedFile): Promise<SearchableFile[]> => {
    const path = names.join('/');
    const file = { ...place, existing: join(place.root, path), shown: path };
    const opened = await withFile(file, async (handle, { size }) => {
      const bytes = size > limits.fileBytes ? null : await readAtMost(handle, limits.fileBytes);
      if (bytes === null) left.tooLarge += 1;
      return { ok: true as const, bytes };
    });
    if (!opened.ok || opened.bytes === null || isBinary(opened.bytes)) return [];
    return [{ path, content: opened.bytes.toString('utf8') }];
  };
  async function* batches(): AsyncGenerator<SearchableFile[]> {
    const isFile = (await withFile(place, async () => ({ ok: true as const }))).ok;
    const walked = isFile ? null : walk(place, limits.walkedEntries, signal);
    let batch: WalkedFile[] = [];
    for await (const file of walked?.files ?? [{ names: realNames(place), isLink: false }]) {
      // A link's target is found under its own name if it is in the workspace.
      if (!file.isLink && accepts(file.names)) batch.push(file);
      if (batch.length < filesAtOnce) continue;
      yield (await Promise.all(batch.map(read))).flat();
      batch = [];
    }
    yield (await Promise.all(batch.map(read))).flat();
    Object.assign(left, walked?.left);
  }
  return { batches: batches(), left };
}

function compilePattern(
  pattern: string,
  isLiteral: boolean,
  ignoreCase: boolean,
): { ok: true; expression: RegExp } | Refusal {
  // A leading (?i) is how other engines say it; JavaScript has no such form.
  const isPrefixed = !isLiteral && pattern.startsWith('(?i)');
  const plain = pattern.slice(isPrefixed ? 4 : 0);
  const source = isLiteral ? pattern.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&') : plain;
  const flags = ignoreCase || isPrefixed ? 'i' : '';
  let reason = 'it cannot be read';
  // Unicode mode is stricter than other engines about escapes such as \-: the lenient form gets a try before refusing.
  for (const mode of ['u', '']) {
    try {
      return { ok: true, expression: new RegExp(source, `${flags}${mode}`) };
    } catch (error) {
      // The last reason is told.
      if (error instanceof Error) reason = error.message;
    }
  }
  const hint = 'For plain text set literal: true.';
  return refuse(`The pattern is not a JavaScript regular expression: ${reason}. ${hint}`);
}
