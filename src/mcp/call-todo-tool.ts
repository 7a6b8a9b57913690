// One todo tool called over MCP: in the session that the server works in, with the checks that a human allowed there,
// and with a receipt as the last line. Whatever goes wrong is a result that the model can read; nothing throws.
import { randomBytes } from 'node:crypto';
import { allowedProposal } from '../core/check-specs/check-specs.ts';
import { settingsForAgent } from '../core/config/agent-settings.ts';
import type { Policy } from '../core/config/policy.ts';
import { defaultSettings, type Settings } from '../core/config/settings.ts';
import { UntildoneError } from '../core/untildone-error.ts';
import type { Clock } from '../engine/clock.ts';
import type { Engine } from '../engine/engine.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers } from '../engine/system.ts';
import type { TodoTool } from '../tools/todo-tool.ts';
import type { NumberedPlace } from './places.ts';
import { formatReceipt } from './receipt.ts';
import type { ServerSession } from './server-session.ts';
import { translateIds } from './translate-ids.ts';

export interface TodoCaller {
  readonly store: Store;
  readonly engine: Pick<Engine, 'handle'>;
  readonly clock: Clock;
  readonly server: string;
  readonly session: ServerSession;
}

export interface CallResult {
  readonly ok: boolean;
  readonly text: string;
}

const looking = new Set(['list_todo', 'todo_read', 'todo_verify']);

/** What the host's own todo tools planned is out of sight until the receipt of a first call was bound. */
const firstLook =
  'This is the first call, made before the session was known: if you expected todos here, call it once more.';

/** 16 hex digits: enough that no two processes of a machine ever share them. */
export function createServerId(): string {
  return randomBytes(8).toString('hex');
}

/** The store is opened by the first call: a host that only starts its servers leaves no trace. */
export function createCall(openCaller: () => Promise<TodoCaller>) {
  let lastCall = 0;
  return async (tool: TodoTool, input: unknown): Promise<CallResult> => {
    try {
      const caller = await openCaller();
      const place = await caller.session.open();
      // Ids carry their time, and the receipt the same one: it must be this call's alone.
      lastCall = Math.max(caller.clock.now(), lastCall + 1);
      return await callIn(caller, place, lastCall, tool, input);
    } catch (error) {
      // Safe: a change of the plan is one transaction, so that nothing was applied; the model is told.
      const why = error instanceof UntildoneError ? error.message : 'Something unexpected went wrong.';
      return { ok: false, text: `${tool.name} could not be carried out and nothing changed. ${why}` };
    }
  };
}

async function callIn(
  { store, engine, clock, server }: TodoCaller,
  place: NumberedPlace & { readonly isNew: boolean },
  at: number,
  tool: TodoTool,
  input: unknown,
): Promise<CallResult> {
  const { sessionId } = place;
  const settings = await settingsOf(store, sessionId);
  const result = await tool.call(await translateIds(store, sessionId, input), {
    engine,
    store,
    sessionId,
    actor: 'agent',
    clock,
    identifiers: createIdentifiers({ ...clock, now: () => at }),
    resolveCheck: (proposal) => allowedProposal(settings, proposal),
  });
  const call = at.toString(16).padStart(12, '0');
  const receipt = formatReceipt({ server, place: place.index, call });
  const words = result.ok ? JSON.stringify(result.output) : result.error.message;
  const note = place.isNew && looking.has(tool.name) ? [firstLook] : [];
  return { ok: result.ok, text: [words, ...note, `receipt: ${receipt}`].join('\n') };
}

/** As they were at the human's last message (V2): an agent that edits the file allows itself nothing. */
async function settingsOf(store: Store, sessionId: string): Promise<Settings> {
  return store.read(async (reader) => {
    const session = await reader.session(sessionId);
    const hash = session?.policyHash ?? null;
    const text = hash === null ? null : await reader.policy(hash);
    if (session === null || text === null) return defaultSettings;
    return settingsForAgent((JSON.parse(text) as Policy).settings, session.agent.name);
  });
}
