// The configuration as `run` takes it: what only our own agent knows (which tools and workers there are) is looked at
// too, so that no command calls a configuration good that another one refuses (C1). It reads and starts nothing.
import { ownAgentName } from '../agent/loop/run.ts';
import type { ResolvedModel } from '../agent/models/resolve-model.ts';
import { workerTypes } from '../agent/workers/worker-types.ts';
import type { Origin, Origins } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import type { Problem } from '../core/problem.ts';
import { ownValue } from '../core/schema.ts';
import { type Settings, settingTable } from '../core/settings.ts';
import type { PolicyResult, PolicySources } from '../engine/policy.ts';
import type { Io } from './io.ts';
import { readPolicyFor } from './open-runtime.ts';
import { unknownAllowedTool } from './run-permissions.ts';

export function readAgentPolicyFor(
  io: Io,
  projectDirectory: string | null,
  flags?: PolicySources['flags'],
): PolicyResult {
  const result = readPolicyFor(io, projectDirectory, flags);
  if (!result.ok) return result;
  const { settings } = result.policy;
  const unknown = unknownAllowedTool(settings);
  const types = workerTypes(settings, result.origins);
  const problems = [...(unknown === null ? [] : [unknown]), ...(types.ok ? [] : [asProblem(types.error)])];
  const warnings = [...result.warnings, ...(types.ok ? types.warnings.map(asProblem) : [])];
  if (problems.length === 0) return { ...result, warnings };
  return {
    ok: false,
    problems: problems.map((problem) => ({ ...problem, file: null })),
    warnings,
    files: result.files,
    project: result.project,
  };
}

const strongest: readonly (Origin | undefined)[] = ['flag', 'environment'];

/**
 * C1: what stands under `agents.run` holds for our own agent, unless a flag or the environment says something else for
 * this call.
 */
export function ownAgentSettings(settings: Settings, origins: Origins) {
  const own = ownValue(settings.agents, ownAgentName);
  if (own === undefined) return settings;
  const holds = (name: string) => !strongest.includes(origins[name]);
  const kept = Object.entries(own).flatMap(([name, value]): [string, unknown][] => {
    if (settingTable[name as keyof Settings].type !== 'section') return holds(name) ? [[name, value]] : [];
    const fields = Object.entries(value as object).filter(([field]) => holds(`${name}.${field}`));
    return [[name, Object.fromEntries(fields)]];
  });
  return { ...settings, agents: { ...settings.agents, [ownAgentName]: Object.fromEntries(kept) } };
}

/** A limit that can never be reached is worse than none: it is told before anything is spent. */
export function refuseUnpriced({ maxCost }: Settings, models: readonly (ResolvedModel | null)[]) {
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
