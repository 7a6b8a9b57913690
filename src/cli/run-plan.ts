// The plan file of a run, taken at the human's message: its checks join the policy before that is snapshotted, and the
// policy remembers the file (V2). Everything that can be wrong with it is told before anything is started.
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { protectedPathsId } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import { createPathSet } from '../core/glob.ts';
import { refuseItem } from '../core/plan.ts';
import type { Policy } from '../core/policy.ts';
import type { Settings } from '../core/settings.ts';
import { digestFile } from '../engine/policy.ts';
import { errorCode } from '../engine/system.ts';
import { type PlanFile, parsePlanFile, planChecks, readPlanText } from '../plan-file/plan-file.ts';
import { shown } from './print.ts';

const namedChecks = 5;

export interface TakenPlan {
  /** With the checks of the plan file, and with the file as one of its sources. */
  readonly policy: Policy;
  /** What the human says by handing the file, or new checks, over; null: nothing. */
  readonly message: string | null;
  /** What the human has to know before it begins. */
  readonly warning?: string;
  /** The checks on the goal, where the human named others than those of the session. */
  readonly replacedChecks?: readonly string[];
}

/** @param file as the human wrote it, from `cwd`; `directory`, the workspace, must be real */
export async function takePlanFile(
  policy: Policy,
  file: string,
  directory: string,
  cwd: string,
): Promise<TakenPlan> {
  const fail = (reason: string): never => {
    throw new UntildoneError('usage', `The plan file ${shown(file, 200)} ${reason}`);
  };
  const path = await realpath(resolve(cwd, file)).catch((error: unknown) =>
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

/**
 * What a session is taken up with is its own snapshot, whatever the files say now: an agent may have written them (V2,
 * P40). Checks that the human names take the place of those that were given before; a plan file that is named counts
 * as it is now.
 */
export async function takeUp(
  frozen: Policy,
  { policy: present, message }: TakenPlan,
  named: Readonly<{ goal: string | null; plan: boolean; checks: readonly string[] }>,
): Promise<TakenPlan> {
  const { settings } = present;
  const followed = planFileOf(frozen);
  if (!named.plan && named.goal !== null && followed !== null)
    await realpath(followed).catch((error: unknown) => {
      const sentence = `The plan file ${shown(followed, 200)} cannot be found (${errorCode(error)}).`;
      throw new UntildoneError('usage', sentence);
    });
  const added = named.plan || followed === null ? {} : tellNewChecks(frozen, followed);
  if (!named.plan && named.checks.length === 0) return { policy: { ...frozen, settings }, message, ...added };
  const isKept = (id: string) => named.checks.length === 0 || id === protectedPathsId;
  const goalChecks = [...new Set([...frozen.goalChecks.filter(isKept), ...present.goalChecks])];
  const lines = named.checks.map((line) => `\`${shown(line, 200)}\``).join(', ');
  const said = named.goal === null ? `From now on the work is checked by ${lines}.` : null;
  return {
    policy: {
      ...frozen,
      ...(named.plan ? { exclude: present.exclude ?? [], sources: present.sources ?? [] } : {}),
      ...{ settings, goalChecks, checks: { ...frozen.checks, ...present.checks } },
    },
    message: message ?? said,
    replacedChecks: goalChecks,
    ...added,
  };
}

/** Checks that a plan file has got since the human handed it over are told, and not run (P40). */
function tellNewChecks({ checks = {} }: Policy, path: string): Pick<TakenPlan, 'warning'> {
  const text = readPlanText(path, true);
  const parsed = text.ok ? parsePlanFile(text.text) : null;
  if (!parsed?.ok) return {};
  const added = planChecks(parsed.plan).ids.filter((id) => !Object.hasOwn(checks, id));
  if (added.length === 0) return {};
  const named = added.map((id) => `\`${shown(id, 80)}\``).slice(0, namedChecks);
  const more = added.length > namedChecks ? ` and ${added.length - namedChecks} more` : '';
  const file = shown(path, 200);
  const sentence = `${file} has checks that it did not have when you handed it over, and they are not run: ${named.join(', ')}${more}.`;
  return { warning: `${sentence} \`--plan\` names it anew and accepts them.` };
}

/** The real path of the plan file that this policy was taken with; null: there was none. */
export function planFileOf(policy: Policy): string | null {
  return policy.sources?.find(({ kind }) => kind === 'plan')?.path ?? null;
}
