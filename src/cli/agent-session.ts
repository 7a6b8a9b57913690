// Starts our own agent for a command: store, model, permissions, printer, Ctrl-C. The one place where a run meets
// the process it lives in.

import { dirname } from 'node:path';
import type { AgentEvent, RunEnded } from '../agent/agent-event.ts';
import type { ResolvedModel } from '../agent/models/resolve-model.ts';
import { type HumanControl, runAgent } from '../agent/run-agent.ts';
import type { PermissionPolicy } from '../agent/workspace/permission.ts';
import { fingerprintWorkspace } from '../checks/fingerprint.ts';
import type { Policy } from '../core/config/policy.ts';
import { makeFolder } from '../engine/make-folder.ts';
import { createIdentifiers } from '../engine/system.ts';
import type { Store } from '../ports/store.ts';
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts';
import { storePath } from '../stores/state-directory.ts';
import type { Io } from './io.ts';
import { openPlanFileSync } from './plan-file-session.ts';
import { prepareChecks } from './run-checks.ts';
import { createJsonPrinter } from './run-output/json-printer.ts';
import { createLinePrinter } from './run-output/line-printer.ts';
import { isUnicodeLocale } from './run-output/unicode-locale.ts';
import { planFileOf } from './run-plan.ts';

// Remarks of the provider packages are for programmers; they would stand between the lines that people read.
(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

/** A stop attempt waits for it; a folder that takes longer has no fingerprint, and tool calls count instead. */
const fingerprintMs = 5000;

export interface AgentSession {
  readonly goal: string | null;
  readonly sessionId: string;
  readonly resume: boolean;
  readonly model: ResolvedModel;
  readonly policy: Policy;
  readonly directory: string;
  readonly permissions: PermissionPolicy;
  readonly acceptClaims: boolean;
  readonly json: boolean;
}

/** Opens the user's store, and makes it if this is the first run. */
export async function openOrCreateStore(io: Io): Promise<Store> {
  const path = storePath(io.env);
  makeFolder(dirname(path), 0o700);
  return openSqliteStore({ path, clock: io.clock });
}

export function createPrinter(io: Io, json: boolean): (event: AgentEvent) => void {
  const write = (text: string) => io.stdout.write(text);
  if (json) return createJsonPrinter({ write });
  return createLinePrinter({
    write,
    isTTY: io.isTTY,
    columns: io.isTTY ? (process.stdout.columns ?? null) : null,
    color: io.isTTY && !io.env['NO_COLOR'],
    unicode: isUnicodeLocale(io.env),
  });
}

export async function runSession(
  io: Io,
  store: Store,
  session: AgentSession,
  emit = createPrinter(io, session.json),
): Promise<RunEnded> {
  const ending = new AbortController();
  let control: HumanControl | null = null;
  let interrupts = 0;
  const onInterrupt = (): void => {
    interrupts += 1;
    if (interrupts > 1) {
      ending.abort();
      control?.stopNow();
    }
    // The latch is written by the run itself; if that fails, the second Ctrl-C still ends the step.
    else control?.stopAfterStep().catch(() => control?.stopNow());
    if (interrupts === 1) io.stderr.write('\nStopping after this step; Ctrl-C again stops at once.\n');
  };
  process.on('SIGINT', onInterrupt);
  process.on('SIGTERM', onInterrupt);
  try {
    const { policy, checker } = await prepareChecks(io, store, session, emit, ending.signal);
    const realPath = planFileOf(policy);
    // V3: the agent can edit the file; only checks that the human's message froze are put on its new lines.
    const isAllowed = (check: string): boolean => Object.hasOwn(policy.checks ?? {}, check);
    const { sessionId } = session;
    return await runAgent({
      ...session,
      policy,
      checker,
      store,
      clock: io.clock,
      identifiers: createIdentifiers(io.clock),
      environment: io.env,
      emit,
      fingerprint: async () => {
        const seen = await fingerprintWorkspace(session.directory, {
          timeoutMs: fingerprintMs,
          exclude: policy.exclude ?? [],
        });
        return seen.ok ? seen.fingerprint : null;
      },
      onControl: (given) => {
        control = given;
      },
      ...(realPath === null
        ? {}
        : {
            planFile: (engine) => openPlanFileSync(io, store, engine, { realPath, sessionId, isAllowed }),
          }),
    });
  } finally {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
  }
}
