// Claude Code's hook payloads → what they ask for, one row per hook. Pure: the same payload at the same moment gives
// the same call. It never decides whether an agent may stop.
import { isAbsolute } from 'node:path';
import type { Event, Job, SessionDescriptor } from '../../core/events.ts';
import { eventKey, shortHash } from '../hook/event-key.ts';
import type { HookAsks, HookCall, HookMoment, StopFacts, Translation } from '../hook/hook-request.ts';
import type { HookTimeout } from '../hook/timeouts.ts';
import { type ClaudePayload, listOf, readClaudePayload, recordOf, textOf } from './payload.ts';
import { errorKind } from './stop-failure.ts';
import { todoKeyOf } from './todo-key.ts';
import { speakerOf } from './translate-prompt.ts';
import { translateTool } from './translate-tool.ts';

export const hostName = 'claude-code';

interface HookRow {
  readonly timeout: HookTimeout;
  /** null: this call asks for nothing. */
  asks(payload: ClaudePayload, moment: HookMoment): HookAsks | null;
}

const hookRows: Readonly<Record<string, HookRow>> = {
  Stop: { timeout: 'stop', asks: (payload, moment) => ({ type: 'stop', stop: stopFacts(payload, moment) }) },
  SubagentStop: { timeout: 'other', asks: subagentStopped },
  PostToolUse: { timeout: 'other', asks: toolEnded },
  PostToolUseFailure: { timeout: 'other', asks: toolEnded },
  TaskCompleted: { timeout: 'completion', asks: completion },
  UserPromptSubmit: { timeout: 'other', asks: prompted },
  SessionStart: { timeout: 'other', asks: sessionStarted },
  SessionEnd: { timeout: 'other', asks: (payload, { at }) => record(payload, at, 'open', 'session-closed') },
  PreCompact: {
    timeout: 'other',
    asks: (payload, { at }) => record(payload, at, 'side', 'compaction-started'),
  },
  Notification: { timeout: 'other', asks: (payload, { at }) => record(payload, at, 'side', 'activity-seen') },
  StopFailure: { timeout: 'other', asks: stopFailed },
};

/** Which hooks of the host we answer and how long each may take; `init` writes exactly these. */
export const claudeCodeHooks: readonly { readonly hook: string; readonly timeout: HookTimeout }[] =
  Object.entries(hookRows).map(([hook, { timeout }]) => ({ hook, timeout }));

export function translate(value: unknown, moment: HookMoment): Translation {
  const read = readClaudePayload(value);
  if (!read.ok) return { ok: false, quiet: false, sentence: read.sentence };
  const { payload } = read;
  const hook = payload.hook_event_name;
  const row = Object.hasOwn(hookRows, hook) ? hookRows[hook] : undefined;
  if (row === undefined) return { ok: false, quiet: false, sentence: `There is no hook ${hook} with us.` };
  const asks = row.asks(payload, moment);
  if (asks === null) return { ok: false, quiet: true, sentence: 'This call asks for nothing.' };
  const call: HookCall = {
    hook,
    sessionId: payload.session_id,
    promptId: payload.prompt_id,
    at: moment.at,
    timeout: row.timeout,
    descriptor: describeSession(payload, moment),
    agent: {
      name: payload.agent_id === null ? payload.agent_type : null,
      // Plan mode looks and never writes: it is never continued (P26).
      canWrite: payload.permission_mode === 'plan' ? 'no' : 'yes',
      model: null,
      variant: null,
    },
    asks,
  };
  return { ok: true, call: hook === 'SubagentStop' ? asSubagent(call, payload) : call };
}

function describeSession(payload: ClaudePayload, moment: HookMoment): SessionDescriptor {
  const { environment, toolPrefix } = moment;
  // The agent may change its own directory; the project stays where the human started the host.
  const directory = [environment['CLAUDE_PROJECT_DIR'], payload.cwd].find(
    (path) => typeof path === 'string' && isAbsolute(path),
  );
  return {
    host: hostName,
    instance: hostName,
    mode: 'asked',
    kind: 'main',
    parentId: null,
    directory: directory ?? null,
    headless: environment['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') ?? false,
    immediate: false,
    everyAgentWrites: false,
    seesTools: true,
    tools: {
      pause: toolPrefix === null ? null : `${toolPrefix}todo_pause`,
      verify: toolPrefix === null ? null : `${toolPrefix}todo_verify`,
    },
  };
}

/** Its todos land in its parent's list, so that its own session never has a plan; its stop is on the record (C4). */
function asSubagent(call: HookCall, payload: ClaudePayload): HookCall {
  const sessionId = `${payload.session_id}:${shortHash(payload.agent_id ?? '').slice(0, 12)}`;
  const descriptor = { ...call.descriptor, kind: 'subagent' as const, parentId: payload.session_id };
  return { ...call, sessionId, descriptor, agent: { ...call.agent, name: payload.agent_type } };
}

