// What a host has to say to be installed and examined, and what `doctor` can say of every host alike: is the program there,
// is anything installed and where, is it complete, and do its commands lead to files that exist and are of this version. A
// host describes; reading, writing, records and differences are done once for all. Nothing is changed here.
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Environment } from '../../engine/policy.ts';
import { applyEdits, type Edit, type FileTarget } from './changes.ts';
import { isCopied, type ProgramName, Refusal, readSettingsFile } from './files.ts';

export type Scope = 'project' | 'shared' | 'user';

/** What is known of the machine and the person, whatever is installed. */
export interface InstallBasis {
  readonly env: Environment;
  readonly cwd: string;
  readonly home: string;
  readonly stateDirectory: string;
  readonly version: string;
  /** The Node that hosts are to start programs with. */
  readonly node: string;
}

export interface InstallRequest extends InstallBasis {
  readonly scope: Scope;
}

export interface InstallLayout {
  /** Real path of the project that the scope means; null: the user's own. */
  readonly project: string | null;
  readonly targets: readonly FileTarget[];
  /** Sentences for people: what was found that stands in the way, and what remains to do by hand. */
  readonly notes: readonly string[];
  /** What it consists of, for people: "11 hooks". */
  readonly pieces: string;
}

export type InstalledProgram =
  /** A copy on this machine. `node` null: the host runs it itself. */
  | {
      readonly kind: 'copied';
      readonly name: ProgramName;
      readonly node: string | null;
      readonly file: string;
      readonly version: string;
    }
  /** By the name of the package, which the host or `npx` fetches. */
  | { readonly kind: 'portable'; readonly version: string };

export interface HostInstaller {
  /** As people write it: `untildone init NAME`. */
  readonly name: string;
  readonly title: string;
  readonly program: string;
  readonly programs: readonly ProgramName[];
  /** Before this version nothing of ours works; null: none is known to be too old. */
  readonly oldestVersion: string | null;
  readonly knownVersions: readonly string[];
  /** For people: a command that installs the host, what to do after a first install, how to take a plugin away. */
  readonly howToGet: string;
  readonly afterInstall: string;
  readonly howToRemovePlugin: string;
  /** What `doctor` calls its findings on our own pieces: complete, leading to a file, of this version. */
  readonly findingNames: { readonly installed: string; readonly file: string; readonly version: string };
  /** Does only one of two copies act? Then being installed twice is untidy; else everything would be done twice. */
  readonly actsOnce: boolean;
  layout(request: InstallRequest): InstallLayout;
  /** What `init` put into the scope, of whatever version; empty: nothing. */
  findInstalled(request: InstallRequest): readonly InstalledProgram[];
  /** What only this host knows: switches, trust, grants. @param installed by `init`; empty: only as a plugin */
  examine(request: InstallBasis, installed: readonly Scope[]): readonly Finding[];
  /** The file in which a plugin of ours is switched on, for hosts that have plugins; null: none is. */
  findPlugin(request: InstallBasis): string | null;
}

/** One thing that `doctor` looked at: what it saw, and the command that mends it. */
export interface Finding {
  /** Stable, for programs: `hooks`, `store`. */
  readonly name: string;
  /** `note`: works, and is worth knowing. `broken`: does not work, or not as promised. */
  readonly level: 'ok' | 'note' | 'broken';
  readonly sentence: string;
  /** A command or an instruction; null: there is nothing to do. */
  readonly mend: string | null;
}

const finding =
  (level: Finding['level']) =>
  (name: string, sentence: string, mend: string | null = null): Finding => ({ name, level, sentence, mend });

export const ok = finding('ok');
export const note = finding('note');
export const broken = finding('broken');

export type HostReport = Readonly<ReturnType<typeof examineHost>>;

const scopeNames = {
  project: 'for this project',
  shared: 'for everyone in this project',
  user: 'for this user',
};
export const scopeFlags = { project: '', shared: ' --shared', user: ' --user' };

