// The policy that a human wants: found in files and other sources (C1), frozen at each
// human message by its hash (V2). A broken configuration is a value and never applied in
// part, so that a host can fail open.
import { isUtf8 } from 'node:buffer';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { createCommandCheck, protectedPathsId } from '../core/check-specs.ts';
import {
  type ConfigResult,
  mergeSettings,
  parseEnvironment,
  validateConfig,
  withoutGrants,
} from '../core/config.ts';
import { parseJsonText } from '../core/json-text.ts';
import type { HashFunction } from '../core/ledger.ts';
import { addChecks, canonicalPolicy, createPolicy, type Policy } from '../core/policy.ts';
import { type Problem, printable, problemSentence } from '../core/problem.ts';
import { oneLine } from '../core/safe-text.ts';
import type { PartialSettings } from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import type { Store } from './store.ts';
import { type FileStats, findRepository, readBytes, sha256 } from './system.ts';
import {
  type Accepted,
  compareWishes,
  harmlessOf,
  nearestAccepted,
  type Pending,
  type Place,
  trustPlaces,
} from './trust.ts';

/** Must not throw: the engine asks within a transaction. */
export type CurrentPolicy = (session: Session) => Policy;

export function createPolicies(current: CurrentPolicy, hash: HashFunction) {
  const known = new Map<string, Policy>();
  return {
    /** The hash of what holds now; its text goes into `saved`. */
    snapshot(session: Session, saved: Map<string, string>): string {
      const policy = withCarried(current(session), session);
      const text = canonicalPolicy(policy);
      const key = policyKey(text, hash);
      saved.set(key, text);
      known.set(key, policy);
      return key;
    },
    /** Null: it is not there, or not as it was stored. */
    byHash(key: string, textOf: (key: string) => string | null): Policy | null {
      const policy = known.get(key) ?? readSnapshot(key, textOf(key), hash);
      if (policy !== null) known.set(key, policy);
      return policy;
    },
  };
}

/** What the human says here goes before what came with a plan (V7). */
function withCarried(policy: Policy, { carried }: Pick<Session, 'carried'>): Policy {
  if (carried === null) return policy;
  return addChecks(policy, {
    ...carried,
    checks: { ...carried.checks, ...policy.checks },
  });
}

/** A text with another key was edited in the store (V4). */
const policyKey = (text: string, hash: HashFunction): string => hash(text).slice(0, 32);

function readSnapshot(
  key: string,
  text: string | null,
  hash: HashFunction = sha256,
): Policy | null {
  return text !== null && policyKey(text, hash) === key ? JSON.parse(text) : null;
}

/**
 * What the human's last message froze for a session; null: nothing, or it was edited in
 * the store.
 */
export async function frozenPolicy(
  store: Pick<Store, 'policy'>,
  { policyHash: key }: Pick<Session, 'policyHash'>,
): Promise<Policy | null> {
  return key === null ? null : readSnapshot(key, await store.policy(key));
}

export const configFileName = 'untildone.json';

/** More is a mistake, and hooks read it at every event. */
const mostConfigBytes = 1_048_576;
const mostDigestedBytes = 67_108_864;

export type Environment = Readonly<Record<string, string | undefined>>;

export type PolicySources = Readonly<{
  /** Absolute; null where a host does not tell it. */
  projectDirectory: string | null;
  /** Null: there is none. Absent: see `findUserConfigDirectory`. */
  userConfigDirectory?: string | null;
  environment: Environment;
  flags?: ConfigResult;
  /**
   * What humans accepted of projects' files. Absent: nothing. `all`: the human named this
   * call, and means the file (V10).
   */
  accepted?: readonly Accepted[] | 'all';
}>;

type ConfigFile = { readonly origin: 'user' | 'project'; readonly path: string };
type Origins = ReturnType<typeof mergeSettings>['origins'];

interface PolicyProblem extends Problem {
  /** null: said in the environment or in a flag. */
  readonly file: string | null;
}

export type PolicyResult = {
  readonly warnings: readonly Problem[];
  readonly files: readonly ConfigFile[];
  readonly project: ProjectPart;
} & (
  | { readonly ok: true; readonly policy: Policy; readonly origins: Origins }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] }
);

