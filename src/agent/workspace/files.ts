// read_file, write_file, edit_file. Refused: binary files, what is not regular or is
// read-only, the inside of .git.
import { isUtf8 } from 'node:buffer';
import { lstatSync, type Stats } from 'node:fs';
import { type FileHandle, mkdir, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import * as files from '../../checks/files.ts';
import { type Refusal, refuse } from '../../core/error.ts';
import { displayName } from '../../core/safe-text.ts';
import { described, flag, integer, optional, text } from '../../core/schema.ts';
import { createQueue, errorCode } from '../../engine/system.ts';
import { replaceFile } from '../../engine/text-file.ts';
import { type Answer, defineTool, type ToolContext } from './tool.ts';

const path = described(text(undefined, 1), 'The file, relative to the workspace root.');

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace. Each line comes as its number, a tab and its text; number and tab are not ' +
    'part of the file. Long files come in parts: the answer names the offset to go on with.',
  access: 'read',
  input: {
    path,
    offset: optional(described(integer(1, 1e9), 'The first line wanted; default 1.')),
    limit: optional(described(integer(1, 1e6), 'How many lines at most; default 2000.')),
  },
  run: ({ path: given, offset = 1, limit }, context) =>
    inPlace(context.root, given, (place) =>
      withFile(place, async (handle, { size }) => {
        if (size === 0) return `${place.shown} is empty.`;
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
        if (isBinary(buffer.subarray(0, bytesRead)))
          return refuse(
            `${place.shown} is a binary file of ${size} bytes: it has no lines to show.`,
          );
        return readWindow(handle, offset, limit ?? context.limits.readLines, context);
      }),
    ),
});

