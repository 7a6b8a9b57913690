// Installs us in Claude Code and examines whether all is there and allowed. Its own todo
// tools hold the plan and need no grant; our MCP server adds what they lack. Facts of the
// real program: in a folder that nobody trusted yet, it takes grants of a project only
// from an untracked local file; it ignores MCP servers in settings.
import { join } from 'node:path';
import { defaultSettings } from '../../core/settings.ts';
import {
  allTools,
  type HookPlace,
  hookElement,
  hookInstaller,
  serverName,
  switchedOff,
} from '../install/hook-host.ts';
import type { InstallBasis, Project } from '../install/installer.ts';
import {
  brokenRow,
  noteRow,
  okRow,
  readSource,
  readSources,
  settingIn,
  settingsIn,
} from '../install/installer.ts';
import { entry, member } from '../install/json-text.ts';
import { claudeCodeLanguage, hostName } from './host.ts';

export { hookElement };

export const pluginName = 'untildone@untildone';
export const toolPrefix = `mcp__${serverName}__`;

export const claudeCodeInstaller = hookInstaller({
  title: 'Claude Code',
  program: 'claude',
  npmPackage: '@anthropic-ai/claude-code',
  knownVersions: ['2.1.325'],
  howToRemovePlugin: `claude plugin uninstall ${pluginName}`,
  language: claudeCodeLanguage,
  toolPrefix,
  refusesComments: true,
  // Its settings hold the variables of all hooks.
  element: (command, { timeout }) => hookElement(command, timeout),
  // In the prompt from the start: no model searches for a way to pause.
  server: (call) => ({ type: 'stdio', ...call, alwaysLoad: true }),
  stop: {
    prompt_id: 'untildone-doctor',
    permission_mode: 'default',
    last_assistant_message: '',
    background_tasks: [],
    session_crons: [],
  },
  look,
});

/** Variables that Claude Code needs; `init` writes them into its settings. */
export const switches = {
  /** Without this, new models get no todo tools. */
  CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  /**
   * The host's own cap of 8 ends a turn as a success. This cap is as high as our highest
   * limit, which acts first.
   */
  CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: String(defaultSettings.ceiling),
};

const managedSettings = '/etc/claude-code/managed-settings.json';
const localSettings = '.claude/settings.local.json';
const untrack = `git rm --cached ${localSettings}`;
const toolsOff =
  'The todo tools are off: new models get none without CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the settings.';
const allToolsSent =
  'each request then carries every tool of Claude Code, about 38 kB more.';
const untrusted =
  'count only after a person trusted this folder; until then todo_pause and todo_verify are refused without a terminal.';

function look(
  { env, home }: InstallBasis,
  { root, mainRoot: project, isTracked }: Project,
): HookPlace {
  const ownFolder = env['CLAUDE_CONFIG_DIR'];
  // Nearest first. The host reads committed files from the working tree at hand.
  const hookFiles = {
    project: join(project, localSettings),
    shared: join(root, '.claude', 'settings.json'),
    user: join(ownFolder || join(home, '.claude'), 'settings.json'),
  };
  // The host rewrites this file at every run. It holds the MCP servers of user and local
  // scope.
  const stateFile = join(ownFolder || home, '.claude.json');
  const isLocalTracked = isTracked(hookFiles.project);
  const [plugin] = settingsIn(
    readSources(Object.values(hookFiles), true),
    'enabledPlugins',
    pluginName,
  );
  const servers: HookPlace['servers'] = {
    project: [stateFile, 'projects', project, 'mcpServers', serverName],
    shared: [join(root, '.mcp.json'), 'mcpServers', serverName],
    user: [stateFile, 'mcpServers', serverName],
  };
  return {
    project,
    plugin: plugin?.value === true ? plugin.path : null,
    hookFiles,
    servers,
    isGranted: (scope) => scope === 'user' || (scope === 'project' && !isLocalTracked),
    layout(scope, { hooks, server, moved }) {
      const variables = Object.entries({ ...switches, ...moved });
      const edits = [
        ...variables.map(([name, value]) => member(['env', name], value)),
        ...allTools.map((tool) => entry(['permissions', 'allow'], toolPrefix + tool)),
        ...hooks,
      ];
      const tracked = `${hookFiles.project} is tracked by git: Claude Code ignores its permissions in a folder that nobody trusted yet, and it contains paths of this machine. Run: ${untrack}`;
      return {
        targets: [
          { path: hookFiles[scope], refusesComments: true, edits },
          {
            path: servers[scope][0],
            refusesComments: true,
            isPrivate: scope !== 'shared',
            edits: [server],
          },
        ],
        local: [localSettings],
        notes: [scope === 'project' && isLocalTracked && tracked],
      };
    },
    examine(scopes, mend, server) {
      // Later ones win, as in the host.
      const sources = readSources(
        [...Object.values(hookFiles).reverse(), managedSettings],
        true,
      );
      const wrong = sources.find(({ problem }) => problem !== null);
      const ignored =
        wrong && `Claude Code ignores ${wrong.path} as a whole: it ${wrong.problem}.`;
      const off = sources.find(({ value }) => value['disableAllHooks'] === true)?.path;
      const isManaged =
        readSource(managedSettings, true)['allowManagedHooksOnly'] === true;
      const managed = `${managedSettings} allows no hooks but its own.`;
      const isSet = (name: string, ...values: readonly unknown[]) => {
        const setting = settingsIn(sources, 'env', name).findLast(
          ({ value }) => typeof value === 'string',
        );
        return values.includes(setting?.value ?? env[name]);
      };
      const isOn = isSet('CLAUDE_CODE_ENABLE_TODO_TOOLS', '1', 'true');
      // Older versions of `init` wrote this value. Any other value is a person's.
      const search = settingsIn(sources, 'env', 'ENABLE_TOOL_SEARCH').find(
        ({ value }) => value === 'auto',
      );
      const trust = settingIn(
        readSource(stateFile, true),
        'projects',
        project,
        'hasTrustDialogAccepted',
      );
      const isTrusted = trust === true || scopes.includes('user');
      const tracked = `${hookFiles.project} is tracked by git, so its grants ${untrusted}`;
      const committed = `Grants in a committed file ${untrusted}`;
      const isLocal = scopes.includes('project');
      return [
        [
          ignored && brokenRow('trust', ignored, `make ${wrong.path} plain JSON`),
          off && switchedOff(off, 'disableAllHooks'),
          isManaged &&
            brokenRow('trust', managed, 'ask the administrator of this machine'),
          okRow('trust', 'Settings can be read, and hooks are allowed.'),
        ],
        [
          !isOn && brokenRow('todo-tools', toolsOff, mend),
          okRow('todo-tools', 'The todo tools are on.'),
        ],
        [
          search &&
            noteRow(
              'tool-search',
              `${search.path} sets ENABLE_TOOL_SEARCH to "auto", as older versions of init did: ${allToolsSent}`,
              `${mend}; if you set it yourself, take "ENABLE_TOOL_SEARCH" out of ${search.path}`,
            ),
        ],
        server,
        [
          !isTrusted && isLocal && isLocalTracked && noteRow('grants', tracked, untrack),
          !isTrusted &&
            !isLocal &&
            noteRow('grants', committed, `untildone init ${hostName}`),
          okRow('grants', 'todo_pause and todo_verify are allowed without asking.'),
        ],
      ];
    },
  };
}