function originOf(payload: ClaudePayload) {
  return { host: hostName, sessionId: payload.session_id, promptId: payload.prompt_id };
}

type PlainEvent = 'session-closed' | 'compaction-started' | 'compaction-ended' | 'activity-seen';

function plainEvent(payload: ClaudePayload, at: number, kind: 'open' | 'side', type: PlainEvent): Event {
  // These carry no id of their own: what repeats within the same second is one happening.
  const detail = `${type}:${Math.floor(at / 1000)}`;
  const base = { id: eventKey(originOf(payload), kind, detail), sessionId: payload.session_id, at };
  return type === 'compaction-ended' ? { ...base, type, shrunk: true } : { ...base, type };
}

function record(payload: ClaudePayload, at: number, kind: 'open' | 'side', type: PlainEvent): HookAsks {
  return { type: 'record', events: [plainEvent(payload, at, kind, type)], receipt: null };
}

function toolEnded(payload: ClaudePayload, { at }: HookMoment): HookAsks {
  return { type: 'record', ...translateTool(payload, at) };
}

function completion(payload: ClaudePayload): HookAsks | null {
  const todoKey = todoKeyOf(payload.fields['task_id']);
  return todoKey === null ? null : { type: 'complete', todoKey };
}

function prompted(payload: ClaudePayload): HookAsks | null {
  const text = textOf(payload.fields['prompt']);
  return text === null ? null : { type: 'prompt', text, speaker: speakerOf(text) };
}

function sessionStarted(payload: ClaudePayload, { at }: HookMoment): HookAsks {
  const compacted = payload.fields['source'] === 'compact';
  const events = compacted ? [plainEvent(payload, at, 'side', 'compaction-ended')] : [];
  const givesPlan = compacted || payload.fields['source'] === 'resume';
  return { type: 'open', begins: !compacted, events, givesPlan };
}

/** Compaction ends like a subagent without a type: that is nobody's stop. */
function subagentStopped(payload: ClaudePayload, moment: HookMoment): HookAsks | null {
  if (payload.agent_type === null) return null;
  return { type: 'stop', stop: { ...stopFacts(payload, moment), background: null } };
}

function stopFacts(payload: ClaudePayload, { environment }: HookMoment): StopFacts {
  const lastText = textOf(payload.fields['last_assistant_message']) ?? '';
  return {
    end: lastText.trim() === '' ? 'empty' : 'normal',
    lastText,
    background: Array.isArray(payload.fields['background_tasks'])
      ? listOf(payload.fields['background_tasks']).flatMap(jobOf)
      : null,
    blockCap: blockCap(environment['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']),
  };
}

function jobOf(value: unknown): Job[] {
  const task = recordOf(value);
  const id = textOf(task['id']);
  const status = textOf(task['status']) ?? 'running';
  if (id === null || (status !== 'running' && status !== 'pending')) return [];
  // Agents end by themselves and are waited for; anything else may be a server that never does.
  const kind = /agent|teammate|workflow/u.test(textOf(task['type']) ?? '') ? 'subagent' : 'shell';
  const description = textOf(task['command']) ?? textOf(task['description']) ?? id;
  return [{ id: id.slice(0, 200), kind, description: description.slice(0, 500) }];
}

/** 0 means none; anything that is no number leaves the host at its own eight. */
function blockCap(configured: string | undefined): number | null {
  if (configured === undefined || !/^\d{1,9}$/u.test(configured.trim())) return 8;
  const cap = Number(configured);
  return cap === 0 ? null : cap;
}

function stopFailed(payload: ClaudePayload, { at }: HookMoment): HookAsks {
  const message = textOf(payload.fields['error_details']) ?? textOf(payload.fields['last_assistant_message']);
  const error = textOf(payload.fields['error']) ?? 'unknown';
  const base = (part: string) => ({
    id: eventKey(originOf(payload), 'failure', `${part}:${Math.floor(at / 1000)}`),
    sessionId: payload.session_id,
    at,
  });
  const stop = {
    end: 'error',
    question: false,
    fingerprint: null,
    background: null,
    toolError: null,
  } as const;
  return {
    type: 'fail',
    events: [
      {
        ...base('error'),
        type: 'error-occurred',
        kind: errorKind(error),
        signature: error.slice(0, 200),
        message: (message ?? error).slice(0, 2000),
        retryAt: null,
      },
      { ...base('stop'), type: 'stop-attempted', ...stop },
    ],
  };
}
