// The human's own shell lines as checks on the goal: `--check` of a run, `checks` of a session (V1).
import { createCommandCheck, protectedPathsId } from '../core/check-specs.ts';
import type { Policy } from '../core/policy.ts';
import { oneLine } from '../core/safe-text.ts';
import { sha256 } from '../engine/system.ts';

/** No name of a check in a configuration begins so; two lines that begin alike are two checks. */
function shellId(shell: string): string {
  const line = oneLine(shell, 80);
  return line === shell ? `$ ${line}` : `$ ${line} #${sha256(shell).slice(0, 8)}`;
}

/** Blank lines prove nothing: whoever takes them from a human refuses them. */
export function withShellChecks(policy: Policy, lines: readonly string[]): Policy {
  const given = lines.map((shell) => createCommandCheck(shellId(shell), { shell }));
  return {
    ...policy,
    goalChecks: [...new Set([...policy.goalChecks, ...given.map(({ id }) => id)])],
    checks: { ...policy.checks, ...Object.fromEntries(given.map((check) => [check.id, check])) },
  };
}

/** Of a session that is taken up. `replaces`: checks that the human names now take the place of those given before. */
export function takenUpChecks(frozen: Policy, present: Policy, replaces: boolean) {
  const kept = frozen.goalChecks.filter((id) => !replaces || id === protectedPathsId);
  return {
    goalChecks: [...new Set([...kept, ...present.goalChecks])],
    checks: { ...frozen.checks, ...present.checks },
  };
}
