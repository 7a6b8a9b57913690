// What an installer says about its host, and what it needs to know for that. Nothing here
// changes a file.
import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { gitEnvironment, gitWords } from '../../checks/git.ts';
import { isExecutable } from '../../checks/process.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Environment } from '../../engine/policy.ts';
import { findRepository } from '../../engine/system.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import { type Fields, recordOf } from '../untrusted.ts';
import type { FileTarget } from './changes.ts';
import * as files from './files.ts';
import { parseJson } from './json-text.ts';
import { parseToml } from './toml-text.ts';

export const scopeNames = {
  project: 'for this project',
  shared: 'for everyone in this project',
  user: 'for this user',
};
export const scopeFlags = { project: '', shared: ' --shared', user: ' --user' };
export type Scope = keyof typeof scopeNames;
/** All scopes, the nearest first. */
export const allScopes = Object.keys(scopeNames) as Scope[];
export const initCommand = (host: string, scope: Scope = 'project') =>
  `untildone init ${host}${scopeFlags[scope]}`;

/** What is known of this machine and this person. */
export type InstallBasis = Readonly<ReturnType<typeof installBasis>>;
export type InstallRequest = InstallBasis & { readonly scope: Scope };

/** Collects what is known; throws if no home directory is. */
export function installBasis(
  { env, cwd }: Readonly<{ env: Environment; cwd: string }>,
  version: string,
) {
  const home = env['HOME'] || files.askOr('', homedir);
  const homeless =
    'HOME is not set, and the system knows no home directory of this user: set HOME.';
  if (home === '') throw new UntildoneError('usage', homeless);
  const state = stateDirectory({ ...env, HOME: home });
  return { env, cwd, home, stateDirectory: state, version, node: process.execPath };
}

/** What a host says to be installed. */
export type HostInstaller = Readonly<{
  name: string;
  title: string;
  program: string;
  programs: readonly files.ProgramName[];
  pieces: 'hooks' | 'plugin';
  /** Versions before this one cannot work with us; null: none is known. */
  oldestVersion: string | null;
  knownVersions: readonly string[];
  howToGet: string;
  afterInstall: string;
  howToRemovePlugin: string;
  survey(basis: InstallBasis): HostSurvey;
}>;

/** What an installer found of its host on this machine. */
export type HostSurvey = Readonly<{
  project: string;
  /** The file that loads us as a plugin without `init`; null: none does. */
  plugin: string | null;
  layout(
    scope: Scope,
  ): Readonly<{ targets: FileTarget[]; notes?: string[]; summary: string }>;
  /** The programs that `init` installed, in any version. */
  installed(scope: Scope): readonly files.InstalledProgram[];
  /**
   * Examines what only this host knows.
   * @param scopes installed by `init`; empty: only as a plugin
   */
  examine(scopes: readonly Scope[]): Examination;
  /**
   * Calls that need no model and show that we answer.
   * @param program the host; null: it is not on PATH
   */
  proofs(scopes: readonly Scope[], program: string | null): readonly Proof[];
}>;

/** One harmless call, with a state directory of its own that is thrown away. */
export type Proof = Readonly<{
  name: string;
  call: readonly string[];
  /**
   * The folder of the call. By default an empty one, so that nothing of a project runs.
   */
  folder?: string;
  /**
   * The text for standard input.
   * @param scratch a folder that it may name
   */
  input(scratch: string): string;
  /**
   * Whether the answer proves that we work; null: it proves nothing, such as that of a
   * version that does not know the question.
   * @param state the state directory
   */
  isProved(answer: string, state: string): boolean | null;
  proved: string;
  failed: string;
}>;

export type Finding = Readonly<{
  /** A stable name, for programs. */
  name: string;
  /**
   * `note`: it works, but there is something to know. `broken`: it does not work as
   * promised.
   */
  level: 'ok' | 'note' | 'broken';
  sentence: string;
  mend: string | null;
}>;

/** Findings, of which the first one that applies is shown. */
export type Row = readonly (Finding | false | '' | null | undefined)[];
export type Examination = readonly Row[];

const finding =
  (level: Finding['level']) =>
  (name: string, sentence: string, mend: string | null = null): Finding => ({
    name,
    level,
    sentence,
    mend,
  });
export const okRow = finding('ok');
export const noteRow = finding('note');
export const brokenRow = finding('broken');

export type Source = ReturnType<typeof readSources>[number];
/**
 * The files that exist, as the host reads them; a `problem` follows the name of the file.
 */
export function readSources(paths: readonly string[], refusesComments = false) {
  return paths.flatMap((path) => {
    const read = () => {
      const { text } = files.readSettingsFile(path);
      if (text === null || (text.trim() === '' && !refusesComments)) return [];
      const value = path.endsWith('.toml')
        ? parseToml(text)
        : parseJson(text, refusesComments);
      return { path, problem: null, value };
    };
    return files.unlessRefused(read, (problem) => ({
      path,
      problem,
      value: recordOf(null),
    }));
  });
}

/** The settings in one file; empty: there is none, or the host cannot read it. */
export const readSource = (path: string, refusesComments = false): Fields =>
  readSources([path], refusesComments)[0]?.value ?? {};

/** The value at a path of keys; undefined: there is none. */
export const settingIn = (settings: unknown, ...path: readonly string[]): unknown =>
  path.reduce((value, key) => recordOf(value)[key], settings);
/** The values of a setting in the files that have it, in their order. */
export const settingsIn = (sources: readonly Source[], ...path: readonly string[]) =>
  sources
    .map((source) => ({ path: source.path, value: settingIn(source.value, ...path) }))
    .filter(({ value }) => value !== undefined);

/** The path of a program on PATH; null: it is not there. */
export function findProgram(name: string, env: Environment): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

export type Project = ReturnType<typeof findProject>;
/**
 * Finds the project of a folder; outside a repository it is the folder itself. Runs
 * nothing that the repository names (V10).
 */
export function findProject({ cwd, env }: InstallBasis) {
  const folder = realpathSync(cwd);
  const found = findRepository(folder);
  if (found === null || !existsSync(join(found.own, 'HEAD')))
    return {
      folder,
      root: folder,
      mainRoot: folder,
      excludeFile: null,
      isTracked: () => false,
    };
  const { root, own, shared } = found;
  const common = shared ?? own;
  // Submodules and bare repositories keep the common folder elsewhere.
  const mainRoot = basename(common) === '.git' ? dirname(common) : root;
  return {
    folder,
    root,
    /** The main working tree, in which hosts keep what belongs to all worktrees. */
    mainRoot,
    excludeFile: join(common, 'info', 'exclude'),
    isTracked(file: string) {
      const words = gitWords(mainRoot, ['ls-files', '--error-unmatch', '--', file]);
      return (
        outputOf('git', ['-C', mainRoot, ...words], gitEnvironment(mainRoot, env)) !==
        null
      );
    },
  };
}

/**
 * What a program prints, called without a shell; null: it is missing, failed, or took
 * longer than the cold start of any host.
 */
export function outputOf(program: string, args: readonly string[], env: Environment) {
  const { status, stdout } = spawnSync(program, args, {
    env,
    encoding: 'utf8',
    timeout: 10_000,
  });
  return status === 0 ? stdout : null;
}
