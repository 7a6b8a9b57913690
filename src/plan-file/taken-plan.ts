// Takes a plan file at the human's message: its checks join the policy before that is
// frozen, and the policy remembers the file (V2). If anything is wrong with the file, it
// says so before anything starts.
import { realpath } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve, sep } from 'node:path';
import { UntildoneError } from '../core/error.ts';
import type { Event } from '../core/events.ts';
import { createPathSet } from '../core/glob.ts';
import { refuseItem } from '../core/plan.ts';
import { addChecks, type Policy } from '../core/policy.ts';
import { oneLine } from '../core/safe-text.ts';
import type { Settings } from '../core/settings.ts';
import { type Session, unknownHost } from '../core/state.ts';
import type { Engine } from '../engine/engine.ts';
import type { Clock } from '../engine/host.ts';
import { digestFile } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, errorCode, sha256 } from '../engine/system.ts';
import { type PlanFile, parsePlanFile, planChecks, readPlanText } from './plan-file.ts';

const namedChecks = 5;

/**
 * Adds the file's checks to the policy, or throws `usage` with what is wrong. `file` is
 * as the human wrote it, from `cwd`; `directory`, the workspace, must be a real path.
 */
export async function takePlanFile(
  policy: Policy,
  file: string,
  directory: string,
  cwd: string,
): Promise<{ readonly policy: Policy; readonly message: string }> {
  const fail = (reason: string): never => {
    throw new UntildoneError('usage', `The plan file ${oneLine(file, 200)} ${reason}`);
  };
  const path = await realpath(resolve(cwd, file)).catch((error: unknown) =>
    fail(`cannot be found (${errorCode(error)}).`),
  );
  const names = relative(directory, path).split(sep);
  if (names[0] === '..' || isAbsolute(names.join(sep)))
    return fail(
      `lies outside this directory; the agent works in here: ${oneLine(directory, 200)}.`,
    );
  const digest = digestFile(path, 'plan');
  const text = readPlanText(path, true);
  if (!text.ok) return fail(`${text.sentence}.`);
  const parsed = parsePlanFile(text.text);
  if (!parsed.ok)
    return fail(
      `is wrong: ${parsed.problems.map((problem) => oneLine(problem, 300)).join('; ')}.`,
    );
  const { plan } = parsed;
  const problem = findProblem(plan, policy, names);
  if (problem !== null) return fail(problem);
  const { specs, goalChecks } = planChecks(plan);
  return {
    policy: {
      ...addChecks(policy, {
        goalChecks,
        checks: Object.fromEntries(specs.map((spec) => [spec.id, spec])),
      }),
      exclude: [...(policy.exclude ?? []), names.join('/')],
      sources: [...(policy.sources ?? []), { path, digest, kind: 'plan' }],
    },
    message: `Work through the plan in ${oneLine(names.join('/'), 200)}.`,
  };
}

/**
 * Finds what the plan would refuse or never find: a todo or a check that is lost in
 * silence would let unproved work pass.
 */
function findProblem(
  plan: PlanFile,
  policy: Policy,
  names: readonly string[],
): string | null {
  const { items } = plan;
  const { maxTodos } = policy.settings;
  if (items.length === 0)
    return 'has no task list: write a line such as `- [ ] Write the parser`.';
  if (items.length > maxTodos)
    return `has ${items.length} todos; maxTodos allows ${maxTodos}.`;
  const refused = firstRefused(plan, policy.settings);
  if (refused !== null) return refused;
  const missing = planChecks(plan).names.find(
    (name) => !Object.hasOwn(policy.checks ?? {}, name),
  );
  if (missing !== undefined) {
    const name = oneLine(missing, 60);
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
 * Names the checks that a plan file got after the human handed it over: they are reported
 * and not run (P40). Null: there are none.
 */
export function tellNewChecks({ checks = {} }: Policy, path: string): string | null {
  const text = readPlanText(path, true);
  const parsed = text.ok ? parsePlanFile(text.text) : null;
  const ids = parsed?.ok ? planChecks(parsed.plan).ids : [];
  const added = ids.filter((id) => !Object.hasOwn(checks, id));
  if (added.length === 0) return null;
  const named = added.map((id) => `\`${oneLine(id, 80)}\``).slice(0, namedChecks);
  const more =
    added.length > namedChecks ? ` and ${added.length - namedChecks} more` : '';
  const sentence = `${oneLine(path, 200)} has checks that it did not have when you handed it over, and they are not run: ${named.join(', ')}${more}.`;
  return `${sentence} \`--plan\` names it anew and accepts them.`;
}

/**
 * The id of the file's own session, such as `plan-PLAN.md-1a2b3c4d`: readable, and
 * different for another file with the same name.
 */
export function ownSessionId(realPath: string): string {
  const name = basename(realPath)
    .replace(/[^\w.-]+/g, '_')
    .slice(0, 60);
  return `plan-${name}-${sha256(realPath).slice(0, 8)}`;
}

/**
 * Opens a session that belongs to the file: every import of the file finds it again. It
 * is never continued, since no agent works in it.
 */
export async function openOwnSession(
  engine: Pick<Engine, 'handle'>,
  store: Pick<Store, 'state'>,
  { clock, directory }: { readonly clock: Clock; readonly directory: string },
  realPath: string,
): Promise<Session> {
  const sessionId = ownSessionId(realPath);
  const found = await store.state(sessionId);
  if (found !== null) return found;
  const host = 'plan-file';
  const opened: Event = {
    type: 'session-opened',
    id: createIdentifiers(clock).next(),
    sessionId,
    at: clock.now(),
    descriptor: {
      ...unknownHost,
      host,
      instance: host,
      kind: 'other',
      directory,
      seesTools: false,
    },
    agent: null,
  };
  return (await engine.handle(opened)).state;
}
