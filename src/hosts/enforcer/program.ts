// The program's callbacks, asked with care: in time, without an error getting through, and with everything that comes
// back read field by field. An answer of null means "not known", and then nothing is concluded from it.
import type { AgentDescriptor, SessionKind, ToolAccess } from '../../core/events.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import type { Clock } from '../../engine/clock.ts';
import type { HostListItem } from '../told/host-list.ts';
import { withinTime } from '../told/within-time.ts';
import { readId, readMessage } from './enforcer-event.ts';
import type { EnforcerMessage, EnforcerOptions } from './enforcer-options.ts';

/** Long enough for a program that asks a server, short enough for a human who waits for the countdown to end. */
const patienceMs = 5000;
/** What a program can sensibly hand over; reading more would hold up its own event loop. */
const mostMessages = 5000;
const mostTodos = 100_000;
const accesses: readonly ToolAccess[] = ['read', 'write', 'todo', 'unknown'];

export interface Program {
  todos(sessionId: string): Promise<readonly HostListItem[] | null>;
  messages(sessionId: string): Promise<readonly EnforcerMessage[] | null>;
  background(sessionId: string): Promise<number | null>;
  isIdle(sessionId: string): Promise<boolean | null>;
  kind(sessionId: string): Promise<SessionKind>;
  agentInfo(sessionId: string, agent: string | null): Promise<Pick<AgentDescriptor, 'name' | 'canWrite'>>;
  toolAccess(tool: string): ToolAccess;
}

export function createProgram(
  options: EnforcerOptions,
  clock: Clock,
  onError: (error: unknown) => void,
): Program {
  async function ask<T>(call: () => T | PromiseLike<T>): Promise<T | null> {
    const answer = await withinTime(clock, patienceMs, call);
    if (answer.answered) return answer.value;
    onError(answer.error);
    return null;
  }

  return {
    async todos(sessionId) {
      const list: unknown = await ask(async () => listOf('getTodos', await options.getTodos(sessionId)));
      return Array.isArray(list) ? list.slice(0, mostTodos).map(readTodo) : null;
    },
    async messages(sessionId) {
      const list: unknown = await ask(async () =>
        listOf('getMessages', await options.getMessages(sessionId)),
      );
      if (!Array.isArray(list)) return null;
      return list.slice(-mostMessages).flatMap((message) => readMessage(message) ?? []);
    },
    async background(sessionId) {
      const { backgroundCount } = options;
      if (backgroundCount === undefined) return null;
      const count: unknown = await ask(() => backgroundCount(sessionId));
      return typeof count === 'number' && count >= 0 ? count : null;
    },
    async isIdle(sessionId) {
      const { isIdle } = options;
      return isIdle === undefined ? null : ask(async () => (await isIdle(sessionId)) === true);
    },
    async kind(sessionId) {
      const { isSubagent, mainSession } = options;
      if (isSubagent !== undefined && (await ask(() => isSubagent(sessionId))) === true) return 'subagent';
      const main = mainSession === undefined ? null : await ask(() => mainSession());
      if (typeof main !== 'string') return 'unknown';
      return main === sessionId ? 'main' : 'other';
    },
    async agentInfo(sessionId, agent) {
      const info = await ask(() => options.agentInfo?.(sessionId, agent) ?? null);
      const canWrite = typeof info?.canWrite !== 'boolean' ? 'unknown' : info.canWrite ? 'yes' : 'no';
      return { name: readId(info?.name), canWrite };
    },
    toolAccess(tool) {
      if (options.toolAccess === undefined) return tool.toLowerCase().includes('todo') ? 'todo' : 'unknown';
      try {
        const access: unknown = options.toolAccess(tool);
        return accesses.find((known) => known === access) ?? 'unknown';
      } catch (error) {
        // Safe: a tool of which nothing is known counts as one that can write.
        onError(error);
        return 'unknown';
      }
    },
  };
}

/** What is no list says nothing, and whoever wrote the callback is told so. */
function listOf(callback: string, answer: unknown): unknown {
  if (Array.isArray(answer)) return answer;
  throw new UntildoneError('invalid-event', `${callback}: must give a list`);
}

/** A todo that is none stays in the list as one without a title: it is refused with a word, and the others apply. */
function readTodo(value: unknown): HostListItem {
  if (typeof value !== 'object' || value === null) return { content: '' };
  const { id, content, status, priority } = value as Record<string, unknown>;
  const known = readId(id);
  return {
    content: typeof content === 'string' ? content : '',
    ...(known === null ? {} : { id: known }),
    ...(typeof status === 'string' ? { status } : {}),
    ...(typeof priority === 'string' ? { priority } : {}),
  };
}
