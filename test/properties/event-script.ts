// Turns a list of numbers into a life of a session: each number becomes one event that
// refers to real todos, timers and requests, so that random sequences reach the
// interesting states. 0 is the plainest stop, so that a failing sequence shrinks towards
// something a person can read. It promises no order: events come late, twice, or never.
import {
  type AgentDescriptor,
  type Event,
  type EventOf,
  type SessionDescriptor,
  type StopEnd,
  type ToolAccess,
  workerResults,
} from '../../src/core/events.ts';
import { countPlan, openCount, type State } from '../../src/core/state.ts';
import type { Happening } from './core-driver.ts';

/** What the script may look at to refer to things that exist. */
export interface World {
  state: State;
  now: number;
  /** Counts up; makes ids. */
  count: number;
  last: Event | null;
  readonly descriptor: SessionDescriptor;
  readonly agent: AgentDescriptor;
  readonly goalChecks: readonly string[];
  /**
   * Most of what happens leads towards an outcome; else few sequences would ever see one
   * that is good.
   */
  readonly closing: boolean;
}

/** Takes small numbers out of one large one. */
type Digits = (limit: number) => number;

function digitsOf(number: number): Digits {
  let rest = number;
  return (limit) => {
    const digit = rest % limit;
    rest = Math.floor(rest / limit);
    return digit;
  };
}

type Maker = (digits: Digits, world: World) => Happening | Event;

const pick = <T>(digits: Digits, values: readonly T[]): T =>
  values[digits(values.length)] as T;
const fresh = (world: World, prefix: string): string => `${prefix}${++world.count}`;

function someTodo(digits: Digits, { state: { plan } }: World): string {
  return plan[digits(Math.max(1, plan.length))]?.id ?? 'nobody';
}

function someTree(digits: Digits, world: World): string {
  return digits(3) === 0 ? `tree-${digits(4)}` : fresh(world, 'tree-new-');
}

const ends: readonly StopEnd[] = [
  ...Array<StopEnd>(24).fill('normal'),
  'length',
  'length',
  'empty',
  'iteration-budget',
  'error',
  'cancelled',
  'refusal',
  'content-filter',
];
const jobs = [
  { id: 'job-0', kind: 'shell', description: 'npm run dev' },
  { id: 'job-1', kind: 'shell', description: 'npm test' },
  { id: 'job-2', kind: 'subagent', description: 'explore' },
] as const;
const accesses: readonly ToolAccess[] = ['write', 'write', 'read', 'todo', 'unknown'];
const words = [
  'parser',
  'tests of the parser',
  'documentation',
  'release notes',
  'migration',
  'cache',
];

function stop(digits: Digits, world: World): Happening {
  const end = pick(digits, ends);
  const question = digits(8) === 7;
  const toolError = digits(8) === 7 ? 'it exited with 1' : null;
  const fingerprint = digits(6) > 2 ? someTree(digits, world) : null;
  const background = someJobs(digits);
  return { type: 'stop-attempted', end, question, toolError, fingerprint, background };
}

function someJobs(digits: Digits) {
  const listed = digits(20);
  if (listed === 19) return [jobs[2]];
  if (listed === 18) return [jobs[0]];
  return listed > 14 ? [] : null;
}

function timer(digits: Digits, world: World): Happening {
  const current = world.state.timer;
  if (current === null || digits(12) === 11) {
    return {
      type: 'timer-fired',
      epoch: digits(world.state.epoch + 2),
      dueAt: world.now,
    };
  }
  world.now = Math.max(world.now, current.dueAt) + (digits(16) === 15 ? 660_000 : 0);
  return { type: 'timer-fired', epoch: current.epoch, dueAt: current.dueAt };
}

function someMessageId(digits: Digits, world: World): string | null {
  const how = digits(8);
  if (how === 7) return null;
  if (how !== 6) return fresh(world, 'm');
  const known = world.state.humanMessageIds;
  return known[digits(known.length + 1)] ?? null;
}

