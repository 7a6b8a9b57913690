// What the hooks of hosts that ask have in common: one JSON object with the name of the
// hook, the session and what happened → what it asks for, and our answer → what the host
// prints. A host says how its own words differ: that is its language. Pure: in other
// versions of a host any field may be missing.
import { isAbsolute } from 'node:path';
import type {
  Draft,
  Event,
  EventOf,
  Job,
  SourceKind,
  ToolAccess,
} from '../core/events.ts';
import { unknownAgent, unknownHost } from '../core/state.ts';
import type { Environment } from '../engine/policy.ts';
import type * as asked from './asked-call.ts';
import { eventBase, findReceipt, shortHash } from './asked-call.ts';
import { isReadByUs } from './project-variables.ts';
import { type Fields, nonEmptyTextOf, recordOf, textOf } from './untrusted.ts';

type BareCall = Omit<asked.HookCall, 'asks'>;
type RecordAsked = asked.AsksOf<'record'>;

export interface Payload extends BareCall, Pick<asked.HookMoment, 'environment'> {
  /** Of the subagent that made the call, inside the session of its parent. */
  readonly agentId: string | null;
  readonly fields: Fields;
}
/** Null: nothing is asked for. */
type HookReader = (payload: Payload, language: HookLanguage) => asked.HookAsks | null;

type Told = Pick<BareCall, 'hook' | 'timeout'> &
  Readonly<{ mainId: string; fields: Fields }>;
/**
 * What is not said is what a plain main session has. `directory`, `mode`: stronger than
 * what the payload names.
 */
type Described = Partial<Pick<BareCall, 'sessionId' | 'promptId'>> & {
  readonly directory?: string | undefined;
  readonly mode?: unknown;
  readonly descriptor?: Partial<BareCall['descriptor']>;
  readonly agentName?: string | null;
};

type Beside =
  | 'readList'
  | 'readUsage'
  | 'namesPrompts'
  | 'tellsUsageLate'
  | 'projectVariables'
  | 'goOn';
type OwnParts = Readonly<
  Pick<asked.AskedHost, Beside> & Partial<Pick<asked.AskedHost, 'render'>>
>;

export interface HookLanguage extends OwnParts {
  readonly host: string;
  /**
   * By the names of its hooks, with the time that they get. `init` writes exactly these.
   */
  readonly hooks: Readonly<Record<string, readonly [asked.HookTimeout, HookReader]>>;
  readonly tools: ToolLanguage;
  /**
   * What `stopped` reads. `textIn`: the field with the agent's last words. `noText`: the
   * host's own words for none.
   */
  readonly stop?: Readonly<{
    textIn?: string;
    noText?: string;
    blockCap?(payload: Payload): number | null;
    capsTurn?: true;
  }>;
  /**
   * What `prompted` reads. Default: the field `prompt`, as a human said it. `hasTasks`:
   * prompts with an `agent_id` come from another agent and are ignored.
   */
  readonly prompt?: Readonly<{
    hasTasks?: true;
    textIn?: string;
    clean?(text: string): string;
    speakerOf?(text: string): asked.Speaker;
  }>;
  describe?(call: Told, moment: asked.HookMoment): Described;
  /**
   * Set for agents' shell commands but not for hooks: first the variable that proves it,
   * then those that may hold the session id.
   */
  readonly agentCommand: readonly [
    variable: string,
    value: RegExp,
    ...sessions: string[],
  ];
  /**
   * Set for hooks but not for agents' shell commands: tells the two apart if a project
   * sets the variable of `agentCommand`.
   */
  readonly hookVariable?: string;
  /**
   * The other variables that the functions of this object read: they get no variable that
   * is not named. `host`: the host sets it for each hook, or obeys it itself, whatever
   * the project says. `anyone`: it does not count if the project sets it.
   */
  readonly variables?: Readonly<Record<string, 'host' | 'anyone'>>;
  /**
   * If this variable is set, another supported host runs our hook; its own adapter
   * answers, so we do nothing.
   */
  readonly foreignVariable?: string;
}

export const hooksOf = ({ hooks }: HookLanguage) =>
  Object.entries(hooks).map(([hook, [timeout]]) => ({ hook, timeout }));

