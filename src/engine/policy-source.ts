// Finds and reads the files of a configuration and makes the policy out of them and the other sources (C1).
// It never throws and never applies a part: a broken configuration is a value, so that a host can fail open.

import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { parseEnvironment } from '../core/config/environment.ts';
import { printable } from '../core/config/excerpt.ts';
import { parseJsonText } from '../core/config/json-text.ts';
import { mergeSettings, type Origins } from '../core/config/merge.ts';
import { createPolicy, type Policy } from '../core/config/policy.ts';
import { type Problem, problemSentence } from '../core/config/problem.ts';
import { withoutGrants } from '../core/config/project-grants.ts';
import { type ConfigResult, validateConfig } from '../core/config/validate.ts';
import { reasonForDistrust, trustedOwners } from './config-trust.ts';
import { digestFile } from './digest-file.ts';

export const configFileName = 'untildone.json';

/** A hand-written configuration has a few kilobytes; more is a mistake, and hooks read it at every event. */
const mostBytes = 1_048_576;

export interface PolicySources {
  /** Absolute; null where a host does not tell it. */
  readonly projectDirectory: string | null;
  /** Holds the user's untildone.json, see `findUserConfigDirectory`; null: nobody's. */
  readonly userConfigDirectory: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What `parseFlags` returned, its problems included. */
  readonly flags?: ConfigResult;
}

export interface ConfigFile {
  readonly origin: 'user' | 'project';
  readonly path: string;
}

export interface PolicyProblem extends Problem {
  /** null: said in the environment or in a flag. */
  readonly file: string | null;
}

export type PolicyResult =
  | {
      readonly ok: true;
      readonly policy: Policy;
      readonly origins: Origins;
      readonly warnings: readonly Problem[];
      readonly files: readonly ConfigFile[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly PolicyProblem[];
      readonly warnings: readonly Problem[];
      readonly files: readonly ConfigFile[];
    };

export function readPolicy(sources: PolicySources): PolicyResult {
  const owners = trustedOwners(sources.environment);
  const user = readConfigFile(sources.userConfigDirectory, 'user', owners);
  const project = findProjectFile(sources.projectDirectory, owners);
  const environment = parseEnvironment(sources.environment);
  const flags: ConfigResult = sources.flags ?? { ok: true, config: {} };

  const files = [user, project].flatMap(({ file }) => (file === null ? [] : [file]));
  const said = withoutGrants(project.ok ? project.config : {});
  const warnings = [...environment.warnings, ...said.warnings];
  if (user.ok && project.ok && environment.ok && flags.ok) {
    const layers = {
      user: user.config,
      project: said.config,
      environment: environment.config,
      flag: flags.config,
    };
    const { settings, origins } = mergeSettings(layers);
    const created = createPolicy(settings);
    if (created.ok) {
      const sources = files.map(({ path }) => ({ path, digest: digestFile(path) }));
      return { ok: true, policy: { ...created.policy, sources }, origins, warnings, files };
    }
    const problems = created.problems.map((problem) => ({
      ...problem,
      file: fileThatSaid(problem.path, origins, files),
    }));
    return { ok: false, problems, warnings, files };
  }
  const problems = [
    ...problemsOf(user, user.file),
    ...problemsOf(project, project.file),
    ...problemsOf(environment, null),
    ...problemsOf(flags, null),
  ];
  return { ok: false, problems, warnings, files };
}

/** `$XDG_CONFIG_HOME/untildone`, or `.config/untildone` at home; the XDG rules say to ignore a relative one. */
export function findUserConfigDirectory(
  environment: Readonly<Record<string, string | undefined>>,
  homeDirectory: string | null,
): string | null {
  const configured = environment['XDG_CONFIG_HOME'];
  if (configured !== undefined && isAbsolute(configured)) return join(configured, 'untildone');
  if (homeDirectory === null || !isAbsolute(homeDirectory)) return null;
  return join(homeDirectory, '.config', 'untildone');
}

/** `/home/me/untildone.json: agents.build.mode: must be one of …`, safe to print. */
export function policyProblemSentence(problem: PolicyProblem): string {
  const sentence = problemSentence(problem);
  if (problem.file === null) return sentence;
  return problem.path === ''
    ? `${printable(problem.file)} ${sentence}`
    : `${printable(problem.file)}: ${sentence}`;
}

/** `goal[2]` was said where `goal` was; null: in the environment or in a flag. */
function fileThatSaid(path: string, origins: Origins, files: readonly ConfigFile[]): string | null {
  const key = Object.keys(origins).find(
    (known) => path.startsWith(known) && /^(?:[.[]|$)/u.test(path.slice(known.length)),
  );
  const origin = key === undefined ? undefined : origins[key];
  return files.find((file) => file.origin === origin)?.path ?? null;
}

type FileResult = ConfigResult & { readonly file: ConfigFile | null };

const nothingSaid = { ok: true, config: {}, file: null } as const;

function problemsOf(result: ConfigResult, file: ConfigFile | null): PolicyProblem[] {
  if (result.ok) return [];
  return result.problems.map((problem) => ({ ...problem, file: file?.path ?? null }));
}

/** The nearest file wins; above the root of the repository lies what belongs to others. */
function findProjectFile(projectDirectory: string | null, owners: readonly number[] | null): FileResult {
  let directory = projectDirectory;
  while (directory !== null) {
    const result = readConfigFile(directory, 'project', owners);
    if (!result.ok || result.file !== null || existsSync(join(directory, '.git'))) return result;
    const parent = dirname(directory);
    directory = parent === directory ? null : parent;
  }
  return nothingSaid;
}

function readConfigFile(
  directory: string | null,
  origin: ConfigFile['origin'],
  owners: readonly number[] | null,
): FileResult {
  if (directory === null) return nothingSaid;
  if (!isAbsolute(directory)) {
    const message = `the ${origin} directory must be an absolute path`;
    return { ok: false, problems: [{ path: '', message }], file: null };
  }
  const file = { origin, path: join(directory, configFileName) };
  const content = readText(file.path, owners);
  if (content === null) return nothingSaid;
  if (!content.ok) return { ok: false, problems: [{ path: '', message: content.message }], file };
  const json = parseJsonText(content.text);
  if (!json.ok) return { ok: false, problems: [{ path: '', message: json.message }], file };
  return { ...validateConfig(json.value), file };
}

type TextResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/** null: there is no such file. */
function readText(path: string, owners: readonly number[] | null): TextResult | null {
  let descriptor: number | null = null;
  try {
    // Without blocking: a named pipe would hold the host until someone writes to it.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { ok: false, message: 'must be a regular file' };
    const distrust = reasonForDistrust(stat, path, owners);
    if (distrust !== null) return { ok: false, message: distrust };
    const buffer = Buffer.alloc(Math.min(stat.size, mostBytes) + 1);
    const size = readSync(descriptor, buffer, 0, buffer.length, 0);
    if (size > mostBytes) return { ok: false, message: `is larger than ${mostBytes} bytes` };
    return decode(buffer.subarray(0, size));
  } catch (error) {
    // Safe: nothing was applied, and what went wrong becomes the answer.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? null
      : { ok: false, message: `cannot be read (${code})` };
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function decode(bytes: Uint8Array): TextResult {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // Safe: half-read text would be worse than none; the human is told which encoding we read.
    return { ok: false, message: 'must be text in UTF-8' };
  }
}
