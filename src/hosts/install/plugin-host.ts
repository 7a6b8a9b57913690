// The installer of hosts with plugins. For the user: one loader file, which loads our
// plugin in the folders that a list names, so that no project file is written and nothing
// loads twice. For everyone: our package in the project's settings. Nothing here changes
// a file.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Edit, type FileTarget, wholeFileComment } from './changes.ts';
import {
  type InstalledProgram,
  type ProgramName,
  programsFolder,
  textNow,
  versionOfCopy,
} from './files.ts';
import * as installer from './installer.ts';
import { isPinned } from './json-text.ts';

type Named =
  | 'name'
  | 'title'
  | 'program'
  | 'oldestVersion'
  | 'knownVersions'
  | 'howToGet'
  | 'afterInstall';
type PluginHost = Pick<installer.HostInstaller, Named> &
  Readonly<{
    plugin: ProgramName;
    /** What the host calls a plugin. */
    word: 'plugin' | 'extension';
    /**
     * Our package, as the list `key` of the settings names it. `word`: what the host
     * calls the entries of that list.
     */
    packages: Readonly<{ name: string; key: string; word: string }>;
    /**
     * The source of the loader's default export. `moved` is a statement that must come
     * before the program is imported, or nothing.
     */
    exported(moved: string): string;
    /**
     * A call that loads plugins and prints their commands, without a model. Versions that
     * can do so print `sign`.
     */
    proof: Readonly<{ words: readonly string[]; input: string; sign: string }>;
    look(basis: installer.InstallBasis, project: installer.Project): PluginPlace;
  }>;

type PluginPlace = Readonly<{
  /** The path at which the host looks for a plugin of the user. */
  loader: string;
  /**
   * Settings files, the weakest first, with the versions of our package that they name,
   * and the files of ours that a person named by path.
   */
  sources: readonly (installer.Source & {
    readonly versions: string[];
    readonly ourFiles?: string[];
  })[];
  /** Settings that can be committed; if none exists, the first one is made. */
  committed: readonly string[];
  /** Further edits of that file, beside the package itself. */
  edits?(path: string): Edit[];
  /**
   * Examines what only this host knows. The first row belongs to a host whose settings
   * can be read.
   */
  examine(scopes: readonly installer.Scope[]): installer.Examination;
}>;

/** Makes the installer of a host with plugins. */
export function pluginInstaller(host: PluginHost): installer.HostInstaller {
  const { name, key } = host.packages;
  const howToRemovePlugin = `take "${name}" out of "${key}" in that file`;
  const survey = (basis: installer.InstallBasis) => surveyPlugin(host, basis);
  return {
    ...host,
    programs: [host.plugin],
    pieces: 'plugin',
    howToRemovePlugin,
    survey,
  };
}