/** It becomes a part of file names and of ids. */
export const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;
export const plainOf = (value: unknown) =>
  plainName.exec(textOf(value) ?? '')?.[0] ?? null;

export function createAskedHost(language: HookLanguage): asked.AskedHost {
  const { hooks, agentCommand, foreignVariable, hookVariable, variables = {} } = language;
  const [commandVariable, commandValue, ...sessionVariables] = agentCommand;
  const marks = [commandVariable, ...sessionVariables, hookVariable, foreignVariable];
  const named = [...marks.flatMap((name) => name ?? []), ...Object.keys(variables)];
  const isSetByHost = (name: string) =>
    variables[name] === 'host' || name === hookVariable;
  /**
   * Adapters see only variables that they name, so no variable that they read is missing
   * from the list.
   */
  const pickNamed = (environment: Environment): Environment =>
    Object.fromEntries(
      Object.entries(environment).filter(
        ([name]) => named.includes(name) || isReadByUs(name),
      ),
    );
  const { readList, projectVariables } = language;
  const rows = new Map(Object.entries(hooks));
  const stops = [...rows].flatMap(([hook, [time]]) =>
    time === 'stop' || hook === 'SubagentStop' ? hook : [],
  );
  const namedStop = new RegExp(`"hook_event_name"\\s*:\\s*"(${stops.join('|')})"`, 'u');
  const refuse = (sentence: string | null): asked.Translation => ({
    ok: false,
    sentence,
  });
  return {
    render: (answer, hook) => renderBlock(answer, hook, stops.includes(hook)),
    ...language,
    variables: named.filter((name) => !isSetByHost(name)),
    hostVariables: named.filter(isSetByHost),
    ...(readList && {
      readList: (call, environment) => readList(call, pickNamed(environment)),
    }),
    ...(projectVariables && {
      projectVariables: (directory, environment) =>
        projectVariables(directory, pickNamed(environment)),
    }),
    translate(value, given) {
      const fields = recordOf(value);
      const environment = pickNamed(given.environment);
      const moment = { ...given, environment };
      if (foreignVariable && environment[foreignVariable]) return refuse(null);
      const hook = plainOf(fields['hook_event_name']);
      const mainId = plainOf(fields['session_id']);
      if (hook === null) return refuse('The payload names no hook event.');
      if (mainId === null) return refuse('The payload names no session.');
      const row = rows.get(hook);
      if (row === undefined) return refuse(`untildone has no hook ${hook}.`);
      const [timeout, read] = row;
      const call = callOf(language, { hook, timeout, mainId, fields }, moment);
      const asks = read(
        { ...call, agentId: nonEmptyTextOf(fields['agent_id']), environment, fields },
        language,
      );
      return asks === null ? refuse(null) : { ok: true, call: { ...call, asks } };
    },
    // In UTF-16 each letter has a zero beside it. Within a quoted text the quotes would
    // have backslashes.
    findStop: (bytes) =>
      namedStop.exec(bytes.toString('latin1').replaceAll('\0', ''))?.[1] ?? null,
    agentCommandOf(variable, strangers = []) {
      if (!commandValue.test(variable(commandVariable) ?? '')) return null;
      const isHook = hookVariable !== undefined && Boolean(variable(hookVariable));
      // A hook has this variable only from the project, so it proves nothing.
      if (isHook && strangers.includes(commandVariable)) return null;
      return {
        sessionId: sessionVariables.map(variable).find((id) => id !== undefined) ?? null,
      };
    },
  };
}

