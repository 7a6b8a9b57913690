// `untildone transcript`: shows what our own agent, or one of its workers, said and did.
// It only reads. Every text of the conversation stands behind a margin, line by line, and
// cannot control the terminal.
import {
  type TranscriptEntry,
  transcriptEntries,
} from '../../agent/context/transcript-entries.ts';
import { stripTerminalControls } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import type { MessageKind } from '../../engine/host.ts';
import { readWorkers } from '../../engine/worker-sessions.ts';
import {
  describeAgent,
  describeWorker,
  hostTitle,
  isImported,
  nameSession,
  shortId,
} from '../describe-session.ts';
import { formatTime } from '../describe-time.ts';
import { sessionCommand } from '../find-session.ts';
import { escapeForTerminal } from '../print.ts';
import { describeCurrentState } from '../session-process.ts';
import { callResult } from '../show/event-lines.ts';
import { createPage, type Page, readTerminalStyle } from '../show/page.ts';
import { tellingArgument } from '../show/words.ts';

/** The most characters shown of one text or output; `--json` has all of it. */
const longestText = 4000;

export const transcript = sessionCommand({
  about: [
    'Shows the conversation of a session of our own agent, or of one of its workers: `untildone status SESSION` lists\nthem. Hosts, such as Claude Code, keep the conversations of their sessions themselves.',
  ],
  options: {
    all: { summary: 'Also what the system said to the model, and what was held back.' },
  },
  async answer({ given, io, store, session }) {
    const rows = (await store.transcript(session.id, 0)).messages;
    const messages = transcriptEntries(rows, given.has('all'));
    const workers = await readWorkers(store, session);
    const state = await describeCurrentState(store, session, io.clock.now());
    const { parentId, driven } = session.descriptor;
    const { name, model } = session.agent;
    const parentWords = parentId === null ? '' : `, worker of ${shortId(parentId)}`;
    const agent = driven
      ? describeAgent(session)
      : escapeForTerminal(name ?? 'unknown agent', 40);
    const who = `${agent}${parentWords}, ${escapeForTerminal(model ?? (driven ? 'its own choice of a model' : 'unknown model'), 80)}`;
    const page = createPage(readTerminalStyle(io));
    return {
      json: {
        parent: parentId,
        driven: driven?.host ?? null,
        agent: name,
        model,
        workers,
        messages,
      },
      lines: [
        `Session ${nameSession(session)}: ${who}`,
        ...(messages.length === 0 ? [describeNothingKept(session)] : []),
        ...messages.flatMap((entry) => entryLines(entry, session, page)),
        ...(workers.length === 0 ? [] : ['', 'Workers: untildone transcript ID']),
        ...workers.map((worker) => `  ${describeWorker(worker, state)}`),
      ],
    };
  },
});

/**
 * Says why there are no messages: we keep a host's events and plan, never its
 * conversation.
 */
function describeNothingKept(session: Session): string {
  const { host } = session.descriptor;
  if (host === 'untildone') return 'No messages are kept of this session.';
  if (isImported(session)) return 'There is no conversation: this is an imported plan.';
  return `The conversation is not kept here: ${escapeForTerminal(host, 60)} has it, in its own session.`;
}

function entryLines(
  { at, kind, text, calls, results }: TranscriptEntry,
  session: Session,
  page: Page,
): string[] {
  const { paint, signs } = page;
  return [
    '',
    `${paint('dim', formatTime(at))}  ${paint('bold', speaker(kind, session))}`,
    ...behindMargin(text),
    ...calls.map(({ tool, input }) =>
      `  ${signs.call} ${escapeForTerminal(tool, 40)} ${escapeForTerminal(tellingArgument(tool, input), 120)}`.trimEnd(),
    ),
    ...results.flatMap(({ tool, ok, output }) => [
      `  ${escapeForTerminal(tool, 40)} ${callResult(page, { ok, output, milliseconds: 0 }, [], false)}`,
      ...behindMargin(output),
    ]),
  ];
}

function speaker(kind: MessageKind, { agent, descriptor }: Session): string {
  const { driven } = descriptor;
  const name = driven
    ? hostTitle(driven.host)
    : escapeForTerminal(agent.name ?? 'agent', 40);
  const names: Readonly<Record<MessageKind, string>> = {
    // A worker gets its orders from the agent that sent it.
    human: descriptor.parentId === null ? 'you' : 'the agent that sent it',
    agent: name,
    tools: 'tools',
    held: `${name}, held back`,
    continuation: 'untildone, sending it back to work',
    note: 'untildone, a note',
    summary: 'untildone, a summary of what came before',
  };
  return names[kind];
}

function behindMargin(text: string): string[] {
  if (text.trim() === '') return [];
  const cut =
    text.length <= longestText
      ? text
      : `${text.slice(0, longestText)}\n… (cut; --json has all of it)`;
  return stripTerminalControls(cut)
    .trimEnd()
    .split('\n')
    .map((line) => `  │ ${line}`);
}
