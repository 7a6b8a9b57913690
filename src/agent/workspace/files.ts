// read_file, write_file, edit_file: text files of the workspace, and what a model is told where a path leads nowhere.
// Writing puts the new content in the file's place in one step: readers see the old file or the new one, never half of
// it. It survives a crash of ours, not a power cut. Refused are binary files, what is no regular file, what is marked
// read-only, and the inside of .git.
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import {
  explainFileError,
  type PinnedDirectory,
  type Place,
  readAtMost,
  realNames,
  resolveInside,
  withDirectory,
  withRegularFile,
} from '../../checks/files.ts';
import { type Refusal, refuse } from '../../core/error.ts';
import { displayName } from '../../core/safe-text.ts';
import { described, flag, integer, optional, text } from '../../core/schema.ts';
import { errorCode, isProcessAlive } from '../../engine/system.ts';
import { defineTool, type ToolContext, type ToolOutcome } from './tool.ts';

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
        if (size === 0) return { ok: true, output: `${place.shown} is empty.` };
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(8192), 0, 8192, 0);
        if (isBinary(buffer.subarray(0, bytesRead)))
          return refuse(`${place.shown} is a binary file of ${size} bytes: it has no lines to show.`);
        return readWindow(linesOf(handle), offset, limit ?? context.limits.readLines, context);
      }),
    ),
});

async function readWindow(
  lines: AsyncIterable<readonly string[]>,
  first: number,
  limit: number,
  { signal, limits: { outputCharacters, lineCharacters } }: ToolContext,
): Promise<ToolOutcome> {
  const shown: string[] = [];
  let count = 0;
  let cutLines = 0;
  let characters = 0;
  const answer = (end: string): ToolOutcome => {
    const cut = cutLines > 0 ? ` ${cutLines} long lines are cut (…).` : '';
    return { ok: true, output: `${shown.join('\n')}\n(${end}.${cut})` };
  };
  for await (const batch of lines) {
    if (signal.aborted) return refuse('The call was interrupted.');
    for (const line of batch) {
      count += 1;
      if (count < first) continue;
      const isLong = line.length > lineCharacters;
      const numbered = `${count}\t${isLong ? `${line.slice(0, lineCharacters)}…` : line}`;
      const isFull = shown.length >= limit || characters + numbered.length > outputCharacters;
      if (isFull && shown.length > 0) return answer(`The file goes on: read further with offset ${count}`);
      if (isLong) cutLines += 1;
      shown.push(numbered);
      characters += numbered.length + 1;
    }
  }
  if (shown.length > 0) return answer(`End of file: ${count} lines`);
  return refuse(`The file has only ${count} lines; line ${first} does not exist.`);
}

/** A chunk's lines at a time: only as much is read and held as somebody takes, however big the file is. */
async function* linesOf(handle: FileHandle): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  const chunk = Buffer.allocUnsafe(65_536);
  let rest = '';
  for (let isEnd = false; !isEnd; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    isEnd = bytesRead === 0;
    const lines = (rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: !isEnd })).split('\n');
    // A line of megabytes is cut by whoever shows it: its tail need not be kept.
    rest = (lines.pop() ?? '').slice(0, 1_000_000);
    yield lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  }
  if (rest !== '') yield [rest];
}

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a whole text file of the workspace: creates it, with the folders it needs, or replaces what it holds. To ' +
    'change a part of a file use edit_file.',
  access: 'write',
  input: { path, content: described(text(), 'All that the file shall hold.') },
  run: ({ path: given, content }, { root }) =>
    inPlace(root, given, ({ existing, missing }) =>
      withPathLock([existing, ...missing].join('/'), () =>
        // Resolved again: a call that ran before this one may have created what was missing.
        inPlace(root, given, async (place) => {
          const replaced = await replaceFile(place, content);
          if (!replaced.ok) return replaced;
          const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
          const size = `${lines} ${lines === 1 ? 'line' : 'lines'}, ${Buffer.byteLength(content)} bytes`;
          const done = replaced.created ? 'Created' : 'Replaced';
          return { ok: true, output: `${done} ${place.shown} (${size}).` };
        }),
      ),
    ),
});

