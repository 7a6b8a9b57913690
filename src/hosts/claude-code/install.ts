// What Claude Code is given, and whether that is there and allowed. Its own todo tools hold the plan and need no grant; our
// MCP server adds what they lack. Facts of the real program: in a folder that nobody trusted yet, grants of a project count
// only from an untracked local file; MCP servers in settings are ignored.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultSettings } from '../../core/settings.ts';
import { type HookTimeout, hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import type { Edit, FileTarget } from '../install/changes.ts';
import { hookCommandsIn, writeHookCommand } from '../install/files.ts';
import {
  allTools,
  hookProofs,
  movedVariables,
  offeredTools,
  serverCall,
  serverName,
} from '../install/hook-host.ts';
import * as installer from '../install/installer.ts';
import { broken, note, ok, readSources } from '../install/installer.ts';
import type { Json } from '../install/json-text.ts';
import { listOf, recordOf } from '../untrusted.ts';
import { claudeCodeLanguage, hostName } from './host.ts';

const claudeCodeHooks = hooksOf(claudeCodeLanguage);

export const pluginName = 'untildone@untildone';

export const claudeCodeInstaller: installer.HostInstaller = {
  name: hostName,
  title: 'Claude Code',
  program: 'claude',
  programs: ['hook.js', 'host-commands.js'],
  pieces: 'hooks',
  oldestVersion: null,
  knownVersions: ['2.1.325'],
  howToGet: 'npm install --global @anthropic-ai/claude-code',
  afterInstall: 'Claude Code sessions that are already running keep their old settings: restart them.',
  howToRemovePlugin: `claude plugin uninstall ${pluginName}`,
  survey,
};

export const switches = {
  /** Off by default for new models. */
  CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  /** Not behind a search; nor `false`, which loads every tool of every other MCP server. */
  ENABLE_TOOL_SEARCH: 'auto',
  /** The host's own cap of 8 ends a turn as a success; this one stays behind our highest limit. */
  CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: String(defaultSettings.ceiling),
};

const managedSettings = '/etc/claude-code/managed-settings.json';
const localSettings = '.claude/settings.local.json';
const untrack = `git rm --cached ${localSettings}`;
/** The end of a turn in which nothing was done. */
const harmlessStop = {
  ...{ hook_event_name: 'Stop', session_id: 'untildone-doctor', prompt_id: 'untildone-doctor' },
  ...{ transcript_path: '/dev/null', permission_mode: 'default', stop_hook_active: false },
  ...{ last_assistant_message: '', background_tasks: [], session_crons: [] },
};
export const toolPrefix = `mcp__${serverName}__`;

function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home } = basis;
  const ownFolder = env['CLAUDE_CONFIG_DIR'];
  const { root, mainRoot: project, excludeFile, isTracked } = installer.findProject(basis);
  // Nearest first. Committed files are read from the working tree at hand.
  const settings = {
    project: join(project, localSettings),
    shared: join(root, '.claude', 'settings.json'),
    user: join(ownFolder || join(home, '.claude'), 'settings.json'),
  };
  const sharedServers = join(root, '.mcp.json');
  // Rewritten by the host at every run; holds MCP servers of user and local scope.
  const stateFile = join(ownFolder || home, '.claude.json');
  const isLocalTracked = isTracked(settings.project);
  const read = (path: string) => readSources([path], true)[0]?.value ?? {};
  const pluginIn = (path: string) => recordOf(read(path)['enabledPlugins'])[pluginName];
  const plugin = Object.values(settings).find((path) => pluginIn(path) !== undefined);

  function layout(scope: installer.Scope) {
    const request = { ...basis, scope };
    const isShared = scope === 'shared';
    const isTrackedHere = scope === 'project' && isLocalTracked;
    const moved = movedVariables(request);
    // Texts may name our tools only where the host will take our grants.
    const words = isShared || isTrackedHere ? [] : [`--tools=${toolPrefix}`];
    const command = writeHookCommand(request, hostName, words);
    const variables = Object.entries({ ...switches, ...moved });
    const add = (kind: 'member' | 'entry' | 'hook', path: string[], value: Json) => ({ kind, path, value });
    const edits = [
      ...variables.map(([name, value]) => add('member', ['env', name], value)),
      ...allTools.map((tool) => add('entry', ['permissions', 'allow'], toolPrefix + tool)),
      ...claudeCodeHooks.map(({ hook, timeout }) =>
        add('hook', ['hooks', hook], hookElement(command, timeout)),
      ),
    ];
    const value = {
      type: 'stdio',
      ...serverCall(request, offeredTools),
      ...(isShared ? {} : { env: moved }),
      // In the prompt from the start: nobody searches for an escape hatch.
      alwaysLoad: true,
    };
    const path = [...(scope === 'project' ? ['projects', project] : []), 'mcpServers', serverName];
    const server: Edit = { kind: 'member', path, value, named: true };
    const servers = isShared ? { path: sharedServers } : { path: stateFile, isPrivate: true };
    const targets: FileTarget[] = [
      { path: settings[scope], refusesComments: true, edits },
      { ...servers, refusesComments: true, edits: [server] },
    ];
    if (scope === 'project' && excludeFile !== null)
      targets.push({ path: excludeFile, edits: [{ kind: 'line', text: `/${localSettings}` }] });
    const tracked = `${settings.project} is tracked by git: Claude Code ignores its permissions in a folder that nobody trusted yet, and it contains paths of this machine. Run: ${untrack}`;
    return { targets, notes: isTrackedHere ? [tracked] : [], summary: `${claudeCodeHooks.length} hooks` };
  }

  function examine(scopes: readonly installer.Scope[]): installer.Examination {
    // The plugin brings its own server, asks for each grant and sets no switches.
    if (scopes[0] === undefined) return [];
    const mend = `untildone init ${hostName}${installer.scopeFlags[scopes[0]]}`;
    // Later ones win, as in the host.
    const sources = readSources([...Object.values(settings).reverse(), managedSettings], true);
    const wrong = sources.find(({ problem }) => problem !== null);
    const ignored = wrong && `Claude Code ignores ${wrong.path} as a whole: it ${wrong.problem}.`;
    const off = sources.find(({ value }) => value['disableAllHooks'] === true)?.path;
    const isManaged = read(managedSettings)['allowManagedHooksOnly'] === true;
    const managed = `${managedSettings} allows no hooks but its own.`;
    const isSet = (name: string, ...values: readonly unknown[]) => {
      const said = sources.map(({ value }) => recordOf(value['env'])[name]);
      return values.includes(said.findLast((value) => typeof value === 'string') ?? env[name]);
    };
    const isOn = isSet('CLAUDE_CODE_ENABLE_TODO_TOOLS', '1', 'true');
    const isInPrompt = isSet('ENABLE_TOOL_SEARCH', switches.ENABLE_TOOL_SEARCH, 'false', '0');
    const toolsOff =
      'The todo tools are off: new models get none without CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the settings.';
    const toolsHidden = 'The todo tools are on, but the model has to search for them (ENABLE_TOOL_SEARCH).';
    const [state, shared] = [read(stateFile), read(sharedServers)];
    const own = recordOf(recordOf(state['projects'])[project]);
    const holder = [own, shared, state].find((one) => serverName in recordOf(one['mcpServers']));
    const program = listOf(recordOf(recordOf(holder?.['mcpServers'])[serverName])['args'])[0];
    const isGone = holder !== shared && typeof program === 'string' && !existsSync(program);
    const isTrusted = own['hasTrustDialogAccepted'] === true || scopes.includes('user');
    const untrusted =
      'count only after a person trusted this folder; until then todo_pause and todo_verify are refused without a terminal.';
    const tracked = `${settings.project} is tracked by git, so its grants ${untrusted}`;
    const committed = `Grants in a committed file ${untrusted}`;
    const isLocal = scopes.includes('project');
    return [
      [
        ignored && broken('trust', ignored, `make ${wrong.path} plain JSON`),
        off && broken('trust', `Hooks are switched off in ${off}.`, `take "disableAllHooks" out of ${off}`),
        isManaged && broken('trust', managed, 'ask the administrator of this machine'),
        ok('trust', 'Settings can be read, and hooks are allowed.'),
      ],
      [
        !isOn && broken('todo-tools', toolsOff, mend),
        !isInPrompt && note('todo-tools', toolsHidden, mend),
        ok('todo-tools', 'The todo tools are on and in the prompt.'),
      ],
      [
        !holder && broken('server', 'The MCP server is not registered, so the model cannot pause.', mend),
        isGone && broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend),
        ok('server', 'The MCP server is registered.'),
      ],
      [
        !isTrusted && isLocal && isLocalTracked && note('grants', tracked, untrack),
        !isTrusted && !isLocal && note('grants', committed, `untildone init ${hostName}`),
        ok('grants', 'todo_pause and todo_verify are allowed without asking.'),
      ],
    ];
  }

  function proofs(scopes: readonly installer.Scope[]): installer.Proof[] {
    const own = recordOf(recordOf(read(stateFile)['projects'])[project]);
    const servers = [own, read(stateFile)].map((one) => recordOf(one['mcpServers'])[serverName]);
    return hookProofs(basis, {
      ...{ host: hostName, title: 'Claude Code', harmlessStop, scopes },
      hooksIn: (scope) => read(settings[scope])['hooks'],
      server: servers.find((one) => one !== undefined),
    });
  }

  return {
    project,
    proofs,
    plugin: plugin !== undefined && pluginIn(plugin) === true ? plugin : null,
    layout,
    installed: (scope) => hookCommandsIn(read(settings[scope])['hooks'], hostName),
    examine,
  };
}

export function hookElement(command: string, timeout: HookTimeout): Json {
  return { hooks: [{ type: 'command', command, timeout: hookTimeouts[timeout] }] };
}
