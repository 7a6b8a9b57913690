// `untildone transcript`: what our own agent, or one of its workers, said and did. It only reads. Everything in it is
// a stranger's text: it stands behind a margin, line by line, without the power to act on a terminal.

import { UntildoneError } from '../../core/error.ts';
import { stripTerminalControls } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import type { MessageKind, MessageRow } from '../../engine/host.ts';
import { readWorkers, type WorkerView } from '../../engine/worker-sessions.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatTime } from '../describe-time.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { createPaint, printJson, printWrapped, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';
import { tellingArgument } from '../show/words.ts';

/** Of one text or output; `--json` has all of it. */
const longestText = 4000;

export const transcript: Command = {
  usage: 'transcript [session] [--all] [--json]',
  about: [
    'Shows the conversation of a session of our own agent, or of one of its workers: `untildone status SESSION` lists\nthem. Sessions of other hosts have theirs in the host.',
  ],
  options: {
    all: { summary: 'Also what the system said to the model, and what was held back.' },
    ...jsonOption,
  },
  positionals: [0, 1],
  async run(given, io) {
    const found = await withStore(io, async (store) => {
      const session = await findSession(store, given.positional(0), io);
      const rows = (await store.transcript(session.id, 0)).messages;
      const entries = transcriptEntries(rows, given.has('all'));
      return { session, entries, workers: await readWorkers(store, session) };
    });
    if (found === null) throw new UntildoneError('unknown-session', noSessionsYet);
    const { session, entries, workers } = found;
    if (given.has('json')) {
      const { id, descriptor, agent } = session;
      const about = { session: id, parent: descriptor.parentId, agent: agent.name, model: agent.model };
      printJson(io, { ...about, workers, messages: entries });
    } else printWrapped(io, lines(session, entries, workers, io));
    return 0;
  },
};

function lines(
  session: Session,
  entries: readonly TranscriptEntry[],
  workers: readonly WorkerView[],
  io: Io,
): string[] {
  const { agent, descriptor } = session;
  const of = descriptor.parentId === null ? '' : `, worker of ${shortId(descriptor.parentId)}`;
  const head = `Session ${nameSession(session)}: ${shown(agent.name ?? 'unknown agent', 40)}${of}, ${shown(agent.model ?? 'unknown model', 80)}`;
  if (entries.length === 0) return [head, nothingKept(descriptor.host)];
  return [
    head,
    ...entries.flatMap((entry) => entryLines(entry, session, io)),
    ...(workers.length === 0 ? [] : ['', 'Workers: untildone transcript ID']),
    ...workers.map(({ id, agentType, title, result }) =>
      `  ${shortId(id)} ${shown(agentType, 40)}: ${result ?? 'not ended'} ${shown(title ?? '', 80)}`.trimEnd(),
    ),
  ];
}

/** Of a host we keep events and the plan, never what was said. */
function nothingKept(host: string): string {
  if (host === 'untildone') return 'No messages are kept of this session.';
  if (host === 'plan-file') return 'No messages are kept of this session: it is a plan file.';
  return `No messages are kept here: ${shown(host, 60)} has them, in its own session.`;
}

function entryLines(entry: TranscriptEntry, session: Session, io: Io): string[] {
  const paint = createPaint(io);
  const { at, text, calls, results } = entry;
  return [
    '',
    `${paint('dim', formatTime(at))}  ${paint('bold', speaker(entry, session))}`,
    ...behindMargin(text),
    ...calls.map(({ tool, input }) =>
      `  · ${shown(tool, 40)} ${shown(tellingArgument(tool, input), 120)}`.trimEnd(),
    ),
    ...results.flatMap(({ tool, ok, output }) => [
      `  ${ok ? 'ok' : paint('red', 'failed')}: ${shown(tool, 40)}`,
      ...behindMargin(output),
    ]),
  ];
}

function speaker({ kind }: TranscriptEntry, { agent, descriptor }: Session): string {
  switch (kind) {
    // A worker's orders come from the agent that sent it.
    case 'human':
      return descriptor.parentId === null ? 'human' : 'the agent that sent it';
    case 'agent':
      return shown(agent.name ?? 'agent', 40);
    case 'tools':
      return 'tools';
    case 'held':
      return `${shown(agent.name ?? 'agent', 40)}, held back`;
    default:
      return `system (${kind})`;
  }
}

function behindMargin(text: string): string[] {
  if (text.trim() === '') return [];
  const cut =
    text.length <= longestText ? text : `${text.slice(0, longestText)}\n… (cut; --json has all of it)`;
  return stripTerminalControls(cut)
    .trimEnd()
    .split('\n')
    .map((line) => `  │ ${line}`);
}

export interface TranscriptEntry {
  readonly at: number;
  readonly kind: MessageKind;
  readonly text: string;
  readonly calls: readonly { readonly tool: string; readonly input: unknown }[];
  readonly results: readonly { readonly tool: string; readonly ok: boolean; readonly output: string }[];
}

/** Said by the system, or never shown as an answer. */
const behindTheScenes: readonly MessageKind[] = ['continuation', 'note', 'held', 'summary'];

export function transcriptEntries(rows: readonly MessageRow[], all: boolean): TranscriptEntry[] {
  return withoutCopies(rows)
    .filter(({ kind }) => all || !behindTheScenes.includes(kind))
    .map(entryOf)
    .filter(({ text, calls, results }) => text !== '' || calls.length > 0 || results.length > 0);
}

/** A compaction writes what it keeps once more, in one go, behind the row that begins the window anew. */
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
  const { message } = JSON.parse(body) as { message: { content: string | readonly Part[] } };
  const parts = typeof message.content === 'string' ? [] : message.content;
  const text = typeof message.content === 'string' ? message.content : textOf(parts);
  return {
    at,
    kind,
    text: text.trim(),
    calls: parts
      .filter(({ type }) => type === 'tool-call')
      .map(({ toolName, input }) => ({ tool: toolName ?? 'unknown', input: input ?? null })),
    results: parts.filter(({ type }) => type === 'tool-result').map(resultOf),
  };
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : [])).join('\n');
}

function resultOf({ toolName, output }: Part): TranscriptEntry['results'][number] {
  const value = output?.value ?? '';
  return {
    tool: toolName ?? 'unknown',
    ok: output?.type !== 'error-text' && output?.type !== 'error-json',
    output: typeof value === 'string' ? value : JSON.stringify(value),
  };
}
