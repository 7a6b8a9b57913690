// Runs checks because a human asks for it now: each distinct check once, one after
// another, in this process. Results of a session's checks are kept as evidence; the plan
// is not touched. A check that was interrupted says nothing.
import type { CheckResult, CheckSpec } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import type { Policy } from '../core/policy.ts';
import { type Session, spokeAt } from '../core/state.ts';
import type { Clock } from '../engine/host.ts';
import { type Environment, frozenPolicy } from '../engine/policy.ts';
import type { Store } from '../engine/store.ts';
import { editedSources, humanFinding } from './checker.ts';
import { listWorkspace, lookAtFiles } from './fingerprint.ts';
import { type FrozenIgnoreRules, freezeIgnoreRules } from './git.ts';
import { runCheckTwice } from './run-check.ts';

/** A todo that a check covers. A todo of a plan file has no id. */
type CheckedTodo = Readonly<{ id: string | null; title: string }>;

/** A check that is to be run, with what it covers. */
export type WantedCheck = Readonly<{
  id: string;
  /** Null: the policy has no check of this name. */
  spec: CheckSpec | null;
  forGoal: boolean;
  todos: readonly CheckedTodo[];
}>;

/** What is verified: a session, a plan file or the configuration of a folder. */
export type VerifyTarget = Readonly<{
  source: 'session' | 'plan-file' | 'configuration';
  /** Null: there is no session, and so no store either. */
  session: Session | null;
  /** The name of the plan file as the human gave it. */
  file: string | null;
  directory: string;
  wanted: readonly WantedCheck[];
  /** The rules by which its files are looked at. */
  frozen: Partial<FrozenIgnoreRules>;
  /**
   * How many todos are covered neither by a check of their own nor by one on the goal.
   */
  uncovered: number;
  /** Files that define checks and changed since the human's message. */
  edited: readonly string[];
  /** Files that are ignored since the human's message. */
  hidden: readonly string[];
}>;

type NamedChecks = Readonly<{
  goalChecks: readonly string[];
  todos: readonly (CheckedTodo & { readonly checks: readonly string[] })[];
  specOf: (id: string) => CheckSpec | undefined;
}>;

/**
 * Collects each check once: those on the goal first, then those of todos in the order of
 * the plan.
 */
export function collectChecks({ goalChecks, todos, specOf }: NamedChecks) {
  const idsOf = (names: readonly string[]) =>
    new Set(names.map((name) => specOf(name)?.id ?? name));
  const onGoal = idsOf(goalChecks);
  const byCheck = new Map<string, CheckedTodo[]>([...onGoal].map((check) => [check, []]));
  for (const { id, title, checks } of todos)
    for (const check of idsOf(checks))
      byCheck.set(check, [...(byCheck.get(check) ?? []), { id, title }]);
  const wanted = [...byCheck].map(([id, covered]): WantedCheck => {
    return { id, spec: specOf(id) ?? null, forGoal: onGoal.has(id), todos: covered };
  });
  const uncovered =
    goalChecks.length > 0 ? 0 : todos.filter(({ checks }) => checks.length === 0).length;
  return { wanted, uncovered };
}

/**
 * The policy that a session is judged by; without checks if nothing was recorded for it.
 * Throws `store-corrupt` if it was edited in the store.
 */
export async function snapshotOf(
  store: Store,
  session: Session,
): Promise<Partial<Policy> & Pick<Policy, 'goalChecks'>> {
  const { policyHash } = session;
  if (policyHash === null || (await store.policy(policyHash)) === null)
    return { goalChecks: [] };
  const policy = await frozenPolicy(store, session);
  if (policy !== null) return policy;
  throw new UntildoneError(
    'store-corrupt',
    'What the session is checked by is not as it was recorded: it was edited in the store. A new message to the agent records it anew.',
  );
}

/**
 * The checks of a session as the human's last message froze them (V2). Cancelled todos
 * prove nothing and are left out.
 */
export async function sessionTarget(
  store: Store,
  session: Session,
  { cwd, env }: Readonly<{ cwd: string; env: Environment }>,
): Promise<VerifyTarget> {
  const policy = await snapshotOf(store, session);
  const { goalChecks, checks = {} } = policy;
  const todos = (await store.todos({ planId: session.planId })).filter(
    ({ status }) => status !== 'cancelled',
  );
  const specOf = (id: string) => (Object.hasOwn(checks, id) ? checks[id] : undefined);
  const frozen = freezeIgnoreRules(policy, spokeAt(session));
  const directory = session.descriptor.directory ?? cwd;
  const listed = await listWorkspace(directory, {
    rules: frozen.rules,
    environment: env,
  });
  return {
    ...collectChecks({ goalChecks, todos, specOf }),
    source: 'session',
    session,
    file: null,
    directory,
    frozen,
    edited: editedSources(policy),
    hidden: listed.ok ? listed.hidden : [],
  };
}

