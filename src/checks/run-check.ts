// Runs one check once and says what the system saw (V1). It never throws for what a check does, never answers with a
// secret of the environment in it, and leaves no process behind. Running a failed one again is the caller's business.
import type { CheckResult, CheckSpec } from '../core/check-spec.ts';
import type { CheckContext, Observation } from './kinds/check-context.ts';
import { runCommandCheck } from './kinds/command-check.ts';
import { runFileCheck } from './kinds/file-check.ts';
import { runHttpCheck } from './kinds/http-check.ts';
import { runProtectedCheck } from './kinds/protected-check.ts';
import { quoteMasked, secretValues } from './secrets.ts';

export type { CheckContext } from './kinds/check-context.ts';

/** When `context.signal` has come, the result says only that the check was interrupted: it is no evidence. */
export async function runCheck(spec: CheckSpec, context: CheckContext): Promise<CheckResult> {
  const secrets = secretValues(context.environment);
  const started = performance.now();
  const seen = await observe(spec, context, secrets);
  return {
    check: spec.id,
    result: seen.passed ? 'passed' : 'failed',
    sentence: seen.sentence,
    exitCode: seen.exitCode ?? null,
    milliseconds: Math.round(performance.now() - started),
    tail: seen.tail,
    timedOut: seen.timedOut ?? false,
    at: context.now(),
  };
}

async function observe(
  spec: CheckSpec,
  context: CheckContext,
  secrets: readonly string[],
): Promise<Observation> {
  switch (spec.kind) {
    case 'command':
      return runCommandCheck(spec, context, secrets);
    case 'file':
      return runFileCheck(spec, context, secrets);
    case 'http':
      return runHttpCheck(spec, context, secrets);
    case 'human':
      return {
        passed: false,
        sentence: `Waits for a human to approve: ${quoteMasked(spec.question, secrets)}`,
        tail: '',
      };
    case 'protected':
      return runProtectedCheck(spec, context);
  }
}
