// Lives through one random sequence: numbers become events, events go through decide(),
// and after each one every invariant is looked at.

import { decide } from '../../src/core/decide.ts';
import type { Decision, Step } from '../../src/core/decision.ts';
import type { Event, HostMode, SessionDescriptor } from '../../src/core/events.ts';
import type { Policy } from '../../src/core/policy.ts';
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import { createState, type State } from '../../src/core/state.ts';
import { driverDescriptor, driverStart } from './core-driver.ts';
import { eventOf, type World } from './event-script.ts';
import { checkInvariants } from './invariants.ts';
import { observe } from './observe-event.ts';
import { createReference } from './reference.ts';
import { createSeenTrees } from './seen-trees.ts';

export interface Setup {
  readonly descriptor: SessionDescriptor;
  readonly policy: Policy;
  readonly closing: boolean;
}

const goals: readonly (readonly string[])[] = [[], [], ['unit'], ['unit', 'lint']];

/** Small limits, so that random sequences reach them. */
export function setupOf(
  number: number,
  mode: HostMode,
  settings: Partial<Settings> = {},
): Setup {
  let rest = number;
  const digit = (limit: number): number => {
    const value = rest % limit;
    rest = Math.floor(rest / limit);
    return value;
  };
  return {
    policy: {
      settings: {
        ...defaultSettings,
        maxStagnant: 1 + digit(6),
        maxContinuations: 2 + digit(12),
        ceiling: 1 + digit(24),
        scope: digit(3) === 2 ? 'turn' : 'session',
        countdownSeconds: digit(3),
        minIntervalSeconds: digit(2) * 4,
        circuitAfter: 2 + digit(3),
        sendAttempts: 1 + digit(3),
        maxTokens: digit(4) === 3 ? 800 : null,
        maxCost: digit(4) === 3 ? 2 : null,
        // The default lists are long; every message is compared with all of them.
        stopWords: ['stop'],
        goOnPhrases: ['go on', 'continue'],
        ...settings,
      },
      goalChecks: goals[digit(goals.length)] ?? [],
    },
    descriptor: {
      ...driverDescriptor,
      mode,
      headless: digit(4) === 3,
      immediate: digit(6) === 5,
      seesTools: digit(6) !== 5,
      judgesGoal: digit(2) === 1,
    },
    closing: digit(2) === 1,
  };
}

export interface Life {
  readonly events: Event[];
  readonly decisions: Decision[];
  readonly state: State;
  readonly continuations: number;
}

/** `watch` sees each event with its time as it counts. */
export function live(
  { descriptor, policy, closing }: Setup,
  numbers: readonly number[],
  watch: (before: State, event: Event, step: Step) => void = () => {},
): Life {
  const trees = createSeenTrees();
  const reference = createReference();
  const agent = { name: 'build', canWrite: 'yes', model: null, variant: null } as const;
  const world: World = {
    state: createState('session-1', driverStart),
    now: driverStart,
    count: 0,
    last: null,
    descriptor,
    agent,
    goalChecks: policy.goalChecks,
    closing,
  };
  const events: Event[] = [];
  const decisions: Decision[] = [];
  let continuations = 0;

  function apply(given: Event): void {
    const before = world.state;
    const stamped = trees.stamp(given);
    const step = decide(before, stamped, policy);
    trees.remember(step.state);
    const event = { ...stamped, at: step.state.updatedAt };
    const seen = observe(reference, before, event, step, policy);
    checkInvariants({ reference, seen, before, event, step, policy });
    watch(before, event, step);
    world.state = step.state;
    events.push(stamped);
    if (step.decision !== null) decisions.push(step.decision);
    if (step.decision?.answer === 'continue') continuations += 1;
  }

  const opening = {
    type: 'session-opened',
    id: 'opening',
    sessionId: 'session-1',
    at: driverStart,
  } as const;
  apply({ ...opening, descriptor, agent });
  try {
    for (const number of numbers) apply(eventOf(number, world));
  } catch (error) {
    const told = [...events.slice(-15), world.last]
      .map((event) => JSON.stringify(event))
      .join('\n');
    throw new Error(`${(error as Error).message}\nafter:\n${told}`, { cause: error });
  }
  return { events, decisions, state: world.state, continuations };
}
