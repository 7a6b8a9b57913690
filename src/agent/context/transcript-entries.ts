// The conversation that history.ts keeps, as entries for people: who said what, which
// tools were called, what came of it.
import type { MessageKind, MessageRow } from '../../engine/host.ts';
import { isFailedCommand } from '../workspace/shell.ts';

export interface TranscriptEntry {
  readonly at: number;
  readonly kind: MessageKind;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[];
  /** `ok` false: an error, or a command that exited with another status than 0. */
  readonly results: readonly {
    readonly tool: string;
    readonly ok: boolean;
    readonly output: string;
  }[];
}

/** Said by the system, or never shown as an answer. */
const behindTheScenes: readonly MessageKind[] = [
  'continuation',
  'note',
  'held',
  'summary',
];

/** `all`: also what the system said to the model, and what was held back. */
export function transcriptEntries(
  rows: readonly MessageRow[],
  all: boolean,
): TranscriptEntry[] {
  return withoutCopies(rows)
    .filter(({ kind }) => all || !behindTheScenes.includes(kind))
    .map(entryOf)
    .filter(
      ({ text, calls, results }) => text !== '' || calls.length > 0 || results.length > 0,
    );
}

/**
 * A compaction writes what it keeps once more, in one go, behind the row that begins the
 * window anew.
 */
function withoutCopies(rows: readonly MessageRow[]): MessageRow[] {
  let copiedAt: number | null = null;
  return rows.filter(({ body, at, kind }) => {
    if ((JSON.parse(body) as { cut?: boolean }).cut === true) copiedAt = at;
    else if (at !== copiedAt) copiedAt = null;
    return copiedAt === null || kind === 'summary';
  });
}

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: { readonly type?: string; readonly value?: unknown };
}

function entryOf({ at, kind, body }: MessageRow): TranscriptEntry {
  const { message } = JSON.parse(body) as {
    message: { content: string | readonly Part[] };
  };
  const parts = typeof message.content === 'string' ? [] : message.content;
  const text = typeof message.content === 'string' ? message.content : textOf(parts);
  return {
    at,
    kind,
    text: text.trim(),
    calls: parts
      .filter(({ type }) => type === 'tool-call')
      .map(({ toolName, input }) => ({
        tool: toolName ?? 'unknown',
        input: input ?? null,
      })),
    results: parts.filter(({ type }) => type === 'tool-result').map(resultOf),
  };
}

function textOf(parts: readonly Part[]): string {
  return parts
    .flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []))
    .join('\n');
}

function resultOf({ toolName, output }: Part): TranscriptEntry['results'][number] {
  const value = output?.value ?? '';
  const printed = typeof value === 'string' ? value : JSON.stringify(value);
  const tool = toolName ?? 'unknown';
  return {
    tool,
    ok:
      output?.type !== 'error-text' &&
      output?.type !== 'error-json' &&
      !isFailedCommand(tool, printed),
    output: printed,
  };
}
