// `untildone verify`: runs the checks now, of a session, of a plan file or of the configuration here, and says what it
// saw (V1). It changes no plan and starts nothing that outlives it; it works without a store, as in CI.
import { UntildoneError } from '../../core/error.ts';
import type { Store } from '../../engine/store.ts';
import { type Arguments, type Command, jsonOption } from '../command.ts';
import { findSession, noSessionsYet, sessionsHere } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { complain, count, createPaint, printJson, printLines, shown } from '../print.ts';
import {
  exitCodes,
  failureTails,
  overallResult,
  remarks,
  resultTable,
  type VerifyResult,
} from '../verify/describe-results.ts';
import { configurationTarget, planFileTarget } from '../verify/file-targets.ts';
import { runWanted, type VerifiedCheck } from '../verify/run-wanted.ts';
import { sessionTarget } from '../verify/session-target.ts';
import { createProgress, noProgress } from '../verify/verify-progress.ts';
import type { VerifyTarget } from '../verify/verify-target.ts';

export const verify: Command = {
  usage: 'verify [session | --plan FILE] [--json]',
  about: [
    'Runs the checks of a session: those on the goal and those of its todos, each once, as they were frozen at the last\nmessage to the agent, protected paths included. Without a name: the last session of this directory; where there is\nnone, the checks on the goal that the configuration here names. What is seen is recorded; the plan is not changed.',
    'With --plan: the checks of a plan file. Neither a session nor a store is needed, so that it works in CI.',
    'A check that fails is run once more. Exit codes: 0 all passed, 1 a check failed, 3 nothing to verify, a check that\npassed only when it was run again, or one that waits for a human, 2 wrong usage or configuration, 130 interrupted.',
  ],
  options: {
    plan: { value: 'FILE', summary: 'The checks of this plan file (see docs/plan-files.md).' },
    ...jsonOption,
  },
  positionals: [0, 1],
  async run(given, io) {
    const file = given.text('plan');
    const word = given.positional(0);
    if (file !== null && word !== null)
      throw new UntildoneError('usage', 'Name a session or say --plan FILE, not both.');
    if (file !== null) return verifyTarget(given, io, await planFileTarget(io, file), null);
    const code = await withStore(io, (store) => verifySession(given, io, store, word));
    if (code !== null) return code;
    if (word !== null) throw new UntildoneError('unknown-session', noSessionsYet);
    return verifyTarget(given, io, configurationTarget(io), null);
  },
};

async function verifySession(given: Arguments, io: Io, store: Store, word: string | null): Promise<number> {
  if (word === null && (await sessionsHere(store, io, 1)).length === 0)
    return verifyTarget(given, io, configurationTarget(io), null);
  const target = await sessionTarget(store, await findSession(store, word, io), io);
  return verifyTarget(given, io, target, store);
}

async function verifyTarget(
  given: Arguments,
  io: Io,
  target: VerifyTarget,
  store: Store | null,
): Promise<number> {
  const json = given.has('json');
  const ending = new AbortController();
  const onInterrupt = (): void => ending.abort();
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  if (!json && target.wanted.length > 0) printLines(io, [headline(target)]);
  const progress = json ? noProgress : createProgress(io, target.wanted.length);
  try {
    const results = await runWanted(target, { io, store, signal: ending.signal, watcher: progress });
    progress.close();
    const result = overallResult(target, results);
    if (json) printJson(io, toJson(target, results, result));
    else tell(io, target, results, result);
    return exitCodes[result];
  } finally {
    progress.close();
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
  }
}

function headline(target: VerifyTarget): string {
  return `${count(target.wanted.length, 'check')} of ${nameOf(target)} in ${shown(target.directory, 200)}`;
}

function nameOf({ source, session, file }: VerifyTarget): string {
  if (source === 'session') return `session ${shown(session?.id ?? '', 80)}`;
  return source === 'plan-file' ? shown(file ?? '', 200) : 'the configuration';
}

function tell(io: Io, target: VerifyTarget, results: readonly VerifiedCheck[], result: VerifyResult): void {
  if (result === 'nothing') {
    printLines(io, [nothingToVerify(target), ...remarks(target, results)]);
    return;
  }
  const paint = createPaint(io);
  if (results.length > 0) printLines(io, ['', ...resultTable(results, paint), ...failureTails(results)]);
  const rest = remarks(target, results);
  if (rest.length > 0) printLines(io, ['', ...rest]);
  if (result === 'interrupted') {
    const left = target.wanted.length - results.length;
    complain(io, `Interrupted: ${count(left, 'check')} of ${target.wanted.length} did not end.`);
  }
}

function nothingToVerify(target: VerifyTarget): string {
  if (target.source === 'configuration')
    return 'Nothing to verify: there are no sessions yet in this directory, and its configuration names no check on the goal.';
  return `Nothing to verify: ${nameOf(target)} has no checks.`;
}

function toJson(target: VerifyTarget, results: readonly VerifiedCheck[], result: VerifyResult) {
  const { source, session, file, directory, wanted, uncovered, edited } = target;
  return {
    ...{ result, exitCode: exitCodes[result], source, session: session?.id ?? null, file, directory },
    ...{ wanted: wanted.length, uncovered, edited },
    checks: results.map(({ wanted: { id, spec, forGoal, todos }, ...seen }) => ({
      ...{ check: id, kind: spec?.kind ?? null, goal: forGoal, todos },
      ...seen,
    })),
  };
}