function surveyPlugin(
  host: PluginHost,
  basis: installer.InstallBasis,
): installer.HostSurvey {
  const { title, word, proof } = host;
  const { name, key, word: packagesWord } = host.packages;
  const found = installer.findProject(basis);
  const project = found.root;
  const { loader, sources, committed, edits, examine } = host.look(basis, found);
  // The versions that `init --shared` wrote, one per file.
  const pinned = sources.flatMap(({ path, versions }) =>
    committed.includes(path) ? (versions.find(isPinned) ?? []) : [],
  );
  // The host loads a package once, however many files name it.
  const named = sources.findLast(
    ({ versions, ourFiles = [] }) =>
      ourFiles.length > 0 || (versions.length > 0 && pinned.length === 0),
  );
  const list = join(basis.stateDirectory, `${host.name}-folders`);
  const lineOf = (scope: installer.Scope) =>
    JSON.stringify(scope === 'user' ? '*' : project);

  function targets(scope: installer.Scope): FileTarget[] {
    const path = committed.find((file) => existsSync(file)) ?? committed[0] ?? '';
    const added: Edit = { kind: 'package', path: [key], name, version: basis.version };
    if (scope === 'shared') return [{ path, edits: [...(edits?.(path) ?? []), added] }];
    return [
      {
        path: list,
        isOurs: true,
        isPrivate: true,
        edits: [{ kind: 'line', text: lineOf(scope) }],
      },
      {
        path: loader,
        isOurs: true,
        edits: [{ kind: 'whole', text: loaderText(basis, host, list) }],
      },
    ];
  }

  return {
    project,
    plugin: named?.path ?? null,
    layout: (scope) => ({
      targets: targets(scope),
      summary:
        scope === 'shared'
          ? `"${name}" among the ${packagesWord}`
          : `the ${word} and its loader`,
    }),
    installed(scope) {
      if (scope === 'shared') return pinned.map((version) => ({ version }));
      const isWatched = textNow(list)?.split('\n').includes(lineOf(scope));
      return isWatched ? [readLoader(loader, host.plugin)] : [];
    },
    examine(scopes) {
      const wrong = sources.find(({ problem }) => problem !== null);
      const unreadable =
        wrong && `${title} cannot read ${wrong.path}: it ${wrong.problem}.`;
      // The host takes them for two plugins; the second one does nothing.
      const isTwice = scopes.includes('shared') && scopes.length > 1;
      const twice =
        'Installed twice: for you, and by --shared for everyone in this project. One of them acts.';
      const flag = scopes.includes('project') ? '' : ' --user';
      const [settings = [], ...others] = examine(scopes);
      return [
        [
          unreadable && installer.brokenRow('settings', unreadable, `mend ${wrong.path}`),
          ...settings,
        ],
        [
          isTwice &&
            installer.noteRow(
              'plugin',
              twice,
              `untildone init ${host.name}${flag} --uninstall`,
            ),
        ],
        ...others,
      ];
    },
    proofs(scopes, program) {
      // A shared package would be fetched from the registry, so it is not called.
      if (program === null || scopes.length === 0 || scopes.includes('shared')) return [];
      const ofPlugins: installer.Proof = {
        name: 'plugin-call',
        call: [program, ...proof.words],
        input: () => proof.input,
        // The host runs the plugins of the folder in which it starts: a stranger's run
        // only if `init` was called there.
        ...(scopes.includes('project') && { folder: project }),
        isProved: (answer) =>
          answer.includes(proof.sign) ? answer.includes('"untildone-status"') : null,
        proved: `${title} was started, and has loaded the ${word}.`,
        failed: `${title} was started, and has not loaded the ${word}.`,
      };
      return [ofPlugins];
    },
  };
}

function loaderText(
  { env, stateDirectory, version }: installer.InstallBasis,
  host: PluginHost,
  list: string,
) {
  const { name, title, exported } = host;
  const program = pathToFileURL(
    join(programsFolder(stateDirectory, version), host.plugin),
  ).href;
  // The plugin must find a state directory that was moved.
  const moved = `    process.env.UNTILDONE_HOME ??= ${JSON.stringify(stateDirectory)};\n`;
  return `${wholeFileComment('//', name)}
// It loads the plugin in the folders that the list names, and does nothing elsewhere.
import { readFileSync, realpathSync } from 'node:fs';

const program = ${JSON.stringify(program)};
const list = ${JSON.stringify(list)};

function isWatched(directory) {
  try {
    const here = realpathSync(directory);
    const folders = readFileSync(list, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
    return folders.some((folder) => folder === '*' || here === folder || here.startsWith(folder + '/'));
  } catch {
    // Safe: without a list nothing is watched, and ${title} is as it is without us.
    return false;
  }
}

${exported(env['UNTILDONE_HOME'] ? moved : '')}`;
}

/**
 * The program that the loader loads; the loader file itself, if it is missing or not
 * ours.
 */
function readLoader(path: string, program: ProgramName): InstalledProgram {
  const url = /^const program = "(file:\/\/\/.*)";$/m.exec(textNow(path) ?? '')?.[1];
  const file = url === undefined ? path : fileURLToPath(url);
  return { file, version: versionOfCopy(file, program) ?? 'unknown' };
}
