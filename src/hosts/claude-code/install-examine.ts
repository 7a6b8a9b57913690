// What only Claude Code needs to be asked: can it read its settings, does it run hooks at all, are its todo tools
// switched on, is our server there and granted. Later settings files win over earlier ones, as in the host.
import { existsSync, readFileSync } from 'node:fs';
import { broken, type Finding, note, ok } from '../install/finding.ts';
import { isTracked } from '../install/git.ts';
import type { Scope } from '../install/install-record.ts';
import type { InstallRequest } from '../install/installer.ts';
import { isPlainJson, withoutMark } from '../install/json-document.ts';
import { hostName, serverName, switches } from './install-edits.ts';
import { type Places, placesOf } from './install-places.ts';

/** Where administrators of a Linux machine rule over everyone's settings. */
const managedSettings = '/etc/claude-code/managed-settings.json';

type Settings = Readonly<Record<string, unknown>>;

export function examineClaudeCode(request: InstallRequest, installed: readonly Scope[]): Finding[] {
  // The plugin brings its own server and asks for each grant, and sets no switches.
  if (installed.length === 0) return [];
  const places = placesOf(request);
  const mend = mendFor(installed);
  const files = [places.userSettings, places.sharedSettings, places.localSettings];
  const settings = [...files, managedSettings].map(readJson);
  return [
    examineTrust([...files, managedSettings], settings),
    examineTodoTools(request, settings, mend),
    examineServer(places, mend),
    examineGrants(request, places, installed),
  ];
}

export const pluginName = 'untildone@untildone';

export function findClaudeCodePlugin(request: Omit<InstallRequest, 'scope'>): string | null {
  const { userSettings, sharedSettings, localSettings } = placesOf(request);
  const files = [localSettings, sharedSettings, userSettings];
  // The nearest file that speaks of it wins.
  const file = files.find((path) => Object.hasOwn(objectOf(readJson(path)['enabledPlugins']), pluginName));
  return file !== undefined && objectOf(readJson(file)['enabledPlugins'])[pluginName] === true ? file : null;
}

function mendFor([scope]: readonly Scope[]): string {
  const flag = scope === 'user' ? ' --user' : scope === 'shared' ? ' --shared' : '';
  return `untildone init ${hostName}${flag}`;
}

function examineTrust(files: readonly string[], settings: readonly Settings[]): Finding {
  const unreadable = files.find((file) => existsSync(file) && !isPlainJson(readFileSync(file, 'utf8')));
  if (unreadable !== undefined) {
    return broken(
      'trust',
      `Claude Code ignores ${unreadable} as a whole: it is not plain JSON (comments and trailing commas are refused too).`,
      `make ${unreadable} plain JSON`,
    );
  }
  const off = files.find((_file, index) => settings[index]?.['disableAllHooks'] === true);
  if (off !== undefined) {
    return broken('trust', `Hooks are switched off in ${off}.`, `take "disableAllHooks" out of ${off}`);
  }
  if (settings.at(-1)?.['allowManagedHooksOnly'] === true) {
    return broken(
      'trust',
      `${managedSettings} allows no hooks but its own.`,
      'ask whoever administers this machine',
    );
  }
  return ok('trust', 'Settings can be read, and hooks are allowed.');
}

function examineTodoTools({ env }: InstallRequest, settings: readonly Settings[], mend: string): Finding {
  const value = (name: string): string | undefined =>
    settings.reduce<string | undefined>((found, one) => textAt(one['env'], name) ?? found, env[name]);
  const isOn = ['1', 'true'].includes(value('CLAUDE_CODE_ENABLE_TODO_TOOLS') ?? '');
  if (!isOn) {
    return broken(
      'todo-tools',
      'The todo tools are off: new models get none without CLAUDE_CODE_ENABLE_TODO_TOOLS=1 in the settings.',
      mend,
    );
  }
  const search = value('ENABLE_TOOL_SEARCH');
  const isInline =
    search !== undefined && (search === switches.ENABLE_TOOL_SEARCH || ['false', '0'].includes(search));
  return isInline
    ? ok('todo-tools', 'The todo tools are on and in the prompt.')
    : note(
        'todo-tools',
        'The todo tools are on, but the model has to search for them (ENABLE_TOOL_SEARCH).',
        mend,
      );
}

function examineServer(places: Places, mend: string): Finding {
  const state = readJson(places.stateFile);
  const local = objectAt(objectAt(state['projects'], places.project)['mcpServers'], serverName);
  const user = objectAt(state['mcpServers'], serverName);
  const shared = objectAt(readJson(places.sharedServers)['mcpServers'], serverName);
  const server = [local, shared, user].find((one) => Object.keys(one).length > 0);
  if (server === undefined) {
    return broken('server', 'The MCP server is not registered, so the model cannot pause.', mend);
  }
  const program: unknown = Array.isArray(server['args']) ? server['args'][0] : undefined;
  const isGone = server !== shared && typeof program === 'string' && !existsSync(program);
  return isGone
    ? broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend)
    : ok('server', 'The MCP server is registered.');
}

function examineGrants({ env }: InstallRequest, places: Places, installed: readonly Scope[]): Finding {
  const free = ok('grants', 'todo_pause and todo_verify need no question.');
  const isTrusted = objectAt(readJson(places.stateFile)['projects'], places.project)[
    'hasTrustDialogAccepted'
  ];
  if (isTrusted === true || installed.includes('user')) return free;
  if (installed.includes('project') && isTracked(places.localSettings, places.project, env)) {
    return note(
      'grants',
      `${places.localSettings} is tracked by git, so its grants count only after a person trusted this folder; until then todo_pause and todo_verify are refused without a terminal.`,
      'git rm --cached .claude/settings.local.json',
    );
  }
  if (installed.every((scope) => scope === 'shared')) {
    return note(
      'grants',
      'Grants in a committed file count only after a person trusted this folder; until then todo_pause and todo_verify are refused without a terminal.',
      `untildone init ${hostName}`,
    );
  }
  return free;
}

/** An empty object where there is nothing that can be read: other findings say why. */
function readJson(path: string): Settings {
  try {
    return objectOf(JSON.parse(withoutMark(readFileSync(path, 'utf8')).plain));
  } catch {
    // Safe: missing or broken; `trust` tells broken ones.
    return {};
  }
}

function objectOf(value: unknown): Settings {
  return typeof value === 'object' && value !== null ? (value as Settings) : {};
}

function objectAt(value: unknown, key: string): Settings {
  const object = objectOf(value);
  return Object.hasOwn(object, key) ? objectOf(object[key]) : {};
}

function textAt(value: unknown, key: string): string | undefined {
  const found = objectOf(value)[key];
  return typeof found === 'string' ? found : undefined;
}
