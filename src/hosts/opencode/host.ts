// What we ask OpenCode for, and how we speak to the human in it. A call that fails or
// gets no answer gives null or a sentence: it never throws.
import type { AgentDescriptor } from '../../core/events.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Clock } from '../../engine/host.ts';
import { sha256 } from '../../engine/system.ts';
import type { Notice, ToldMemory } from '../told.ts';
import type { ToldPlugin } from '../told-plugin.ts';
import {
  type Fields,
  listOf,
  readHostError,
  recordOf,
  textOf,
  withinTime,
} from '../untrusted.ts';
import type {
  ClientAnswer,
  ClientLike,
  PromptBodyLike,
  readMessage,
  readStep,
} from './translate.ts';
import { canEdit, readSession, readTodos, splitModel } from './translate.ts';

/** The host answers within milliseconds, or it is going down. */
const patienceMs = 10_000;
/** How many messages are read: ours is among the last two or three. */
const messagesRead = 20;

export type HostCalls = ReturnType<typeof createHostCalls>;
/**
 * Makes the calls to OpenCode. A call for a value gives null if it fails; any other call
 * gives null on success, and else a sentence.
 */
export function createHostCalls(client: ClientLike, clock: Clock) {
  const { session } = client;
  let agents: ReadonlyMap<string, AgentDescriptor['canWrite']> = new Map();

  async function ask(
    call: () => ClientAnswer,
  ): Promise<{ data?: unknown; error: string | null }> {
    const answer = await withinTime(clock, patienceMs, call);
    const { data, error = null } = answer.answered
      ? answer.value
      : { error: answer.error };
    const read = error === null ? null : readHostError(error, 0);
    return {
      data,
      error: read && (read.type === 'human-aborted' ? read.how : read.message),
    };
  }
  async function askList(call: () => ClientAnswer): Promise<readonly unknown[] | null> {
    const { data } = await ask(call);
    return Array.isArray(data) ? data : null;
  }
  const send = async (call: () => ClientAnswer): Promise<string | null> =>
    (await ask(call)).error;
  const read = ({ info, parts }: Fields) => ({
    info: recordOf(info),
    parts: listOf(parts).map(recordOf),
  });

  return {
    session: async (id: string) =>
      readSession((await ask(() => session.get({ path: { id } }))).data),
    async todos(id: string) {
      const todos = await askList(() => session.todo({ path: { id } }));
      return todos && readTodos(todos);
    },
    async messages(id: string) {
      const shown = await askList(() =>
        session.messages({ path: { id }, query: { limit: messagesRead } }),
      );
      return shown?.map(recordOf).map(read) ?? null;
    },
    async isIdle(id: string): Promise<boolean | null> {
      const { data, error } = await ask(() => session.status());
      // The host lists only sessions that are not idle.
      const { type = 'idle' } = recordOf(recordOf(data)[id]);
      return error === null ? type === 'idle' : null;
    },
    async canWrite(agent: string | null): Promise<AgentDescriptor['canWrite']> {
      if (agent === null) return 'unknown';
      // The agent may have been added since the last look.
      if (!agents.has(agent)) {
        const listed = await askList(() => client.app.agents());
        const entryOf = ({ name, permission }: Fields) =>
          [textOf(name) ?? '', canEdit(permission)] as const;
        if (listed !== null) agents = new Map(listed.map(recordOf).map(entryOf));
      }
      return agents.get(agent) ?? 'unknown';
    },
    prompt: (id: string, body: PromptBodyLike) =>
      send(() => session.promptAsync({ path: { id }, body })),
    show: (id: string, body: PromptBodyLike) =>
      send(() => session.prompt({ path: { id }, body: { ...body, noReply: true } })),
    abort: (id: string) => send(() => session.abort({ path: { id } })),
    async toast({ title, message, level, durationMs = 6000 }: Notice) {
      const shown = { title: oneLine(title, 80), message: oneLine(message, 500) };
      await send(() =>
        client.tui.showToast({
          body: { ...shown, variant: level, duration: durationMs },
        }),
      );
    },
  };
}

/**
 * An id of the host's shape that depends on the key alone, so that a text that is sent
 * again replaces itself (V5). The host orders by id: with `at`, the time of the decision,
 * it comes after every message of that time.
 */
export function hostId(prefix: 'msg' | 'prt', key: string, at: number): string {
  const time = BigInt.asUintN(48, BigInt(Math.max(0, Math.trunc(at))) * 4096n + 1n);
  return `${prefix}_${time.toString(16).padStart(12, '0')}${sha256(`${prefix}:${key}`).slice(0, 14)}`;
}

/** The ids of a message and its part; see `hostId`. */
export function createMessageIds(key: string, at: number) {
  return { messageId: hostId('msg', key, at), partId: hostId('prt', key, at) };
}
type MessageIds = ReturnType<typeof createMessageIds>;
type PromptPart = Omit<PromptBodyLike['parts'][number], 'id' | 'type'>;

/**
 * A message in the name of the agent that the human spoke to last: the default agent may
 * write where theirs must not (P26, V9).
 */
export function messageOf(
  { messageId, partId }: MessageIds,
  { agent }: Pick<Session, 'agent'>,
  part: PromptPart,
): PromptBodyLike {
  const speaker = {
    agent: agent.name,
    model: splitModel(agent.model),
    variant: agent.variant,
  };
  const known = Object.fromEntries(
    Object.entries(speaker).filter(([, value]) => value !== null),
  );
  return {
    messageID: messageId,
    ...known,
    parts: [{ id: partId, type: 'text', ...part }],
  };
}

/** What the plugin remembers of a session, beside what all plugins do. */
export function createMemory() {
  return {
    info: null as ReturnType<typeof readSession>,
    /** Set until the next step: idles that follow are echoes. */
    failedSinceBusy: false,
    /**
     * Set if the human aborted: the host reports an error, but the turn has not failed.
     */
    abortedSinceBusy: false,
    lastStep: null as ReturnType<typeof readStep>,
    asked: null as HostMessage | null,
    lastText: null as { messageId: string; text: string } | null,
    /** What became of the last list, until its tool call has been answered. */
    written: null as Handled | null,
    sent: null as { messageId: string; epoch: number } | null,
    // The rest is used if the host exits on idle.
    answeredSinceBusy: false,
    /** The step whose stop attempt was answered before the step ended. */
    answeredStep: null as string | null,
    fingerprint: null as { messageId: string; value: string | null } | null,
    /**
     * The empty message that keeps the host from exiting. `isWanted`: the next
     * continuation fills it.
     */
    held: null as
      | (MessageIds & { stepId: string; isWanted: boolean; text: string | null })
      | null,
    /** The step that is held if it ends without a text. */
    prepared: null as { stepId: string; session: Session } | null,
    /** We made the host exit: the abort that it reports is nobody's will. */
    leaving: false,
  };
}
type OwnMemory = ReturnType<typeof createMemory>;
export type SessionMemory = ToldMemory<OwnMemory>;
export type HostMessage = NonNullable<ReturnType<typeof readMessage>>;

export type Plugin = ToldPlugin<OwnMemory> & Readonly<{ calls: HostCalls }>;