function speak(digits: Digits, world: World): Happening {
  const messageId = someMessageId(digits, world);
  const text = pick(digits, [
    'go on',
    'Go on.',
    'Build it.',
    'Now this.',
    'And that.',
    'go on',
    'Continue!',
    'stop',
    'STOP.',
    null,
  ]);
  const fingerprint = digits(4) === 3 ? someTree(digits, world) : null;
  return {
    type: 'human-spoke',
    messageId,
    text,
    turnId: fresh(world, 'turn-'),
    turnIsOver: digits(4) === 3,
    agent: null,
    fingerprint,
    policyHash: null,
  };
}

function create(digits: Digits, world: World): Happening {
  const items = Array.from({ length: 1 + digits(4) }, () => ({
    id: fresh(world, 'todo-'),
    title:
      digits(4) === 3 ? pick(digits, words) : `${pick(digits, words)} ${world.count}`,
    ...(digits(3) === 2 ? { checks: ['own'] } : {}),
    ...(digits(3) === 2 ? { priority: pick(digits, ['high', 'low', 'nonsense']) } : {}),
    ...(digits(4) === 3 ? { order: 1 + digits(6) } : {}),
    ...(digits(8) === 7 ? { hostKey: `key-${digits(8)}` } : {}),
    ...(digits(8) === 7 ? { status: pick(digits, ['in_progress', 'done', 'odd']) } : {}),
  }));
  return { type: 'todos-created', actor: 'agent', items };
}

const written = [
  'pending',
  'in_progress',
  'done',
  'done',
  'blocked',
  'cancelled',
  'odd',
] as const;

/**
 * The list as it is, with something done to it: left out, reworded, ticked off, repeated,
 * added.
 */
function write(digits: Digits, world: World): Happening {
  const items = world.state.plan.slice(0, 24).flatMap((todo, index) => {
    const what = digits(6);
    if (what === 5) return [];
    const status =
      what === 4 || what === 3
        ? written[(index + digits(3)) % written.length]
        : todo.status;
    const content = what === 2 && index % 3 === 0 ? `${todo.title} again` : todo.title;
    const reason = todo.reason ?? (index % 2 === 0 ? 'no longer needed' : undefined);
    const id = index % 5 === 4 ? (todo.hostKey ?? todo.id) : undefined;
    return [
      {
        ...(id === undefined ? {} : { id }),
        content,
        status,
        reason,
        freshId: fresh(world, 'todo-'),
      },
    ];
  });
  if (digits(4) === 3) items.reverse();
  const added =
    digits(3) === 2
      ? [{ content: pick(digits, words), freshId: fresh(world, 'todo-') }]
      : [];
  return {
    type: 'plan-written',
    actor: digits(12) === 11 ? 'human' : 'agent',
    items: [...items, ...added],
  };
}

function update(digits: Digits, world: World): Happening {
  const todoId = someTodo(digits, world);
  const status = pick(digits, [
    'in_progress',
    'pending',
    'blocked',
    'cancelled',
    'completed',
  ] as const);
  const reason = digits(3) === 2 ? undefined : 'it depends on a vendor';
  const title = digits(6) === 5 ? pick(digits, words) : undefined;
  return {
    type: 'todo-updated',
    actor: 'agent',
    todoId,
    changes: { status, reason, title },
  };
}

function complete(digits: Digits, world: World): Happening {
  const open = world.state.plan.filter(
    ({ status }) => status === 'pending' || status === 'in_progress',
  );
  const todoId =
    digits(8) === 7
      ? someTodo(digits, world)
      : (open[digits(open.length + 1)] ?? open[0])?.id;
  const status = digits(8) === 7 ? 'cancelled' : 'completed';
  return {
    type: 'todo-completed',
    actor: 'agent',
    todoId: todoId ?? 'nobody',
    status,
    outcome: 'it works',
  };
}

function check(digits: Digits, world: World): { todoId: string | null; check: string } {
  const claimed = world.state.plan.filter(
    ({ status, checks }) => status === 'completed' && checks.length > 0,
  );
  if (digits(2) === 0 && claimed.length > 0) {
    return { todoId: claimed[digits(claimed.length)]?.id ?? null, check: 'own' };
  }
  return {
    todoId: null,
    check: pick(digits, [...world.goalChecks, ...world.goalChecks, 'unit']),
  };
}