export function readPolicy(sources: PolicySources): PolicyResult {
  const owners = trustedOwners(sources.environment);
  const { userConfigDirectory = findUserConfigDirectory(sources.environment) } = sources;
  const user = readConfigFile(userConfigDirectory, 'user', owners);
  const project = readProject(sources.projectDirectory, owners, sources.accepted ?? []);
  const environment = { ...parseEnvironment(sources.environment), file: null };
  const flag = { ...(sources.flags ?? nothingSaid), file: null };

  const files = [user, project].flatMap(({ file }) => (file === null ? [] : [file]));
  const warnings = [project, environment].flatMap((source) => source.warnings);
  const seen = { warnings, files, project };
  if (!user.ok || !project.ok || !environment.ok || !flag.ok)
    return {
      ok: false,
      problems: [user, project, environment, flag].flatMap(problemsOf),
      ...seen,
    };
  const layers = { user: user.config, project: project.config };
  const stronger = { environment: environment.config, flag: flag.config };
  const { settings, origins } = mergeSettings({ ...layers, ...stronger });
  const created = createPolicy(settings);
  if (created.ok) {
    const digests = files.map(({ path }) => ({ path, digest: digestFile(path) }));
    return {
      ok: true,
      policy: { ...created.policy, sources: digests },
      origins,
      ...seen,
    };
  }
  const problems = created.problems.map((problem) => placed(problem, origins, files));
  return { ok: false, problems, ...seen };
}

/** The XDG rules say to ignore a relative path. */
export function findUserConfigDirectory(environment: Environment): string | null {
  const configured = environment['XDG_CONFIG_HOME'];
  if (configured !== undefined && isAbsolute(configured))
    return join(configured, 'untildone');
  const home = environment['HOME'] ?? homedir();
  return isAbsolute(home) ? join(home, '.config', 'untildone') : null;
}

/** Safe to print. */
export function policyProblemSentence(problem: PolicyProblem): string {
  const sentence = problemSentence(problem);
  if (problem.file === null) return sentence;
  return `${printable(problem.file)}${problem.path === '' ? '' : ':'} ${sentence}`;
}

