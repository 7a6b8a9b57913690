// Copilot CLI's hook payloads → what they ask for. Pure. Shapes of version 1.0.102, as it sends them to hooks that are named as
// Claude Code names its own; in others any field may be missing.
import type { Event, Job } from '../../core/events.ts';
import { type HookAsks, type HookMoment, type Speaker, shortHash } from '../asked-call.ts';
import type { HookLanguage, Payload, ToolLanguage } from '../asked-translate.ts';
import {
  compactionStarted,
  createTranslate,
  momentBase,
  plainOf,
  recorded,
  sessionStarted,
  textOf,
  toolEnded,
} from '../asked-translate.ts';
import { recordOf } from '../untrusted.ts';

export const hostName = 'copilot-cli';
/** No setting raises it, and progress does not either. */
const blockCap = 8;

const tools: ToolLanguage = {
  ownTool: /^untildone-/u,
  access: [
    ['read', /^(?:Read|Grep|Glob|view|grep|glob|read_bash|list_bash|stop_bash|skill|session_store_sql)$/u],
    ['read', /^(?:read_agent|list_agents|ask_user|web_fetch|WebFetch|fetch_copilot_cli_documentation)$/u],
    ['write', /^(?:Write|Edit|create|edit|apply_patch)$/u],
  ],
  // Nobody parses SQL: the list is read from its database afterwards.
  planChanges: { sql: () => null },
  errorOf: ({ hook, fields }) =>
    hook === 'PostToolUseFailure' ? (textOf(fields['error']) ?? 'The call failed.') : null,
};
const ended = toolEnded(tools);

export const copilotLanguage: HookLanguage = {
  host: hostName,
  hooks: {
    Stop: ['stop', stopped],
    SubagentStop: ['other', subagentStopped],
    PostToolUse: ['other', toolUsed],
    PostToolUseFailure: ['other', toolUsed],
    UserPromptSubmit: ['other', prompted],
    SessionStart: ['other', sessionStarted],
    SessionEnd: ['other', sessionEnded],
    PreCompact: ['other', compactionStarted],
  },
  describe({ hook, mainId, fields }, { environment }) {
    const [agentId, parentId] = [textOf(fields['agent_id']), plainOf(fields['parent_agent_id'])];
    // Its calls are work on its parent's plan; its own stop is on the record as its own.
    const isSubagent = hook === 'Stop' && parentId !== null;
    const isInside = hook !== 'Stop' && hook !== 'SubagentStop' && parentId !== null;
    return {
      agentId,
      ...(isInside && { sessionId: parentId }),
      // The payload has no id of its prompt; the next prompt has another time.
      promptId: hook === 'UserPromptSubmit' ? shortHash(`${mainId}:${fields['timestamp']}`) : null,
      directory: environment['COPILOT_PROJECT_DIR'],
      ...(isSubagent && { descriptor: { kind: 'subagent', parentId } }),
      agent: { name: isSubagent ? textOf(fields['agent_type']) : null },
    };
  },
};

const translateShared = createTranslate(copilotLanguage);

export const translate = (value: unknown, moment: HookMoment) => {
  const fields = recordOf(value);
  const told = recordOf(fields['tool_result'])['text_result_for_llm'];
  return translateShared(told === undefined ? value : { ...fields, tool_response: told }, moment);
};

/** The payload does not tell what the agent said, and its transcript is behind. */
function stopped({ fields }: Payload): HookAsks {
  return {
    type: 'stop',
    ...{ end: 'normal', lastText: '', background: null },
    isContinued: fields['stop_hook_active'] === true,
    ...{ blockCap, capsTurn: true },
    transcript: textOf(fields['transcript_path']),
  };
}

function prompted({ fields, agentId }: Payload): HookAsks | null {
  const text = textOf(fields['prompt']);
  // What a subagent is told comes from its parent.
  return text === null || agentId !== null ? null : { type: 'prompt', text, speaker: speakerOf(text.trim()) };
}

const notice = /^<system_notification>([\s\S]*)<\/system_notification>$/u;

function speakerOf(text: string): Speaker {
  const told = notice.exec(text)?.[1];
  if (told === undefined) return { type: 'human' };
  const shellId = /\(shellId: ([\w-]{1,40})\)/u.exec(told)?.[1];
  return { type: 'notice', jobIds: shellId === undefined ? [] : [`shell-${shellId}`] };
}

function toolUsed(payload: Payload): HookAsks | null {
  const asks = ended(payload);
  if (asks?.type !== 'record' || payload.agentId !== null) return asks;
  const { tool_name: tool, tool_response: response } = payload.fields;
  const job = jobIn(textOf(response) ?? '', recordOf(payload.fields['tool_input']));
  const base = momentBase(payload, 'side', `job:${job?.id}`);
  const started: Event[] = job ? [{ ...base, type: 'wait-started', wait: { kind: 'background', job } }] : [];
  return { ...asks, events: [...asks.events, ...started], listed: tool === 'sql' };
}

/** What goes on beside the agent, and will wake it. */
function jobIn(response: string, input: ReturnType<typeof recordOf>): Job | null {
  const description = (textOf(input['command']) ?? textOf(input['description']) ?? '').slice(0, 500);
  const agentId = /^Agent started in background with agent_id: ([\w-]{1,80})/u.exec(response)?.[1];
  if (agentId) return { id: agentId, kind: 'subagent', description };
  const shellId = /^<command started in background with shellId: ([\w-]{1,40})>/u.exec(response)?.[1];
  return shellId ? { id: `shell-${shellId}`, kind: 'shell', description } : null;
}

function subagentStopped(payload: Payload): HookAsks | null {
  const jobId = payload.agentId?.slice(0, 200);
  if (!jobId) return null;
  const base = momentBase(payload, 'side', `ended:${jobId}`);
  return { type: 'record', events: [{ ...base, type: 'wait-ended', wait: { kind: 'background', jobId } }] };
}

/** A call of the model that fails is tried again without a word; this is the first that tells of one that was not. */
function sessionEnded(payload: Payload): HookAsks | null {
  const closed = recorded('open', { type: 'session-closed' })(payload);
  if (payload.fields['reason'] !== 'error' || closed?.type !== 'record') return closed;
  const words = { signature: 'error', message: 'The host ended the turn with an error.', retryAt: null };
  const seen = { question: false, fingerprint: null, background: null, toolError: null };
  const events: Event[] = [
    { ...momentBase(payload, 'failure', 'error'), type: 'error-occurred', kind: 'other', ...words },
    { ...momentBase(payload, 'failure', 'stop'), type: 'stop-attempted', end: 'error', ...seen },
  ];
  return { ...closed, events: [...events, ...closed.events], decided: true };
}
