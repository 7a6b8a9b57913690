// What OpenCode is given and asked: a small file that loads our plugin in the folders that want it, or our package in the
// project's settings; and whether it can read its settings, loads plugins at all, and ours once. Facts of the real program
// that decide the places: it installs 63 MB into every `.opencode` folder that it finds, and adds "$schema" to settings
// that have none. Later files win, as in the host; nothing is merged.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type FileTarget, wholeFileMark } from '../install/changes.ts';
import { programPath, Refusal, readSettingsFile, textNow } from '../install/files.ts';
import {
  broken,
  type Finding,
  findRepository,
  type HostInstaller,
  type InstallBasis,
  type InstalledProgram,
  type InstallLayout,
  type InstallRequest,
  note,
  ok,
  type Scope,
} from '../install/installer.ts';
import { type JsonEdit, packageVersions, parseJson } from '../install/json-text.ts';
import { recordOf } from '../untrusted.ts';

const packageName = 'untildone';
const schema = 'https://opencode.ai/config.json';

export const opencodeInstaller: HostInstaller = {
  name: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  programs: ['server.js'],
  // Earlier ones do not look for a plugin under "./server" of a package.
  oldestVersion: '1.3.4',
  knownVersions: ['1.18.33'],
  howToGet: 'npm install --global opencode-ai@latest',
  afterInstall: 'OpenCode loads plugins when it starts: start it anew where it runs already.',
  howToRemovePlugin: `take "${packageName}" out of "plugin" in that file`,
  findingNames: { installed: 'plugin', file: 'plugin-file', version: 'plugin-version' },
  actsOnce: true,
  layout,
  findInstalled,
  examine,
  findPlugin,
};

/** As the real program looks: the user's folder, then every folder from its own up to the root of the working tree. */
function placesOf({ env, cwd, home, stateDirectory }: InstallBasis) {
  const folder = realpathSync(cwd);
  const project = findRepository(cwd, env)?.root ?? folder;
  const own = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode');
  // Outermost first: the nearest folder is read last.
  const upwards = [folder];
  for (let one = folder; one !== project && dirname(one) !== one; ) {
    one = dirname(one);
    upwards.unshift(one);
  }
  const hidden = upwards.map((one) => join(one, '.opencode'));
  const more = [join(home, '.opencode'), env['OPENCODE_CONFIG_DIR'] || null].filter((one) => one !== null);
  const settingsIn = (one: string) => [join(one, 'opencode.json'), join(one, 'opencode.jsonc')];
  const projectSettings = [project, join(project, '.opencode')].flatMap(settingsIn);
  return {
    project,
    /** Loads our plugin. In the user's folder: in a project it would make the host install 63 MB beside it. */
    loader: join(own, 'plugin', 'untildone.js'),
    /** Where the plugin is wanted: one folder per line. */
    watchedFolders: join(stateDirectory, 'opencode-folders'),
    /** The file of the project that is committed and gets our package. */
    sharedSettings: projectSettings.find((file) => existsSync(file)) ?? join(project, 'opencode.json'),
    projectSettings,
    /** All that the host reads, weakest first; they need not exist. */
    settings: [
      join(own, 'config.json'),
      ...settingsIn(own),
      ...(env['OPENCODE_CONFIG'] ? [env['OPENCODE_CONFIG']] : []),
      ...[...upwards, ...hidden, ...more].flatMap(settingsIn),
    ],
    /** Folders with settings of plugins, weakest first. */
    folders: [own, ...hidden, ...more],
  };
}

type Places = ReturnType<typeof placesOf>;

function layout(request: InstallRequest): InstallLayout {
  const places = placesOf(request);
  const { scope } = request;
  const isShared = scope === 'shared';
  return {
    project: scope === 'user' ? null : places.project,
    targets: isShared ? [sharedTarget(request, places)] : loaderTargets(request, places),
    notes: [],
    pieces: isShared ? `"${packageName}" among the plugins` : 'the plugin and its loader',
  };
}

function loaderTargets(request: InstallRequest, places: Places): FileTarget[] {
  const folder = JSON.stringify(request.scope === 'user' ? '*' : places.project);
  const watched = { path: places.watchedFolders, format: 'lines', isOurs: true, isPrivate: true } as const;
  const loader = { path: places.loader, format: 'whole', isOurs: true } as const;
  return [
    { ...watched, edits: [{ kind: 'line', text: folder }] },
    { ...loader, edits: [{ kind: 'whole', text: loaderText(request, places) }] },
  ];
}

function sharedTarget({ version }: InstallRequest, { sharedSettings }: Places): FileTarget {
  const own = readSources([sharedSettings])[0]?.value['$schema'];
  // The host would write it by itself, and the file would no longer be the one that was written.
  const schemaEdits: JsonEdit[] =
    own === undefined || own === schema ? [{ kind: 'member', path: ['$schema'], value: schema }] : [];
  const pinned = { kind: 'package', path: ['plugin'], name: packageName, version } as const;
  return { path: sharedSettings, format: 'json', edits: [...schemaEdits, pinned] };
}

