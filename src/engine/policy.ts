// The policy that a human wants: found in files and the other sources (C1), frozen at each genuine human message, kept in
// the store by hash and read back by decide (V2). A file that others could have written is not read. Nothing here
// throws or applies a part: a broken configuration is a value, so that a host can fail open.
import { createHash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import {
  type ConfigResult,
  mergeSettings,
  type Origins,
  validateConfig,
  withoutGrants,
} from '../core/config.ts';
import { parseJsonText } from '../core/json-text.ts';
import type { HashFunction } from '../core/ledger.ts';
import { canonicalPolicy, createPolicy, type Policy } from '../core/policy.ts';
import { type Problem, printable, problemSentence } from '../core/problem.ts';
import { parseEnvironment } from '../core/sources.ts';
import type { Session } from '../core/state.ts';
import { sha256 } from './system.ts';

/** What holds right now for this session, read from files and environment. Must not throw: the engine asks mid-way. */
export type CurrentPolicy = (session: Session) => Policy;

export interface Policies {
  /** The hash of the policy that holds now; its text goes into `saved`. */
  snapshot(session: Session, saved: Map<string, string>): string;
  /** Undefined: it has to be loaded. Null: it is not there, or not as it was stored. */
  byHash(key: string, loaded: ReadonlyMap<string, string | null>): Policy | null | undefined;
}

export function createPolicies(current: CurrentPolicy, hash: HashFunction): Policies {
  const known = new Map<string, Policy>();
  return {
    snapshot(session, saved) {
      const policy = current(session);
      const text = canonicalPolicy(policy);
      const key = policyKey(text, hash);
      saved.set(key, text);
      known.set(key, policy);
      return key;
    },
    byHash(key, loaded) {
      const text = loaded.get(key);
      if (known.has(key) || text === undefined) return known.get(key);
      const policy = readSnapshot(key, text, hash);
      if (policy !== null) known.set(key, policy);
      return policy;
    },
  };
}

/** By what a snapshot is found; a text with another key was edited in the store (V4). */
function policyKey(text: string, hash: HashFunction): string {
  return hash(text).slice(0, 32);
}

/** The snapshot that a store keeps under this key; null: it is not there, or not as it was stored. */
export function readSnapshot(key: string, text: string | null, hash: HashFunction = sha256): Policy | null {
  return text !== null && policyKey(text, hash) === key ? (JSON.parse(text) as Policy) : null;
}

export const configFileName = 'untildone.json';

/** A hand-written configuration has a few kilobytes; more is a mistake, and hooks read it at every event. */
const mostConfigBytes = 1_048_576;
/** More than any configuration or plan may have; what has grown beyond it is another file anyway. */
const mostBytes = 67_108_864;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface PolicySources {
  /** Absolute; null where a host does not tell it. */
  readonly projectDirectory: string | null;
  /** Holds the user's untildone.json; null: nobody's. Absent: see `findUserConfigDirectory`. */
  readonly userConfigDirectory?: string | null;
  readonly environment: Environment;
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
  const { userConfigDirectory = findUserConfigDirectory(sources.environment) } = sources;
  const user = readConfigFile(userConfigDirectory, 'user', owners);
  const project = findProjectFile(sources.projectDirectory, owners);
  const environment = parseEnvironment(sources.environment);
  const flags: ConfigResult = sources.flags ?? { ok: true, config: {} };

  const files = [user, project].flatMap(({ file }) => (file === null ? [] : [file]));
  const said = withoutGrants(project.ok ? project.config : {});
  const warnings = [...environment.warnings, ...said.warnings];
  if (user.ok && project.ok && environment.ok && flags.ok) {
    const layers = { user: user.config, project: said.config };
    const stronger = { environment: environment.config, flag: flags.config };
    const { settings, origins } = mergeSettings({ ...layers, ...stronger });
    const created = createPolicy(settings);
    if (created.ok) {
      const digests = files.map(({ path }) => ({ path, digest: digestFile(path) }));
      return { ok: true, policy: { ...created.policy, sources: digests }, origins, warnings, files };
    }
    const place = ({ path }: Problem) => ({ file: fileThatSaid(path, origins, files) });
    const problems = created.problems.map((problem) => ({ ...problem, ...place(problem) }));
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
export function findUserConfigDirectory(environment: Environment): string | null {
  const configured = environment['XDG_CONFIG_HOME'];
  if (configured !== undefined && isAbsolute(configured)) return join(configured, 'untildone');
  const home = environment['HOME'] ?? homedir();
  return isAbsolute(home) ? join(home, '.config', 'untildone') : null;
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
  const content = readRegularFile(file.path, mostConfigBytes, (stat) =>
    reasonForDistrust(stat, file.path, owners),
  );
  if (content === null) return nothingSaid;
  const text = typeof content === 'string' ? content : decode(content);
  const json = typeof text === 'string' ? ({ ok: false, message: text } as const) : parseJsonText(text.text);
  if (!json.ok) return { ok: false, problems: [{ path: '', message: json.message }], file };
  return { ...validateConfig(json.value), file };
}

/** Its bytes; a text: why it is not read; null: there is no such file. */
function readRegularFile(
  path: string,
  most: number,
  distrust: (stat: Stats) => string | null = () => null,
): Buffer | string | null {
  let descriptor: number | null = null;
  try {
    // Without blocking: a named pipe would hold the host until someone writes to it.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return 'must be a regular file';
    const reason = distrust(stat);
    if (reason !== null) return reason;
    const buffer = Buffer.alloc(Math.min(stat.size, most) + 1);
    const size = readSync(descriptor, buffer, 0, buffer.length, 0);
    return size > most ? `is larger than ${most} bytes` : buffer.subarray(0, size);
  } catch (error) {
    // Safe: nothing was applied, and what went wrong becomes the answer.
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : `cannot be read (${code})`;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function decode(bytes: Uint8Array): { readonly text: string } | string {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // Safe: half-read text would be worse than none; the human is told which encoding we read.
    return 'must be text in UTF-8';
  }
}

/**
 * What a file holds, as one short text, so that a later change can be seen without keeping the content. Null: there is
 * no such file, or it cannot be read, and that differs from one that could. Of a plan file the boxes are left out: they
 * follow the plan, and ticks are no change of what it asks for.
 */
export function digestFile(path: string, kind?: 'plan'): string | null {
  const bytes = readRegularFile(path, mostBytes);
  if (bytes === null || typeof bytes === 'string') return null;
  // One character for each byte: text that is no UTF-8 must not look like other such text.
  const content = kind === 'plan' ? Buffer.from(emptyBoxes(bytes.toString('latin1')), 'latin1') : bytes;
  return createHash('sha256').update(content).digest('hex');
}

/** Boxes behind the mark of a list item. Boxes in code or HTML are emptied too: they are nobody's checks. */
function emptyBoxes(text: string): string {
  return text.replace(
    /^((?:\xef\xbb\xbf)?[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)[ \txX]\]/gm,
    (_box, before: string) => `${before} ]`,
  );
}

/**
 * A configuration names commands that run as the user, so that a file which others could have written is refused. What
 * anyone may write is let pass inside a repository, since some file systems show every file so.
 */
function reasonForDistrust(stat: Stats, path: string, owners: readonly number[] | null): string | null {
  if (owners === null) return null;
  if (!owners.includes(stat.uid))
    return 'belongs to another user, so it is not read: make it your own (chown)';
  const anyoneMayWrite = (stat.mode & 0o002) !== 0;
  if (!anyoneMayWrite || isInRepository(dirname(path))) return null;
  return 'may be written by anyone on this machine, so it is not read: take that right away (chmod o-w)';
}

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, '.git'))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInRepository(parent);
}

/** Whose files are trusted: the user's, root's, and beneath sudo those of whoever called it; null: no such thing here. */
function trustedOwners(environment: Environment): readonly number[] | null {
  const user = process.geteuid?.();
  if (user === undefined) return null;
  const caller = environment['SUDO_UID'];
  return user === 0 && caller !== undefined && /^\d{1,10}$/u.test(caller) ? [0, Number(caller)] : [user, 0];
}
