// The state of the workspace at a stop attempt, where there is something to measure progress by (G7).
import { fingerprintWorkspace } from '../../checks/fingerprint.ts';
import type { HookContext } from './hook-context.ts';

/** A stop waits for it; a folder that takes longer has no fingerprint, and tool calls count instead. */
const timeoutMs = 5000;

export async function takeFingerprint({ call, environment }: HookContext): Promise<string | null> {
  const { directory } = call.descriptor;
  if (directory === null) return null;
  const seen = await fingerprintWorkspace(directory, { timeoutMs, environment });
  return seen.ok ? seen.fingerprint : null;
}
