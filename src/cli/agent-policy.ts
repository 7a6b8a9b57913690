// The configuration as `run` takes it: what only our own agent knows (its tools, workers,
// permissions and plan file) is looked at too, so that no command calls a configuration
// good that another one refuses (C1), and what is wrong is told before anything is
// started.
import { realpath } from 'node:fs/promises';
import { ownAgentName } from '../agent/loop/run.ts';
import type { Asking } from '../agent/loop/tool-calls.ts';
import { type ResolvedModel, resolveModel } from '../agent/models/resolve-model.ts';
import { type Worker, workerTypes } from '../agent/workers/worker-types.ts';
import type { PermissionPolicy } from '../agent/workspace/permission.ts';
import {
  addGrant,
  type GrantPlace,
  provenGrants,
} from '../agent/workspace/remembered-grants.ts';
import { workspaceTools } from '../agent/workspace/workspace-tools.ts';
import type { Origin, Origins } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import type { Policy } from '../core/policy.ts';
import { closestName, type Problem } from '../core/problem.ts';
import { ownValue } from '../core/schema.ts';
import {
  askedNames,
  type Settings,
  settingsForAgent,
  settingTable,
} from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import {
  findUserConfigDirectory,
  type PolicyResult,
  type PolicySources,
  takenUpPolicy,
} from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { errorCode } from '../engine/system.ts';
import { stateDirectory } from '../store/state-directory.ts';
import { canAnswerHere } from './ask-at-terminal.ts';
import type { Arguments } from './command.ts';
import type { Io } from './io.ts';
import { readPolicyFor } from './open-runtime.ts';
import { escapeForTerminal, formatCount, printComplaint } from './print.ts';

/**
 * `whole`: the settings with what stands under `agents.run`; `settings`: those of our own
 * agent.
 */
export function readAgentPolicyFor(
  io: Io,
  projectDirectory: string | null,
  flags?: PolicySources['flags'],
):
  | (PolicyResult & { ok: false })
  | (PolicyResult & { ok: true } & Readonly<Record<'whole' | 'settings', Settings>>) {
  const result = readPolicyFor(io, projectDirectory, flags);
  if (!result.ok) return result;
  const whole = ownAgentSettings(result.policy.settings, result.origins);
  const settings = settingsForAgent(whole, ownAgentName);
  const types = workerTypes(settings, result.origins);
  const unknown = unknownAllowedTool(settings);
  const problems = [
    ...(unknown === null ? [] : [unknown]),
    ...(types.ok ? [] : [asProblem(types.error)]),
  ];
  const warnings = [
    ...result.warnings,
    ...(types.ok ? types.warnings.map(asProblem) : []),
  ];
  if (problems.length === 0) return { ...result, warnings, whole, settings };
  const { files, project } = result;
  return {
    ok: false,
    problems: problems.map((each) => ({ ...each, file: null })),
    warnings,
    files,
    project,
  };
}

const strongest: readonly (Origin | undefined)[] = ['flag', 'environment'];

/**
 * C1: what stands under `agents.run` holds for our own agent, unless a flag or the
 * environment says something else for this call.
 */
export function ownAgentSettings(settings: Settings, origins: Origins) {
  const own = ownValue(settings.agents, ownAgentName);
  if (own === undefined) return settings;
  const holds = (name: string) => !strongest.includes(origins[name]);
  const kept = Object.entries(own).flatMap(([name, value]): [string, unknown][] => {
    if (settingTable[name as keyof Settings].type !== 'section')
      return holds(name) ? [[name, value]] : [];
    const fields = Object.entries(value as object).filter(([field]) =>
      holds(`${name}.${field}`),
    );
    return [[name, Object.fromEntries(fields)]];
  });
  return {
    ...settings,
    agents: { ...settings.agents, [ownAgentName]: Object.fromEntries(kept) },
  };
}

/**
 * A limit that can never be reached is worse than none: it is told before anything is
 * spent.
 */
export function refuseUnpriced(
  { maxCost }: Settings,
  models: readonly (ResolvedModel | null)[],
) {
  const unpriced = models.find((model) => model !== null && model.price === null);
  if (maxCost === null || unpriced == null) return;
  throw new UntildoneError(
    'usage',
    `maxCost is ${maxCost}, but the price of ${unpriced.label} is not known, so that this limit would never be reached: give one under "prices" in your untildone.json, or leave maxCost out. See docs/prices.md.`,
  );
}

/** The sentence names its place itself. */
function asProblem(sentence: string): Problem {
  return { path: '', message: sentence };
}

/** The workers of a run with their models. */
export async function prepareWorkers(io: Io, settings: Settings, origins: Origins) {
  const types = workerTypes(settings, origins);
  if (!types.ok) throw new UntildoneError('invalid-config', types.error);
  const workers: Worker[] = [];
  for (const type of types.workers) {
    const { name, modelName } = type;
    const sources = { settings, origins, environment: io.env };
    const model = modelName === null ? null : await resolveModel(modelName, sources);
    if (model?.ok === false)
      throw new UntildoneError('usage', `The worker ${name}: ${model.error}`);
    workers.push({ ...type, model });
  }
  return workers;
}

export const modeOptions = {
  ask: {
    summary: 'Ask before what is not on the allow-list; the default on a terminal.',
  },
  'allow-list': {
    summary: 'Refuse what is not on the allow-list; the default without a terminal.',
  },
  'read-only': { summary: 'Nothing is changed and no command runs.' },
  auto: {
    summary:
      'Any command may run: only where the directory and the machine are yours to lose.',
  },
} as const;

