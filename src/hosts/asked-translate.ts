// What the hooks of hosts that ask have in common: one JSON object with the name of the hook, the session and what happened
// → what it asks for. A host says how its own words differ. Pure: in other versions of a host any field may be missing.
import { isAbsolute } from 'node:path';
import type { Event, EventOf, Job, SourceKind, ToolAccess } from '../core/events.ts';
import { unknownAgent, unknownHost } from '../core/state.ts';
import type { AskedHost, HookAnswer, HookAsks, HookCall, HookMoment, HookTimeout } from './asked-call.ts';
import { eventBase, findReceipt, shortHash, type Translation } from './asked-call.ts';
import { type Fields, recordOf } from './untrusted.ts';

export interface Payload extends Omit<HookCall, 'asks'>, Pick<HookMoment, 'environment'> {
  /** Of the subagent that made the call, inside the session of its parent. */
  readonly agentId: string | null;
  readonly fields: Fields;
}
/** Null: nothing is asked for. */
export type HookReader = (payload: Payload) => HookAsks | null;

/** What is not said is what a plain main session has. `directory`: stronger than the one that the payload names. */
type Described = Readonly<{
  sessionId?: string;
  promptId?: string | null;
  agentId?: string | null;
  directory?: string | undefined;
  descriptor?: Partial<HookCall['descriptor']>;
  agent?: Partial<HookCall['agent']>;
}>;

export type HookLanguage = Readonly<{
  host: string;
  /** By the names of its hooks, with the time that they get. `init` writes exactly these. */
  hooks: Readonly<Record<string, readonly [HookTimeout, HookReader]>>;
  describe?(call: Readonly<{ hook: string; mainId: string; fields: Fields }>, moment: HookMoment): Described;
}>;

export const hooksOf = ({ hooks }: HookLanguage) =>
  Object.entries(hooks).map(([hook, [timeout]]) => ({ hook, timeout }));

/** It becomes a part of file names and of ids. */
export const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;
export const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
export const plainOf = (value: unknown) => plainName.exec(textOf(value) ?? '')?.[0] ?? null;

export function createTranslate(language: HookLanguage): AskedHost['translate'] {
  const rows = new Map(Object.entries(language.hooks));
  const refuse = (sentence: string | null): Translation => ({ ok: false, sentence });
  return (value, moment) => {
    const { at, environment, toolPrefix } = moment;
    const fields = recordOf(value);
    const [hook, mainId] = [plainOf(fields['hook_event_name']), plainOf(fields['session_id'])];
    if (hook === null) return refuse('The payload names no hook event.');
    if (mainId === null) return refuse('The payload names no session.');
    const row = rows.get(hook);
    if (row === undefined) return refuse(`untildone has no hook ${hook}.`);
    const [timeout, read] = row;
    const own = language.describe?.({ hook, mainId, fields }, moment) ?? {};
    const toolNamed = (name: string) => (toolPrefix === null ? null : `${toolPrefix}${name}`);
    const call: Omit<HookCall, 'asks'> = {
      ...{ hook, at, timeout, sessionId: own.sessionId ?? mainId },
      promptId: own.promptId === undefined ? plainOf(fields['prompt_id']) : own.promptId,
      descriptor: {
        ...unknownHost,
        ...{ host: language.host, instance: language.host, kind: 'main' },
        directory: [own.directory, textOf(fields['cwd'])].find((path) => path && isAbsolute(path)) ?? null,
        tools: { pause: toolNamed('todo_pause'), verify: toolNamed('todo_verify') },
        ...own.descriptor,
      },
      // Plan mode looks and never writes: it is never continued (P26).
      agent: {
        ...unknownAgent,
        canWrite: fields['permission_mode'] === 'plan' ? 'no' : 'yes',
        ...own.agent,
      },
    };
    const asks = read({ ...call, agentId: own.agentId ?? null, environment, fields });
    return asks === null ? refuse(null) : { ok: true, call: { ...call, asks } };
  };
}