/** @param shipped the folder with the programs of this package */
export function examineHost(installer: HostInstaller, basis: InstallBasis, shipped: string) {
  const { name: host, title } = installer;
  const program = findProgram(installer.program, basis.env);
  const hostVersion = program === null ? null : versionOfProgram(program, basis.env);
  const installed = (['project', 'shared', 'user'] as const).flatMap((scope) => {
    const request = { ...basis, scope };
    const programs = installer.findInstalled(request);
    return programs.length > 0 ? [{ request, programs }] : [];
  });
  const scopes = installed.map(({ request }) => request.scope);
  const plugin = installer.findPlugin(basis);
  const isInstalled = scopes.length > 0 || plugin !== null;
  const missing = note(
    installer.findingNames.installed,
    `Nothing is installed in ${title} here.`,
    `untildone init ${host}`,
  );
  const findings = [
    examineProgram(installer, program, hostVersion, isInstalled),
    ...(isInstalled ? [] : [missing]),
    ...examinePlugin(installer, plugin, scopes),
    ...installed.map(({ request, programs }) => examineScope(installer, request, programs, shipped)),
    ...(isInstalled ? installer.examine(basis, scopes) : []),
  ];
  return { host, title, program, hostVersion, scopes, isInstalled, findings };
}

function examineProgram(
  { title, program, knownVersions, oldestVersion, howToGet }: HostInstaller,
  path: string | null,
  version: string | null,
  isInUse: boolean,
): Finding {
  const wrong = isInUse ? broken : note;
  if (path === null)
    return wrong('host', `${title} was not found on PATH (no program "${program}").`, howToGet);
  if (version === null) return note('host', `${title} is at ${path}, but does not say its version.`);
  const there = `${title} ${version} at ${path}`;
  if (oldestVersion !== null && isOlder(version, oldestVersion))
    return wrong('host', `${there} is too old: untildone needs ${oldestVersion} or newer.`, howToGet);
  if (knownVersions.includes(version)) return ok('host', `${there}, known to work.`);
  return note('host', `${there}; tested with ${knownVersions.join(', ')}, so watch the first runs.`);
}

/** Where both act, every hook runs twice: a stop attempt would be counted twice. */
function examinePlugin(
  { title, howToRemovePlugin, actsOnce }: HostInstaller,
  file: string | null,
  scopes: readonly Scope[],
): Finding[] {
  if (file === null) return [];
  if (scopes.length === 0) return [ok('plugin', `Installed as a plugin of ${title} (${file}).`)];
  const twice = actsOnce ? note : broken;
  return [twice('plugin', `Installed twice: by init, and as a plugin (${file}).`, howToRemovePlugin)];
}

function examineScope(
  installer: HostInstaller,
  request: InstallRequest,
  programs: readonly InstalledProgram[],
  shipped: string,
): Finding {
  const { name, findingNames: names } = installer;
  const where = `Installed ${scopeNames[request.scope]}`;
  const mend = `untildone init ${name}${scopeFlags[request.scope]}`;
  const [problem] = programs.flatMap((program) => whyDead(program, request, shipped) ?? []);
  if (problem !== undefined) return broken(names.file, `${where}, but ${problem}`, mend);
  const other = programs.find(({ version }) => version !== request.version);
  if (other !== undefined) {
    const sentence = `${where} by untildone ${other.version}; this is ${request.version}.`;
    return note(names.version, sentence, mend);
  }
  const layout = installer.layout(request);
  const lacking = layout.targets.flatMap((target) => whatLacks(target, name));
  if (lacking.length === 0) return ok(names.installed, `${where}: ${layout.pieces}, complete.`);
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  return broken(names.installed, `${where}, but not complete: ${lacking[0]}${more} is missing.`, mend);
}

