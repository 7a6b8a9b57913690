// Which session a plan file is imported into: the one that the human names, else one of its own that every import of
// the same file finds again. Such a session is never continued: nobody works in it.
import { basename } from 'node:path';
import type { Event } from '../core/events.ts';
import type { Session } from '../core/state.ts';
import type { Runtime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, sha256 } from '../engine/system.ts';
import {
  createFileMemory,
  createPlanFileSync,
  type PlanFileSync,
  type PlanFileSyncOptions,
} from '../plan-file/plan-file-sync.ts';
import { stateDirectory } from '../store/state-directory.ts';
import type { Io } from './io.ts';

/** `plan-PLAN.md-1a2b3c4d`: readable, and another file of the same name has another one. */
function ownSessionId(realPath: string): string {
  const name = basename(realPath)
    .replace(/[^\w.-]+/g, '_')
    .slice(0, 60);
  return `plan-${name}-${sha256(realPath).slice(0, 8)}`;
}

export async function openOwnSession(
  io: Io,
  store: Store,
  runtime: Runtime,
  realPath: string,
): Promise<Session> {
  const sessionId = ownSessionId(realPath);
  const found = await store.state(sessionId);
  if (found !== null) return found;
  const opened: Event = {
    type: 'session-opened',
    id: createIdentifiers(io.clock).next(),
    sessionId,
    at: io.clock.now(),
    descriptor: {
      host: 'plan-file',
      instance: 'plan-file',
      mode: 'asked',
      kind: 'other',
      parentId: null,
      directory: io.cwd,
      headless: true,
      immediate: false,
      everyAgentWrites: false,
      seesTools: false,
      tools: { pause: null, verify: null },
    },
    agent: null,
  };
  return (await runtime.handle(opened)).state;
}

export function openPlanFileSync(
  io: Io,
  store: Store,
  runtime: Runtime,
  place: Pick<PlanFileSyncOptions, 'sessionId' | 'isAllowed' | 'isNamed'> & { readonly realPath: string },
): PlanFileSync {
  const { realPath, ...given } = place;
  return createPlanFileSync({
    path: realPath,
    pinned: true,
    engine: runtime,
    store,
    ...given,
    clock: io.clock,
    identifiers: createIdentifiers(io.clock),
    memory: createFileMemory(stateDirectory(io.env), realPath, place.sessionId),
  });
}
