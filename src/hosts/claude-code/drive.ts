// Drives Claude Code for `run --with claude-code`: its print mode with a stream of JSON
// lines, our hooks and tools for this run alone.
import type { HostDriver } from '../../engine/host-driver.ts';
import { hooksOf } from '../asked-translate.ts';
import { ourServer } from '../driver.ts';
import { shippedHook } from '../install/files.ts';
import { allTools, serverName } from '../install/hook-host.ts';
import { startVariables } from '../project-variables.ts';
import { createStreamReader } from '../stream-json.ts';
import { claudeCodeLanguage, hostName, readTaskList } from './host.ts';
import { claudeCodeInstaller, hookElement, switches, toolPrefix } from './install.ts';

const { title, program, howToGet } = claudeCodeInstaller;
const modes = {
  'read-only': ['--permission-mode', 'plan'],
  edit: ['--permission-mode', 'acceptEdits'],
  auto: ['--dangerously-skip-permissions'],
} as const;

export const claudeCodeDriver: HostDriver = {
  name: hostName,
  title,
  program,
  howToGet,
  takesId: true,
  reports: { tokens: true, cost: true },
  tools: { pause: `${toolPrefix}todo_pause`, verify: `${toolPrefix}todo_verify` },
  permissions: {
    'read-only': 'Claude Code may only look (its mode "plan").',
    edit: 'Claude Code may edit files in this folder; commands run as its own settings allow (its mode "acceptEdits"). --auto allows everything.',
    auto: 'Claude Code may do anything that you may: --auto switches its permissions off.',
  },
  start({ text, id, isNew, mode, model, flags, environment }) {
    const command = shippedHook(claudeCodeLanguage, environment, `--tools=${toolPrefix}`);
    const hooks = hooksOf(claudeCodeLanguage).map((one) => [
      one.hook,
      [hookElement(command, one.timeout)],
    ]);
    const env = startVariables(claudeCodeLanguage);
    const server = { type: 'stdio', ...ourServer(), env, alwaysLoad: true };
    const servers = { [serverName]: server };
    return {
      words: [
        '-p',
        '--output-format',
        'stream-json',
        '--verbose',
        isNew ? '--session-id' : '--resume',
        id ?? '',
        ...modes[mode],
        ...(model === null ? [] : ['--model', model]),
        '--settings',
        JSON.stringify({ hooks: Object.fromEntries(hooks) }),
        '--mcp-config',
        JSON.stringify({ mcpServers: servers }),
        '--allowedTools',
        allTools.map((tool) => toolPrefix + tool).join(','),
        ...flags,
      ],
      // A variable that the human set stays as it is.
      variables: Object.fromEntries(
        Object.entries(switches).filter(([name]) => !environment[name]),
      ),
      input: text,
    };
  },
  createReader: () =>
    createStreamReader({ title, cacheIsApart: true, resultIs: 'start' }),
  readTodos: readTaskList,
};