/** Edits that the file does not hold, by name; or why that cannot be known. */
function whatLacks(target: FileTarget, host: string): string[] {
  try {
    const text = readSettingsFile(target.path).text ?? '';
    return target.edits.flatMap((edit) =>
      applyEdits(text, [edit], target, host).text === text ? [] : [`${nameOf(edit)} in ${target.path}`],
    );
  } catch (error) {
    // Safe: the file is only looked at, and the sentence goes into the finding.
    if (error instanceof Refusal) return [`${target.path} ${error.message}`];
    throw error;
  }
}

function nameOf(edit: Edit): string {
  if ('text' in edit) return edit.kind === 'whole' ? 'its own text' : `"${edit.text}"`;
  return edit.kind === 'entry' ? `"${edit.value}"` : `"${edit.path.join('.')}"`;
}

function whyDead(program: InstalledProgram, request: InstallRequest, shipped: string): string | null {
  if (program.kind === 'portable') return null;
  const { name, node, file, version } = program;
  const what = name === 'server.js' ? 'plugin' : 'hook';
  if (node !== null && !isExecutable(node)) return `the Node that runs the ${what} is gone: ${node}`;
  if (!existsSync(file)) return `the ${what} itself is gone: ${file}`;
  const isDamaged = version === request.version && !isCopied(shipped, file, name);
  return isDamaged ? `the ${what} is not the one of this version: ${file}` : null;
}

export function findProgram(name: string, env: Environment): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Safe: this is the question that was asked.
    return false;
  }
}

function versionOfProgram(path: string, env: Environment): string | null {
  return /\d+\.\d+\.\d+[\w.-]*/.exec(outputOf(path, ['--version'], { env }) ?? '')?.[0] ?? null;
}

/** By the three numbers; what comes behind them (`-beta.1`) does not count. */
function isOlder(version: string, than: string): boolean {
  const [one = [], other = []] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number));
  const index = [0, 1, 2].find((place) => one[place] !== other[place]);
  return index !== undefined && (one[index] ?? 0) < (other[index] ?? 0);
}

export interface Repository {
  /** Root of the working tree that was asked about. */
  readonly root: string;
  /** Root of the main working tree, where hosts keep what belongs to all worktrees. */
  readonly mainRoot: string;
  readonly excludeFile: string;
}

/** Null: git is missing, or the folder is no repository. */
export function findRepository(cwd: string, env: Environment): Repository | null {
  const questions = [['--show-toplevel'], ['--git-common-dir'], ['--git-path', 'info/exclude']];
  // In one call where that is clear; a path may hold a line break, and then each question is asked alone.
  const together = git(['rev-parse', ...questions.flat()], cwd, env)?.split('\n') ?? [];
  const [root, common, exclude] =
    together.length <= questions.length
      ? together
      : questions.map((question) => git(['rev-parse', ...question], cwd, env));
  if (!root || !common || !exclude) return null;
  const commonFolder = resolve(cwd, common);
  // A submodule or a bare repository with worktrees has its common folder somewhere else.
  const mainRoot = basename(commonFolder) === '.git' ? dirname(commonFolder) : root;
  return {
    root: realpathSync(root),
    mainRoot: realpathSync(mainRoot),
    excludeFile: resolve(cwd, exclude),
  };
}

export function isTracked(file: string, cwd: string, env: Environment): boolean {
  return git(['ls-files', '--error-unmatch', '--', file], cwd, env) !== null;
}

function git(args: readonly string[], cwd: string, env: Environment): string | null {
  // Variables that git sets for its own hooks would name another repository.
  const { GIT_DIR: _directory, GIT_WORK_TREE: _tree, GIT_INDEX_FILE: _index, ...rest } = env;
  return outputOf('git', args, { cwd, env: rest })?.replace(/\r?\n$/, '') ?? null;
}

/** Without a shell; null: it is missing, failed, or took longer than the cold start of any host. */
function outputOf(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env: Environment },
): string | null {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync(program, args, { ...options, encoding: 'utf8', timeout: 10_000, stdio: [...stdio] });
  } catch {
    // Safe: whoever asked says so, or goes by the folder itself.
    return null;
  }
}
