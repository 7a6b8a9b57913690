// Drives Qwen Code for `run --with qwen-code`: headless with a stream of JSON lines. Our
// hooks and tools come as defaults of the system, for this run alone, so every setting of
// the human wins.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostDriver } from '../../engine/host-driver.ts';
import type { Environment } from '../../engine/policy.ts';
import { hooksOf } from '../asked-translate.ts';
import { ourServer } from '../driver.ts';
import { shippedHook } from '../install/files.ts';
import { serverName } from '../install/hook-host.ts';
import { readSettings } from '../project-files.ts';
import { startVariables } from '../project-variables.ts';
import { createStreamReader } from '../stream-json.ts';
import { listOf, recordOf } from '../untrusted.ts';
import { hostName, qwenCodeLanguage, readTodoList, toolPrefix } from './host.ts';
import { hookElement, mostBlocks, qwenCodeInstaller, serverGrants } from './install.ts';

const { title, program, howToGet } = qwenCodeInstaller;
const modes = { 'read-only': 'plan', edit: 'auto-edit', auto: 'yolo' } as const;
const defaultsVariable = 'QWEN_CODE_SYSTEM_DEFAULTS_PATH';

export const qwenCodeDriver: HostDriver = {
  name: hostName,
  title,
  program,
  howToGet,
  takesId: false,
  reports: { tokens: true, cost: false },
  tools: { pause: `${toolPrefix}todo_pause`, verify: `${toolPrefix}todo_verify` },
  permissions: {
    'read-only': 'Qwen Code may only look (its mode "plan").',
    edit: 'Qwen Code may edit files in this folder; it is offered no shell (its mode "auto-edit"). --auto allows everything.',
    auto: 'Qwen Code may do anything that you may: --auto is its mode "yolo".',
  },
  start({ text, id, mode, model, flags, scratch, environment }) {
    const file = join(scratch, 'qwen-defaults.json');
    const defaultsFile =
      environment[defaultsVariable] || '/etc/qwen-code/system-defaults.json';
    const settings = withOurs(recordOf(readSettings(defaultsFile, true)), environment);
    writeFileSync(file, JSON.stringify(settings), { mode: 0o600 });
    return {
      words: [
        // No id of ours: the host takes only older kinds of UUID from others.
        '-o',
        'stream-json',
        '--approval-mode',
        modes[mode],
        ...(id === null ? [] : ['--resume', id]),
        ...(model === null ? [] : ['--model', model]),
        ...flags,
      ],
      variables: { [defaultsVariable]: file },
      input: text,
    };
  },
  // It reports the tokens of all starts together, with those from the cache among them.
  createReader: () =>
    createStreamReader({ title, cacheIsApart: false, resultIs: 'conversation' }),
  readTodos: readTodoList,
};

/** The defaults of an administrator, with our hooks and tools. */
function withOurs(
  defaults: Readonly<Record<string, unknown>>,
  environment: Environment,
): object {
  const command = shippedHook(qwenCodeLanguage, environment, `--tools=${toolPrefix}`);
  const theirs = recordOf(defaults['hooks']);
  const hooks = hooksOf(qwenCodeLanguage).map(({ hook, timeout }) => [
    hook,
    [...listOf(theirs[hook]), hookElement(command, timeout)],
  ]);
  return {
    stopHookBlockingCap: mostBlocks,
    ...defaults,
    tools: { ...recordOf(defaults['tools']), todoWrite: { enabled: true } },
    mcpServers: {
      ...recordOf(defaults['mcpServers']),
      [serverName]: {
        ...ourServer(),
        env: startVariables(qwenCodeLanguage),
        ...serverGrants,
      },
    },
    hooks: { ...theirs, ...Object.fromEntries(hooks) },
  };
}