export const editFile = defineTool({
  name: 'edit_file',
  description:
    'Replaces a piece of text in a file of the workspace. oldText must be exactly what the file holds, white space ' +
    'included and without line numbers, and must occur once: include enough lines around it. With all: true every ' +
    'occurrence is replaced.',
  access: 'write',
  input: {
    path,
    oldText: described(text(undefined, 1), 'The exact text to replace.'),
    newText: described(text(), 'The text to put in its place; empty to delete.'),
    all: optional(described(flag, 'Replace every occurrence; default false.')),
  },
  async run({ path: given, oldText, newText, all = false }, { root, limits }) {
    if (oldText === newText) return refuse('oldText and newText are equal: there is nothing to change.');
    return inPlace(root, given, (place) =>
      withPathLock(place.existing, async () => {
        const problem = findWriteProblem(place);
        if (problem !== null) return refuse(problem);
        const read = await readText(place, limits.fileBytes);
        if (!read.ok) return read;
        const replacing = replaceExactly(read.text, { shown: place.shown, oldText, newText, all });
        if (!replacing.ok) return replacing;
        const replaced = await replaceFile(place, replacing.text);
        if (!replaced.ok) return replaced;
        const { lines } = replacing;
        const times = lines.length === 1 ? 'one place' : `${lines.length} places`;
        return { ok: true, output: `Edited ${place.shown} in ${times} (${describeLines(lines)}).` };
      }),
    );
  },
});

/** Only UTF-8: anything else could not be written back unchanged around the edit. */
function readText(place: Place, maxBytes: number): Promise<{ ok: true; text: string } | Refusal> {
  return withFile(place, async (handle) => {
    const bytes = await readAtMost(handle, maxBytes);
    const tooLarge = `is larger than ${maxBytes} bytes: edit it with a command through the shell.`;
    if (bytes === null) return refuse(`${place.shown} ${tooLarge}`);
    try {
      return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      // The file is untouched; writing it back as UTF-8 would have damaged it.
      return refuse(`${place.shown} is not UTF-8 text: edit_file would damage it.`);
    }
  });
}

/** Enough to tell a model where it is; a file of one repeated letter must not cost a second. */
const countedOccurrences = 1000;

/** It never guesses: text that only nearly fits is reported with its place, not replaced. */
function replaceExactly(
  whole: string,
  edit: { shown: string; oldText: string; newText: string; all: boolean },
): { ok: true; text: string; lines: readonly number[] } | Refusal {
  const { shown, all } = edit;
  // Models see and send lines without carriage returns: in a file that has them throughout, they are put back.
  const hasReturns = whole.includes('\r\n') && !/(?:^|[^\r])\n/u.test(whole);
  const fitted = (part: string): string => (hasReturns ? part.replace(/\r?\n/gu, '\r\n') : part);
  const wanted = fitted(edit.oldText);
  const put = (): string => fitted(edit.newText);
  const lines: number[] = [];
  let line = 1;
  let counted = 0;
  let at = whole.indexOf(wanted);
  while (at !== -1 && (all || lines.length < countedOccurrences)) {
    for (let end = whole.indexOf('\n', counted); end !== -1 && end < at; end = whole.indexOf('\n', counted)) {
      line += 1;
      counted = end + 1;
    }
    lines.push(line);
    at = whole.indexOf(wanted, at + (all ? wanted.length : 1));
  }
  if (lines.length === 0) return refuse(explainAbsent(whole, shown, wanted));
  if (all) return { ok: true, text: whole.replaceAll(wanted, put), lines };
  if (lines.length === 1) return { ok: true, text: whole.replace(wanted, put), lines };
  const count = lines.length === countedOccurrences ? `at least ${lines.length}` : String(lines.length);
  return refuse(
    `oldText occurs ${count} times in ${shown} (${describeLines(lines)}); nothing was changed. ` +
      'Include more of the text around the one you mean, or set all: true.',
  );
}