/** Only what is shown is held, however big the file is. */
async function readWindow(
  handle: FileHandle,
  first: number,
  limit: number,
  { signal, limits: { outputCharacters, lineCharacters } }: ToolContext,
): Promise<Answer> {
  const decoder = new TextDecoder();
  const chunk = Buffer.allocUnsafe(65_536);
  const shown: string[] = [];
  let rest = '';
  let count = 0;
  let cutLines = 0;
  let characters = 0;
  const answer = (end: string) => {
    const cut = cutLines > 0 ? ` ${cutLines} long lines are cut (…).` : '';
    return `${shown.join('\n')}\n(${end}.${cut})`;
  };
  for (let isEnd = false; !isEnd; ) {
    if (signal.aborted) return refuse('The call was interrupted.');
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    isEnd = bytesRead === 0;
    const lines = (
      rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: !isEnd })
    ).split('\n');
    // No more of a line is ever shown.
    rest = (lines.pop() ?? '').slice(0, 1_000_000);
    if (isEnd && rest !== '') lines.push(rest);
    for (const line of lines) {
      count += 1;
      if (count < first) continue;
      const plain = line.replace(/\r$/u, '');
      const isLong = plain.length > lineCharacters;
      const numbered = `${count}\t${isLong ? `${plain.slice(0, lineCharacters)}…` : plain}`;
      const isFull =
        shown.length >= limit || characters + numbered.length > outputCharacters;
      if (isFull && shown.length > 0)
        return answer(`The file goes on: read further with offset ${count}`);
      if (isLong) cutLines += 1;
      shown.push(numbered);
      characters += numbered.length + 1;
    }
  }
  if (shown.length > 0) return answer(`End of file: ${count} lines`);
  return refuse(`The file has only ${count} lines; line ${first} does not exist.`);
}

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a whole text file of the workspace: creates it, with the folders it needs, or replaces all of it. To ' +
    'change a part of a file use edit_file.',
  access: 'write',
  input: { path, content: described(text(), 'The whole text of the file.') },
  run: ({ path: given, content }, { root, limits, changed }) =>
    inWritablePlace(root, given, async (place) => {
      const isNew = place.missing.length > 0;
      const before =
        changed === undefined || isNew ? null : await readText(place, limits.fileBytes);
      const done = await write(place, content);
      if (typeof done !== 'string') return done;
      // What was no text cannot be compared, and is not told.
      if (isNew || typeof before === 'string')
        changed?.({
          path: given,
          before: isNew ? null : (before as string),
          after: content,
        });
      const lines =
        content === ''
          ? 0
          : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
      const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${Buffer.byteLength(content)} bytes`;
      return `${done} ${place.shown} (${size}).`;
    }),
});

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replaces a piece of text in a file of the workspace. oldText must be exactly what is in the file, white space ' +
    'included and without line numbers, and must occur once: include enough lines around it. With all: true every ' +
    'occurrence is replaced.',
  access: 'write',
  input: {
    path,
    oldText: described(text(undefined, 1), 'The exact text to replace.'),
    newText: described(text(), 'The text to put in its place; empty to delete.'),
    all: optional(described(flag, 'Replace every occurrence; default false.')),
  },
  async run({ path: given, ...edit }, { root, limits, changed }) {
    if (edit.oldText === edit.newText)
      return refuse('oldText and newText are equal: there is nothing to change.');
    return inWritablePlace(root, given, async (place) => {
      const whole = await readText(place, limits.fileBytes);
      if (typeof whole !== 'string') return whole;
      const replacing = replaceExactly(whole, place.shown, edit);
      if (!replacing.ok) return replacing;
      const written = await write(place, replacing.text);
      if (typeof written !== 'string') return written;
      changed?.({ path: given, before: whole, after: replacing.text });
      const { lines } = replacing;
      const times = lines.length === 1 ? 'one place' : `${lines.length} places`;
      return `Edited ${place.shown} in ${times} (${describeLines(lines)}).`;
    });
  },
});

/** Anything but UTF-8 could not be written back unchanged. */
function readText(place: files.WorkspacePath, maxBytes: number): Promise<Answer> {
  return withFile(place, async (handle) => {
    const bytes = await files.readAtMost(handle, maxBytes);
    const tooLarge = `is larger than ${maxBytes} bytes: edit it with a command through the shell.`;
    if (bytes === null) return refuse(`${place.shown} ${tooLarge}`);
    if (isUtf8(bytes)) return bytes.toString();
    return refuse(`${place.shown} is not UTF-8 text: edit_file would damage it.`);
  });
}

/** A file of one letter must not cost a second. */
const countedOccurrences = 1000;

/** It never guesses: text that nearly fits is reported, not replaced. */
function replaceExactly(
  whole: string,
  shown: string,
  {
    oldText,
    newText,
    all = false,
  }: { oldText: string; newText: string; all?: boolean | undefined },
): { ok: true; text: string; lines: readonly number[] } | Refusal {
  // Models send none: they are put back where the file has them throughout.
  const hasReturns = whole.includes('\r\n') && !/(?:^|[^\r])\n/u.test(whole);
  const fitted = (part: string) => (hasReturns ? part.replace(/\r?\n/gu, '\r\n') : part);
  const wanted = fitted(oldText);
  const lines: number[] = [];
  let line = 1;
  let from = 0;
  let at = whole.indexOf(wanted);
  while (at !== -1 && (all || lines.length < countedOccurrences)) {
    line += whole.slice(from, at).split('\n').length - 1;
    lines.push(line);
    from = at;
    at = whole.indexOf(wanted, at + (all ? wanted.length : 1));
  }
  if (lines.length === 0) return refuse(explainAbsent(whole, shown, wanted));
  // A function, since "$&" would mean something.
  if (all || lines.length === 1)
    return { ok: true, text: whole.replaceAll(wanted, () => fitted(newText)), lines };
  const count =
    lines.length === countedOccurrences
      ? `at least ${lines.length}`
      : String(lines.length);
  return refuse(
    `oldText occurs ${count} times in ${shown} (${describeLines(lines)}); nothing was changed. ` +
      'Include more of the text around the one you mean, or set all: true.',
  );
}

/** Other white space is the usual reason for a miss. */
function explainAbsent(whole: string, shown: string, wanted: string): string {
  const squeeze = (line: string) => line.replace(/\s+/gu, ' ').trim();
  const wantedLines = wanted.trim().split('\n').map(squeeze);
  const lines = whole.split('\n').map(squeeze);
  const fits = (first: number) =>
    wantedLines.every((line, at) => lines[first + at] === line);
  const at =
    wantedLines.join('') === '' ? -1 : lines.findIndex((_, first) => fits(first));
  const similar =
    at === -1
      ? 'Read the file again: it may have changed.'
      : `The same words are at line ${at + 1} with other white space: copy them exactly.`;
  return `oldText does not occur in ${shown} (0 times); nothing was changed. ${similar}`;
}

function describeLines(lines: readonly number[]): string {
  const named = lines.slice(0, 20).join(', ');
  return `${lines.length === 1 ? 'line' : 'lines'} ${named}${lines.length > 20 ? ', …' : ''}`;
}

export type UsePlace = (place: files.WorkspacePath) => Promise<Answer>;

export async function inPlace(
  root: string,
  given: string,
  use: UsePlace,
): Promise<Answer> {
  const resolved = await files.resolveInside(root, given);
  return resolved.ok ? use(resolved.place) : resolved;
}

/**
 * Calls of one step run side by side: without turns the first of two edits would be lost.
 */
const inTurn = createQueue();

function inWritablePlace(root: string, given: string, use: UsePlace): Promise<Answer> {
  const work = async (place: files.WorkspacePath) => {
    const names = files.realNames(place);
    if (names.length === 0)
      return refuse(`${place.shown} is the workspace root, not a file.`);
    if (!names.some((name) => name.toLowerCase() === '.git')) return use(place);
    // Git's hooks run programs: a way around the shell's permission.
    return refuse(
      `${place.shown} belongs to git itself and is not written by file tools. Use git commands through the shell.`,
    );
  };
  return inTurn(() => inPlace(root, given, work));
}

function write(
  { existing, missing, shown }: files.WorkspacePath,
  content: string,
): Promise<Answer> {
  /** Creates folders, each inside the pinned one above it. */
  const descend = async (
    above: files.PinnedDirectory,
    real: string,
    [name = '', ...below]: readonly string[],
  ): Promise<Answer> => {
    const at = above.at(name);
    if (below.length > 0) {
      await mkdir(at).catch((error: unknown) => {
        // Somebody made it first; if it is no folder, opening it says so.
        if (errorCode(error) !== 'EEXIST') throw error;
      });
      const next = join(real, name);
      return files.withDirectory(next, (inner) => descend(inner, next, below), at);
    }
    const like = lstatSync(at, { throwIfNoEntry: false }) ?? null;
    if (like !== null && !like.isFile()) return refuse(describeUnreadable(like, shown));
    if (like !== null && (like.mode & 0o222) === 0)
      return refuse(`${shown} is marked read-only; it was not changed.`);
    replaceFile(at, content, { like });
    return like === null ? 'Created' : 'Replaced';
  };
  const isNew = missing.length > 0;
  const folder = isNew ? existing : dirname(existing);
  const names = isNew ? missing : [basename(existing)];
  // Safe: the old file is still complete.
  const explain = (error: unknown) => refuse(files.explainFileError(error, shown));
  return files
    .withDirectory(folder, (directory) => descend(directory, folder, names))
    .catch(explain);
}

export async function withFile<Result>(
  place: files.WorkspacePath,
  use: (handle: FileHandle, stats: Stats) => Promise<Result>,
): Promise<Result | Refusal> {
  if (place.missing.length > 0) return refuse(await explainMissing(place));
  if (place.existing === place.root)
    return refuse(`${place.shown} is a folder: use list_directory.`);
  try {
    const opened = await files.withRegularFile(place.existing, use);
    return opened.kind === 'file'
      ? opened.result
      : refuse(describeUnreadable(opened.stats, place.shown));
  } catch (error) {
    // Safe: the model is told and can go on.
    return refuse(files.explainFileError(error, place.shown));
  }
}

function describeUnreadable(stats: Stats, shown: string): string {
  if (stats.isDirectory()) return `${shown} is a folder: use list_directory.`;
  const other = stats.isSocket() ? 'a socket' : 'a device or a link that just changed';
  return `${shown} is ${stats.isFIFO() ? 'a named pipe' : other}, not a regular file: the file tools do not touch it.`;
}

/** As git and grep do: text has no NUL byte near its start. */
export const isBinary = (bytes: Uint8Array) => bytes.subarray(0, 8192).includes(0);

const suggestedNames = 8;

/** Names that share most letter pairs come first. */
export async function explainMissing({
  root,
  existing,
  missing,
  shown,
}: files.WorkspacePath): Promise<string> {
  const folder = displayName(relative(root, existing) || '.');
  let names: string[];
  try {
    names = await files.withDirectory(existing, ({ self }) => readdir(self));
  } catch {
    // Safe: it is true without suggestions.
    return `${shown} does not exist: ${folder} is not a folder that can be listed.`;
  }
  if (names.length === 0)
    return `${shown} does not exist: the folder ${folder} is empty.`;
  const pairsOf = (name: string) => {
    const letters = name.toLowerCase();
    return new Set(Array.from(letters.slice(1), (_, at) => letters.slice(at, at + 2)));
  };
  const wanted = pairsOf(missing[0] ?? '');
  const ranked = names.sort().map((name) => {
    const pairs = pairsOf(name);
    const shared = [...pairs].filter((pair) => wanted.has(pair)).length;
    return { name, likeness: shared / Math.max(1, pairs.size + wanted.size) };
  });
  ranked.sort((left, right) => right.likeness - left.likeness);
  const closest = ranked.slice(0, suggestedNames).map(({ name }) => displayName(name));
  const rest = names.length > suggestedNames ? ', …' : '';
  return `${shown} does not exist. The folder ${folder} contains: ${closest.join(', ')}${rest}.`;
}
