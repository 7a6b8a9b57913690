// One todo tool called over MCP: in the session that this server process works in, with the checks that a human allowed
// there, and with a receipt as the last line. Whatever goes wrong is a result that the model can read; nothing throws.
import { randomBytes } from 'node:crypto';
import { allowedProposal } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import type { Event } from '../core/events.ts';
import { isObject } from '../core/schema.ts';
import { defaultSettings, settingsForAgent } from '../core/settings.ts';
import { type State, unknownAgent, unknownHost } from '../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/host.ts';
import { readSnapshot } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import type { TodoTool } from '../tools/todo-tool.ts';
import { formatReceipt, type Place, placesOf, translateId } from './receipts.ts';

export interface TodoCallerOptions {
  /** Called once, when the store is first needed: a host that only starts its servers leaves no trace. */
  readonly open: () => Promise<{ readonly store: Store; readonly engine: Pick<Engine, 'handle'> }>;
  readonly clock: Clock;
  readonly directory: string;
  /** The client's own name, for people who look at the list of sessions. */
  readonly client: () => string | null;
}

const looking = new Set(['list_todo', 'todo_read', 'todo_verify']);

/** What the host's own todo tools planned is out of sight until the receipt of a first call was bound. */
const firstLook =
  'This is the first call, made before the session was known: if you expected todos here, call it once more.';

export function createTodoCaller({ open, clock, directory, client }: TodoCallerOptions) {
  /** 16 hex digits: enough that no two processes of a machine ever share them. */
  const server = randomBytes(8).toString('hex');
  const identifiers = createIdentifiers(clock);
  let opened: ReturnType<typeof open> | null = null;
  let known = 0;
  let lastCall = 0;
  let queue: Promise<unknown> = Promise.resolve();

  function openOnce() {
    opened ??= open().catch((error: unknown) => {
      // Safe: nothing is open yet, and the next call tries again.
      opened = null;
      throw error;
    });
    return opened;
  }

  /** Where this process works; null: no call was made yet, or the host ended that session. */
  async function find(): Promise<Place | null> {
    const { store } = await openOnce();
    const last = await placesOf(store, server).last(known);
    if (last === null) return null;
    known = last.index;
    return !last.provisional && (await isOver(store, last.sessionId)) ? null : last;
  }

  /** A provisional session is opened where there is none. */
  async function findOrOpen(): Promise<Place & { readonly isNew: boolean }> {
    const found = await find();
    if (found !== null) return { ...found, isNew: false };
    const { store, engine } = await openOnce();
    const sessionId = `mcp-${identifiers.next()}`;
    const host = { ...unknownHost, host: 'mcp', instance: `mcp-${server}`, kind: 'main', directory } as const;
    const tools = { pause: 'todo_pause', verify: 'todo_verify' };
    await engine.handle({
      type: 'session-opened',
      id: identifiers.next(),
      sessionId,
      at: clock.now(),
      descriptor: { ...host, seesTools: false, tools },
      agent: { ...unknownAgent, name: client() },
    });
    return { ...(await placesOf(store, server).add(known, sessionId, true)), isNew: true };
  }

  return {
    find,
    /** Of the session that this process works in. */
    async state(): Promise<State | null> {
      const place = await find();
      return place && (await openOnce()).store.state(place.sessionId);
    },
    async call(tool: TodoTool, input: unknown): Promise<{ readonly ok: boolean; readonly text: string }> {
      try {
        // One after the other: two calls at once must not open two sessions.
        const placed = queue.then(findOrOpen);
        // Safe: whoever asked gets the failure; the next call tries again.
        queue = placed.catch(() => null);
        const { sessionId, index, isNew } = await placed;
        const { store, engine } = await openOnce();
        // Ids carry their time, and the receipt the same one: it must be this call's alone.
        const at = Math.max(clock.now(), lastCall + 1);
        lastCall = at;
        const settings = await settingsOf(store, sessionId);
        const result = await tool.call(await translateIds(store, sessionId, input), {
          ...{ engine, store, sessionId, clock, actor: 'agent' },
          identifiers: createIdentifiers({ now: () => at }),
          resolveCheck: (proposal) => allowedProposal(settings, proposal),
        });
        const words = result.ok ? JSON.stringify(result.output) : result.error.message;
        const note = isNew && looking.has(tool.name) ? [firstLook] : [];
        const receipt = formatReceipt({ server, place: index, call: at.toString(16).padStart(12, '0') });
        return { ok: result.ok, text: [words, ...note, `receipt: ${receipt}`].join('\n') };
      } catch (error) {
        // Safe: a change of the plan is one transaction, so that nothing was applied; the model is told.
        const why = error instanceof UntildoneError ? error.message : 'Something unexpected went wrong.';
        return { ok: false, text: `${tool.name} could not be carried out and nothing changed. ${why}` };
      }
    },
    /** The process ends: a session of its own goes away with it; a host's session is the host's to close. */
    async close(): Promise<void> {
      // Safe: a store that could not be opened need not be closed.
      const last = await opened?.catch(() => null);
      if (last == null) return;
      // Safe: the plan is kept; that this process went away is a remark.
      const place = await find().catch(() => null);
      const base = { id: identifiers.next(), sessionId: place?.sessionId ?? '', at: clock.now() };
      // Safe again: see above.
      if (place?.provisional) await last.engine.handle({ ...base, type: 'session-closed' }).catch(() => null);
      await last.store.close();
    },
  };
}

/**
 * Has the host ended this session? After `/clear` the same process serves a new one, and what the new one plans must not
 * land in the old one's plan. One that was closed and opened again, or in which a human spoke since, goes on.
 */
async function isOver(store: Store, sessionId: string): Promise<boolean> {
  const state = await store.state(sessionId);
  if (state?.deleted === true) return true;
  const waiting = await store.events({ sessionId, waiting: true });
  const turns: readonly Event['type'][] = ['session-closed', 'session-opened', 'human-spoke'];
  const last = waiting.findLast(({ event }) => turns.includes(event.type));
  return last === undefined ? state?.closed === true : last.event.type === 'session-closed';
}

/** As they were at the human's last message (V2): an agent that edits the file allows itself nothing. */
async function settingsOf(store: Store, sessionId: string) {
  const { policyHash: key = null, agent } = (await store.state(sessionId)) ?? {};
  const policy = key === null ? null : readSnapshot(key, await store.policy(key));
  return policy === null ? defaultSettings : settingsForAgent(policy.settings, agent?.name ?? null);
}

/** Ids that the model learned elsewhere are replaced; anything else is left to the tool, which says what is wrong. */
async function translateIds(store: Store, sessionId: string, input: unknown): Promise<unknown> {
  const withId = async (value: unknown, key: string): Promise<unknown> => {
    if (!isObject(value) || typeof value[key] !== 'string') return value;
    return { ...value, [key]: await translateId(store, sessionId, value[key]) };
  };
  const changed = await withId(input, 'todoId');
  if (!isObject(changed) || !Array.isArray(changed['todos'])) return changed;
  return { ...changed, todos: await Promise.all(changed['todos'].map((todo) => withId(todo, 'id'))) };
}
