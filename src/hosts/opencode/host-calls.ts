// What the plugin asks of its host, as plain values. A call that fails or does not answer gives null or a sentence:
// the host's trouble is never thrown at whoever asked.
import type { Knowledge } from '../../core/events.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { Clock } from '../../engine/clock.ts';
import { withinTime } from '../told/within-time.ts';
import { canEdit } from './agent-access.ts';
import { type Fields, listOf, recordOf, textOf } from './payload.ts';
import type { ClientAnswer, ClientLike, PromptBodyLike } from './plugin-types.ts';
import { type HostTodo, readSession, readTodos, type SessionInfo } from './translate.ts';

/** The host answers within milliseconds; one that does not is going down or hangs. */
const patienceMs = 10_000;
/** The newest messages; ours is among the last two or three. */
const messagesRead = 20;

export interface ShownMessage {
  readonly info: Fields;
  readonly parts: readonly Fields[];
}

export interface HostCalls {
  session(id: string): Promise<SessionInfo | null>;
  todos(id: string): Promise<readonly HostTodo[] | null>;
  /** Oldest first. */
  messages(id: string): Promise<readonly ShownMessage[] | null>;
  /** Null: it cannot be told. */
  isIdle(id: string): Promise<boolean | null>;
  canWrite(agent: string | null): Promise<Knowledge>;
  /** Null: taken. */
  prompt(id: string, body: PromptBodyLike): Promise<string | null>;
  /** Shows a message without asking the model. */
  show(id: string, body: PromptBodyLike): Promise<string | null>;
  /** Ends what the session does, and with it a host that leaves on idle. */
  abort(id: string): Promise<void>;
  toast(toast: {
    title: string;
    message: string;
    level: 'info' | 'warning';
    durationMs: number;
  }): Promise<void>;
}

export function createHostCalls(client: ClientLike, clock: Clock): HostCalls {
  let agents: ReadonlyMap<string, Knowledge> | null = null;

  async function ask(
    call: () => ClientAnswer,
  ): Promise<{ ok: true; data: unknown } | { ok: false; error: string }> {
    const answer = await withinTime(clock, patienceMs, call);
    if (!answer.answered) return { ok: false, error: sentenceOf(answer.error) };
    const { data, error } = answer.value;
    return error === undefined || error === null
      ? { ok: true, data }
      : { ok: false, error: sentenceOf(error) };
  }

  async function readAgents(): Promise<ReadonlyMap<string, Knowledge> | null> {
    const answer = await ask(() => client.app.agents());
    if (!answer.ok || !Array.isArray(answer.data)) return null;
    const entries = answer.data.map(recordOf).flatMap(({ name, permission }) => {
      const known = textOf(name);
      return known === null ? [] : [[known, canEdit(permission)] as const];
    });
    return new Map(entries);
  }

  return {
    async session(id) {
      const answer = await ask(() => client.session.get({ path: { id } }));
      return answer.ok ? readSession(answer.data) : null;
    },
    async todos(id) {
      const answer = await ask(() => client.session.todo({ path: { id } }));
      return answer.ok && Array.isArray(answer.data) ? readTodos(answer.data) : null;
    },
    async messages(id) {
      const answer = await ask(() =>
        client.session.messages({ path: { id }, query: { limit: messagesRead } }),
      );
      if (!answer.ok || !Array.isArray(answer.data)) return null;
      return answer.data.map(recordOf).map(({ info, parts }) => ({
        info: recordOf(info),
        parts: listOf(parts).map(recordOf),
      }));
    },
    async isIdle(id) {
      // The host lists only sessions that are not idle.
      const answer = await ask(() => client.session.status());
      if (!answer.ok) return null;
      const { type } = recordOf(recordOf(answer.data)[id]);
      return type === undefined || type === 'idle';
    },
    async canWrite(agent) {
      if (agent === null) return 'unknown';
      // An agent that is not known may have been added since.
      if (agents?.has(agent) !== true) agents = (await readAgents()) ?? agents;
      return agents?.get(agent) ?? 'unknown';
    },
    async prompt(id, body) {
      const answer = await ask(() => client.session.promptAsync({ path: { id }, body }));
      return answer.ok ? null : answer.error;
    },
    async show(id, body) {
      const answer = await ask(() =>
        client.session.prompt({ path: { id }, body: { ...body, noReply: true } }),
      );
      return answer.ok ? null : answer.error;
    },
    async abort(id) {
      await ask(() => client.session.abort({ path: { id } }));
    },
    async toast({ title, message, level, durationMs }) {
      const body = {
        title: oneLine(title, 80),
        message: oneLine(message, 500),
        variant: level,
        duration: durationMs,
      };
      await ask(() => client.tui.showToast({ body }));
    },
  };
}

function sentenceOf(error: unknown): string {
  const fields = recordOf(error);
  const message =
    textOf(fields['message']) ?? textOf(recordOf(fields['data'])['message']) ?? textOf(fields['name']);
  return oneLine(message ?? (error instanceof Error ? error.message : String(error)), 300);
}
