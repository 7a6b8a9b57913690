// How our answers look to Qwen Code; its own list of todos, which a missed hook cannot change; and what its settings say about
// the number of continuations that it takes.
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { ListedTodo } from '../../core/reconcile.ts';
import type { Environment } from '../../engine/policy.ts';
import type { AskedHost, HookCall, Translation } from '../asked-call.ts';
import { createAskedHost } from '../asked-translate.ts';
import { dotEnvFiles, readSettings, variablesOf } from '../project-files.ts';
import { usageIn } from '../transcript.ts';
import { listOf, readTodo, recordOf } from '../untrusted.ts';
import { capVariable, qwenCodeLanguage, takenBlocks } from './translate.ts';

/** Of the folder in which it was started, and of none above. */
const settingsOf = (folder: string | null) =>
  readSettings(join(folder ?? '', '.qwen', 'settings.json'), true);

const shared = createAskedHost(qwenCodeLanguage);

export const qwenCode: AskedHost = {
  ...shared,
  translate: (payload, moment) => withCap(shared.translate(payload, moment), moment.environment),
  readList: ({ descriptor, sessionId }, environment) =>
    descriptor.kind === 'main' ? readTodoList(descriptor.driven?.id ?? sessionId, environment) : null,
  readUsage: usageIn('"usageMetadata"', ({ type, uuid, usageMetadata }) => {
    const { promptTokenCount: input, candidatesTokenCount: output } = recordOf(usageMetadata);
    return type === 'assistant' ? { key: uuid, input: [input], output: [output] } : null;
  }),
  projectVariables: ({ descriptor: { directory } }) =>
    variablesOf([settingsOf(directory)], dotEnvFiles(directory, '.qwen')),
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
