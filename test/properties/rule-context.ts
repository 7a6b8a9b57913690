// A stop attempt that no rule answers, and small changes to it. Tests of single rules start from here, so that each
// names only what its rule looks at.
import { defaultSettings, type Settings } from '../../src/core/config/settings.ts';
import type { SessionDescriptor } from '../../src/core/events.ts';
import type { StopContext } from '../../src/core/rules/rule.ts';
import {
  createSession,
  noCounts,
  type ParkedStop,
  type PlanCounts,
  type Session,
  type Turn,
} from '../../src/core/session.ts';
import { driverDescriptor, driverStart } from './core-driver.ts';

export type Patch = (context: StopContext) => StopContext;

const turn: Turn = {
  id: 'turn-1',
  number: 1,
  startedAt: driverStart,
  ended: false,
  touchedPlan: true,
  touchedWorkspace: true,
  goesOn: false,
  stopSeen: true,
};

/** One todo is open in a turn that took the plan up; an asked host with a human at the terminal. */
export function stopContext(...patches: Patch[]): StopContext {
  const session: Session = {
    ...createSession('session-1', driverStart),
    descriptor: driverDescriptor,
    agent: { name: 'build', canWrite: 'yes', model: null, variant: null },
    turn,
    counts: { ...noCounts, pending: 1 },
  };
  const stop: ParkedStop = {
    eventId: 'stop-1',
    at: driverStart,
    end: 'normal',
    question: false,
    toolError: null,
    fingerprint: null,
    cause: 'stop-attempted',
  };
  const context: StopContext = { session, stop, settings: defaultSettings, goalChecks: [], at: driverStart };
  return patches.reduce((patched, patch) => patch(patched), context);
}

export function withSession(changes: Partial<Session>): Patch {
  return (context) => ({ ...context, session: { ...context.session, ...changes } });
}

export function withSettings(changes: Partial<Settings>): Patch {
  return (context) => ({ ...context, settings: { ...context.settings, ...changes } });
}

export function withDescriptor(changes: Partial<SessionDescriptor>): Patch {
  return (context) => withSession({ descriptor: { ...context.session.descriptor, ...changes } })(context);
}

export function withAgent(changes: Partial<Session['agent']>): Patch {
  return (context) => withSession({ agent: { ...context.session.agent, ...changes } })(context);
}

export function withCounts(changes: Partial<PlanCounts>): Patch {
  return withSession({ counts: { ...noCounts, ...changes } });
}

export function withTurn(changes: Partial<Turn>): Patch {
  return (context) => withSession({ turn: { ...turn, ...context.session.turn, ...changes } })(context);
}

export function withWaits(changes: Partial<Session['waits']>): Patch {
  return (context) => withSession({ waits: { ...context.session.waits, ...changes } })(context);
}

export function withUsage(changes: Partial<Session['usage']>): Patch {
  return (context) => withSession({ usage: { ...context.session.usage, ...changes } })(context);
}

export function withCounters(changes: Partial<Session['counters']>): Patch {
  return (context) => withSession({ counters: { ...context.session.counters, ...changes } })(context);
}

export function withStop(changes: Partial<ParkedStop>): Patch {
  return (context) => ({ ...context, stop: { ...context.stop, ...changes } });
}

export function withGoal(
  state: 'none' | 'running' | 'passed' | 'failed',
  flaky = false,
  name = 'unit',
): Patch {
  const check = { state, passedBefore: false, flaky, tail: null, fingerprint: null };
  return (context) => withSession({ goal: { [name]: check } })({ ...context, goalChecks: [name] });
}

export function atTime(milliseconds: number): Patch {
  return (context) => ({ ...context, at: driverStart + milliseconds });
}

export function all(...patches: Patch[]): Patch {
  return (context) => patches.reduce((patched, patch) => patch(patched), context);
}