function finish(digits: Digits, world: World): Happening {
  const result = pick(digits, [
    'passed',
    'passed',
    'failed',
    'passed',
    'passed',
    'failed',
    'cannot-start',
  ] as const);
  const tail = result === 'passed' ? null : 'expected 1, got 2';
  const flaky = result === 'passed' && digits(8) === 7;
  return {
    type: 'check-finished',
    ...check(digits, world),
    result,
    flaky,
    tail,
    fingerprint: null,
    ...leftTree(digits, world),
    final: true,
    writes: null,
  };
}

/** Some checks write files. */
const leftTree = (digits: Digits, world: World) =>
  digits(4) === 3 ? { tree: someTree(digits, world) } : {};

function baseline(digits: Digits, world: World): Happening {
  const results = ['passed', 'passed', 'failed', 'cannot-start'] as const;
  const checks = world.goalChecks.map((check) => ({
    check,
    result: pick(digits, results),
  }));
  return {
    type: 'baseline-seen',
    fingerprint: digits(4) === 3 ? null : `tree-${digits(4)}`,
    checks,
  };
}

function endRun(digits: Digits, { state }: World): Happening {
  const stop = digits(8) === 7 ? 'another stop' : (state.finalRun?.stop ?? 'no stop');
  return {
    type: 'final-run-ended',
    stop,
    edited: digits(8) === 7 ? ['untildone.json'] : [],
  };
}

function fail(digits: Digits, world: World): Happening {
  const kind = pick(digits, [
    'other',
    'rate-limit',
    'overload',
    'overflow',
    'other',
  ] as const);
  const retryAt = kind === 'rate-limit' ? world.now + 5000 * digits(4) : null;
  return {
    type: 'error-occurred',
    kind,
    signature: `error-${digits(2)}`,
    message: 'it broke',
    retryAt,
  };
}

function delivered(news: 'sent' | 'observed' | 'lost' | 'failed'): Maker {
  return (digits, { state }) => ({
    type: 'delivery-reported',
    epoch: Math.max(0, state.epoch - (digits(8) === 7 ? 1 : 0)),
    news,
    error: news === 'failed' ? 'no answer' : null,
  });
}

function started(wait: EventOf<'wait-started'>['wait']): Happening {
  return { type: 'wait-started', wait };
}

function ended(wait: EventOf<'wait-ended'>['wait']): Happening {
  return { type: 'wait-ended', wait };
}

const delegate: Maker = (digits, world) => ({
  type: 'delegation-started',
  todoId: someTodo(digits, world),
  workerId: fresh(world, 'worker-'),
  agentType: 'tester',
  callId: fresh(world, 'call-'),
});

function endDelegation(digits: Digits, { state }: World): Happening {
  const workerId = digits(8) === 7 ? 'nobody' : (state.delegation?.workerId ?? 'nobody');
  return {
    type: 'delegation-ended',
    workerId,
    result: pick(digits, workerResults),
    sentence: 'it is over',
  };
}

function usage(digits: Digits): Happening {
  const contextTokens = digits(4) === 3 ? digits(920) : null;
  return {
    type: 'usage-reported',
    inputTokens: digits(300),
    outputTokens: 20,
    cost: digits(2) === 0 ? null : 0.5,
    contextTokens,
    contextLimit: 1000,
  };
}

const request = (digits: Digits): string => `request-${digits(2)}`;

function asking(digits: Digits) {
  const about = {
    callId: 'call',
    tool: 'bash',
    subject: 'npm test',
    pattern: `npm ${digits(2)}`,
  };
  return digits(2) === 0 ? {} : { about };
}

/**
 * Ends what holds the session up, if anything does; else the agent works: random
 * sequences would mostly wait.
 */
