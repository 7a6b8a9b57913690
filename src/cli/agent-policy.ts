// The configuration as `run` takes it: what only our own agent knows (which tools and workers there are) is looked at
// too, so that no command calls a configuration good that another one refuses (C1). It reads and starts nothing.
import { workerTypes } from '../agent/workers/worker-types.ts';
import type { Problem } from '../core/problem.ts';
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

/** The sentence names its place itself. */
function asProblem(sentence: string): Problem {
  return { path: '', message: sentence };
}
