// Finds the policy that a human wants, in files and other sources (C1), and freezes it by
// its hash at each message of the human (V2). A broken configuration is a value and is
// never applied in part, so that a host can go on without us.
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
import { makePrintable, type Problem, problemSentence } from '../core/problem.ts';
import { oneLine } from '../core/safe-text.ts';
import type { PartialSettings } from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import type { Store } from './store.ts';
import { type FileStats, findRepository, readBytes, sha256 } from './system.ts';
import {
  type Accepted,
  compareWishes,
  harmlessOf,
  listTrustFolders,
  nearestAccepted,
  type Pending,
  type TrustFolder,
} from './trust.ts';

/**
 * Returns the policy that holds now for a session. Must not throw: the engine calls it
 * within a transaction.
 */
export type CurrentPolicy = (session: Session) => Policy;

/** Keeps policies by their hash, for one engine. */
export function createPolicies(current: CurrentPolicy, hash: HashFunction) {
  const known = new Map<string, Policy>();
  return {
    /** Returns the hash of the policy that holds now, and puts its text into `saved`. */
    snapshot(session: Session, saved: Map<string, string>): string {
      const policy = withCarried(current(session), session);
      const text = canonicalPolicy(policy);
      const key = policyKey(text, hash);
      saved.set(key, text);
      known.set(key, policy);
      return key;
    },
    /**
     * Returns the policy of a hash; null: it is not stored, or was changed in the store.
     */
    byHash(key: string, textOf: (key: string) => string | null): Policy | null {
      const policy = known.get(key) ?? readSnapshot(key, textOf(key), hash);
      if (policy !== null) known.set(key, policy);
      return policy;
    },
  };
}

/** What the human says here goes before what came along with a moved plan (V7). */
function withCarried(policy: Policy, { carried }: Pick<Session, 'carried'>): Policy {
  if (carried === null) return policy;
  return addChecks(policy, {
    ...carried,
    checks: { ...carried.checks, ...policy.checks },
  });
}

/** If a text does not fit its key, someone edited it in the store (V4). */
const policyKey = (text: string, hash: HashFunction): string => hash(text).slice(0, 32);

function readSnapshot(
  key: string,
  text: string | null,
  hash: HashFunction = sha256,
): Policy | null {
  return text !== null && policyKey(text, hash) === key ? JSON.parse(text) : null;
}

/**
 * Reads the policy that the human's last message froze for a session; null: nothing was
 * frozen, or it was edited in the store.
 */
export async function frozenPolicy(
  store: Pick<Store, 'policy'>,
  { policyHash: key }: Pick<Session, 'policyHash'>,
): Promise<Policy | null> {
  return key === null ? null : readSnapshot(key, await store.policy(key));
}

/** The name of the configuration file, in a project and in the user's folder. */
export const configFileName = 'untildone.json';

/** A larger file is a mistake, and hooks read it at every event. */
const mostConfigBytes = 1_048_576;
const mostDigestedBytes = 67_108_864;

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where a policy comes from, weakest first: the user's file, the project's, environment,
 * flags.
 */
export type PolicySources = Readonly<{
  /** Absolute; null if the host does not tell it. */
  projectDirectory: string | null;
  /** Null: there is no folder. Absent: `findUserConfigDirectory` finds it. */
  userConfigDirectory?: string | null;
  environment: Environment;
  flags?: ConfigResult;
  /**
   * What humans accepted of projects' files. Absent: nothing. `all`: the human named the
   * file in this call, and so means all of it (V10).
   */
  accepted?: readonly Accepted[] | 'all';
}>;

type ConfigFile = { readonly origin: 'user' | 'project'; readonly path: string };
type Origins = ReturnType<typeof mergeSettings>['origins'];

interface PolicyProblem extends Problem {
  /** Null: the problem is in the environment or in a flag. */
  readonly file: string | null;
}

/**
 * A policy and where each setting came from, or all that is wrong. `project` says what
 * the project's file asks for.
 */
export type PolicyResult = {
  readonly warnings: readonly Problem[];
  readonly files: readonly ConfigFile[];
  readonly project: ProjectPart;
} & (
  | { readonly ok: true; readonly policy: Policy; readonly origins: Origins }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] }
);