function moveOn(digits: Digits, world: World): Happening {
  const { state } = world;
  const { recovering, compacting, permissions, questions } = state.waits;
  const [permission] = permissions;
  const [question] = questions;
  const [job] = state.jobs;
  if (state.deleted)
    return { type: 'session-opened', descriptor: world.descriptor, agent: world.agent };
  if (state.latch !== null || state.pause !== null) {
    return digits(2) === 0 && state.pause?.by !== 'human'
      ? speak(digits, world)
      : { type: 'human-resumed' };
  }
  if (recovering) return ended({ kind: 'recovery' });
  if (compacting) return ended({ kind: 'compaction', shrunk: digits(4) !== 3 });
  if (permission !== undefined)
    return ended({ kind: 'permission', requestId: permission, granted: digits(6) < 5 });
  if (question !== undefined)
    return ended({ kind: 'question', requestId: question, rejected: digits(6) === 5 });
  if (job !== undefined && digits(2) === 0)
    return ended({ kind: 'background', jobId: job.id });
  if (openCount(countPlan(state.plan)) === 0) return create(digits, world);
  if (state.turn?.ended !== false && state.settled !== null) return speak(digits, world);
  return {
    type: 'tool-ended',
    tool: 'edit',
    access: pick(digits, accesses),
    error: null,
  };
}

/** How often each happens, in parts of the sum. */
const makers: readonly (readonly [number, Maker])[] = [
  [34, stop],
  [36, moveOn],
  [16, timer],
  [6, speak],
  [1, () => ({ type: 'human-aborted', how: 'escape' })],
  [1, () => ({ type: 'human-paused', reason: null })],
  [2, () => ({ type: 'human-resumed' })],
  [1, () => ({ type: 'human-resumed', goesOn: true })],
  [1, () => ({ type: 'model-paused', reason: 'a human has to decide' })],
  [6, (digits) => ({ type: 'activity-seen', wakes: pick(digits, [false, true]) })],
  [
    2,
    (digits) => ({ type: 'tool-started', tool: 'edit', access: pick(digits, accesses) }),
  ],
  [
    10,
    (digits) => ({
      type: 'tool-ended',
      tool: 'edit',
      access: pick(digits, accesses),
      error: null,
    }),
  ],
  [6, create],
  [5, write],
  [5, update],
  [12, complete],
  [2, (digits, world) => ({ type: 'check-started', ...check(digits, world) })],
  [6, finish],
  [8, endRun],
  [3, baseline],
  [
    1,
    (digits, world) => ({
      type: 'verification-asked',
      todoId: digits(2) === 0 ? null : check(digits, world).todoId,
    }),
  ],
  [1, () => ({ type: 'checks-overdue' })],
  [
    3,
    (digits, world) => ({ type: 'workspace-seen', fingerprint: someTree(digits, world) }),
  ],
  [1, () => started({ kind: 'recovery' })],
  [1, () => ended({ kind: 'recovery' })],
  [1, () => started({ kind: 'compaction' })],
  [1, (digits) => ended({ kind: 'compaction', shrunk: digits(2) === 0 })],
  [
    1,
    (digits) =>
      started({ kind: 'permission', requestId: request(digits), ...asking(digits) }),
  ],
  [
    1,
    (digits) =>
      ended({ kind: 'permission', requestId: request(digits), granted: digits(4) < 3 }),
  ],
  [1, (digits) => started({ kind: 'question', requestId: request(digits) })],
  [
    1,
    (digits) =>
      ended({ kind: 'question', requestId: request(digits), rejected: digits(4) === 3 }),
  ],
  [1, (digits) => started({ kind: 'background', job: pick(digits, jobs) })],
  [1, (digits) => ended({ kind: 'background', jobId: pick(digits, jobs).id })],
  [2, fail],
  [1, () => ({ type: 'loop-alarmed', pattern: 'A B A B' })],
  [2, usage],
  [4, delivered('sent')],
  [1, delivered('observed')],
  [1, delivered('lost')],
  [4, delivered('failed')],
  [1, delegate],
  [1, endDelegation],
  [
    1,
    (digits) =>
      digits(4) === 3 ? { type: 'session-deleted' } : { type: 'session-closed' },
  ],
  [
    1,
    (_digits, { descriptor, agent }) => ({ type: 'session-opened', descriptor, agent }),
  ],
  [
    1,
    (_digits, { descriptor, agent }) => ({
      type: 'session-opened',
      descriptor,
      agent,
      resumed: true,
    }),
  ],
  [1, (_digits, { last }) => last ?? { type: 'activity-seen' }],
];

