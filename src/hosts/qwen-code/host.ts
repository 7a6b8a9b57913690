// How our answers look to Qwen Code; its own list of todos, which a missed hook cannot change; and what its settings say about
// the number of continuations that it takes.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { Environment } from '../../engine/policy.ts';
import type { AskedHost, HookCall, Translation } from '../asked-call.ts';
import { createFindStop, renderBlock } from '../asked-translate.ts';
import { dotEnvFiles, readSettings, variablesOf } from '../project-files.ts';
import { usedSince } from '../transcript.ts';
import { listOf, readTodo, recordOf } from '../untrusted.ts';
import { capVariable, qwenCodeLanguage, takenBlocks, translate } from './translate.ts';

/** Of the folder in which it was started, and of none above. */
const settingsOf = (folder: string | null) =>
  readSettings(join(folder ?? '', '.qwen', 'settings.json'), true);

export const qwenCode: AskedHost = {
  translate: (payload, moment) => withCap(translate(payload, moment), moment.environment),
  readList: ({ descriptor, sessionId }, environment) =>
    descriptor.kind === 'main' ? readTodoList(descriptor.driven?.id ?? sessionId, environment) : null,
  readUsage: (transcript, since) =>
    usedSince(transcript, since, '"usageMetadata"', ({ type, uuid, usageMetadata }) => {
      const used = recordOf(usageMetadata);
      const [input, output] = [used['promptTokenCount'], used['candidatesTokenCount']];
      return type === 'assistant' ? { key: uuid, input: [input], output: [output] } : null;
    }),
  projectVariables: ({ descriptor: { directory } }) =>
    variablesOf([settingsOf(directory)], dotEnvFiles(directory, '.qwen')),
  findStop: createFindStop(qwenCodeLanguage),
  render: (answer, hook) => renderBlock(answer, hook === 'Stop' || hook === 'SubagentStop', hook),
  agentCommandOf: (variable) =>
    // Hooks have the session's id, but not this.
    variable('QWEN_CODE') ? { sessionId: variable('QWEN_CODE_SESSION_ID') ?? null } : null,
};

/** The variable is stronger; else the project's settings, then the user's. */
function withCap(read: Translation, environment: Environment): Translation {
  if (!read.ok || read.call.asks.type !== 'stop' || environment[capVariable]?.trim()) return read;
  const { call } = read;
  const said = [
    settingsOf(call.descriptor.directory),
    readSettings(join(userFolder(environment), 'settings.json'), true),
  ];
  const cap = said.map((settings) => settings?.['stopHookBlockingCap']).find((one) => one !== undefined);
  const asks = { ...read.call.asks, blockCap: takenBlocks(cap) };
  return { ok: true, call: { ...call, asks } };
}

function userFolder({ QWEN_HOME: moved = '', HOME: home }: Environment): string {
  return isAbsolute(moved) ? moved : join(home || homedir(), '.qwen');
}

/** By titles: its ids are the model's own, and each new list begins with 1. */
export function readTodoList(
  sessionId: HookCall['sessionId'],
  environment: Environment,
): ListedTodo[] | null {
  const { QWEN_RUNTIME_DIR: moved = '' } = environment;
  const folder = isAbsolute(moved) ? moved : userFolder(environment);
  const file = readSettings(join(folder, 'todos', `${sessionId}.json`), false);
  return file === null ? null : listOf(recordOf(file)['todos']).map((todo) => readTodo(todo, null));
}
