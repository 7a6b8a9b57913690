// A stop attempt that no rule answers, and small changes to it. Tests of single rules
// start from here, so that each names only what its rule looks at.

import type { SessionDescriptor } from '../../src/core/events.ts';
import type { StopContext, Undelivered } from '../../src/core/rules.ts';
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import {
  countPlan,
  createState,
  newTurn,
  type ParkedStop,
  type PlanCounts,
  type State,
  type Turn,
} from '../../src/core/state.ts';
import { driverDescriptor, driverStart } from './core-driver.ts';

export type Patch = (context: StopContext) => StopContext;

const turn: Turn = {
  ...newTurn('turn-1', driverStart),
  touchedPlan: true,
  touchedWorkspace: true,
  stopSeen: true,
};
const noCounts = countPlan([]);

/**
 * One todo is open in a turn that took the plan up; an asked host with a human at the
 * terminal.
 */
export function stopContext(...patches: Patch[]): StopContext {
  const fresh = createState('session-1', driverStart);
  const state: State = {
    ...fresh,
    work: { ...fresh.work, heard: true },
    descriptor: driverDescriptor,
    agent: { name: 'build', canWrite: 'yes', model: null, variant: null },
    turn,
  };
  const stop: ParkedStop = {
    eventId: 'stop-1',
    at: driverStart,
    end: 'normal',
    question: false,
    toolError: null,
    cause: 'stop-attempted',
  };
  const context: StopContext = {
    state,
    counts: { ...noCounts, pending: 1 },
    stop,
    settings: defaultSettings,
    goalChecks: [],
    at: driverStart,
    undelivered: null,
  };
  return patches.reduce((patched, patch) => patch(patched), context);
}

export function withSession(changes: Partial<State>): Patch {
  return (context) => ({ ...context, state: { ...context.state, ...changes } });
}

export function withSettings(changes: Partial<Settings>): Patch {
  return (context) => ({ ...context, settings: { ...context.settings, ...changes } });
}

export function withDescriptor(changes: Partial<SessionDescriptor>): Patch {
  return (context) =>
    withSession({ descriptor: { ...context.state.descriptor, ...changes } })(context);
}

export function withAgent(changes: Partial<State['agent']>): Patch {
  return (context) =>
    withSession({ agent: { ...context.state.agent, ...changes } })(context);
}

export function withCounts(changes: Partial<PlanCounts>): Patch {
  return (context) => ({ ...context, counts: { ...noCounts, ...changes } });
}

export function withTurn(changes: Partial<Turn>): Patch {
  return (context) =>
    withSession({ turn: { ...turn, ...context.state.turn, ...changes } })(context);
}

export function withWaits(changes: Partial<State['waits']>): Patch {
  return (context) =>
    withSession({ waits: { ...context.state.waits, ...changes } })(context);
}

export function withUsage(changes: Partial<State['usage']>): Patch {
  return (context) =>
    withSession({ usage: { ...context.state.usage, ...changes } })(context);
}

export function withCounters(changes: Partial<State['counters']>): Patch {
  return (context) =>
    withSession({ counters: { ...context.state.counters, ...changes } })(context);
}

export function withStop(changes: Partial<ParkedStop>): Patch {
  return (context) => ({ ...context, stop: { ...context.stop, ...changes } });
}

export function withGoal(
  state: 'none' | 'running' | 'passed' | 'failed' | 'cannot-start',
  flaky = false,
  name = 'unit',
): Patch {
  const check = { state, passedBefore: false, flaky, tail: null };
  return (context) =>
    withSession({ goal: { [name]: check } })({ ...context, goalChecks: [name] });
}

export function withUndelivered(undelivered: Undelivered): Patch {
  return (context) => ({ ...context, undelivered });
}

export function atTime(milliseconds: number): Patch {
  return (context) => ({ ...context, at: driverStart + milliseconds });
}

export function all(...patches: Patch[]): Patch {
  return (context) => patches.reduce((patched, patch) => patch(patched), context);
}
