// What Claude Code is given and asked: hooks with explicit timeouts, switches, grants and our MCP server, and whether they
// are there and allowed. One family of todo tools holds the plan: the host's own, which need no grant; the server only
// brings what the host lacks. Facts of the real program that decide the places: in a folder that nobody trusted yet grants
// of a project count only from an untracked local file, and MCP servers in settings are ignored.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { defaultSettings } from '../../core/settings.ts';
import { type HookTimeout, hookTimeouts } from '../asked-call.ts';
import type { FileTarget } from '../install/changes.ts';
import { programPath, readHookCommand, textNow, writeHookCommand } from '../install/files.ts';
import {
  broken,
  type Finding,
  findRepository,
  type HostInstaller,
  type InstallBasis,
  type InstalledProgram,
  type InstallLayout,
  type InstallRequest,
  isTracked,
  note,
  ok,
  type Scope,
  scopeFlags,
} from '../install/installer.ts';
import {
  findHookLines,
  isPlainJson,
  type Json,
  type JsonEdit,
  type KeyPath,
  withoutMark,
} from '../install/json-text.ts';
import { recordOf, type Fields as Settings } from '../untrusted.ts';
import { claudeCodeHooks, hostName } from './translate.ts';

export const serverName = 'untildone';
export const pluginName = 'untildone@untildone';
export const claudeCodePrograms = ['hook.js', 'host-commands.js'] as const;

export const claudeCodeInstaller: HostInstaller = {
  name: hostName,
  title: 'Claude Code',
  program: 'claude',
  programs: claudeCodePrograms,
  oldestVersion: null,
  knownVersions: ['2.1.325'],
  howToGet: 'npm install --global @anthropic-ai/claude-code',
  afterInstall: 'Sessions of Claude Code that run already keep their old settings: start them anew.',
  howToRemovePlugin: `claude plugin uninstall ${pluginName}`,
  findingNames: { installed: 'hooks', file: 'hook-file', version: 'hook-version' },
  actsOnce: false,
  layout,
  findInstalled,
  examine,
  findPlugin,
};

/** What the host's own todo tools cannot do. */
const offeredTools = ['todo_pause', 'todo_verify'];

/**
 * All tools that the server can offer, one by one: a pattern would also grant what a later version adds. They change the
 * plan and nothing else, so that offering another family is a matter of the server's arguments alone.
 */
const grantedTools = [
  ...['create_todo', 'list_todo', 'complete_todo', 'update_todo'],
  ...['todo_write', 'todo_read', ...offeredTools],
];

const switches = {
  /** New models come without the host's todo tools. */
  CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  /**
   * The todo tools stand behind a search otherwise. Not `false`: that would also load every tool of every other MCP server
   * of the user, where `auto` goes on searching once they would fill a tenth of the context.
   */
  ENABLE_TOOL_SEARCH: 'auto',
  /**
   * The host's own cap of 8 ends a turn as if it had succeeded. Ours end it with an outcome; this one stays behind our
   * highest limit, in case that ours should fail.
   */
  CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: String(defaultSettings.ceiling),
};

/** Where the real program keeps its settings: its own folder or CLAUDE_CONFIG_DIR, and the project. */
function placesOf({ env, cwd, home }: InstallBasis) {
  const own = env['CLAUDE_CONFIG_DIR'];
  const repository = findRepository(cwd, env);
  const folder = realpathSync(cwd);
  const root = repository?.root ?? folder;
  const project = repository?.mainRoot ?? folder;
  return {
    /** Root of the main working tree; the key of the project in the host's own state file. */
    project,
    userSettings: join(own || join(home, '.claude'), 'settings.json'),
    /** The host's own state, which it rewrites at every run; MCP servers of user and local scope are in it. */
    stateFile: join(own || home, '.claude.json'),
    // Committed files belong to the working tree at hand; the host reads them from there.
    sharedSettings: join(root, '.claude', 'settings.json'),
    sharedServers: join(root, '.mcp.json'),
    localSettings: join(project, '.claude', 'settings.local.json'),
    excludeFile: repository?.excludeFile ?? null,
  };
}

type Places = ReturnType<typeof placesOf>;

function layout(request: InstallRequest): InstallLayout {
  const { scope, env } = request;
  const places = placesOf(request);
  const { localSettings, project } = places;
  const isLocalTracked = scope === 'project' && isTracked(localSettings, project, env);
  const tracked = `${localSettings} is tracked by git: in a folder that nobody trusted yet, Claude Code takes no grants from it, and it holds paths of this machine. Run: git rm --cached .claude/settings.local.json`;
  return {
    project: scope === 'user' ? null : project,
    targets: targetsOf(request, places, scope !== 'shared' && !isLocalTracked),
    notes: isLocalTracked ? [tracked] : [],
    pieces: `${claudeCodeHooks.length} hooks`,
  };
}