/**
 * One file for all projects of a user, so that nothing is ever loaded twice by it. It asks whether the folder at hand is
 * watched and only then loads the plugin itself, from a copy that no cache can prune.
 */
function loaderText({ env, stateDirectory, version }: InstallRequest, places: Places): string {
  const program = pathToFileURL(programPath(stateDirectory, version, 'server.js')).href;
  // Where the person moved the state directory, the plugin must find it as well.
  const home = env['UNTILDONE_HOME']
    ? `    process.env.UNTILDONE_HOME ??= ${JSON.stringify(stateDirectory)};\n`
    : '';
  return `${wholeFileMark} (untildone init opencode); untildone init opencode --uninstall takes it away.
// It loads the plugin in the folders that the list names, and does nothing elsewhere.
import { readFileSync, realpathSync } from 'node:fs';

const program = ${JSON.stringify(program)};
const list = ${JSON.stringify(places.watchedFolders)};

function isWatched(directory) {
  try {
    const here = realpathSync(directory);
    const folders = readFileSync(list, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
    return folders.some((folder) => folder === '*' || here === folder || here.startsWith(folder + '/'));
  } catch {
    // Safe: without a list nothing is watched, and OpenCode is as it is without us.
    return false;
  }
}

export default {
  id: 'untildone',
  async server(input, options) {
    if (!isWatched(input.directory)) return {};
${home}    const { default: plugin } = await import(program);
    return plugin.server(input, options);
  },
};
`;
}

function findInstalled(request: InstallRequest): InstalledProgram[] {
  const places = placesOf(request);
  if (request.scope === 'shared') {
    const versions = readSources(places.projectSettings).flatMap((source) => pinnedVersion(source) ?? []);
    return versions.map((version) => ({ kind: 'portable', version }));
  }
  const folder = JSON.stringify(request.scope === 'user' ? '*' : places.project);
  const isWatched = (textNow(places.watchedFolders) ?? '').split('\n').includes(folder);
  return isWatched ? [readLoader(places.loader)] : [];
}

/** What the loader of this user leads to; itself, where it is gone or not ours. */
function readLoader(path: string): InstalledProgram {
  const copied = { kind: 'copied', name: 'server.js', node: null } as const;
  try {
    const url = JSON.parse(/^const program = (".*");$/m.exec(textNow(path) ?? '')?.[1] ?? 'null');
    const file = fileURLToPath(url);
    const version = /[\\/]bin[\\/]([^\\/]+)[\\/]server\.js$/.exec(file)?.[1] ?? 'unknown';
    return { ...copied, file, version };
  } catch {
    // Safe: it is gone or somebody edited it, and a file that cannot be found is what is told.
    return { ...copied, file: path, version: 'unknown' };
  }
}

interface SettingsSource {
  readonly path: string;
  /** A sentence that goes on after the name of the file; null: it can be read. */
  readonly problem: string | null;
  readonly value: Readonly<Record<string, unknown>>;
}

function readSources(paths: readonly string[]): SettingsSource[] {
  return paths.flatMap((path): SettingsSource[] => {
    try {
      const { text } = readSettingsFile(path);
      if (text === null || text.trim() === '') return [];
      return [{ path, problem: null, value: parseJson(text) }];
    } catch (error) {
      // Safe: the file is only looked at, and the sentence goes into a finding.
      if (error instanceof Refusal) return [{ path, problem: error.message, value: {} }];
      throw error;
    }
  });
}

function pluginsOf({ value }: SettingsSource): string[] {
  return ['plugin', 'plugins'].flatMap((key) => {
    const list = value[key];
    if (!Array.isArray(list)) return [];
    const names: unknown[] = list.map((entry) =>
      Array.isArray(entry) ? entry[0] : (recordOf(entry)['package'] ?? entry),
    );
    return names.filter((name) => typeof name === 'string');
  });
}

/** Ours by the name of the package, as `init --shared` writes it; null: not pinned. */
function pinnedVersion(source: SettingsSource): string | null {
  return packageVersions(pluginsOf(source), packageName).find((version) => /^\d/.test(version)) ?? null;
}

/** Ours by a path that a person wrote: where it leads. */
function ourFiles(source: SettingsSource): string[] {
  return pluginsOf(source).flatMap((name) => {
    const isUrl = name.startsWith('file://');
    const isPath = isUrl || name.startsWith('.') || isAbsolute(name);
    if (!isPath || !/untildone.*[\\/]server\.js$/.test(name)) return [];
    return [isUrl ? fileURLToPath(name) : resolve(source.path, '..', name)];
  });
}

