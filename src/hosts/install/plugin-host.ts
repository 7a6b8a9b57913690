// What installers of hosts with plugins share. For the user: one loader file, which loads
// our plugin in the folders that a list names, so that no project file is written and
// nothing loads twice. For everyone: our package in the project's settings.
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
    /** How the host calls it. */
    word: 'plugin' | 'extension';
    /**
     * As the list `packages.key` of settings names it; `packages.word`: what the host
     * calls what is in there.
     */
    packages: Readonly<{ name: string; key: string; word: string }>;
    /**
     * The loader's default export. `moved` is a statement that must come before the
     * program is imported, or nothing.
     */
    exported(moved: string): string;
    /**
     * A call that loads plugins and prints their commands, without a model. `sign`:
     * printed by versions that can do so.
     */
    proof: Readonly<{ words: readonly string[]; input: string; sign: string }>;
    look(basis: installer.InstallBasis, project: installer.Project): PluginPlace;
  }>;

type PluginPlace = Readonly<{
  /** Where the host finds a file of the user. */
  loader: string;
  /**
   * Weakest first, with versions of our package in them, and files of ours that a person
   * named by path.
   */
  sources: readonly (installer.Source & {
    readonly versions: string[];
    readonly ourFiles?: string[];
  })[];
  /** Settings that can be committed; the first is made where none exists. */
  committed: readonly string[];
  /** Further edits of that file, besides the package itself. */
  edits?(path: string): Edit[];
  /** What only this host knows. The first row goes on where the settings can be read. */
  examine(scopes: readonly installer.Scope[]): installer.Examination;
}>;

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
  // By `init --shared`, one per file.
  const pinned = sources.flatMap(({ path, versions }) =>
    committed.includes(path) ? (versions.find(isPinned) ?? []) : [],
  );
  // A package is loaded once, however many files name it.
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
      // To the host they are two plugins; the second stays out of the way.
      const isTwice = scopes.includes('shared') && scopes.length > 1;
      const twice =
        'Installed twice: for you, and by --shared for everyone in this project. One of them acts.';
      const flag = scopes.includes('project') ? '' : ' --user';
      const [settings = [], ...others] = examine(scopes);
      return [
        [
          unreadable && installer.broken('settings', unreadable, `mend ${wrong.path}`),
          ...settings,
        ],
        [
          isTwice &&
            installer.note(
              'plugin',
              twice,
              `untildone init ${host.name}${flag} --uninstall`,
            ),
        ],
        ...others,
      ];
    },
    proofs(scopes, program) {
      // A shared package would be fetched from the registry.
      if (program === null || scopes.length === 0 || scopes.includes('shared')) return [];
      const ofPlugins: installer.Proof = {
        name: 'plugin-call',
        call: [program, ...proof.words],
        input: () => proof.input,
        // It runs the plugins of where it starts: a stranger's only where `init` was
        // called.
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