/** The hook, if bytes that cannot be read as a payload are about a stop. */
export function createFindStop({ hooks }: HookLanguage): AskedHost['findStop'] {
  const names = Object.keys(hooks).filter((hook) => hooks[hook]?.[0] === 'stop' || hook === 'SubagentStop');
  const named = new RegExp(`"hook_event_name"\\s*:\\s*"(${names.join('|')})"`, 'u');
  // In UTF-16 each letter has a zero beside it. Within a quoted text the quotes would have backslashes.
  return (bytes) => named.exec(bytes.toString('latin1').replaceAll('\0', ''))?.[1] ?? null;
}

/** As most hosts want it. At a stop and before a tool a block is a reason; elsewhere a text is more context. */
export function renderBlock({ text, message, refusal }: HookAnswer, isStop: boolean, hook: string): object {
  const reason = refusal ?? (isStop ? text : null);
  return {
    ...(message && { systemMessage: `untildone: ${message}` }),
    ...(reason && { decision: 'block', reason }),
    ...(!isStop && text && { hookSpecificOutput: { hookEventName: hook, additionalContext: text } }),
  };
}

/** For what has no id: what repeats within the same second is one happening. */
export const momentBase = (payload: Payload, kind: SourceKind, name: string) =>
  eventBase(payload, kind, `${name}:${Math.floor(payload.at / 1000)}`);

type Plain =
  | { type: 'session-closed' | 'activity-seen' }
  | Pick<EventOf<'wait-started'>, 'type' | 'wait'>
  | Pick<EventOf<'wait-ended'>, 'type' | 'wait'>;

/** A hook that only says that something happened. */
export function recorded(kind: SourceKind, plain: Plain): HookReader {
  return (payload) => {
    const event = { ...momentBase(payload, kind, plain.type), ...plain };
    return { type: 'record', events: [event] };
  };
}
export const compactionStarted = recorded('side', { type: 'wait-started', wait: { kind: 'compaction' } });

/** Others of these kinds tell of an idle session, or of what is over. */
const humanIsAsked = /^(?:(?:worker_)?permission_prompt|elicitation_dialog|agent_needs_input)$/u;

export function notified(payload: Payload): HookAsks {
  const event = { ...momentBase(payload, 'side', 'activity-seen'), type: 'activity-seen' } as const;
  const kind = textOf(payload.fields['notification_type']) ?? '';
  return { type: 'record', events: [event], ...(humanIsAsked.test(kind) && { asksHuman: true }) };
}

/** The provider failed, and the turn is over. */
export function stopFailed(payload: Payload): HookAsks {
  const { fields } = payload;
  const error = textOf(fields['error']) ?? 'unknown';
  const said = textOf(fields['error_details']) ?? textOf(fields['last_assistant_message']) ?? error;
  const isOverload = error === 'overloaded' || error === 'server_error';
  const kind = error === 'rate_limit' ? 'rate-limit' : isOverload ? 'overload' : 'other';
  const words = { signature: error.slice(0, 200), message: said.slice(0, 2000) };
  const seen = { question: false, fingerprint: null, background: null, toolError: null };
  const events: Event[] = [
    { ...momentBase(payload, 'failure', 'error'), type: 'error-occurred', kind, ...words, retryAt: null },
    { ...momentBase(payload, 'failure', 'stop'), type: 'stop-attempted', end: 'error', ...seen },
  ];
  return { type: 'record', events, decided: true };
}

/** Null: the host does not say. */
export const jobsIn = (tasks: unknown) => (Array.isArray(tasks) ? tasks.flatMap(jobOf) : null);

function jobOf(value: unknown): Job[] {
  const task = recordOf(value);
  const id = textOf(task['id']);
  if (id === null || !['running', 'pending'].includes(textOf(task['status']) ?? 'running')) return [];
  // Agents end by themselves and are waited for; anything else may be a server that never does.
  const isAgent = /agent|teammate|workflow/u.test(textOf(task['type']) ?? '') || 'agent_type' in task;
  const kind = isAgent ? 'subagent' : 'shell';
  const description = textOf(task['command']) ?? textOf(task['description']) ?? id;
  return [{ id: id.slice(0, 200), kind, description: description.slice(0, 500) }];
}

/** After a compaction or a resume the agent is given its plan again. */
export const sessionStarted: HookReader = (payload) => {
  const { source } = payload.fields;
  const isCompacted = source === 'compact';
  const wait = { kind: 'compaction', shrunk: true } as const;
  const ended: Event = { ...momentBase(payload, 'side', 'compaction-ended'), type: 'wait-ended', wait };
  const givesPlan = isCompacted || source === 'resume';
  return { type: 'open', begins: !isCompacted, events: isCompacted ? [ended] : [], givesPlan };
};

