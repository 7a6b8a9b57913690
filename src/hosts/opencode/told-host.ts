// OpenCode as the engine's host: puts a continuation into a session, looks it up afterwards, and reads the host's own
// list. Agent, model and variant are always those of the last human message: without them the host would take its
// default agent, which may write where the human's must not (P26, V9).
import type { Event } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import type { OutgoingText, ToldHost } from '../../engine/host.ts';
import type { HostList } from '../told/host-list.ts';
import type { HostCalls, ShownMessage } from './host-calls.ts';
import { hostId } from './message-id.ts';
import { type Fields, recordOf } from './payload.ts';
import type { PromptBodyLike } from './plugin-types.ts';
import { rememberSent, type SessionMemory, type Speaker } from './session-memory.ts';
import { splitModel } from './translate-message.ts';

export interface OpenCodeHostOptions {
  readonly calls: HostCalls;
  readonly list: HostList;
  /** Known at once, before any record: the human stopped this session and has not spoken since (P19). */
  readonly isStopped: (sessionId: string) => boolean;
  readonly memoryOf: (sessionId: string) => SessionMemory;
  readonly notify: ToldHost['notify'];
}

export function createOpenCodeHost(options: OpenCodeHostOptions): ToldHost {
  const { calls, list, isStopped, memoryOf } = options;
  return {
    async inject(outgoing) {
      const { session, epoch } = outgoing;
      const memory = memoryOf(session.id);
      const place = placeOf(outgoing, memory);
      rememberSent(memory, place.messageId, epoch);
      // The last look, with nothing between it and the call.
      if (isStopped(session.id)) return { taken: false, error: 'the human stopped the agent' };
      const error = await calls.prompt(session.id, continuationBody(outgoing, place));
      return error === null ? { taken: true } : { taken: false, error };
    },
    async find(outgoing) {
      const messages = await calls.messages(outgoing.session.id);
      if (messages === null) return 'unknown';
      const ours = messages.find(({ parts }) => parts.some((part) => keyOf(part) === outgoing.key));
      if (ours === undefined) return 'absent';
      if (messages.some((message) => answers(message, ours))) return 'present';
      // Kept but given to no model yet. Where nothing runs, the host died or was stopped in between, and sending it
      // again replaces it; where something does, it may be about to.
      return (await calls.isIdle(outgoing.session.id)) === true ? 'absent' : 'unknown';
    },
    isIdle: async (sessionId) => (await calls.isIdle(sessionId)) ?? false,
    readPlan: (session) => readHostPlan(calls, list, session.id),
    notify: options.notify,
  };
}

export async function readHostPlan(
  calls: HostCalls,
  list: HostList,
  sessionId: string,
): Promise<Event | null> {
  const todos = await calls.todos(sessionId);
  return todos === null ? null : list.read(sessionId, todos);
}

interface Place {
  readonly messageId: string;
  readonly partId: string;
}

/** The same for the same continuation, so that sending it again replaces it; or the place that was kept for it. */
function placeOf({ key, session, text }: OutgoingText, { held }: SessionMemory): Place {
  if (held?.isWanted) {
    held.text = text;
    return held;
  }
  const at = session.injection?.at ?? session.updatedAt;
  return { messageId: hostId('msg', key, at), partId: hostId('prt', key, at) };
}

function continuationBody(
  { key, session, text }: OutgoingText,
  { messageId, partId }: Place,
): PromptBodyLike {
  const metadata = { untildone: { key } };
  return {
    messageID: messageId,
    ...speakerOf(session),
    parts: [{ id: partId, type: 'text', text, synthetic: true, metadata }],
  };
}

function keyOf(part: Fields): unknown {
  return recordOf(recordOf(part['metadata'])['untildone'])['key'];
}

export function speakerOf({ agent }: Session): Speaker {
  const model = splitModel(agent.model);
  return {
    ...(agent.name === null ? {} : { agent: agent.name }),
    ...(model === null ? {} : { model }),
    ...(agent.variant === null ? {} : { variant: agent.variant }),
  };
}

/** A step that brought nothing, not even an error, may never have reached the model. */
function answers({ info, parts }: ShownMessage, ours: ShownMessage): boolean {
  if (info['role'] !== 'assistant' || info['parentID'] !== ours.info['id']) return false;
  return (
    parts.length > 0 || typeof info['finish'] === 'string' || Object.keys(recordOf(info['error'])).length > 0
  );
}