const modes = Object.keys(modeOptions) as PermissionPolicy['mode'][];

/** `session`: the one that is taken up. */
export async function permissionsOf(
  given: Arguments,
  io: Io,
  settings: Settings,
  session: Session | null,
): Promise<PermissionPolicy> {
  const { permissions, tools } = settings;
  const [flag, other] = modes.filter((mode) => given.has(mode));
  if (flag !== undefined && other !== undefined)
    throw new UntildoneError('usage', `--${flag} and --${other} contradict each other.`);
  const asks = !given.has('json') && (await canAnswerHere(io));
  const mode = flag ?? permissions.mode ?? (asks ? 'ask' : 'allow-list');
  // A session that has asked its human goes on asking, unless a flag names another mode.
  const goesOn =
    flag === undefined && session?.permissions.hasAsked === true && mode !== 'read-only';
  return {
    mode: goesOn ? 'ask' : mode,
    shellAllow: tools.shellAllow,
    allow: permissions.allow,
    // Where untildone keeps what it knows and what the human wants: a workspace may lie
    // around them.
    kept: [stateDirectory(io.env), findUserConfigDirectory(io.env)].filter(
      (folder) => folder !== null,
    ),
  };
}

/**
 * `permissions.allow` names a tool that does not exist or that everybody may use; null:
 * it does not.
 */
function unknownAllowedTool({
  permissions,
}: Pick<Settings, 'permissions'>): Problem | null {
  const known = workspaceTools
    .filter(({ access }) => access !== 'read')
    .map(({ name }) => name);
  const name = Object.keys(permissions.allow).find((one) => !known.includes(one));
  if (name === undefined) return null;
  const closest = closestName(name, known);
  const hint =
    closest === null ? `known are ${known.join(', ')}` : `did you mean ${closest}?`;
  return {
    path: `permissions.allow.${escapeForTerminal(name, 40)}`,
    message: `there is no such tool that needs permission; ${hint}`,
  };
}

/** Everything about asking but whether somebody is here. */
export async function askingOf(
  io: Io,
  store: Store,
  directory: string,
  { permissions }: Settings,
): Promise<Omit<Asking, 'here'>> {
  const place: GrantPlace = { stateDirectory: stateDirectory(io.env), directory };
  const { grants, unproven } = await provenGrants(store, place);
  const are = unproven === 1 ? 'is' : 'are';
  if (unproven > 0)
    printComplaint(
      io,
      `warning: ${formatCount(unproven, 'remembered permission')} ${are} not on record as a human's answer and ${are} ignored; see untildone permissions.`,
    );
  return {
    waitMs: permissions.waitSeconds * 1000,
    remembered: grants,
    remember: async (grant) => addGrant(place, grant),
  };
}

/**
 * What a run starts with: the policy and plan file of this call, or those that a session
 * was begun with (V2).
 */
export interface TakenPlan {
  /** With the checks of the plan file, and with the file as one of its sources. */
  readonly policy: Policy;
  /** What the human says by handing the file, or new checks, over; null: nothing. */
  readonly message: string | null;
  /** What the human has to know before it begins. */
  readonly warning?: string | null;
  /** The checks on the goal, where the human named others than those of the session. */
  readonly replacedChecks?: readonly string[];
}

/**
 * A run that takes a session up: the plan file that it follows must still be there, and
 * what that file asks for since is told.
 */
export async function takeUp(
  frozen: Policy,
  { policy: present, message }: TakenPlan,
  named: Readonly<{
    goal: string | null;
    plan: boolean;
    checks: readonly string[];
    origins: Origins;
  }>,
): Promise<TakenPlan> {
  const { goal, plan, origins } = named;
  const followed = plan ? null : planFileOf(frozen);
  if (goal !== null && followed !== null)
    await realpath(followed).catch((error: unknown) => {
      const sentence = `The plan file ${escapeForTerminal(followed, 200)} cannot be found (${errorCode(error)}).`;
      throw new UntildoneError('usage', sentence);
    });
  const checks = named.checks.length > 0;
  const settings = askedAsBefore(frozen.settings, present.settings, origins);
  const policy = takenUpPolicy(frozen, { ...present, settings }, { checks, plan });
  const lines = named.checks
    .map((line) => `\`${escapeForTerminal(line, 200)}\``)
    .join(', ');
  const said =
    checks && goal === null ? `From now on the work is checked by ${lines}.` : null;
  return {
    policy,
    message: message ?? said,
    ...((checks || plan) && { replacedChecks: policy.goalChecks }),
    warning:
      followed === null
        ? null
        : (await import('../plan-file/taken-plan.ts')).tellNewChecks(frozen, followed),
  };
}

/** Like its model: as it was begun with, unless a flag says otherwise. */
function askedAsBefore(frozen: Settings, present: Settings, origins: Origins): Settings {
  const before = settingsForAgent(frozen, ownAgentName);
  const kept = askedNames
    .filter((name) => origins[name] !== 'flag')
    .map((name) => [name, before[name]]);
  const own = { ...ownValue(present.agents, ownAgentName), ...Object.fromEntries(kept) };
  return { ...present, agents: { ...present.agents, [ownAgentName]: own } };
}

/**
 * The real path of the plan file that this policy was taken with; null: there was none.
 */
export function planFileOf(policy: Policy): string | null {
  return policy.sources?.find(({ kind }) => kind === 'plan')?.path ?? null;
}
