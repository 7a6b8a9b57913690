// Translates the hook payloads of Copilot CLI and our answers. Reads its list of todos
// from the database of its session, and tokens and the mode from its transcript. Shapes
// of version 1.0.102, as it sends them to hooks that are named as Claude Code names its
// own; other versions may leave any field out.
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { Job } from '../../core/events.ts';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { Environment } from '../../engine/policy.ts';
import { readTable } from '../../store/sqlite/open-database.ts';
import { type HookAsks, type Speaker, shortHash } from '../asked-call.ts';
import * as read from '../asked-translate.ts';
import { linesWith, usageIn } from '../transcript.ts';
import { type Fields, nonEmptyTextOf, recordOf, textOf } from '../untrusted.ts';

const { plainOf } = read;
export const hostName = 'copilot-cli';

/** Each call of the model is one line; tokens from a cache are part of the input. */
export const readUsage = usageIn('"session.usage_record"', ({ id, data }) => {
  const { inputTokens, outputTokens } = recordOf(recordOf(data)['usage']);
  return { key: id, input: [inputTokens], output: [outputTokens] };
});

export const copilotLanguage: read.HookLanguage = {
  host: hostName,
  hooks: {
    ...read.turnHooks,
    // The payload does not hold the agent's words, and its transcript lags behind.
    Stop: ['stop', (...stop) => ({ ...read.readStop(...stop), end: 'normal' })],
    SubagentStop: ['other', subagentStopped],
    PostToolUse: ['other', toolUsed],
    PostToolUseFailure: ['other', toolUsed],
    ...read.sessionHooks,
    SessionEnd: ['other', sessionEnded],
  },
  tools: {
    ownTool: /^untildone-/u,
    access: [
      [
        'read',
        /^(?:Read|Grep|Glob|view|grep|glob|read_bash|list_bash|stop_bash|skill|session_store_sql)$/u,
      ],
      [
        'read',
        /^(?:read_agent|list_agents|ask_user|web_fetch|WebFetch|fetch_copilot_cli_documentation)$/u,
      ],
      ['write', /^(?:Write|Edit|create|edit|apply_patch)$/u],
      // We parse no SQL: the list is read from its database afterwards.
      ['todo', /^sql$/u],
    ],
    resultOf,
  },
  // Neither a setting nor progress raises the cap.
  stop: { blockCap: () => 8, capsTurn: true },
  prompt: { hasTasks: true, speakerOf },
  describe({ hook, mainId, fields }, { environment }) {
    const parentId = plainOf(fields['parent_agent_id']);
    // A subagent's calls are work on its parent's plan; its own stop is on the record as
    // its own.
    const isSubagent = hook === 'Stop' && parentId !== null;
    const isInside = hook !== 'Stop' && hook !== 'SubagentStop' && parentId !== null;
    return {
      sessionId: isInside ? parentId : mainId,
      // The payload has no id of the prompt, but each prompt has another time.
      promptId:
        hook === 'UserPromptSubmit'
          ? shortHash(`${mainId}:${fields['timestamp']}`)
          : null,
      directory: environment['COPILOT_PROJECT_DIR'],
      descriptor: isSubagent
        ? { kind: 'subagent', parentId }
        : { kind: 'main', parentId: null },
      agentName: isSubagent ? nonEmptyTextOf(fields['agent_type']) : null,
      mode: hook === 'Stop' ? modeIn(fields) : undefined,
    };
  },
  // Hooks do not get this variable.
  agentCommand: ['COPILOT_AGENT_SESSION_ID', /./u, 'COPILOT_AGENT_SESSION_ID'],
  variables: { COPILOT_PROJECT_DIR: 'host', COPILOT_HOME: 'host' },
  // A subagent writes into the list of the session that it belongs to, so only the main
  // agent's list is read.
  readList: ({ descriptor, sessionId, asks }, environment) => {
    const transcript = asks.type === 'stop' ? asks.transcript : null;
    const folder = transcript
      ? dirname(transcript)
      : sessionFolder(sessionId, environment);
    return descriptor.kind === 'main' && isAbsolute(folder)
      ? readTodos(join(folder, 'session.db'))
      : null;
  },
  namesPrompts: false,
  readUsage,
  // The human sees the progress that a hook reports; the last line is the answer.
  render({ text, message }, hook) {
    const reply =
      hook === 'Stop' ? { decision: 'block', reason: text } : { additionalContext: text };
    return [
      ...(message ? [{ type: 'progress', message: `untildone: ${message}` }] : []),
      text ? reply : {},
    ];
  },
  goOn: (sessionId) =>
    `To go on: copilot --resume=${sessionId} -p "go on"; untildone run --with copilot-cli goes on by itself.`,
};

