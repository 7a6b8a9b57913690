// What `verify` runs without a session: the checks of a plan file, or those on the goal of the configuration here. It
// opens no store, so that it works on a fresh checkout. What cannot be read is told whole, before anything runs.
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CheckSpec } from '../../core/check-specs.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Policy } from '../../core/policy.ts';
import { problemSentence } from '../../core/problem.ts';
import { policyProblemSentence } from '../../engine/policy.ts';
import { inLine, shellCheck } from '../../plan-file/line-text.ts';
import { type PlanFile, planChecks, readPlanFile } from '../../plan-file/plan-file.ts';
import type { Io } from '../io.ts';
import { readPolicyFor } from '../open-runtime.ts';
import { complain, shown } from '../print.ts';
import { collectChecks, type VerifyTarget } from './verify-target.ts';

const noSession = { session: null, frozen: {}, edited: [], hidden: [] } as const;

export function configurationTarget(io: Io): VerifyTarget {
  const directory = realpathSync(io.cwd);
  const { goalChecks, checks } = readConfiguration(io, directory);
  const collected = collectChecks({ goalChecks, todos: [], specOf: (id) => findNamed(checks, id) });
  return { ...noSession, ...collected, source: 'configuration', file: null, directory };
}

export async function planFileTarget(io: Io, file: string): Promise<VerifyTarget> {
  const directory = realpathSync(io.cwd);
  const plan = readPlan(io, file);
  const { checks } = readConfiguration(io, directory);
  const specOf = (id: string): CheckSpec | undefined => shellCheck(id) ?? findNamed(checks, id);
  const unknown = planChecks(plan).names.filter((name) => specOf(name) === undefined);
  if (unknown.length > 0)
    throw wrong(
      file,
      unknown.map((name) => unknownName(name, plan)),
    );
  const { goalChecks, items } = plan;
  const collected = collectChecks({
    goalChecks,
    todos: items.map(({ title, checks: own }) => ({ id: null, title, checks: own })),
    specOf,
  });
  return { ...noSession, ...collected, source: 'plan-file', file, directory };
}

function readPlan(io: Io, file: string): PlanFile {
  const parsed = readPlanFile(resolve(io.cwd, file));
  if (!parsed.ok) throw wrong(file, parsed.problems);
  for (const warning of parsed.plan.warnings)
    complain(io, `warning: ${shown(file, 200)}: ${shown(warning, 300)}`);
  return parsed.plan;
}

function wrong(file: string, problems: readonly string[]): UntildoneError {
  const sentences = problems.map((problem) => `${shown(file, 200)}: ${shown(problem, 300)}.`);
  return new UntildoneError('invalid-config', `${sentences.join('\n')}\nNothing was run.`);
}

function unknownName(name: string, { items }: PlanFile): string {
  const line = items.find(({ checks }) => checks.includes(name))?.line;
  const known = `there is no check named "${name}" in the configuration of this directory`;
  const sentence = `${known}; a command of one word stands in backticks`;
  return line === undefined ? sentence : inLine(line, sentence);
}

function readConfiguration(io: Io, directory: string): Policy {
  // Whoever says `verify` means the files as they are.
  const result = readPolicyFor(io, directory, undefined, 'all');
  if (!result.ok)
    throw new UntildoneError('invalid-config', result.problems.map(policyProblemSentence).join('\n'));
  for (const warning of result.warnings) complain(io, `warning: ${problemSentence(warning)}`);
  return result.policy;
}

/** Names are compared without letter case, as all names in a configuration. */
function findNamed(checks: Policy['checks'] = {}, name: string): CheckSpec | undefined {
  const id = name.trim().toLowerCase();
  return Object.hasOwn(checks, id) ? checks[id] : undefined;
}
