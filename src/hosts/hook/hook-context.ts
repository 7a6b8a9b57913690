// What a hook holds in its hand while it performs one call: the store, a runtime over it, the host and the clock.

import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Runtime } from '../../engine/runtime.ts';
import type { Store } from '../../engine/store.ts';
import type { HookPolicy } from './hook-policy.ts';
import type { HookCall, HookedHost, HookMoment } from './hook-request.ts';

/** What lies in layers that hosts do not reach; the command line hands it in. */
export interface HookParts {
  /** Gives a call of our own tools, which did not know its session, to the session that made it. */
  bindReceipt(
    store: Store,
    engine: Pick<Runtime, 'handle' | 'append'>,
    call: { readonly receipt: string; readonly sessionId: string; readonly at: number },
  ): Promise<void>;
  endsInQuestion(text: string): boolean;
}

export interface HookContext {
  readonly host: HookedHost;
  readonly call: HookCall;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly environment: HookMoment['environment'];
  readonly stateDirectory: string;
  readonly parts: HookParts;
  /** When this call has to be answered. */
  readonly deadlineAt: number;
  readonly policy: HookPolicy;
}
