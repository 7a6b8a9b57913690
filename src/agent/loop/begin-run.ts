// The beginning of a run: the session is opened, what a killed run left behind is ended, and a resume is put on the
// record before anything else happens. What the human said is heard afterwards: see hear-human.ts.

import { endMarkedProcesses, sessionVariable } from '../../checks/process.ts';
import type { SessionDescriptor } from '../../core/events.ts';
import type { Clock, Identifiers } from '../../engine/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Emit } from '../agent-event.ts';
import { delegateToolName } from '../workers/worker.ts';
import { defaultLimits } from '../workspace/limits.ts';
import type { PermissionPolicy } from '../workspace/permission.ts';

/** Our own agent among the agents of the settings. */
export const ownAgentName = 'run';

export interface BeginOptions {
  /** null: a session is taken up again without a new message. */
  readonly goal: string | null;
  readonly resume: boolean;
  readonly sessionId: string;
  readonly directory: string;
  readonly model: { readonly label: string };
  readonly permissions: PermissionPolicy;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly emit: Emit;
  /** Who todos can be handed to; absent or empty: nobody. */
  readonly workers?: readonly unknown[];
}

export async function beginRun(engine: Pick<Engine, 'handle'>, options: BeginOptions): Promise<void> {
  const { goal, resume, sessionId, directory, model, permissions, clock, identifiers } = options;
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
  const canWrite = permissions.mode === 'read-only' ? 'no' : 'yes';
  await engine.handle({
    ...base(),
    type: 'session-opened',
    descriptor: describeSession(directory, (options.workers ?? []).length > 0),
    agent: { name: ownAgentName, canWrite, model: model.label, variant: null },
  });
  if (resume) {
    // What a killed run left behind must not work against the one that goes on.
    await endMarkedProcesses(`${sessionVariable}=${sessionId}`, defaultLimits.endGraceMs);
    await engine.handle({ ...base(), type: 'human-resumed' });
  }
  options.emit({
    type: 'run-started',
    at: clock.now(),
    sessionId,
    goal,
    model: model.label,
    directory,
    resumed: resume,
    permissions: permissions.mode,
  });
}

function describeSession(directory: string, delegates: boolean): SessionDescriptor {
  return {
    host: 'untildone',
    instance: `untildone:${directory}`,
    mode: 'asked',
    kind: 'main',
    parentId: null,
    directory,
    headless: true,
    immediate: false,
    everyAgentWrites: false,
    seesTools: true,
    tools: {
      pause: 'todo_pause',
      verify: 'todo_verify',
      ...(delegates ? { delegate: delegateToolName } : {}),
    },
  };
}