function callOf(language: HookLanguage, told: Told, moment: asked.HookMoment): BareCall {
  const { hook, timeout, mainId, fields } = told;
  const own = language.describe?.(told, moment) ?? {};
  const toolNamed = (name: string) =>
    moment.toolPrefix === null ? null : `${moment.toolPrefix}${name}`;
  // Its todos land in its parent's list or are its own: its session has no plan, but its
  // stop is on the record (C4).
  const isSubagent = hook === 'SubagentStop';
  // Most hooks do without a hash, whose module takes longer to load than all else of a
  // call.
  const subagentId = () =>
    `${mainId}:${shortHash(textOf(fields['agent_id']) ?? '').slice(0, 12)}`;
  return {
    hook,
    timeout,
    at: moment.at,
    sessionId: own.sessionId ?? (isSubagent ? subagentId() : mainId),
    promptId: own.promptId === undefined ? plainOf(fields['prompt_id']) : own.promptId,
    descriptor: {
      ...unknownHost,
      host: language.host,
      instance: language.host,
      kind: isSubagent ? 'subagent' : 'main',
      parentId: isSubagent ? mainId : null,
      directory:
        [own.directory, textOf(fields['cwd'])].find((path) => path && isAbsolute(path)) ??
        null,
      tools: { pause: toolNamed('todo_pause'), verify: toolNamed('todo_verify') },
      ...own.descriptor,
    },
    // Plan mode looks and never writes: it is never continued (P26).
    agent: {
      ...unknownAgent,
      name: own.agentName ?? (isSubagent ? nonEmptyTextOf(fields['agent_type']) : null),
      canWrite: (own.mode ?? fields['permission_mode']) === 'plan' ? 'no' : 'yes',
    },
  };
}

/** At a stop and before a tool a block is a reason; elsewhere a text is more context. */
export function renderBlock(
  { text, message, refusal }: asked.HookAnswer,
  hook: string,
  isStop: boolean,
) {
  const reason = refusal ?? (isStop ? text : null);
  return {
    ...(message && { systemMessage: `untildone: ${message}` }),
    ...(reason && { decision: 'block', reason }),
    ...(!isStop &&
      text && { hookSpecificOutput: { hookEventName: hook, additionalContext: text } }),
  };
}

export function stopped(payload: Payload, { stop = {} }: HookLanguage): asked.StopAsked {
  const { fields } = payload;
  const said = textOf(fields[stop.textIn ?? 'last_assistant_message']) ?? '';
  const lastText = said === stop.noText ? '' : said.trim();
  return {
    type: 'stop',
    end: lastText === '' ? 'empty' : 'normal',
    lastText,
    isContinued: fields['stop_hook_active'] === true,
    background: jobsIn(fields['background_tasks']),
    blockCap: stop.blockCap?.(payload) ?? null,
    ...(stop.capsTurn && { capsTurn: true }),
    transcript: nonEmptyTextOf(fields['transcript_path']),
  };
}

export function subagentStopped(
  payload: Payload,
  language: HookLanguage,
): asked.StopAsked {
  return { ...stopped(payload, language), background: null, transcript: null };
}

export function prompted({ fields, agentId }: Payload, { prompt = {} }: HookLanguage) {
  const {
    textIn = 'prompt',
    clean = String,
    speakerOf = () => ({ type: 'human' }) as const,
  } = prompt;
  const text = nonEmptyTextOf(fields[textIn]);
  if (text === null || (prompt.hasTasks && agentId !== null)) return null;
  return { type: 'prompt', text: clean(text), speaker: speakerOf(text.trim()) } as const;
}

/** For payloads without an id: equal names within one second are one event. */
export function happened(
  payload: Payload,
  kind: SourceKind,
  told: Draft<Event>,
  name: string = told.type,
) {
  const base = eventBase(payload, kind, `${name}:${Math.floor(payload.at / 1000)}`);
  return { type: 'record', events: [{ ...told, ...base }] } satisfies RecordAsked;
}

export const sessionEnded = (payload: Payload) =>
  happened(payload, 'open', { type: 'session-closed' });
const compactionStarted = (payload: Payload) =>
  happened(payload, 'side', { type: 'wait-started', wait: { kind: 'compaction' } });
export const interrupted = (payload: Payload): RecordAsked => ({
  ...happened(payload, 'side', { type: 'human-aborted', how: 'interrupted' }),
  decided: true,
});

export const humanAsked = (payload: Payload): RecordAsked => ({
  ...happened(payload, 'side', { type: 'activity-seen' }),
  asksHuman: true,
});
/** Others of these kinds tell of an idle session, or of what is over. */
const asksHuman =
  /^(?:(?:worker_)?permission_prompt|elicitation_dialog|agent_needs_input)$/u;