export const copilotCli = read.createAskedHost(copilotLanguage);

function resultOf({ tool_result, tool_response }: Fields): unknown {
  return recordOf(tool_result)['text_result_for_llm'] ?? tool_response;
}

function speakerOf(text: string): Speaker {
  const notice = /^<system_notification>([\s\S]*)<\/system_notification>$/u.exec(
    text,
  )?.[1];
  if (notice === undefined) return { type: 'human' };
  const shellId = /\(shellId: ([\w-]{1,40})\)/u.exec(notice)?.[1];
  return { type: 'notice', jobIds: shellId === undefined ? [] : [`shell-${shellId}`] };
}

function toolUsed(payload: read.Payload, language: read.HookLanguage): HookAsks {
  const ended = read.toolEnded(payload, language);
  if (payload.agentId !== null) return ended;
  const { fields } = payload;
  const job = jobIn(textOf(resultOf(fields)) ?? '', recordOf(fields['tool_input']));
  const wait =
    job && ({ type: 'wait-started', wait: { kind: 'background', job } } as const);
  const started = wait
    ? read.recordEvent(payload, 'side', wait, `job:${job.id}`).events
    : [];
  return {
    ...ended,
    events: [...ended.events, ...started],
    listed: fields['tool_name'] === 'sql',
  };
}

/**
 * The job that a call started in the background, and that will wake the agent; null:
 * none.
 */
function jobIn(response: string, input: Fields): Job | null {
  const description = (
    nonEmptyTextOf(input['command']) ??
    nonEmptyTextOf(input['description']) ??
    ''
  ).slice(0, 500);
  const agentId = /^Agent started in background with agent_id: ([\w-]{1,80})/u.exec(
    response,
  )?.[1];
  if (agentId) return { id: agentId, kind: 'subagent', description };
  const shellId = /^<command started in background with shellId: ([\w-]{1,40})>/u.exec(
    response,
  )?.[1];
  return shellId ? { id: `shell-${shellId}`, kind: 'shell', description } : null;
}

function subagentStopped(payload: read.Payload): HookAsks | null {
  const jobId = payload.agentId?.slice(0, 200);
  if (!jobId) return null;
  const wait = { kind: 'background', jobId } as const;
  return read.recordEvent(
    payload,
    'side',
    { type: 'wait-ended', wait },
    `ended:${jobId}`,
  );
}

/**
 * The host silently repeats a call of the model that fails. Only the end of the session
 * shows that the last call failed for good.
 */
function sessionEnded(payload: read.Payload): HookAsks {
  const closed = read.sessionEnded(payload);
  if (payload.fields['reason'] !== 'error') return closed;
  const message = 'The host ended the turn with an error.';
  const failed = read.turnFailed(payload, { kind: 'other', signature: 'error', message });
  return { ...failed, events: [...failed.events, ...closed.events] };
}

/** The folder in which the host keeps a session. */
export function sessionFolder(sessionId: string, environment: Environment): string {
  const home =
    environment['COPILOT_HOME'] || join(environment['HOME'] || homedir(), '.copilot');
  return join(home, 'session-state', sessionId);
}

/** Reads the todos of a session from its database; null: it cannot be read. */
export async function readTodos(database: string): Promise<readonly ListedTodo[] | null> {
  const columns = ['id', 'title', 'description', 'status'];
  // More todos than any honest list has.
  const rows = await readTable(database, 'todos', columns, 5000);
  const listed = rows?.map((row) => {
    const [id = null, title, description, status] = columns.map((column) =>
      nonEmptyTextOf(row[column]),
    );
    const context = description && description !== title ? description : null;
    const key = `todo-${plainOf(id) ?? shortHash(String(id))}`;
    return { key, title: title ?? '', status: status ?? 'pending', context };
  });
  return listed ?? null;
}

/**
 * The mode of the agent by its transcript, because the payload does not show that it only
 * plans.
 */
function modeIn({ transcript_path: path }: Fields): unknown {
  const last = linesWith(textOf(path) ?? '', '"session.mode_changed"').at(-1);
  return recordOf(last?.['data'])['newMode'];
}
