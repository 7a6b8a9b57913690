// Copilot CLI's hook payloads → what they ask for. Pure. Shapes of version 1.0.102, as it sends them to hooks that are named as
// Claude Code names its own; in others any field may be missing.
import type { Job } from '../../core/events.ts';
import { type HookAsks, type Speaker, shortHash } from '../asked-call.ts';
import * as read from '../asked-translate.ts';
import { type Fields, recordOf } from '../untrusted.ts';

export const hostName = 'copilot-cli';

export const copilotLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.commonHooks,
    // The payload does not tell what the agent said, and its transcript is behind.
    Stop: ['stop', (...stop) => ({ ...read.stopped(...stop), end: 'normal' })],
    SubagentStop: ['other', subagentStopped],
    PostToolUse: ['other', toolUsed],
    PostToolUseFailure: ['other', toolUsed],
    SessionEnd: ['other', sessionEnded],
  },
  tools: {
    ownTool: /^untildone-/u,
    access: [
      ['read', /^(?:Read|Grep|Glob|view|grep|glob|read_bash|list_bash|stop_bash|skill|session_store_sql)$/u],
      ['read', /^(?:read_agent|list_agents|ask_user|web_fetch|WebFetch|fetch_copilot_cli_documentation)$/u],
      ['write', /^(?:Write|Edit|create|edit|apply_patch)$/u],
      // Nobody parses SQL: the list is read from its database afterwards.
      ['todo', /^sql$/u],
    ],
    resultOf,
  },
  // No setting raises it, and progress does not either.
  stop: { blockCap: () => 8, capsTurn: true },
  prompt: { speakerOf },
  describe({ hook, mainId, fields }, { environment }) {
    const parentId = read.plainOf(fields['parent_agent_id']);
    // Its calls are work on its parent's plan; its own stop is on the record as its own.
    const isSubagent = hook === 'Stop' && parentId !== null;
    const isInside = hook !== 'Stop' && hook !== 'SubagentStop' && parentId !== null;
    return {
      sessionId: isInside ? parentId : mainId,
      // The payload has no id of its prompt; the next prompt has another time.
      promptId: hook === 'UserPromptSubmit' ? shortHash(`${mainId}:${fields['timestamp']}`) : null,
      directory: environment['COPILOT_PROJECT_DIR'],
      descriptor: isSubagent ? { kind: 'subagent', parentId } : { kind: 'main', parentId: null },
      agent: { name: isSubagent ? read.textOf(fields['agent_type']) : null },
    };
  },
  // Hooks do not have it.
  agentCommand: { variable: 'COPILOT_AGENT_SESSION_ID', session: ['COPILOT_AGENT_SESSION_ID'] },
};

function resultOf({ tool_result, tool_response }: Fields): unknown {
  return recordOf(tool_result)['text_result_for_llm'] ?? tool_response;
}

function speakerOf(text: string): Speaker {
  const told = /^<system_notification>([\s\S]*)<\/system_notification>$/u.exec(text)?.[1];
  if (told === undefined) return { type: 'human' };
  const shellId = /\(shellId: ([\w-]{1,40})\)/u.exec(told)?.[1];
  return { type: 'notice', jobIds: shellId === undefined ? [] : [`shell-${shellId}`] };
}

function toolUsed(payload: read.Payload, language: read.HookLanguage): HookAsks {
  const ended = read.toolEnded(payload, language);
  if (payload.agentId !== null) return ended;
  const { fields } = payload;
  const job = jobIn(read.textOf(resultOf(fields)) ?? '', recordOf(fields['tool_input']));
  const wait = job && ({ type: 'wait-started', wait: { kind: 'background', job } } as const);
  const started = wait ? read.happened(payload, 'side', wait, `job:${job.id}`).events : [];
  return { ...ended, events: [...ended.events, ...started], listed: fields['tool_name'] === 'sql' };
}

/** What goes on beside the agent, and will wake it. */
function jobIn(response: string, input: Fields): Job | null {
  const description = (read.textOf(input['command']) ?? read.textOf(input['description']) ?? '').slice(
    0,
    500,
  );
  const agentId = /^Agent started in background with agent_id: ([\w-]{1,80})/u.exec(response)?.[1];
  if (agentId) return { id: agentId, kind: 'subagent', description };
  const shellId = /^<command started in background with shellId: ([\w-]{1,40})>/u.exec(response)?.[1];
  return shellId ? { id: `shell-${shellId}`, kind: 'shell', description } : null;
}

function subagentStopped(payload: read.Payload): HookAsks | null {
  const jobId = payload.agentId?.slice(0, 200);
  if (!jobId) return null;
  const wait = { kind: 'background', jobId } as const;
  return read.happened(payload, 'side', { type: 'wait-ended', wait }, `ended:${jobId}`);
}

/** A call of the model that fails is tried again without a word; this is the first that tells of one that was not. */
function sessionEnded(payload: read.Payload): HookAsks {
  const closed = read.sessionEnded(payload);
  if (payload.fields['reason'] !== 'error') return closed;
  const message = 'The host ended the turn with an error.';
  const failed = read.turnFailed(payload, { kind: 'other', signature: 'error', message });
  return { ...failed, events: [...failed.events, ...closed.events] };
}
