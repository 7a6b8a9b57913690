// Translates the hooks of hosts that ask us at a stop: from one JSON object (the name of
// the hook, the session, what happened) to what it asks for, and from our answer to what
// the host prints. A host says how its words differ, in a `HookLanguage`. Pure. Other
// versions of a host may leave any field out.
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

/** A payload whose session, turn and agent are known. */
export interface Payload extends BareCall, Pick<asked.HookMoment, 'environment'> {
  /**
   * The subagent that made the call, inside the session of its parent; null: the main
   * agent.
   */
  readonly agentId: string | null;
  readonly fields: Fields;
}
/** Reads what a payload asks for; null: nothing. */
type HookReader = (payload: Payload, language: HookLanguage) => asked.HookAsks | null;

type PayloadFacts = Pick<BareCall, 'hook' | 'timeout'> &
  Readonly<{ mainId: string; fields: Fields }>;
/**
 * How a host describes its session, as far as it differs from a plain main session.
 * `directory` and `mode` win over what the payload names.
 */
type SessionFacts = Partial<Pick<BareCall, 'sessionId' | 'promptId'>> & {
  readonly directory?: string | undefined;
  readonly mode?: unknown;
  readonly descriptor?: Partial<BareCall['descriptor']>;
  readonly agentName?: string | null;
};

type OptionalParts =
  | 'readList'
  | 'readUsage'
  | 'namesPrompts'
  | 'tellsUsageLate'
  | 'projectVariables'
  | 'goOn';
type OwnParts = Readonly<
  Pick<asked.AskedHost, OptionalParts> & Partial<Pick<asked.AskedHost, 'render'>>
>;

/** How the words of a host differ from those of the others. */
export interface HookLanguage extends OwnParts {
  readonly host: string;
  /**
   * Time limit and reader of each hook, by its name. `init` writes exactly these hooks.
   */
  readonly hooks: Readonly<Record<string, readonly [asked.HookTimeout, HookReader]>>;
  readonly tools: ToolLanguage;
  /**
   * What `stopped` reads. `textIn`: the field with the agent's last words. `noText`: the
   * words that the host puts there if the agent said nothing.
   */
  readonly stop?: Readonly<{
    textIn?: string;
    noText?: string;
    blockCap?(payload: Payload): number | null;
    capsTurn?: true;
  }>;
  /**
   * What `prompted` reads; by default the field `prompt`, as words of a human.
   * `hasTasks`: a prompt with an `agent_id` comes from another agent and is ignored.
   */
  readonly prompt?: Readonly<{
    hasTasks?: true;
    textIn?: string;
    clean?(text: string): string;
    speakerOf?(text: string): asked.Speaker;
  }>;
  describe?(call: PayloadFacts, moment: asked.HookMoment): SessionFacts;
  /**
   * Variables that the host sets for shell commands of its agent but not for hooks: first
   * the one that proves it, with its value, then those that may hold the session id.
   */
  readonly agentCommand: readonly [
    variable: string,
    value: RegExp,
    ...sessions: string[],
  ];
  /**
   * A variable that the host sets for hooks but not for shell commands of its agent. It
   * tells the two apart if a project sets the variable of `agentCommand`.
   */
  readonly hookVariable?: string;
  /**
   * All other variables that the functions of this object read; they see no variable that
   * is not named. `host`: the host sets the variable for each hook, or obeys it itself,
   * so it counts even if the project sets it. `anyone`: it does not count if the project
   * sets it.
   */
  readonly variables?: Readonly<Record<string, 'host' | 'anyone'>>;
  /**
   * If this variable is set, another supported host runs our hook; its own adapter
   * answers, so we do nothing.
   */
  readonly foreignVariable?: string;
}

/** The hooks that `init` writes, with their time limits. */
export const hooksOf = ({ hooks }: HookLanguage) =>
  Object.entries(hooks).map(([hook, [timeout]]) => ({ hook, timeout }));

/** A name that is safe as a part of file names and ids. */
export const plainName = /^[A-Za-z0-9][\w.-]{0,79}$/u;
/** The value if it is a plain name, else null. */
export const plainOf = (value: unknown) =>
  plainName.exec(textOf(value) ?? '')?.[0] ?? null;

