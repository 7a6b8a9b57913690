// Runs the checks that `verify` wants, one after another, in this process. What it sees of a session's checks is kept
// as evidence; the plan is not touched. A check that was broken off says nothing and leaves no evidence.
import { humanFinding } from '../../checks/checker.ts';
import { lookAtFiles } from '../../checks/fingerprint.ts';
import type { CheckContext } from '../../checks/observation.ts';
import { runCheckTwice } from '../../checks/run-check.ts';
import type { CheckResult, CheckSpec, HumanCheck } from '../../core/check-specs.ts';
import type { Store } from '../../engine/store.ts';
import type { Io } from '../io.ts';
import type { VerifyTarget, WantedCheck } from './verify-target.ts';

export interface VerifiedCheck extends Omit<CheckResult, 'check' | 'result'> {
  readonly wanted: WantedCheck;
  /** `flaky`: it failed and passed when it was run once more. `waiting`: only a human can answer it. */
  readonly result: 'passed' | 'failed' | 'flaky' | 'waiting';
}

export interface VerifyWatcher {
  started(wanted: WantedCheck, index: number): void;
  /** It failed, and is run once more. */
  repeated(wanted: WantedCheck, index: number): void;
  ended(verified: VerifiedCheck, index: number): void;
}

export interface VerifyPlace {
  readonly io: Io;
  /** null: there is no session, and nothing is recorded. */
  readonly store: Store | null;
  readonly signal: AbortSignal;
  readonly watcher: VerifyWatcher;
}

/** Fewer results than checks: it was interrupted. */
export async function runWanted(target: VerifyTarget, place: VerifyPlace): Promise<VerifiedCheck[]> {
  const results: VerifiedCheck[] = [];
  for (const [index, wanted] of target.wanted.entries()) {
    if (place.signal.aborted) break;
    place.watcher.started(wanted, index);
    const verified = await verifyOne(target, wanted, place, () => place.watcher.repeated(wanted, index));
    if (verified === null) break;
    results.push(verified);
    place.watcher.ended(verified, index);
  }
  return results;
}

/** null: it was interrupted. */
async function verifyOne(
  target: VerifyTarget,
  wanted: WantedCheck,
  place: VerifyPlace,
  onRepeat: () => void,
): Promise<VerifiedCheck | null> {
  const { spec } = wanted;
  if (spec === null) return unknownCheck(wanted, place.io);
  if (spec.kind === 'human') return humanAnswer(target, wanted, spec, place);
  const before = await fingerprintOf(target, spec);
  const { flaky, ...seen } = await runCheckTwice(spec, contextOf(target, place), onRepeat);
  if (place.signal.aborted) return null;
  const after = await fingerprintOf(target, spec);
  await record(target, wanted, place, { ...seen, flaky, fingerprint: before === after ? after : null });
  return { ...seen, wanted, result: flaky ? 'flaky' : seen.result };
}

async function fingerprintOf(
  { session, directory, frozen }: VerifyTarget,
  spec: CheckSpec,
): Promise<string | null> {
  return session === null ? null : (await lookAtFiles(directory, frozen))(spec);
}

function contextOf({ directory, session }: VerifyTarget, { io, store, signal }: VerifyPlace): CheckContext {
  return {
    directory,
    signal,
    environment: io.env,
    now: io.clock.now,
    ...(session === null ? {} : { session: `check of ${session.id}` }),
    ...(store === null ? {} : { readBaseline: (key: string) => store.policy(key) }),
  };
}

/** One row for each check, however many todos have it; it names the todo where there is only one. */
async function record(
  { session }: VerifyTarget,
  { forGoal, todos }: WantedCheck,
  { store }: VerifyPlace,
  seen: CheckResult & { readonly flaky: boolean; readonly fingerprint: string | null },
): Promise<void> {
  if (store === null || session === null) return;
  const todoId = forGoal || todos.length !== 1 ? null : (todos[0]?.id ?? null);
  await store.record({ evidence: [{ ...seen, sessionId: session.id, todoId }] });
}

/** Nobody is asked here, and a missing answer is not recorded: it would count as a no. */
async function humanAnswer(
  target: VerifyTarget,
  wanted: WantedCheck,
  spec: HumanCheck,
  place: VerifyPlace,
): Promise<VerifiedCheck> {
  const { store, io } = place;
  if (store === null || target.session === null) return waiting(wanted, spec, io);
  const asked = { sessionId: target.session.id, fingerprint: await fingerprintOf(target, spec) };
  const { result, sentence, tail, at } = await humanFinding(spec, asked, { store, clock: io.clock });
  return {
    ...nothingSeen,
    wanted,
    result: result === 'cannot-start' ? 'failed' : result,
    sentence,
    tail,
    at,
  };
}

function waiting(wanted: WantedCheck, { question }: HumanCheck, { clock }: Io): VerifiedCheck {
  const sentence = `Waits for a human to approve: ${question}`;
  return { ...nothingSeen, wanted, result: 'waiting', sentence, at: clock.now() };
}

function unknownCheck(wanted: WantedCheck, { clock }: Io): VerifiedCheck {
  const hint = wanted.id.startsWith('$ ') ? ' `untildone verify --plan FILE` runs those of a plan file.' : '';
  const sentence = `The session's snapshot of the configuration has no check with this name.${hint}`;
  return { ...nothingSeen, wanted, result: 'failed', sentence, at: clock.now() };
}

const nothingSeen = { exitCode: null, milliseconds: 0, tail: '', timedOut: false } as const;