function targetsOf(request: InstallRequest, places: Places, isGranted: boolean): FileTarget[] {
  const json = (path: string, edits: readonly JsonEdit[]): FileTarget => {
    return { path, format: 'json', refusesComments: true, edits };
  };
  const server = (path: KeyPath): JsonEdit[] => {
    return [
      { kind: 'member', path: [...path, 'mcpServers', serverName], value: serverOf(request), named: true },
    ];
  };
  const edits = settingsEdits(request, isGranted);
  if (request.scope === 'shared')
    return [json(places.sharedSettings, edits), json(places.sharedServers, server([]))];
  const isUser = request.scope === 'user';
  const state = json(places.stateFile, server(isUser ? [] : ['projects', places.project]));
  const targets = [
    json(isUser ? places.userSettings : places.localSettings, edits),
    { ...state, isPrivate: true as const },
  ];
  if (isUser || places.excludeFile === null) return targets;
  const exclude = { kind: 'line', text: '/.claude/settings.local.json' } as const;
  return [...targets, { path: places.excludeFile, format: 'lines', edits: [exclude] }];
}

/** @param isGranted whether the host will take our grants: only then may texts send the model to our tools */
function settingsEdits(request: InstallRequest, isGranted: boolean): JsonEdit[] {
  const { scope, version, node, stateDirectory } = request;
  const file = programPath(stateDirectory, version, 'hook.js');
  const command = writeHookCommand(
    scope === 'shared' ? { kind: 'portable', version } : { kind: 'copied', node, file, version },
    hostName,
    isGranted ? [`--tools=mcp__${serverName}__`] : [],
  );
  const granted = grantedTools.map((tool) => `mcp__${serverName}__${tool}`);
  return [
    ...Object.entries({ ...switches, ...stateVariable(request) }).map(
      ([name, value]): JsonEdit => ({ kind: 'member', path: ['env', name], value }),
    ),
    ...granted.map((value): JsonEdit => ({ kind: 'entry', path: ['permissions', 'allow'], value })),
    ...claudeCodeHooks.map(
      ({ hook, timeout }): JsonEdit => ({
        kind: 'hook',
        path: ['hooks', hook],
        value: hookElement(command, timeout),
      }),
    ),
  ];
}

export function hookElement(command: string, timeout: HookTimeout): Json {
  return { hooks: [{ type: 'command', command, timeout: hookTimeouts[timeout] }] };
}

/** In the prompt from the start: an escape hatch that has to be searched for is none. */
function serverOf(request: InstallRequest): Json {
  const { scope, version, node, stateDirectory } = request;
  const tools = ['mcp', '--tools', offeredTools.join(',')];
  if (scope === 'shared') {
    const args = ['-y', '--fetch-retries=0', `untildone@${version}`, ...tools];
    return { type: 'stdio', command: 'npx', args, alwaysLoad: true };
  }
  const args = [programPath(stateDirectory, version, 'host-commands.js'), ...tools];
  return { type: 'stdio', command: node, args, env: stateVariable(request), alwaysLoad: true };
}

/** Where the person moved the state directory, hooks and server must find it as well. */
function stateVariable({ scope, env, stateDirectory }: InstallRequest): Record<string, string> {
  return env['UNTILDONE_HOME'] && scope !== 'shared' ? { UNTILDONE_HOME: stateDirectory } : {};
}

function findInstalled(request: InstallRequest): InstalledProgram[] {
  const { userSettings, sharedSettings, localSettings } = placesOf(request);
  const file = { user: userSettings, shared: sharedSettings, project: localSettings }[request.scope];
  const paths = claudeCodeHooks.map(({ hook }) => ['hooks', hook]);
  return findHookLines(textNow(file) ?? '', paths, hostName).flatMap((line) => {
    const command = readHookCommand(line, hostName);
    if (command === null) return [];
    return [command.kind === 'portable' ? command : { ...command, name: 'hook.js' }];
  });
}

function findPlugin(request: InstallBasis): string | null {
  const { userSettings, sharedSettings, localSettings } = placesOf(request);
  // The nearest file that speaks of it wins.
  for (const file of [localSettings, sharedSettings, userSettings]) {
    const enabled = recordOf(readJson(file)['enabledPlugins']);
    if (Object.hasOwn(enabled, pluginName)) return enabled[pluginName] === true ? file : null;
  }
  return null;
}

/** Where administrators of a Linux machine rule over everyone's settings. */
const managedSettings = '/etc/claude-code/managed-settings.json';