/** Makes the adapter of a host from its language. */
export function createAskedHost(language: HookLanguage): asked.AskedHost {
  const { hooks, agentCommand, foreignVariable, hookVariable, variables = {} } = language;
  const [commandVariable, commandValue, ...sessionVariables] = agentCommand;
  const marks = [commandVariable, ...sessionVariables, hookVariable, foreignVariable];
  const named = [...marks.flatMap((name) => name ?? []), ...Object.keys(variables)];
  const isSetByHost = (name: string) =>
    variables[name] === 'host' || name === hookVariable;
  /**
   * Adapters see only the variables that they name, so the list of variables is complete.
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
    translate(value, hookMoment) {
      const fields = recordOf(value);
      const environment = pickNamed(hookMoment.environment);
      const moment = { ...hookMoment, environment };
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
    // UTF-16 puts a zero beside each letter. Inside a quoted text the quotes would have
    // backslashes, so this name is a field of the payload.
    findStop: (bytes) =>
      namedStop.exec(bytes.toString('latin1').replaceAll('\0', ''))?.[1] ?? null,
    agentCommandOf(variable, strangers = []) {
      if (!commandValue.test(variable(commandVariable) ?? '')) return null;
      const isHook = hookVariable !== undefined && Boolean(variable(hookVariable));
      // In a hook this variable can only come from the project, so it proves nothing.
      if (isHook && strangers.includes(commandVariable)) return null;
      return {
        sessionId: sessionVariables.map(variable).find((id) => id !== undefined) ?? null,
      };
    },
  };
}

function callOf(
  language: HookLanguage,
  facts: PayloadFacts,
  moment: asked.HookMoment,
): BareCall {
  const { hook, timeout, mainId, fields } = facts;
  const described = language.describe?.(facts, moment) ?? {};
  const toolNamed = (name: string) =>
    moment.toolPrefix === null ? null : `${moment.toolPrefix}${name}`;
  // A subagent's todos land in its parent's list, or are its own. Its session has no
  // plan, but its stop is on the record (C4).
  const isSubagent = hook === 'SubagentStop';
  // Computed only if needed: the module for hashes takes longer to load than all else of
  // a call.
  const subagentId = () =>
    `${mainId}:${shortHash(textOf(fields['agent_id']) ?? '').slice(0, 12)}`;
  return {
    hook,
    timeout,
    at: moment.at,
    sessionId: described.sessionId ?? (isSubagent ? subagentId() : mainId),
    promptId:
      described.promptId === undefined
        ? plainOf(fields['prompt_id'])
        : described.promptId,
    descriptor: {
      ...unknownHost,
      host: language.host,
      instance: language.host,
      kind: isSubagent ? 'subagent' : 'main',
      parentId: isSubagent ? mainId : null,
      directory:
        [described.directory, textOf(fields['cwd'])].find(
          (path) => path && isAbsolute(path),
        ) ?? null,
      tools: { pause: toolNamed('todo_pause'), verify: toolNamed('todo_verify') },
      ...described.descriptor,
    },
    // An agent in plan mode never writes, and is never continued (P26).
    agent: {
      ...unknownAgent,
      name:
        described.agentName ?? (isSubagent ? nonEmptyTextOf(fields['agent_type']) : null),
      canWrite: (described.mode ?? fields['permission_mode']) === 'plan' ? 'no' : 'yes',
    },
  };
}

/**
 * The answer as Claude Code and hosts like it read it: at a stop and before a tool a
 * `block` has a reason; elsewhere a text is more context for the model.
 */
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

/** Reads the hook of a stop attempt. */
export function readStop(payload: Payload, { stop = {} }: HookLanguage): asked.StopAsked {
  const { fields } = payload;
  const words = textOf(fields[stop.textIn ?? 'last_assistant_message']) ?? '';
  const lastText = words === stop.noText ? '' : words.trim();
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

/**
 * Reads the hook of a subagent's stop. It names no background work and no transcript of
 * its own.
 */
export function subagentStopped(
  payload: Payload,
  language: HookLanguage,
): asked.StopAsked {
  return { ...readStop(payload, language), background: null, transcript: null };
}

/** Reads the hook of a prompt; null: it has no text, or another agent wrote it. */
export function readPrompt({ fields, agentId }: Payload, { prompt = {} }: HookLanguage) {
  const {
    textIn = 'prompt',
    clean = String,
    speakerOf = () => ({ type: 'human' }) as const,
  } = prompt;
  const text = nonEmptyTextOf(fields[textIn]);
  if (text === null || (prompt.hasTasks && agentId !== null)) return null;
  return { type: 'prompt', text: clean(text), speaker: speakerOf(text.trim()) } as const;
}

/**
 * Records one event for a payload without an id. Within one second, equal names are one
 * event.
 */
export function recordEvent(
  payload: Payload,
  kind: SourceKind,
  draft: Draft<Event>,
  name: string = draft.type,
) {
  const base = eventBase(payload, kind, `${name}:${Math.floor(payload.at / 1000)}`);
  return { type: 'record', events: [{ ...draft, ...base }] } satisfies RecordAsked;
}

/** Reads the hook of a session that ends. */
export const sessionEnded = (payload: Payload) =>
  recordEvent(payload, 'open', { type: 'session-closed' });
const compactionStarted = (payload: Payload) =>
  recordEvent(payload, 'side', { type: 'wait-started', wait: { kind: 'compaction' } });
/** Reads the hook of an interrupt, which the engine takes at once. */
export const readInterruption = (payload: Payload): RecordAsked => ({
  ...recordEvent(payload, 'side', { type: 'human-aborted', how: 'interrupted' }),
  decided: true,
});

/** Reads a hook that says that the host waits for an answer of its human. */
export const humanAsked = (payload: Payload): RecordAsked => ({
  ...recordEvent(payload, 'side', { type: 'activity-seen' }),
  asksHuman: true,
});
/**
 * Notifications that wait for an answer. Those of other types tell of an idle session, or
 * of something that is over.
 */
const asksHuman =
  /^(?:(?:worker_)?permission_prompt|elicitation_dialog|agent_needs_input)$/u;
/** Reads the hook of a notification. */
export const readNotice = (payload: Payload): RecordAsked =>
  asksHuman.test(textOf(payload.fields['notification_type']) ?? '')
    ? humanAsked(payload)
    : recordEvent(payload, 'side', { type: 'activity-seen' });

const failureKinds = new Map<string, Failure['kind']>([
  ['rate_limit', 'rate-limit'],
  ['overloaded', 'overload'],
  ['server_error', 'overload'],
]);

/** Reads the hook of a turn that ended because the provider failed. */
export function stopFailed(payload: Payload): RecordAsked {
  const { fields } = payload;
  const error = nonEmptyTextOf(fields['error']) ?? 'unknown';
  const message =
    nonEmptyTextOf(fields['error_details']) ??
    nonEmptyTextOf(fields['last_assistant_message']) ??
    error;
  return turnFailed(payload, {
    kind: failureKinds.get(error) ?? 'other',
    signature: error.slice(0, 200),
    message: message.slice(0, 2000),
  });
}

type Failure = Pick<EventOf<'error-occurred'>, 'kind' | 'signature' | 'message'>;

/** Records that a turn ended with this failure. */
export function turnFailed(payload: Payload, failure: Failure): RecordAsked {
  const failed = recordEvent(payload, 'failure', {
    type: 'error-occurred',
    ...failure,
    retryAt: null,
  });
  const ended = recordEvent(payload, 'failure', {
    type: 'stop-attempted',
    end: 'error',
    question: false,
    fingerprint: null,
    background: null,
    toolError: null,
  });
  return { type: 'record', events: [...failed.events, ...ended.events], decided: true };
}

/** Background jobs that still run; null: the host does not say. */
const jobsIn = (tasks: unknown) => (Array.isArray(tasks) ? tasks.flatMap(jobOf) : null);

function jobOf(value: unknown): Job[] {
  const task = recordOf(value);
  const id = nonEmptyTextOf(task['id']);
  if (
    id === null ||
    !['running', 'pending'].includes(nonEmptyTextOf(task['status']) ?? 'running')
  )
    return [];
  // Agents end by themselves, so they are waited for. Anything else may be a server that
  // never ends.
  const isAgent =
    /agent|teammate|workflow/u.test(textOf(task['type']) ?? '') || 'agent_type' in task;
  const kind = isAgent ? 'subagent' : 'shell';
  const description =
    nonEmptyTextOf(task['command']) ?? nonEmptyTextOf(task['description']) ?? id;
  return [{ id: id.slice(0, 200), kind, description: description.slice(0, 500) }];
}

/** After a compaction or a resume the agent gets its plan again. */
function sessionStarted(payload: Payload): asked.AsksOf<'open'> {
  const { source } = payload.fields;
  const isCompacted = source === 'compact';
  const wait = { kind: 'compaction', shrunk: true } as const;
  const { events } = recordEvent(
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
/** Reads what a call of a todo tool changed; null: nothing. */
export type PlanChange = (
  base: ChangeBase,
  input: Fields,
  response: Fields,
) => Event | null;

type ToolLanguage = Readonly<{
  /** Our own tools, as this host names them. */
  ownTool: RegExp;
  /**
   * A tool that no pattern names may write. To overlook work would make an honest agent
   * look idle, which is the worse mistake.
   */
  access: readonly (readonly [ToolAccess, RegExp])[];
  /**
   * Tools that write the whole list: the field of the list in their input, the field of a
   * todo's words, and the field of the list in their answer.
   */
  lists?: Readonly<
    Record<string, readonly [list: string, title: string, written?: string]>
  >;
  /** Todo tools that change a part of the list. */
  planChanges?: Readonly<Record<string, PlanChange>>;
  /** The error of a call that the host reports as a success. */
  errorOf?(payload: Payload): string | null;
  /** The words with which the tool answered; by default the response itself. */
  resultOf?(fields: Fields): unknown;
}>;

/**
 * Reads the hook after a tool call. The host's todo tools change the plan, our own tools
 * carry a receipt, and every other call is work.
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
  // A subagent's call is work on its parent's plan, and tells nothing about the parent's
  // turn.
  const createBase = (name: string) =>
    eventBase(payload, agentId === null ? 'work' : 'side', `${callId}${name}`);
  const call = { tool: tool.slice(0, 200), access };
  const input = recordOf(fields['tool_input']);
  const response = recordOf(fields['tool_response']);
  const message =
    nonEmptyTextOf(fields['error']) ??
    nonEmptyTextOf(response['error']) ??
    'The call failed.';
  const failure =
    hook === 'PostToolUseFailure' ? message : (tools.errorOf?.(payload) ?? null);
  const error = failure?.slice(0, 2000) ?? null;
  const ended = { ...createBase(''), ...call, type: 'tool-ended', error } as const;
  // The hook runs when the call is over, but the engine pairs starts with ends.
  const started = { ...createBase(':start'), ...call, type: 'tool-started' } as const;
  const change = { ...createBase(':plan'), actor: 'agent' } as const;
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

/**
 * The list that a call writes; null: it writes none, or a subagent's own, which is not
 * its parent's.
 */
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

/**
 * Reads a call that will write a whole list: the todos that it would complete may have
 * checks (V1).
 */
export function completionsAsked(
  payload: Payload,
  { tools }: HookLanguage,
): asked.AsksOf<'complete'> | null {
  const items = listWritten(payload, tools) ?? [];
  return completionOf(
    ...items.map(({ content, status }) => (status === 'completed' ? content : null)),
  );
}

/** Asks whether these todos may be completed; null: none is named. */
export function completionOf(
  ...named: readonly (string | null)[]
): asked.AsksOf<'complete'> | null {
  const todos = named.filter((one) => one !== null);
  return todos.length === 0 ? null : { type: 'complete', todos };
}

/**
 * Hooks that most hosts took over from Claude Code. `init` writes hooks in the order in
 * which a language names them.
 */
export const turnHooks = {
  Stop: ['stop', readStop],
  SubagentStop: ['other', subagentStopped],
  PostToolUse: ['other', toolEnded],
} as const;
export const sessionHooks = {
  UserPromptSubmit: ['other', readPrompt],
  SessionStart: ['other', sessionStarted],
  SessionEnd: ['other', sessionEnded],
  PreCompact: ['other', compactionStarted],
} as const;
