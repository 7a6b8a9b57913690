// How our answers look to Copilot CLI; its own list of todos, read from the database of its session; and what its transcript
// says of tokens and of the mode.
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { Environment } from '../../engine/policy.ts';
import { readTable } from '../../store/sqlite/open-database.ts';
import { type AskedHost, shortHash } from '../asked-call.ts';
import { createAskedHost, plainOf, textOf } from '../asked-translate.ts';
import { linesWith, usageIn } from '../transcript.ts';
import { recordOf } from '../untrusted.ts';
import { copilotLanguage } from './translate.ts';

/** One line for each call of the model; what came from a cache is part of the input. */
export const readUsage = usageIn('"session.usage_record"', ({ id, data }) => {
  const { inputTokens, outputTokens } = recordOf(recordOf(data)['usage']);
  return { key: id, input: [inputTokens], output: [outputTokens] };
});

const shared = createAskedHost(copilotLanguage);

export const copilotCli: AskedHost = {
  ...shared,
  translate: (value, moment) => shared.translate(withMode(value), moment),
  // A subagent writes into the list of the session that it belongs to.
  readList: ({ descriptor, sessionId, asks }, environment) => {
    const transcript = asks.type === 'stop' ? asks.transcript : null;
    const folder = transcript ? dirname(transcript) : sessionFolder(sessionId, environment);
    return descriptor.kind === 'main' && isAbsolute(folder) ? readTodos(join(folder, 'session.db')) : null;
  },
  readUsage,
  // The human sees what a hook says of its progress; the last line is the answer.
  render({ text, message }, hook) {
    const told = hook === 'Stop' ? { decision: 'block', reason: text } : { additionalContext: text };
    return [...(message ? [{ type: 'progress', message: `untildone: ${message}` }] : []), text ? told : {}];
  },
  goOn: (sessionId) =>
    `To go on: copilot --resume=${sessionId} -p "go on"; untildone run --with copilot-cli goes on by itself.`,
};

export function sessionFolder(sessionId: string, environment: Environment): string {
  const own = environment['COPILOT_HOME'] || join(environment['HOME'] || homedir(), '.copilot');
  return join(own, 'session-state', sessionId);
}

/** Far beyond any honest list. */
const mostTodos = 5000;

export async function readTodos(database: string): Promise<readonly ListedTodo[] | null> {
  const columns = ['id', 'title', 'description', 'status'];
  const rows = await readTable(database, 'todos', columns, mostTodos);
  if (rows === null) return null;
  return rows.map((row) => {
    const [id = null, title, description, status] = columns.map((column) => textOf(row[column]));
    const context = description && description !== title ? description : null;
    const key = `todo-${plainOf(id) ?? shortHash(String(id))}`;
    return { key, title: title ?? '', status: status ?? 'pending', context };
  });
}

/** The payload does not tell that the agent only plans. */
function withMode(value: unknown): unknown {
  const { hook_event_name: hook, transcript_path: path } = recordOf(value);
  if (hook !== 'Stop') return value;
  const last = linesWith(textOf(path) ?? '', '"session.mode_changed"').at(-1);
  const mode = recordOf(last?.['data'])['newMode'];
  return mode === undefined ? value : { ...recordOf(value), permission_mode: mode };
}