/** `goal[2]` where `goal` was said. */
function placed(
  problem: Problem,
  origins: Origins,
  files: readonly ConfigFile[],
): PolicyProblem {
  const { path } = problem;
  const isSaidIn = (key: string) =>
    path.startsWith(key) && /^(?:[.[]|$)/u.test(path.slice(key.length));
  const origin = Object.entries(origins).find(([key]) => isSaidIn(key))?.[1];
  return { ...problem, file: files.find((file) => file.origin === origin)?.path ?? null };
}

type FileResult = ConfigResult & { readonly file: ConfigFile | null };
const nothingSaid: FileResult & { ok: true } = { ok: true, config: {}, file: null };

function problemsOf(result: FileResult): PolicyProblem[] {
  if (result.ok) return [];
  return result.problems.map((problem) => ({
    ...problem,
    file: result.file?.path ?? null,
  }));
}

/**
 * `key`, `folder`: where it is trusted. `asked`: what can be accepted. `pending`: how
 * that differs from what was.
 */
type ProjectPart = FileResult &
  Readonly<{
    key: string | null;
    folder: string | null;
    asked: PartialSettings;
    pending: Pending | null;
    warnings: readonly Problem[];
  }>;

/**
 * The nearest file is judged by what was accepted nearest, or by nothing. What was
 * accepted is found above the repository's root too, since anyone can make a repository;
 * other files up there are not read: others are at home.
 */
function readProject(
  directory: string | null,
  owners: Owners,
  accepted: readonly Accepted[] | 'all',
) {
  const nowhere = {
    ...nothingSaid,
    key: null,
    folder: null,
    asked: {},
    pending: null,
    warnings: [],
  };
  if (directory === null || !isAbsolute(directory))
    return { ...nowhere, ...readConfigFile(directory, 'project', owners) };
  const places = trustPlaces(directory);
  const inForce = accepted === 'all' ? null : nearestAccepted(places, accepted);
  // Another version of us may have kept it.
  const kept = validateConfig(inForce?.config ?? {});
  const inForceConfig = kept.ok ? kept.config : {};
  for (const place of places) {
    const isAcceptedHere = place === inForce?.place;
    if (place.isAbove && !isAcceptedHere) continue;
    const found = readConfigFile(place.folder, 'project', owners);
    if (found.ok && found.file === null && !isAcceptedHere) continue;
    return judgeProject(place, found, accepted === 'all' ? 'all' : inForceConfig);
  }
  return nowhere;
}

function judgeProject(
  { key, folder }: Place,
  found: FileResult,
  accepted: PartialSettings | 'all',
): ProjectPart {
  const { config: asked, warnings } = withoutGrants(found.ok ? found.config : {});
  const all = { key, folder, asked, warnings };
  if (accepted === 'all')
    return { ...found, ...all, ...(found.ok ? { config: asked } : {}), pending: null };
  const path = found.file?.path ?? join(folder, configFileName);
  // A broken file is told like any other difference: it must not switch us off.
  const pending = compareWishes(path, accepted, asked, found.ok ? [] : found.problems);
  const config = { ...harmlessOf(asked), ...withoutGrants(accepted).config };
  return { ok: true, config, file: found.file, ...all, pending };
}

function readConfigFile(
  directory: string | null,
  origin: ConfigFile['origin'],
  owners: Owners,
): FileResult {
  if (directory === null) return nothingSaid;
  const refuse = (message: string, file: ConfigFile | null) =>
    ({ ok: false, problems: [{ path: '', message }], file }) as const;
  if (!isAbsolute(directory))
    return refuse(`the ${origin} directory must be an absolute path`, null);
  const file = { origin, path: join(directory, configFileName) };
  const content = readBytes(file.path, mostConfigBytes, (stats) =>
    distrust(stats, directory, owners),
  );
  if (!content.ok)
    return content.isMissing ? nothingSaid : refuse(content.sentence, file);
  if (!isUtf8(content.bytes)) return refuse('must be text in UTF-8', file);
  const json = parseJsonText(new TextDecoder().decode(content.bytes));
  if (!json.ok) return refuse(json.error, file);
  return { ...validateConfig(json.value), file };
}

/** Null: it cannot be read. Ticking a box does not change what a plan file asks for. */
export function digestFile(path: string, kind?: 'plan'): string | null {
  const file = readBytes(path, mostDigestedBytes);
  if (!file.ok) return null;
  if (kind !== 'plan') return sha256(file.bytes);
  // One character for each byte: text that is no UTF-8 must not look like other such
  // text.
  const text = Buffer.from(file.bytes).toString('latin1').replace(box, '$1 ]');
  return sha256(Buffer.from(text, 'latin1'));
}

/** Those in code or HTML too: they are nobody's checks. */
const box = /^((?:\xef\xbb\xbf)?[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)[ \txX]\]/gm;

/**
 * It names commands that run as the user. Some file systems show all files of a
 * repository as writable by anyone.
 */
function distrust(stats: FileStats, directory: string, owners: Owners): string | null {
  if (!stats.isFile()) return 'must be a regular file';
  if (owners === null) return null;
  if (!owners.includes(stats.uid))
    return 'belongs to another user, so it is not read: make it your own (chown)';
  if ((stats.mode & 0o002) === 0 || findRepository(directory) !== null) return null;
  return 'may be written by anyone on this machine, so it is not read: remove that right (chmod o-w)';
}

/** Null: files have no owners here. */
type Owners = readonly number[] | null;

/** The user, root, and beneath sudo whoever called it. */
function trustedOwners(environment: Environment): Owners {
  const user = process.geteuid?.();
  if (user === undefined) return null;
  const caller = environment['SUDO_UID'];
  return user === 0 && caller !== undefined && /^\d{1,10}$/u.test(caller)
    ? [0, Number(caller)]
    : [user, 0];
}

// The human's own shell lines as checks on the goal: `--check` of a run, `checks` of a
// session (V1).

/**
 * No name of a check in a configuration begins so; two lines that begin alike are two
 * checks.
 */
function shellId(shell: string): string {
  const line = oneLine(shell, 80);
  return line === shell ? `$ ${line}` : `$ ${line} #${sha256(shell).slice(0, 8)}`;
}

/** Blank lines prove nothing: whoever takes them from a human refuses them. */
export function withShellChecks(policy: Policy, lines: readonly string[]): Policy {
  const given = lines.map((shell) => createCommandCheck(shellId(shell), { shell }));
  return addChecks(policy, {
    goalChecks: given.map(({ id }) => id),
    checks: Object.fromEntries(given.map((check) => [check.id, check])),
  });
}

/**
 * For a session that is taken up. `replaces`: checks that the human names now take the
 * place of those given before.
 */
export function takenUpChecks(frozen: Policy, present: Policy, replaces: boolean) {
  const kept = frozen.goalChecks.filter((id) => !replaces || id === protectedPathsId);
  const { goalChecks, checks = {} } = addChecks({ ...frozen, goalChecks: kept }, present);
  return { goalChecks, checks };
}

/**
 * What a session is taken up with: its own snapshot, whatever the files say now (an agent
 * may have written them), in the settings of now (V2, P40). What the human names with it
 * counts: checks take the place of those given before, a plan file is as it is now.
 */
export function takenUpPolicy(
  frozen: Policy,
  present: Policy,
  named: Readonly<{ checks: boolean; plan: boolean }>,
): Policy {
  const { settings, exclude = [], sources = [] } = present;
  const isNew = named.checks || named.plan;
  return {
    ...frozen,
    ...(named.plan && { exclude, sources }),
    ...(isNew && takenUpChecks(frozen, present, named.checks)),
    settings,
  };
}
