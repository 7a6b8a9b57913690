// A call that has to be answered, or that needs more than the inbox: a runtime over the store, and the checks.
import { createRuntime } from '../../engine/runtime.ts';
import type { Store } from '../../engine/store.ts';
import { systemClock as clock, createIdentifiers, sha256 } from '../../engine/system.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import { eventKey } from './event-key.ts';
import { hookChecker } from './hook-checker.ts';
import type { HookContext, HookParts } from './hook-context.ts';
import { createHookPolicy } from './hook-policy.ts';
import type { HookAnswer, HookCall, HookedHost } from './hook-request.ts';
import { performCall } from './perform-call.ts';
import type { HookProcess } from './run-hook.ts';
import { deadlineOf } from './timeouts.ts';

export async function answerCall(
  host: HookedHost,
  hook: HookProcess,
  call: HookCall,
  store: Store,
  parts: HookParts,
): Promise<HookAnswer> {
  const { environment, program } = hook;
  const identifiers = createIdentifiers(clock);
  const policy = createHookPolicy(store, call.descriptor.directory, environment);
  const runtime = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy: () => policy.current().policy,
    checker: hookChecker({ store, clock, identifiers, environment, program }),
  });
  const context: HookContext = {
    host,
    call,
    store,
    runtime,
    clock,
    identifiers,
    environment,
    stateDirectory: stateDirectory(environment),
    parts,
    deadlineAt: deadlineOf(call.timeout, hook.startedAt, hook.timeout),
    policy,
  };
  return Promise.race([performCall(context), brokenOff(hook, context)]);
}

/** The host breaks a stop hook off in one case only before its deadline: a human interrupted (P19). */
function brokenOff(hook: HookProcess, { call, host, runtime, deadlineAt }: HookContext): Promise<HookAnswer> {
  return new Promise((resolve, reject) => {
    const forget = hook.onTermination(() => {
      forget();
      const { sessionId, promptId } = call;
      const at = clock.now();
      if (call.asks.type !== 'stop' || at >= deadlineAt) {
        resolve({ type: 'nothing' });
        return;
      }
      const id = eventKey({ host: host.name, sessionId, promptId }, 'side', `aborted:${at}`);
      runtime
        .handle({ id, sessionId, at, type: 'human-aborted', how: 'interrupted' })
        .then(() => resolve({ type: 'nothing' }), reject);
    });
  });
}