export const notified = (payload: Payload): RecordAsked =>
  asksHuman.test(textOf(payload.fields['notification_type']) ?? '')
    ? humanAsked(payload)
    : happened(payload, 'side', { type: 'activity-seen' });

const failureKinds = new Map<string, Failure['kind']>([
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overload'],
  ['server_error', 'overload'],
]);

/** The provider failed, and the turn is over. */
export function stopFailed(payload: Payload): RecordAsked {
  const { fields } = payload;
  const error = nonEmptyTextOf(fields['error']) ?? 'unknown';
  const said =
    nonEmptyTextOf(fields['error_details']) ??
    nonEmptyTextOf(fields['last_assistant_message']) ??
    error;
  return turnFailed(payload, {
    kind: failureKinds.get(error) ?? 'other',
    signature: error.slice(0, 200),
    message: said.slice(0, 2000),
  });
}

type Failure = Pick<EventOf<'error-occurred'>, 'kind' | 'signature' | 'message'>;

export function turnFailed(payload: Payload, failure: Failure): RecordAsked {
  const seen = { question: false, fingerprint: null, background: null, toolError: null };
  const failed = happened(payload, 'failure', {
    type: 'error-occurred',
    ...failure,
    retryAt: null,
  });
  const ended = happened(payload, 'failure', {
    type: 'stop-attempted',
    end: 'error',
    ...seen,
  });
  return { type: 'record', events: [...failed.events, ...ended.events], decided: true };
}

/** Null: the host does not say. */
const jobsIn = (tasks: unknown) => (Array.isArray(tasks) ? tasks.flatMap(jobOf) : null);

function jobOf(value: unknown): Job[] {
  const task = recordOf(value);
  const id = nonEmptyTextOf(task['id']);
  if (
    id === null ||
    !['running', 'pending'].includes(nonEmptyTextOf(task['status']) ?? 'running')
  )
    return [];
  // Agents end by themselves and are waited for; anything else may be a server that never
  // does.
  const isAgent =
    /agent|teammate|workflow/u.test(textOf(task['type']) ?? '') || 'agent_type' in task;
  const kind = isAgent ? 'subagent' : 'shell';
  const description =
    nonEmptyTextOf(task['command']) ?? nonEmptyTextOf(task['description']) ?? id;
  return [{ id: id.slice(0, 200), kind, description: description.slice(0, 500) }];
}

/** After a compaction or a resume the agent is given its plan again. */
function sessionStarted(payload: Payload): asked.AsksOf<'open'> {
  const { source } = payload.fields;
  const isCompacted = source === 'compact';
  const wait = { kind: 'compaction', shrunk: true } as const;
  const { events } = happened(
    payload,
    'side',
    { type: 'wait-ended', wait },
    'compaction-ended',
  );
  const givesPlan = isCompacted || source === 'resume';
  return {
    type: 'open',
    begins: !isCompacted,
    events: isCompacted ? events : [],
    givesPlan,
  };
}

type ChangeBase = ReturnType<typeof eventBase> & { readonly actor: 'agent' };
export type PlanChange = (
  base: ChangeBase,
  input: Fields,
  response: Fields,
) => Event | null;

type ToolLanguage = Readonly<{
  /** Our own tools, as this host names them. */
  ownTool: RegExp;
  /**
   * Any other may write: to overlook work would make an honest agent look idle, the worse
   * mistake.
   */
  access: readonly (readonly [ToolAccess, RegExp])[];
  /**
   * Tools that write the whole list: where it stands in their input, the field of a
   * todo's words, where it stands in the answer.
   */
  lists?: Readonly<
    Record<string, readonly [list: string, title: string, written?: string]>
  >;
  /** Todo tools that change some of it. */
  planChanges?: Readonly<Record<string, PlanChange>>;
  /** Why a call failed that the host does not tell as failed. */
  errorOf?(payload: Payload): string | null;
  /** What the tool answered, word for word; default: the response itself. */
  resultOf?(fields: Fields): unknown;
}>;

/**
 * The host's todo tools change the plan, ours carry a receipt, everything else is work.
 */