export type PlanChange = (
  base: ReturnType<typeof eventBase> & { readonly actor: 'agent' },
  input: Fields,
  response: Fields,
) => Event | null;

export type ToolLanguage = Readonly<{
  /** Our own tools, as this host names them. */
  ownTool: RegExp;
  /** Any other may write: to overlook work would make an honest agent look idle, the worse mistake. */
  access: readonly (readonly [ToolAccess, RegExp])[];
  /** By the names of the host's own todo tools. */
  planChanges: Readonly<Record<string, PlanChange>>;
  /** Why the call failed; null: it did not. */
  errorOf(payload: Payload): string | null;
  /** The list is the subagent's own and not its parent's. */
  isForeign?(tool: string, payload: Payload): boolean;
  /** What our own tool answered, word for word; default: the response itself. */
  ownResult?(response: Fields): unknown;
}>;

/** The host's todo tools change the plan, ours carry a receipt, everything else is work. */
export function toolEnded(language: ToolLanguage): HookReader {
  const planChanges = new Map(Object.entries(language.planChanges));
  return (payload) => {
    const { fields, agentId } = payload;
    const tool = textOf(fields['tool_name']) ?? 'unknown';
    const callId = textOf(fields['tool_use_id']) ?? shortHash(JSON.stringify(fields));
    const isOwn = language.ownTool.test(tool);
    const named = planChanges.has(tool) || isOwn ? 'todo' : null;
    const access = named ?? language.access.find(([, names]) => names.test(tool))?.[0] ?? 'unknown';
    // A subagent's call is work on its parent's plan, and says nothing of the parent's turn.
    const part = (name: string) => eventBase(payload, agentId === null ? 'work' : 'side', `${callId}${name}`);
    const made = { tool: tool.slice(0, 200), access };
    const error = language.errorOf(payload)?.slice(0, 2000) ?? null;
    const ended = { ...part(''), ...made, type: 'tool-ended', error } as const;
    // We hear of a call when it is over; the engine counts starts against ends.
    const started = { ...part(':start'), ...made, type: 'tool-started' } as const;
    const isForeign = error !== null || (language.isForeign?.(tool, payload) ?? false);
    const change = { ...part(':plan'), actor: 'agent' } as const;
    const response = recordOf(fields['tool_response']);
    const readChange = isForeign ? undefined : planChanges.get(tool);
    const changed = readChange?.(change, recordOf(fields['tool_input']), response) ?? null;
    const events: Event[] = [...(access === 'todo' ? [] : [started]), ended, ...(changed ? [changed] : [])];
    const result = language.ownResult?.(response) ?? fields['tool_response'];
    const receipt = isOwn ? findReceipt(result) : null;
    return { type: 'record', events, decided: receipt !== null, receipt };
  };
}

/** A tool that writes the whole list. @param list where it stands @param title the field of an item's words */
export function wholeList(list: string, title: string): PlanChange {
  return (base, input) => {
    const items = listedItems(input[list], title);
    if (items === null) return null;
    return {
      ...base,
      type: 'plan-written',
      items: items.map((item, index) => ({ ...item, freshId: `${base.id}:${index}` })),
    };
  };
}

function listedItems(todos: unknown, title: string) {
  if (!Array.isArray(todos)) return null;
  return todos.map(recordOf).map((item) => ({
    content: textOf(item[title]) ?? '',
    status: textOf(item['status']) ?? undefined,
  }));
}

/** Before a whole list is written: what it would complete may have checks (V1). */
export function completionsAsked(lists: Readonly<Record<string, readonly [string, string]>>): HookReader {
  return ({ fields }) => {
    const [list, title] = lists[textOf(fields['tool_name']) ?? ''] ?? [];
    const items = list && title ? listedItems(recordOf(fields['tool_input'])[list], title) : null;
    const titles = (items ?? []).flatMap(({ content, status }) => (status === 'completed' ? content : []));
    return titles.length === 0 ? null : { type: 'complete', todos: titles };
  };
}