/** Where a person named our package or a path of ours; what `init --shared` wrote is not meant. */
function findPlugin(request: InstallBasis): string | null {
  const { projectSettings, settings } = placesOf(request);
  const isPinned = (source: SettingsSource) => pinnedVersion(source) !== null;
  const isShared = readSources(projectSettings).some(isPinned);
  const named = readSources(settings).findLast((source) => {
    if (ourFiles(source).length > 0) return true;
    const isInits = projectSettings.includes(source.path) && isPinned(source);
    // The host loads a package once, however many files name it.
    return packageVersions(pluginsOf(source), packageName).length > 0 && !isInits && !isShared;
  });
  return named?.path ?? null;
}

function examine(request: InstallBasis, installed: readonly Scope[]): Finding[] {
  const places = placesOf(request);
  const sources = readSources(places.settings);
  return [
    examineSettings(request, sources),
    ...examineTwice(installed),
    ...sources.flatMap(examinePaths),
    examineOthers(places, sources),
    examineTodoTool(sources),
  ];
}

function examineSettings({ env }: InstallBasis, sources: readonly SettingsSource[]): Finding {
  const wrong = sources.find(({ problem }) => problem !== null);
  if (wrong !== undefined) {
    const { path, problem } = wrong;
    return broken('settings', `OpenCode cannot read ${path}: it ${problem}.`, `mend ${path}`);
  }
  return env['OPENCODE_PURE']
    ? broken('settings', 'OPENCODE_PURE is set: OpenCode loads no plugins then.', 'unset OPENCODE_PURE')
    : ok('settings', 'Settings can be read, and plugins are loaded.');
}

/** The loader and the package are two plugins to the host; the one that comes second stays out of the way. */
function examineTwice(installed: readonly Scope[]): Finding[] {
  if (!installed.includes('shared') || installed.length === 1) return [];
  const flag = installed.includes('project') ? '' : ' --user';
  const sentence =
    'Installed twice: for you, and by --shared for everyone in this project. One of them acts.';
  return [note('plugin', sentence, `untildone init opencode${flag} --uninstall`)];
}

function examinePaths(source: SettingsSource): Finding[] {
  const mend = `take it out of "plugin" in ${source.path}, then untildone init opencode`;
  return ourFiles(source)
    .filter((file) => !existsSync(file))
    .map((file) => broken('plugin-file', `${source.path} names a plugin that is gone: ${file}`, mend));
}

/** Plugins that continue agents too. Those with a hook to switch off have settings under their own name. */
const continuingPlugins: readonly { readonly name: string; readonly hook: string | null }[] = [
  { name: 'oh-my-opencode', hook: 'todo-continuation-enforcer' },
  { name: 'oh-my-openagent', hook: 'todo-continuation-enforcer' },
  { name: 'oh-my-opencode-slim', hook: 'todo-continuation-enforcer' },
  { name: 'opencode-auto-resume', hook: null },
];

function examineOthers({ folders }: Places, sources: readonly SettingsSource[]): Finding {
  for (const { name, hook } of continuingPlugins) {
    const source = sources.findLast((one) => packageVersions(pluginsOf(one), name).length > 0);
    if (source === undefined) continue;
    const files = folders.flatMap((folder) => [join(folder, `${name}.json`), join(folder, `${name}.jsonc`)]);
    const isSwitchedOff = readSources(files).some(({ value: { disabled_hooks: hooks } }) => {
      return Array.isArray(hooks) && hooks.includes(hook);
    });
    if (hook !== null && isSwitchedOff) continue;
    const sentence = `${name} (in ${source.path}) continues agents as well: both would send their texts.`;
    const mend =
      hook === null
        ? `take "${name}" out of "plugin" in ${source.path}`
        : `put "${hook}" into "disabled_hooks" of ${name}.json beside ${source.path}`;
    return broken('other-plugins', sentence, mend);
  }
  return ok('other-plugins', 'No other plugin that is known to continue agents.');
}

function examineTodoTool(sources: readonly SettingsSource[]): Finding {
  const agents = sources.map((source) => ({
    ...source,
    value: recordOf(recordOf(source.value['agent'])['build']),
  }));
  const said = [...sources, ...agents].findLast((source) => isTodoToolOn(source) !== null);
  if (said === undefined || isTodoToolOn(said)) return ok('todo-tools', 'The model has a todo tool.');
  const sentence = `todowrite is switched off in ${said.path}: the model plans with the todo tools of untildone instead.`;
  return note('todo-tools', sentence);
}

/** Null: the file does not say. */
function isTodoToolOn({ value: { permission, tools } }: SettingsSource): boolean | null {
  const said = typeof permission === 'string' ? permission : recordOf(permission)['todowrite'];
  if (said === 'deny') return false;
  if (said === 'allow' || said === 'ask') return true;
  const tool = recordOf(tools)['todowrite'];
  return typeof tool === 'boolean' ? tool : null;
}