/** How one check ended. */
export interface VerifiedCheck extends Omit<CheckResult, 'check' | 'result'> {
  readonly wanted: WantedCheck;
  /**
   * `flaky`: it failed, and passed when it was run once more. `waiting`: only a human can
   * answer it.
   */
  readonly result: 'passed' | 'failed' | 'flaky' | 'waiting';
}

/** What `runWanted` needs, and the callbacks that it calls. */
export type VerifyPlace = Readonly<{
  clock: Clock;
  environment: Environment;
  /** Null: there is no session, and nothing is recorded. */
  store: Store | null;
  signal: AbortSignal;
  onStarted: (wanted: WantedCheck, index: number) => void;
  /** The check failed, and is run once more. */
  onRepeated: (wanted: WantedCheck, index: number) => void;
  onEnded: (verified: VerifiedCheck, index: number) => void;
}>;

/**
 * Runs the checks in their order. If it returns fewer results than there are checks, it
 * was interrupted.
 */
export async function runWanted(
  target: VerifyTarget,
  context: VerifyPlace,
): Promise<VerifiedCheck[]> {
  const results: VerifiedCheck[] = [];
  for (const [index, wanted] of target.wanted.entries()) {
    if (context.signal.aborted) break;
    context.onStarted(wanted, index);
    const verified = await verifyOne(target, wanted, context, () =>
      context.onRepeated(wanted, index),
    );
    if (verified === null) break;
    results.push(verified);
    context.onEnded(verified, index);
  }
  return results;
}

const noFacts = {
  exitCode: null,
  milliseconds: 0,
  tail: '',
  timedOut: false,
} as const;

/** Null: the check was interrupted. */
async function verifyOne(
  { session, directory, frozen }: VerifyTarget,
  wanted: WantedCheck,
  { store, clock, environment, signal }: VerifyPlace,
  onRepeat: () => void,
): Promise<VerifiedCheck | null> {
  const { spec, forGoal, todos } = wanted;
  const notRun = { ...noFacts, wanted, at: clock.now() };
  if (spec === null) {
    const hint = wanted.id.startsWith('$ ')
      ? ' `untildone verify --plan FILE` runs those of a plan file.'
      : '';
    const sentence = `The session's snapshot of the configuration has no check with this name.${hint}`;
    return { ...notRun, result: 'failed', sentence };
  }
  const takeFingerprint = async () =>
    session === null ? null : (await lookAtFiles(directory, frozen))(spec);
  if (spec.kind === 'human') {
    // Nobody is asked here. A missing answer is not recorded, since it would count as a
    // no.
    if (store === null || session === null)
      return {
        ...notRun,
        result: 'waiting',
        sentence: `Waits for a human to approve: ${spec.question}`,
      };
    const answerFor = { sessionId: session.id, fingerprint: await takeFingerprint() };
    const { result, sentence, tail, at } = await humanFinding(spec, answerFor, {
      store,
      clock,
    });
    return {
      ...notRun,
      result: result === 'cannot-start' ? 'failed' : result,
      sentence,
      tail,
      at,
    };
  }
  const before = await takeFingerprint();
  const context = {
    directory,
    signal,
    environment,
    now: clock.now,
    ...(session === null ? {} : { session: `check of ${session.id}` }),
    ...(store === null ? {} : { readBaseline: (key: string) => store.policy(key) }),
  };
  const { flaky, ...checkResult } = await runCheckTwice(spec, context, onRepeat);
  if (signal.aborted) return null;
  if (store !== null && session !== null) {
    const after = await takeFingerprint();
    // One row for each check, however many todos have it; it names the todo if there is
    // only one.
    const todoId = forGoal || todos.length !== 1 ? null : (todos[0]?.id ?? null);
    const row = {
      ...checkResult,
      flaky,
      fingerprint: before === after ? after : null,
      todoId,
    };
    await store.record({ evidence: [{ ...row, sessionId: session.id }] });
  }
  return { ...checkResult, wanted, result: flaky ? 'flaky' : checkResult.result };
}