/** Reads all sources into one policy. Must not throw: what is wrong is in the result. */
export function readPolicy(sources: PolicySources): PolicyResult {
  const owners = trustedOwners(sources.environment);
  const { userConfigDirectory = findUserConfigDirectory(sources.environment) } = sources;
  const user = readConfigFile(userConfigDirectory, 'user', owners);
  const project = readProject(sources.projectDirectory, owners, sources.accepted ?? []);
  const environment = { ...parseEnvironment(sources.environment), file: null };
  const flag = { ...(sources.flags ?? emptyConfig), file: null };

  const files = [user, project].flatMap(({ file }) => (file === null ? [] : [file]));
  const warnings = [project, environment].flatMap((source) => source.warnings);
  const projectPart = { warnings, files, project };
  if (!user.ok || !project.ok || !environment.ok || !flag.ok)
    return {
      ok: false,
      problems: [user, project, environment, flag].flatMap(problemsOf),
      ...projectPart,
    };
  const fileLayers = { user: user.config, project: project.config };
  const callLayers = { environment: environment.config, flag: flag.config };
  const { settings, origins } = mergeSettings({ ...fileLayers, ...callLayers });
  const created = createPolicy(settings);
  if (created.ok) {
    const digests = files.map(({ path }) => ({ path, digest: digestFile(path) }));
    return {
      ok: true,
      policy: { ...created.policy, sources: digests },
      origins,
      ...projectPart,
    };
  }
  const problems = created.problems.map((problem) => withFile(problem, origins, files));
  return { ok: false, problems, ...projectPart };
}

/**
 * The user's folder of settings; null: there is none. A relative XDG_CONFIG_HOME is
 * ignored, as its rules say.
 */
export function findUserConfigDirectory(environment: Environment): string | null {
  const configured = environment['XDG_CONFIG_HOME'];
  if (configured !== undefined && isAbsolute(configured))
    return join(configured, 'untildone');
  const home = environment['HOME'] ?? homedir();
  return isAbsolute(home) ? join(home, '.config', 'untildone') : null;
}

/** The problem as a sentence that is safe to print, with the file's name before it. */
export function policyProblemSentence(problem: PolicyProblem): string {
  const sentence = problemSentence(problem);
  if (problem.file === null) return sentence;
  return `${makePrintable(problem.file)}${problem.path === '' ? '' : ':'} ${sentence}`;
}