/** Can the host read its settings, does it run hooks at all, are its todo tools on, is our server there and granted? */
function examine(request: InstallBasis, installed: readonly Scope[]): Finding[] {
  // The plugin brings its own server and asks for each grant, and sets no switches.
  const [scope] = installed;
  if (scope === undefined) return [];
  const places = placesOf(request);
  const mend = `untildone init ${hostName}${scopeFlags[scope]}`;
  // Later settings files win over earlier ones, as in the host.
  const files = [places.userSettings, places.sharedSettings, places.localSettings, managedSettings];
  return [
    examineTrust(files),
    examineTodoTools(request, files.map(readJson), mend),
    examineServer(places, mend),
    examineGrants(request, places, installed),
  ];
}

function examineTrust(files: readonly string[]): Finding {
  const unreadable = files.find((file) => existsSync(file) && !isPlainJson(readFileSync(file, 'utf8')));
  if (unreadable !== undefined) {
    const sentence = `Claude Code ignores ${unreadable} as a whole: it is not plain JSON (comments and trailing commas are refused too).`;
    return broken('trust', sentence, `make ${unreadable} plain JSON`);
  }
  const off = files.find((file) => readJson(file)['disableAllHooks'] === true);
  if (off !== undefined)
    return broken('trust', `Hooks are switched off in ${off}.`, `take "disableAllHooks" out of ${off}`);
  if (readJson(managedSettings)['allowManagedHooksOnly'] === true) {
    const sentence = `${managedSettings} allows no hooks but its own.`;
    return broken('trust', sentence, 'ask whoever administers this machine');
  }
  return ok('trust', 'Settings can be read, and hooks are allowed.');
}

function examineTodoTools({ env }: InstallBasis, settings: readonly Settings[], mend: string): Finding {
  const value = (name: string): string | undefined => {
    const said = settings.map((one) => recordOf(one['env'])[name]);
    return said.findLast((text) => typeof text === 'string') ?? env[name];
  };
  if (!['1', 'true'].includes(value('CLAUDE_CODE_ENABLE_TODO_TOOLS') ?? '')) {
    const sentence =
      'The todo tools are off: new models get none without CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the settings.';
    return broken('todo-tools', sentence, mend);
  }
  if ([switches.ENABLE_TOOL_SEARCH, 'false', '0'].includes(value('ENABLE_TOOL_SEARCH') ?? ''))
    return ok('todo-tools', 'The todo tools are on and in the prompt.');
  const sentence = 'The todo tools are on, but the model has to search for them (ENABLE_TOOL_SEARCH).';
  return note('todo-tools', sentence, mend);
}

function examineServer({ stateFile, sharedServers, project }: Places, mend: string): Finding {
  const state = readJson(stateFile);
  const serverIn = (holder: Settings) => recordOf(recordOf(holder['mcpServers'])[serverName]);
  const shared = serverIn(readJson(sharedServers));
  const local = serverIn(recordOf(recordOf(state['projects'])[project]));
  const server = [local, shared, serverIn(state)].find((one) => Object.keys(one).length > 0);
  if (server === undefined)
    return broken('server', 'The MCP server is not registered, so the model cannot pause.', mend);
  const program: unknown = Array.isArray(server['args']) ? server['args'][0] : undefined;
  return server !== shared && typeof program === 'string' && !existsSync(program)
    ? broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend)
    : ok('server', 'The MCP server is registered.');
}

function examineGrants(
  { env }: InstallBasis,
  { stateFile, project, localSettings }: Places,
  installed: readonly Scope[],
): Finding {
  const { hasTrustDialogAccepted } = recordOf(recordOf(readJson(stateFile)['projects'])[project]);
  const refused = 'until then todo_pause and todo_verify are refused without a terminal.';
  if (hasTrustDialogAccepted !== true && !installed.includes('user')) {
    if (installed.includes('project') && isTracked(localSettings, project, env)) {
      const sentence = `${localSettings} is tracked by git, so its grants count only after a person trusted this folder; ${refused}`;
      return note('grants', sentence, 'git rm --cached .claude/settings.local.json');
    }
    if (installed.every((scope) => scope === 'shared')) {
      const sentence = `Grants in a committed file count only after a person trusted this folder; ${refused}`;
      return note('grants', sentence, `untildone init ${hostName}`);
    }
  }
  return ok('grants', 'todo_pause and todo_verify need no question.');
}

/** An empty object where there is nothing that can be read: `trust` tells broken ones. */
function readJson(path: string): Settings {
  try {
    return recordOf(JSON.parse(withoutMark(readFileSync(path, 'utf8')).plain));
  } catch {
    // Safe: missing or broken.
    return {};
  }
}
