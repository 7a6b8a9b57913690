// What only OpenCode needs to be asked: can it read its settings, does it load plugins at all, is ours loaded once, does
// another plugin continue agents as well, does the model have a todo tool. Later files win, as in the host.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { broken, type Finding, note, ok } from '../install/finding.ts';
import type { Scope } from '../install/install-record.ts';
import type { InstallRequest } from '../install/installer.ts';
import { packageVersions } from '../install/json-packages.ts';
import { type Places, placesOf } from './install-places.ts';
import {
  objectOf,
  ourFiles,
  ourVersions,
  pluginsOf,
  readSources,
  type SettingsSource,
  todoToolIn,
} from './install-settings.ts';

/** Plugins that continue agents too. Those with a hook to switch off have settings under their own name. */
const continuingPlugins: readonly { readonly name: string; readonly hook: string | null }[] = [
  { name: 'oh-my-opencode', hook: 'todo-continuation-enforcer' },
  { name: 'oh-my-openagent', hook: 'todo-continuation-enforcer' },
  { name: 'oh-my-opencode-slim', hook: 'todo-continuation-enforcer' },
  { name: 'opencode-auto-resume', hook: null },
];

export function examineOpencode(request: InstallRequest, installed: readonly Scope[]): Finding[] {
  const places = placesOf(request);
  const sources = readSources(places.settings);
  return [
    examineSettings(request, sources),
    ...examineTwice(installed),
    ...examinePaths(sources),
    examineOthers(places, sources),
    examineTodoTool(sources),
  ];
}

/** Where a person named our package or a path of ours; what `init --shared` wrote is not meant. */
export function findOpencodePlugin(request: Omit<InstallRequest, 'scope'>): string | null {
  const places = placesOf(request);
  const isShared = readSources(places.projectSettings).some((source) => pinnedVersion(source) !== null);
  const named = readSources(places.settings).findLast((source) => {
    if (ourFiles(source).length > 0) return true;
    const isInits = places.projectSettings.includes(source.path) && pinnedVersion(source) !== null;
    // The host loads a package once, however many files name it.
    return ourVersions(source).length > 0 && !isInits && !isShared;
  });
  return named?.path ?? null;
}

export function pinnedVersion(source: SettingsSource): string | null {
  return ourVersions(source).find((version) => /^\d/.test(version)) ?? null;
}

function examineSettings({ env }: InstallRequest, sources: readonly SettingsSource[]): Finding {
  const wrong = sources.find(({ problem }) => problem !== null);
  if (wrong !== undefined) {
    return broken(
      'settings',
      `OpenCode cannot read ${wrong.path}: it ${wrong.problem}.`,
      `mend ${wrong.path}`,
    );
  }
  return env['OPENCODE_PURE']
    ? broken('settings', 'OPENCODE_PURE is set: OpenCode loads no plugins then.', 'unset OPENCODE_PURE')
    : ok('settings', 'Settings can be read, and plugins are loaded.');
}

/** The loader and the package are two plugins to the host; the one that comes second stays out of the way. */
function examineTwice(installed: readonly Scope[]): Finding[] {
  if (!installed.includes('shared') || installed.length === 1) return [];
  const flag = installed.includes('project') ? '' : ' --user';
  return [
    note(
      'plugin',
      'Installed twice: for you, and by --shared for everyone in this project. One of them acts.',
      `untildone init opencode${flag} --uninstall`,
    ),
  ];
}

function examinePaths(sources: readonly SettingsSource[]): Finding[] {
  return sources.flatMap((source) =>
    ourFiles(source)
      .filter((file) => !existsSync(file))
      .map((file) =>
        broken(
          'plugin-file',
          `${source.path} names a plugin that is gone: ${file}`,
          `take it out of "plugin" in ${source.path}, then untildone init opencode`,
        ),
      ),
  );
}

function examineOthers(places: Places, sources: readonly SettingsSource[]): Finding {
  for (const { name, hook } of continuingPlugins) {
    const source = sources.findLast((one) => packageVersions(pluginsOf(one), name).length > 0);
    if (source === undefined || (hook !== null && isSwitchedOff(places, name, hook))) continue;
    const mend =
      hook === null
        ? `take "${name}" out of "plugin" in ${source.path}`
        : `put "${hook}" into "disabled_hooks" of ${name}.json beside ${source.path}`;
    return broken(
      'other-plugins',
      `${name} (in ${source.path}) continues agents as well: both would send their texts.`,
      mend,
    );
  }
  return ok('other-plugins', 'No other plugin that is known to continue agents.');
}

function isSwitchedOff(places: Places, name: string, hook: string): boolean {
  const files = places.folders.flatMap((folder) => [
    join(folder, `${name}.json`),
    join(folder, `${name}.jsonc`),
  ]);
  return readSources(files).some(({ value }) => {
    const hooks = value['disabled_hooks'];
    return Array.isArray(hooks) && hooks.includes(hook);
  });
}

function examineTodoTool(sources: readonly SettingsSource[]): Finding {
  const agent = (source: SettingsSource) => ({
    ...source,
    value: objectOf(objectOf(source.value['agent'])['build']),
  });
  const said = [...sources, ...sources.map(agent)].findLast((source) => todoToolIn(source) !== null);
  return said !== undefined && todoToolIn(said) === 'off'
    ? note(
        'todo-tools',
        `todowrite is switched off in ${said.path}: the model plans with the todo tools of untildone instead.`,
      )
    : ok('todo-tools', 'The model has a todo tool.');
}
