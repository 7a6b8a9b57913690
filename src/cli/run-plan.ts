// The plan file of a run, taken at the human's message: its checks join the policy before that is snapshotted, and the
// policy remembers the file (V2). Everything that can be wrong with it is told before anything is started.
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { UntildoneError } from '../core/error.ts';
import { createPathSet } from '../core/glob.ts';
import { refuseItem } from '../core/plan.ts';
import type { Policy } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import type { Session } from '../core/state.ts';
import { digestFile } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { errorCode } from '../engine/system.ts';
import { type PlanFile, parsePlanFile, planChecks, readPlanText } from '../plan-file/plan-file.ts';
import { shown } from './print.ts';

export interface TakenPlan {
  /** With the checks of the plan file, and with the file as one of its sources. */
  readonly policy: Policy;
  /** What the human says by handing the file over. */
  readonly message: string;
}

/** @param file as the human wrote it, from `directory`, which must be real: the workspace */
export async function takePlanFile(policy: Policy, file: string, directory: string): Promise<TakenPlan> {
  const fail = (reason: string): never => {
    throw new UntildoneError('usage', `The plan file ${shown(file, 200)} ${reason}`);
  };
  const path = await realpath(resolve(directory, file)).catch((error: unknown) =>
    fail(`cannot be found (${errorCode(error)}).`),
  );
  const names = relative(directory, path).split(sep);
  if (names[0] === '..' || isAbsolute(names.join(sep)))
    return fail(`lies outside this directory; the agent works in here: ${shown(directory, 200)}.`);
  const digest = digestFile(path, 'plan');
  const text = readPlanText(path, true);
  if (!text.ok) return fail(`${text.sentence}.`);
  const parsed = parsePlanFile(text.text);
  if (!parsed.ok)
    return fail(`is wrong: ${parsed.problems.map((problem) => shown(problem, 300)).join('; ')}.`);
  const { plan } = parsed;
  const problem = findProblem(plan, policy, names);
  if (problem !== null) return fail(problem);
  const { specs, goalChecks } = planChecks(plan);
  return {
    policy: {
      ...policy,
      goalChecks: [...new Set([...policy.goalChecks, ...goalChecks])],
      checks: { ...policy.checks, ...Object.fromEntries(specs.map((spec) => [spec.id, spec])) },
      exclude: [...(policy.exclude ?? []), names.join('/')],
      sources: [...(policy.sources ?? []), { path, digest, kind: 'plan' }],
    },
    message: `Work through the plan in ${shown(names.join('/'), 200)}.`,
  };
}

/** What the plan would refuse or never find: a todo or a check that is silently lost would let unproved work pass. */
function findProblem(plan: PlanFile, policy: Policy, names: readonly string[]): string | null {
  const { items } = plan;
  const { maxTodos } = policy.settings;
  if (items.length === 0) return 'has no task list: write a line such as `- [ ] Write the parser`.';
  if (items.length > maxTodos) return `has ${items.length} todos; maxTodos allows ${maxTodos}.`;
  const refused = firstRefused(plan, policy.settings);
  if (refused !== null) return refused;
  const missing = planChecks(plan).names.find((name) => !Object.hasOwn(policy.checks ?? {}, name));
  if (missing !== undefined) {
    const name = shown(missing, 60);
    const line = items.find(({ checks }) => checks.includes(missing))?.line;
    const where = line === undefined ? 'in its front matter' : `in line ${line}`;
    return `asks ${where} for the check ${name}, which untildone.json does not have; a command of one word stands in backticks: check: \`${name}\`.`;
  }
  const protectedPaths = createPathSet(policy.protect ?? []);
  if (protectedPaths.ok && protectedPaths.paths.has(names))
    return 'is among the protected paths, so its boxes could not be written; take it out of "protect".';
  return null;
}

function firstRefused({ items }: PlanFile, settings: Settings): string | null {
  for (const { title, line } of items) {
    const refusal = refuseItem({ title }, null, settings);
    if (refusal !== null) return `is wrong: line ${line}: ${refusal.sentence}`;
  }
  return null;
}

/** The real path of the plan file that this policy was taken with; null: there was none. */
export function planFileOf(policy: Policy): string | null {
  return policy.sources?.find(({ kind }) => kind === 'plan')?.path ?? null;
}

/** What the human's last message in this session froze; null: the session has heard none. */
export async function lastPolicy(store: Store, { policyHash }: Session): Promise<Policy | null> {
  if (policyHash === null) return null;
  const text = await store.policy(policyHash);
  return text === null ? null : (JSON.parse(text) as Policy);
}