/** The next thing on the way to an outcome; what it should not be is seldom. */
function close(digits: Digits, world: World): Happening {
  const { state, goalChecks } = world;
  const { latch, pause, deleted, waits, finalRun, plan, baseline: first } = state;
  const isHeld =
    waits.recovering ||
    waits.compacting ||
    waits.permissions.length + waits.questions.length > 0;
  if (latch !== null || pause !== null || deleted || isHeld || state.jobs.length > 0)
    return moveOn(digits, world);
  if (first === null && digits(8) !== 7) return baseline(digits, world);
  if (finalRun?.ended === false) {
    const goal = goalChecks.find((check) => state.goal[check]?.state === 'running');
    const todo = plan.find(({ verification }) => verification === 'running');
    if (goal === undefined && todo === undefined)
      return { type: 'final-run-ended', stop: finalRun.stop, edited: [] };
    const about =
      goal === undefined
        ? { todoId: todo?.id ?? null, check: 'own' }
        : { todoId: null, check: goal };
    const result = pick(digits, [
      ...Array<'passed'>(10).fill('passed'),
      'failed',
      'cannot-start',
    ] as const);
    const details = {
      flaky: result === 'passed' && digits(16) === 15,
      tail: null,
      fingerprint: null,
      ...leftTree(digits, world),
      final: true,
      writes: null,
    };
    return { type: 'check-finished', ...about, result, ...details };
  }
  const open = plan.find(
    ({ status }) => status === 'pending' || status === 'in_progress',
  );
  if (plan.length < 3 && digits(4) === 3) return create(digits, world);
  // So that the next turn may find something left over.
  if (open !== undefined && digits(16) === 15)
    return { type: 'human-aborted', how: 'escape' };
  if (open !== undefined && digits(8) !== 7)
    return {
      type: 'todo-completed',
      actor: 'agent',
      todoId: open.id,
      status: 'completed',
      outcome: 'it works',
    };
  if (!state.activeSinceAnswer || digits(3) === 2)
    return {
      type: 'tool-ended',
      tool: 'edit',
      access: pick(digits, accesses),
      error: null,
    };
  const fingerprint = digits(8) === 7 ? null : someTree(digits, world);
  const plain = {
    end: 'normal',
    question: false,
    toolError: null,
    background: null,
  } as const;
  return { type: 'stop-attempted', ...plain, fingerprint };
}

const table: readonly Maker[] = makers.flatMap(([weight, maker]) =>
  Array<Maker>(weight).fill(maker),
);

/**
 * Milliseconds that pass before an event; a negative one is an event that arrives late.
 */
const pauses = [
  0, 0, 0, 0, 100, 100, 400, 1000, 1000, 2500, 2500, 5000, 30_000, 700_000, -500, -3000,
];

/** Clocks are set, by -10 s to +2 h, and stay so (P42). */
function setClock(digits: Digits, world: World): void {
  const how = digits(18);
  if (how === 17) world.now -= digits(10_001);
  if (how === 16) world.now += digits(7_200_001);
}

export function eventOf(number: number, world: World): Event {
  const digits = digitsOf(number);
  const anything = table[digits(table.length)] as Maker;
  const maker = world.closing && digits(8) !== 7 ? close : anything;
  setClock(digits, world);
  const pause = pick(digits, pauses);
  world.now += Math.max(0, pause);
  const made = maker(digits, world);
  const at = world.now + Math.min(0, pause);
  const event =
    'id' in made
      ? made
      : ({ ...made, id: fresh(world, 'event-'), sessionId: 'session-1', at } as Event);
  world.last = event;
  return event;
}
