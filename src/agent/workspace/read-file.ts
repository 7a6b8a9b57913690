// read_file: lines of a text file, numbered, a window at a time. Refuses binary files.
import type { FileHandle } from 'node:fs/promises';
import { resolveInside } from '../../checks/files.ts';
import { refuse } from '../../core/refusal.ts';
import { isBinary, withFile } from './open-file.ts';
import { defineTool, type ToolOutcome } from './tool.ts';

export const readFile = defineTool({
  name: 'read_file',
  description:
    'Reads a text file of the workspace. Each line comes as its number, a tab and its text; number and tab are not ' +
    'part of the file. Long files come in parts: the answer names the offset to go on with.',
  access: 'read',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file, relative to the workspace root.' },
      offset: { type: 'integer', minimum: 1, maximum: 1e9, description: 'The first line wanted; default 1.' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 1e6,
        description: 'How many lines at most; default 2000.',
      },
    },
    required: ['path'],
    additionalProperties: false,
  },
  async run(input, { root, limits, signal }) {
    const resolved = await resolveInside(root, input.path);
    if (!resolved.ok) return resolved;
    const { place } = resolved;
    const first = input.offset ?? 1;
    const reader = createWindow(
      first,
      input.limit ?? limits.readLines,
      limits.outputCharacters,
      limits.lineCharacters,
    );
    return withFile(place, async (handle, stats) => {
      if (stats.size === 0) return { ok: true, output: `${place.shown} is empty.` };
      const ended = await feedLines(handle, reader, signal);
      if (ended === 'binary')
        return refuse(`${place.shown} is a binary file of ${stats.size} bytes: it has no lines to show.`);
      if (ended === 'aborted') return refuse('The call was interrupted.');
      return describeWindow(reader, first, ended === 'end');
    });
  },
});

interface LineWindow {
  readonly shown: string[];
  /** Lines seen so far, in the window or before it. */
  lines: number;
  cutLines: number;
  /** False as soon as this line did not fit: nothing after it is wanted. */
  accept(line: string): boolean;
}

function createWindow(first: number, limit: number, maxCharacters: number, maxLine: number): LineWindow {
  let characters = 0;
  return {
    shown: [],
    lines: 0,
    cutLines: 0,
    accept(line) {
      const number = this.lines + 1;
      if (number >= first) {
        const text = `${number}\t${line.length > maxLine ? `${line.slice(0, maxLine)}…` : line}`;
        const full = this.shown.length >= limit || characters + text.length > maxCharacters;
        if (full && this.shown.length > 0) return false;
        if (line.length > maxLine) this.cutLines += 1;
        this.shown.push(text);
        characters += text.length + 1;
      }
      this.lines = number;
      return true;
    },
  };
}

/** Reads only as far as the window reaches and holds one line at a time, however big the file is. */
async function feedLines(
  handle: FileHandle,
  window: LineWindow,
  signal: AbortSignal,
): Promise<'end' | 'full' | 'binary' | 'aborted'> {
  const decoder = new TextDecoder();
  const chunk = Buffer.allocUnsafe(65_536);
  let rest = '';
  for (let isFirst = true; ; isFirst = false) {
    if (signal.aborted) return 'aborted';
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, null);
    const bytes = chunk.subarray(0, bytesRead);
    if (isFirst && isBinary(bytes)) return 'binary';
    const lines = (rest + decoder.decode(bytes, { stream: bytesRead > 0 })).split('\n');
    rest = lines.pop() ?? '';
    // A line of megabytes is cut in the window anyway: its tail need not be kept, its length must be.
    if (rest.length > 1_000_000) rest = rest.slice(0, 1_000_000);
    for (const line of lines)
      if (!window.accept(line.endsWith('\r') ? line.slice(0, -1) : line)) return 'full';
    if (bytesRead === 0) return rest === '' || window.accept(rest) ? 'end' : 'full';
  }
}

function describeWindow(window: LineWindow, first: number, complete: boolean): ToolOutcome {
  if (window.shown.length === 0) {
    return refuse(`The file has only ${window.lines} lines; line ${first} does not exist.`);
  }
  const cut = window.cutLines > 0 ? ` ${window.cutLines} long lines are cut (…).` : '';
  const end = complete
    ? `(End of file: ${window.lines} lines.${cut})`
    : `(The file goes on: read further with offset ${window.lines + 1}.${cut})`;
  return { ok: true, output: `${window.shown.join('\n')}\n${end}` };
}
