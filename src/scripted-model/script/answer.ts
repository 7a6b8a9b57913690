// Where does the story stand, and what comes next? The place is read off the history: the last anchored call carries
// it, and what was said after that is replayed. Memory holds only what the history cannot show.
import { isTraceless, type ModelReply } from '../model-reply.ts';
import type { ModelMessage, ModelRequest } from '../model-request.ts';
import type { KnownTodos } from '../todos/known-todos.ts';
import { readAnchor } from './anchor.ts';
import type { Chosen, Script } from './script.ts';
import { type Conversation, type Moment, readConversation } from './situation.ts';
import { encodePosition, type Position } from './step.ts';

export interface ScriptMemory {
  /** Where the history stood at the last request, and how far replies without a trace have led from there. */
  readonly basis: string;
  readonly reached: Position;
  /** Whether a reply that leaves a trace was given there. */
  readonly answered: boolean;
  /** The todos known when the latest replies were given, by serial: for histories that were trimmed. */
  readonly snapshots: ReadonlyMap<string, KnownTodos>;
}

export interface Answer {
  readonly reply: ModelReply;
  /** Where the story stands once this reply has been taken in. */
  readonly position: Position;
  readonly memory: ScriptMemory;
}

// A script of failures alone would be skipped for ever when it is replayed.
const MOST_SKIPPED = 1000;
// A client that was killed comes back with a history that lacks the last reply or two.
const MOST_SNAPSHOTS = 8;

/** A client may keep what it had received of a reply that broke off. */
function isPartOf(reply: ModelReply, said: ModelMessage): boolean {
  const text = said.text.trim();
  return said.toolCalls.length === 0 && text !== '' && (reply.text ?? '').startsWith(text);
}

function replay(script: Script, from: Position, moments: readonly Moment[]): Position {
  let position = from;
  for (const { before, said } of moments) {
    for (let skipped = 0; skipped < MOST_SKIPPED; skipped += 1) {
      const move = script.steps.next(position, before);
      if (move.kind === 'pass' || move.position === 'over') break;
      position = move.position;
      if (!isTraceless(move.reply) || isPartOf(move.reply, said)) break;
    }
  }
  return position;
}

function positionInHistory(script: Script, { moments }: Conversation): Position {
  const last = moments.findLastIndex((moment) => readAnchor(moment.said) !== undefined);
  const anchored = moments[last];
  const from = anchored ? readAnchor(anchored.said)?.position : undefined;
  return replay(script, from ?? [], moments.slice(last + 1));
}

/** The same first words again, after the story had gone on: somebody tells it anew. */
function isToldAnew(memory: ScriptMemory, { moments }: Conversation): boolean {
  return moments.length === 0 && (memory.answered || memory.basis !== '');
}

function remember(
  snapshots: ReadonlyMap<string, KnownTodos>,
  serial: string,
  todos: KnownTodos,
): ReadonlyMap<string, KnownTodos> {
  return new Map([...snapshots, [serial, todos] as const].slice(-MOST_SNAPSHOTS));
}

export function answerRequest(
  chosen: Chosen,
  request: ModelRequest,
  serial: string,
  memory?: ScriptMemory,
): Answer {
  const { script, from } = chosen;
  const conversation = readConversation(request, {
    from,
    snapshots: memory?.snapshots ?? new Map(),
    ...(script.family === undefined ? {} : { family: script.family }),
  });
  const byServer = script.cursor === 'server';
  const kept = memory && (byServer || !isToldAnew(memory, conversation)) ? memory : undefined;
  const base = byServer ? [] : positionInHistory(script, conversation);
  const basis = encodePosition(base);
  const position = kept && kept.basis === basis ? kept.reached : base;
  const snapshots = remember(kept?.snapshots ?? new Map(), serial, conversation.now.todos);

  const move = script.steps.next(position, conversation.now);
  if (move.kind === 'pass' || move.position === 'over') {
    const reply: ModelReply = move.kind === 'reply' ? move.reply : { finish: 'stop', text: 'That is all.' };
    return { reply, position, memory: { basis, reached: position, answered: true, snapshots } };
  }
  // What leaves a trace will be read off the next request; the rest only memory can tell.
  const isShown = !byServer && !isTraceless(move.reply);
  const reached = isShown ? position : move.position;
  return {
    reply: move.reply,
    position: move.position,
    memory: { basis, reached, answered: isShown, snapshots },
  };
}