/** Finds the file that set `goal` for a problem at `goal[2]`. */
function withFile(
  problem: Problem,
  origins: Origins,
  files: readonly ConfigFile[],
): PolicyProblem {
  const { path } = problem;
  const isBelow = (key: string) =>
    path.startsWith(key) && /^(?:[.[]|$)/u.test(path.slice(key.length));
  const origin = Object.entries(origins).find(([key]) => isBelow(key))?.[1];
  return { ...problem, file: files.find((file) => file.origin === origin)?.path ?? null };
}

type FileResult = ConfigResult & { readonly file: ConfigFile | null };
const emptyConfig: FileResult & { ok: true } = { ok: true, config: {}, file: null };

function problemsOf(result: FileResult): PolicyProblem[] {
  if (result.ok) return [];
  return result.problems.map((problem) => ({
    ...problem,
    file: result.file?.path ?? null,
  }));
}

/**
 * What the project's file asks for. `key` and `folder`: where it is trusted. `asked`:
 * what can be accepted. `pending`: how that differs from what was accepted.
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
 * Judges the nearest file by what was accepted nearest, or by nothing. What was accepted
 * is also looked for above the repository's root, since anyone can make a repository; but
 * no other file up there is read, since other people's files may lie there.
 */
function readProject(
  directory: string | null,
  owners: Owners,
  accepted: readonly Accepted[] | 'all',
) {
  const noProject = {
    ...emptyConfig,
    key: null,
    folder: null,
    asked: {},
    pending: null,
    warnings: [],
  };
  if (directory === null || !isAbsolute(directory))
    return { ...noProject, ...readConfigFile(directory, 'project', owners) };
  const places = listTrustFolders(directory);
  const inForce = accepted === 'all' ? null : nearestAccepted(places, accepted);
  // Another version of untildone may have stored it.
  const storedConfig = validateConfig(inForce?.config ?? {});
  const inForceConfig = storedConfig.ok ? storedConfig.config : {};
  for (const place of places) {
    const isAcceptedHere = place === inForce?.place;
    if (place.isAbove && !isAcceptedHere) continue;
    const found = readConfigFile(place.folder, 'project', owners);
    if (found.ok && found.file === null && !isAcceptedHere) continue;
    return judgeProject(place, found, accepted === 'all' ? 'all' : inForceConfig);
  }
  return noProject;
}

function judgeProject(
  { key, folder }: TrustFolder,
  found: FileResult,
  accepted: PartialSettings | 'all',
): ProjectPart {
  const { config: asked, warnings } = withoutGrants(found.ok ? found.config : {});
  const all = { key, folder, asked, warnings };
  if (accepted === 'all')
    return { ...found, ...all, ...(found.ok ? { config: asked } : {}), pending: null };
  const path = found.file?.path ?? join(folder, configFileName);
  // A broken file is reported like any other difference: it must not switch us off.
  const pending = compareWishes(path, accepted, asked, found.ok ? [] : found.problems);
  const config = { ...harmlessOf(asked), ...withoutGrants(accepted).config };
  return { ok: true, config, file: found.file, ...all, pending };
}

function readConfigFile(
  directory: string | null,
  origin: ConfigFile['origin'],
  owners: Owners,
): FileResult {
  if (directory === null) return emptyConfig;
  const refuse = (message: string, file: ConfigFile | null) =>
    ({ ok: false, problems: [{ path: '', message }], file }) as const;
  if (!isAbsolute(directory))
    return refuse(`the ${origin} directory must be an absolute path`, null);
  const file = { origin, path: join(directory, configFileName) };
  const content = readBytes(file.path, mostConfigBytes, (stats) =>
    distrust(stats, directory, owners),
  );
  if (!content.ok)
    return content.isMissing ? emptyConfig : refuse(content.sentence, file);
  if (!isUtf8(content.bytes)) return refuse('must be text in UTF-8', file);
  const json = parseJsonText(new TextDecoder().decode(content.bytes));
  if (!json.ok) return refuse(json.error, file);
  return { ...validateConfig(json.value), file };
}

/**
 * A hash of the file; null: it cannot be read. With the kind `plan`, ticked and unticked
 * boxes count alike, since ticking a box does not change what a plan asks for.
 */
export function digestFile(path: string, kind?: 'plan'): string | null {
  const file = readBytes(path, mostDigestedBytes);
  if (!file.ok) return null;
  if (kind !== 'plan') return sha256(file.bytes);
  // One character for each byte: two texts that are no UTF-8 must not become the same.
  const text = Buffer.from(file.bytes).toString('latin1').replace(box, '$1 ]');
  return sha256(Buffer.from(text, 'latin1'));
}

/** Boxes in code or HTML match too; they hold no checks. */
const box = /^((?:\xef\xbb\xbf)?[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+\[)[ \txX]\]/gm;

/**
 * Says why a configuration file is not trusted, since it names commands that run as the
 * user; null: it is trusted. Inside a repository a file may be writable by anyone: some
 * file systems show all files so.
 */
function distrust(stats: FileStats, directory: string, owners: Owners): string | null {
  if (!stats.isFile()) return 'must be a regular file';
  if (owners === null) return null;
  if (!owners.includes(stats.uid))
    return 'belongs to another user, so it is not read: make it your own (chown)';
  if ((stats.mode & 0o002) === 0 || findRepository(directory) !== null) return null;
  return 'may be written by anyone on this machine, so it is not read: remove that right (chmod o-w)';
}

/**
 * The user ids that may own a configuration; null: files have no owners on this system.
 */
type Owners = readonly number[] | null;

/** The user and root; under sudo, the user who called it. */
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
 * The id of a shell line. No check in a configuration has a name that begins so, and two
 * lines that begin alike get two ids.
 */
function shellId(shell: string): string {
  const line = oneLine(shell, 80);
  return line === shell ? `$ ${line}` : `$ ${line} #${sha256(shell).slice(0, 8)}`;
}

/**
 * Adds shell lines as checks on the goal. Callers refuse blank lines, which prove
 * nothing.
 */
export function withShellChecks(policy: Policy, lines: readonly string[]): Policy {
  const lineChecks = lines.map((shell) => createCommandCheck(shellId(shell), { shell }));
  return addChecks(policy, {
    goalChecks: lineChecks.map(({ id }) => id),
    checks: Object.fromEntries(lineChecks.map((check) => [check.id, check])),
  });
}

/**
 * The checks of a session that is resumed: the frozen ones and those of now. `replaces`:
 * the human names checks now, and they replace the earlier ones.
 */
export function takenUpChecks(frozen: Policy, present: Policy, replaces: boolean) {
  const keptChecks = frozen.goalChecks.filter(
    (id) => !replaces || id === protectedPathsId,
  );
  const { goalChecks, checks = {} } = addChecks(
    { ...frozen, goalChecks: keptChecks },
    present,
  );
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
