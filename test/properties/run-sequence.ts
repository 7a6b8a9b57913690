// Lives through one random sequence: numbers become events, events go through needs() and decide(), and after each
// one every invariant is looked at.
import type { Policy } from '../../src/core/config/policy.ts';
import { defaultSettings, type Settings } from '../../src/core/config/settings.ts';
import { decide } from '../../src/core/decide.ts';
import type { Decision } from '../../src/core/decision.ts';
import type { Event, HostMode, SessionDescriptor } from '../../src/core/events.ts';
import { needs } from '../../src/core/needs.ts';
import { createSession, type Session } from '../../src/core/session.ts';
import { driverDescriptor, driverStart } from './core-driver.ts';
import { eventOf, type World } from './event-script.ts';
import { checkInvariants } from './invariants.ts';
import { observe } from './observe-event.ts';
import { createReference } from './reference.ts';
import { createRowHolder, type RowHolder } from './row-holder.ts';

export interface Setup {
  readonly descriptor: SessionDescriptor;
  readonly policy: Policy;
}

const goals: readonly (readonly string[])[] = [[], [], ['unit'], ['unit', 'lint']];

/** Small limits, so that random sequences reach them. */
export function setupOf(number: number, mode: HostMode, settings: Partial<Settings> = {}): Setup {
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
        minIntervalMs: digit(2) * 4000,
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
    },
  };
}

export interface Life {
  readonly events: Event[];
  readonly decisions: Decision[];
  readonly session: Session;
  readonly holder: RowHolder;
  readonly continuations: number;
}

export function live({ descriptor, policy }: Setup, numbers: readonly number[]): Life {
  const holder = createRowHolder();
  const reference = createReference();
  const agent = { name: 'build', canWrite: 'yes', model: null, variant: null } as const;
  const world: World = {
    session: createSession('session-1', driverStart),
    todos: [],
    now: driverStart,
    count: 0,
    last: null,
    descriptor,
    agent,
    goalChecks: policy.goalChecks,
  };
  const events: Event[] = [];
  const decisions: Decision[] = [];
  let continuations = 0;

  function apply(event: Event): void {
    const before = world.session;
    const step = decide(before, holder.rows(before, needs(before, event)), event, policy);
    holder.save(step.rowChanges);
    const { created, updated } = step.rowChanges;
    if (created.length + updated.length > 0 || step.session.planId !== before.planId) {
      world.todos = holder.plan(step.session.planId);
    }
    const seen = observe(reference, before, event, step, policy);
    checkInvariants({ reference, seen, before, event, step, policy, todos: world.todos });
    world.session = step.session;
    events.push(event);
    if (step.decision !== null) decisions.push(step.decision);
    if (step.decision?.answer === 'continue') continuations += 1;
  }

  const opening = { type: 'session-opened', id: 'opening', sessionId: 'session-1', at: driverStart } as const;
  apply({ ...opening, descriptor, agent });
  try {
    for (const number of numbers) apply(eventOf(number, world));
  } catch (error) {
    const told = [...events.slice(-15), world.last].map((event) => JSON.stringify(event)).join('\n');
    throw new Error(`${(error as Error).message}\nafter:\n${told}`, { cause: error });
  }
  return { events, decisions, session: world.session, holder, continuations };
}