/** The same words with other white space are the usual reason for a miss. */
function explainAbsent(whole: string, shown: string, wanted: string): string {
  const squeeze = (line: string): string => line.replace(/\s+/gu, ' ').trim();
  const wantedLines = wanted.trim().split('\n').map(squeeze);
  const lines = whole.split('\n').map(squeeze);
  const fits = (first: number): boolean => wantedLines.every((line, at) => lines[first + at] === line);
  const at = wantedLines.join('') === '' ? -1 : lines.findIndex((_, first) => fits(first));
  const similar =
    at === -1
      ? 'Read the file again: it may have changed.'
      : `The same words stand at line ${at + 1} with other white space: copy them exactly.`;
  return `oldText does not occur in ${shown} (0 times); nothing was changed. ${similar}`;
}

function describeLines(lines: readonly number[]): string {
  const named = lines.slice(0, 20).join(', ');
  return `${lines.length === 1 ? 'line' : 'lines'} ${named}${lines.length > 20 ? ', …' : ''}`;
}

const lastByPath = new Map<string, Promise<unknown>>();

/**
 * One writer per file at a time. A model may call several tools in one step, and they run side by side: without this,
 * two edits of one file would both start from the old text and the first would be lost.
 */
async function withPathLock<Result>(locked: string, work: () => Promise<Result>): Promise<Result> {
  // The one before reported its own failure to its own caller; here only its end matters.
  const mine = (lastByPath.get(locked) ?? Promise.resolve()).then(work, work);
  lastByPath.set(locked, mine);
  try {
    return await mine;
  } finally {
    if (lastByPath.get(locked) === mine) lastByPath.delete(locked);
  }
}

/** Hooks and configuration of git run programs: changing them would be a way around the shell's permission. */
function findWriteProblem(place: Place): string | null {
  const names = realNames(place);
  if (names.length === 0) return `${place.shown} is the workspace root, not a file.`;
  if (!names.some((name) => name.toLowerCase() === '.git')) return null;
  return `${place.shown} belongs to git itself and is not written by file tools. Use git commands through the shell.`;
}

type Replaced = { ok: true; created: boolean } | Refusal;

async function replaceFile(place: Place, content: string): Promise<Replaced> {
  const { existing, missing, shown } = place;
  const problem = findWriteProblem(place);
  if (problem !== null) return refuse(problem);
  /** Creates the folders on the way, each one inside the pinned one above it. */
  const descend = async (
    above: PinnedDirectory,
    real: string,
    names: readonly string[],
  ): Promise<Replaced> => {
    const [name = '', ...below] = names;
    if (below.length === 0) return putInPlace(above, name, shown, content);
    await mkdir(above.at(name)).catch((error: unknown) => {
      // Somebody else made it first, which is as good; if it is not a folder, opening it says so.
      if (errorCode(error) !== 'EEXIST') throw error;
    });
    const next = join(real, name);
    return withDirectory(next, (inner) => descend(inner, next, below), above.at(name));
  };
  const isNew = missing.length > 0;
  const folder = isNew ? existing : dirname(existing);
  const names = isNew ? missing : [basename(existing)];
  try {
    return await withDirectory(folder, (directory) => descend(directory, folder, names));
  } catch (error) {
    // Every error of the file system here concerns this one path; the old file is still complete.
    return refuse(explainFileError(error, shown));
  }
}