export function toolEnded(payload: Payload, { tools }: HookLanguage): RecordAsked {
  const { hook, fields, agentId } = payload;
  const tool = nonEmptyTextOf(fields['tool_name']) ?? 'unknown';
  const callId =
    nonEmptyTextOf(fields['tool_use_id']) ?? shortHash(JSON.stringify(fields));
  const isOwn = tools.ownTool.test(tool);
  const isPlanned = [tools.lists, tools.planChanges].some(
    (named) => named && Object.hasOwn(named, tool),
  );
  const named = isPlanned || isOwn ? 'todo' : null;
  const access =
    named ?? tools.access.find(([, names]) => names.test(tool))?.[0] ?? 'unknown';
  // A subagent's call is work on its parent's plan, and says nothing of the parent's
  // turn.
  const part = (name: string) =>
    eventBase(payload, agentId === null ? 'work' : 'side', `${callId}${name}`);
  const made = { tool: tool.slice(0, 200), access };
  const input = recordOf(fields['tool_input']);
  const response = recordOf(fields['tool_response']);
  const said =
    nonEmptyTextOf(fields['error']) ??
    nonEmptyTextOf(response['error']) ??
    'The call failed.';
  const failure =
    hook === 'PostToolUseFailure' ? said : (tools.errorOf?.(payload) ?? null);
  const error = failure?.slice(0, 2000) ?? null;
  const ended = { ...part(''), ...made, type: 'tool-ended', error } as const;
  // We hear of a call when it is over; the engine counts starts against ends.
  const started = { ...part(':start'), ...made, type: 'tool-started' } as const;
  const change = { ...part(':plan'), actor: 'agent' } as const;
  const fresh = <Item>(item: Item, index: number) => ({
    ...item,
    freshId: `${change.id}:${index}`,
  });
  const items = listWritten(payload, tools)?.map(fresh);
  const written: Event | null = items ? { ...change, type: 'plan-written', items } : null;
  const changed =
    written ?? (isPlanned ? tools.planChanges?.[tool]?.(change, input, response) : null);
  const plan = changed && error === null ? [changed] : [];
  const receipt = isOwn
    ? findReceipt(tools.resultOf?.(fields) ?? fields['tool_response'])
    : null;
  const events = [...(access === 'todo' ? [] : [started]), ended, ...plan];
  return { type: 'record', events, decided: receipt !== null, receipt };
}

/** Null: none is written, or it is a subagent's own and not its parent's. */
function listWritten({ fields, agentId }: Payload, { lists = {} }: ToolLanguage) {
  const tool = textOf(fields['tool_name']) ?? '';
  const names = Object.hasOwn(lists, tool) ? lists[tool] : undefined;
  if (names === undefined || agentId !== null) return null;
  const [list, title, written] = names;
  const shown = written && recordOf(fields['tool_response'])[written];
  const todos = shown ?? recordOf(fields['tool_input'])[list];
  if (!Array.isArray(todos)) return null;
  return todos.map(recordOf).map((item) => ({
    content: textOf(item[title]) ?? '',
    status: nonEmptyTextOf(item['status']) ?? undefined,
  }));
}

/** Before a whole list is written: what it would complete may have checks (V1). */
export function completionsAsked(
  payload: Payload,
  { tools }: HookLanguage,
): asked.AsksOf<'complete'> | null {
  const items = listWritten(payload, tools) ?? [];
  return completionOf(
    ...items.map(({ content, status }) => (status === 'completed' ? content : null)),
  );
}

export function completionOf(
  ...named: readonly (string | null)[]
): asked.AsksOf<'complete'> | null {
  const todos = named.filter((one) => one !== null);
  return todos.length === 0 ? null : { type: 'complete', todos };
}

/**
 * Of hosts that took them over from Claude Code. `init` writes hooks in the order in
 * which a host names them.
 */
export const turnHooks = {
  Stop: ['stop', stopped],
  SubagentStop: ['other', subagentStopped],
  PostToolUse: ['other', toolEnded],
} as const;
export const sessionHooks = {
  UserPromptSubmit: ['other', prompted],
  SessionStart: ['other', sessionStarted],
  SessionEnd: ['other', sessionEnded],
  PreCompact: ['other', compactionStarted],
} as const;