async function putInPlace(
  directory: PinnedDirectory,
  name: string,
  shown: string,
  content: string,
): Promise<Replaced> {
  const before = await lstat(directory.at(name)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (before?.isFile() && (before.mode & 0o222) === 0)
    return refuse(`${shown} is marked read-only; it was not changed.`);
  if (before !== null && !before.isFile()) return refuse(describeUnreadable(before, shown));
  await removeLeftOvers(directory);
  const temporary = directory.at(`.untildone-${process.pid}-${randomUUID()}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const handle = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    try {
      await handle.writeFile(content);
      if (before !== null) await keepAttributes(handle, before);
    } finally {
      await handle.close();
    }
    await rename(temporary, directory.at(name));
  } catch (error) {
    await unlink(temporary);
    throw error;
  }
  return { ok: true, created: before === null };
}

/** What a killed process left behind beside the files that it was writing; those of living ones stay. */
async function removeLeftOvers(directory: PinnedDirectory): Promise<void> {
  // Safe: a left-over that stays harms nobody, and somebody else may have been faster.
  const ignore = (): string[] => [];
  for (const name of await readdir(directory.at('.')).catch(ignore)) {
    const pid = /^\.untildone-([1-9]\d*)-[\da-f-]{36}\.tmp$/u.exec(name)?.[1];
    if (pid !== undefined && !isProcessAlive(Number(pid))) await unlink(directory.at(name)).catch(ignore);
  }
}

async function keepAttributes(handle: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const now = await handle.stat();
  if (now.uid !== uid || now.gid !== gid) {
    await handle.chown(uid, gid).catch((error: unknown) => {
      // Only root may give files away; for others the file becomes theirs, as with any editor that renames.
      if (errorCode(error) !== 'EPERM') throw error;
    });
  }
  await handle.chmod(mode & 0o777);
}

/** Runs `use` with the place that a model's path names. */
export async function inPlace(
  root: string,
  given: string,
  use: (place: Place) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const resolved = await resolveInside(root, given);
  return resolved.ok ? use(resolved.place) : resolved;
}

/** Opens a regular file and puts into words, for the model, why it cannot. */
export async function withFile<Result>(
  place: Place,
  use: (handle: FileHandle, stats: Stats) => Promise<Result>,
): Promise<Result | Refusal> {
  if (place.missing.length > 0) return refuse(await explainMissing(place));
  if (place.existing === place.root) return refuse(`${place.shown} is a folder: use list_directory.`);
  try {
    const opened = await withRegularFile(place.existing, use);
    return opened.kind === 'file' ? opened.result : refuse(describeUnreadable(opened.stats, place.shown));
  } catch (error) {
    // Every error of the file system here concerns this one path; the model is told and can go on.
    return refuse(explainFileError(error, place.shown));
  }
}

function describeUnreadable(stats: Stats, shown: string): string {
  if (stats.isDirectory()) return `${shown} is a folder: use list_directory.`;
  const other = stats.isSocket() ? 'a socket' : 'a device or a link that just changed';
  return `${shown} is ${stats.isFIFO() ? 'a named pipe' : other}, not a regular file: the file tools do not touch it.`;
}

/** The rule of thumb of git and grep: text has no NUL byte near its start. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8192).includes(0);
}

const suggestedNames = 8;

/** Where a path that does not exist ends, and what is there: names that share most letter pairs come first. */
export async function explainMissing({ root, existing, missing, shown }: Place): Promise<string> {
  const folder = displayName(relative(root, existing) || '.');
  let names: string[];
  try {
    names = await withDirectory(existing, (directory) => readdir(directory.self));
  } catch {
    // The suggestions are a courtesy: that the path does not exist is true without them.
    return `${shown} does not exist: ${folder} is not a folder that can be listed.`;
  }
  if (names.length === 0) return `${shown} does not exist: the folder ${folder} is empty.`;
  const pairsOf = (name: string): Set<string> =>
    new Set(Array.from(name.toLowerCase().slice(1), (_, at) => name.toLowerCase().slice(at, at + 2)));
  const wanted = pairsOf(missing[0] ?? '');
  const likeness = (name: string): number => {
    const pairs = pairsOf(name);
    const shared = [...pairs].filter((pair) => wanted.has(pair)).length;
    return shared === 0 ? 0 : shared / (pairs.size + wanted.size);
  };
  const closest = names.sort().sort((left, right) => likeness(right) - likeness(left));
  const rest = names.length > suggestedNames ? ', …' : '';
  const listed = closest.slice(0, suggestedNames).map(displayName).join(', ');
  return `${shown} does not exist. The folder ${folder} holds: ${listed}${rest}.`;
}
