// Drives decide() the way the engine does, synchronously and without a store, so that a
// test of core reads as a story. It performs no command: a test says what became of each
// one.
import { decide } from '../../src/core/decide.ts';
import type {
  AnswerCommand,
  Command,
  Decision,
  InjectCommand,
  Step,
} from '../../src/core/decision.ts';
import type {
  AgentDescriptor,
  Event,
  EventOf,
  NewTodo,
  SessionDescriptor,
  ToolAccess,
} from '../../src/core/events.ts';
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import { createState, type State } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import { createSeenTrees } from './seen-trees.ts';

type WithoutBase<E> = E extends Event ? Omit<E, 'id' | 'sessionId' | 'at'> : never;
export type Happening = WithoutBase<Event>;

export interface DriverOptions {
  readonly settings?: Partial<Settings>;
  readonly goalChecks?: readonly string[];
  readonly descriptor?: Partial<SessionDescriptor>;
  readonly agent?: Partial<AgentDescriptor>;
}

type StopDetails = Partial<
  Omit<EventOf<'stop-attempted'>, 'type' | 'id' | 'sessionId' | 'at'>
>;

export interface CoreDriver {
  state: State;
  now: number;
  readonly decisions: Decision[];
  readonly commands: Command[];
  readonly ledger: string[];
  /** One event through decide. */
  happens(happening: Happening, at?: number): Step;
  says(text?: string, messageId?: string | null, fingerprint?: string | null): Step;
  /** Creates todos; strings are titles. Returns their ids. */
  plans(...items: (string | Partial<NewTodo>)[]): string[];
  works(access?: ToolAccess): Step;
  completes(todoId: string, status?: 'completed' | 'cancelled'): Step;
  updates(
    todoId: string,
    changes: Extract<Happening, { type: 'todo-updated' }>['changes'],
  ): Step;
  /** A whole-list write; strings are pending todos. */
  writes(
    ...items: (string | { content: string; status?: string; reason?: string })[]
  ): Step;
  stops(details?: StopDetails): Step;
  /** Fires the session's timer at its due time, or `late` milliseconds after it. */
  fires(late?: number): Step;
  /** Stops, and in a told host lets the countdown run out. */
  stopsFully(details?: StopDetails): Step;
  todo(id: string): Todo;
  todos(): readonly Todo[];
}

export const driverStart = 1_800_000_000_000;

export const driverDescriptor: SessionDescriptor = {
  host: 'scripted',
  instance: 'instance-1',
  mode: 'asked',
  kind: 'main',
  parentId: null,
  directory: null,
  headless: false,
  immediate: false,
  everyAgentWrites: false,
  seesTools: true,
  tools: { pause: 'todo_pause', verify: 'todo_verify' },
};

export function createCoreDriver(options: DriverOptions = {}): CoreDriver {
  const policy = {
    settings: { ...defaultSettings, ...options.settings },
    goalChecks: options.goalChecks ?? [],
  };
  const trees = createSeenTrees();
  let count = 0;
  const nextId = (): string => `id-${++count}`;
  /**
   * Hosts tell of the call that changed the plan, too; the first is enough to know that
   * they do.
   */
  const told = (tool: string) => {
    if (!driver.state.work.heard)
      driver.happens({ type: 'tool-ended', tool, access: 'todo', error: null });
  };

  const driver: CoreDriver = {
    state: createState('session-1', driverStart),
    now: driverStart,
    decisions: [],
    commands: [],
    ledger: [],
    happens(happening, at = driver.now) {
      const event = trees.stamp({
        ...happening,
        id: nextId(),
        sessionId: 'session-1',
        at,
      } as Event);
      const result = decide(driver.state, event, policy);
      trees.remember(result.state);
      driver.state = result.state;
      driver.commands.push(...result.commands);
      driver.ledger.push(...result.ledger.map(({ change }) => change));
      if (result.decision !== null) driver.decisions.push(result.decision);
      return result;
    },
    says: (text = 'Please build it.', messageId = nextId(), fingerprint = null) =>
      driver.happens({
        type: 'human-spoke',
        messageId,
        text,
        turnId: nextId(),
        agent: null,
        fingerprint,
        policyHash: null,
      }),
    plans(...items) {
      const full = items.map((item) => ({
        id: nextId(),
        title: 'a todo',
        ...(typeof item === 'string' ? { title: item } : item),
      }));
      told('todo_create');
      driver.happens({ type: 'todos-created', actor: 'agent', items: full });
      return full.map(({ id }) => id);
    },
    works(access = 'write') {
      driver.happens({ type: 'tool-started', tool: 'tool', access });
      return driver.happens({ type: 'tool-ended', tool: 'tool', access, error: null });
    },
    completes: (todoId, status = 'completed') =>
      driver.happens({
        type: 'todo-completed',
        actor: 'agent',
        todoId,
        status,
        outcome: 'as it was asked',
      }),
    updates: (todoId, changes) =>
      driver.happens({ type: 'todo-updated', actor: 'agent', todoId, changes }),
    writes(...items) {
      told('todo_write');
      return driver.happens({
        type: 'plan-written',
        actor: 'agent',
        items: items.map((item) => ({
          ...(typeof item === 'string' ? { content: item } : item),
          freshId: nextId(),
        })),
      });
    },
    stops: (details = {}) =>
      driver.happens({
        type: 'stop-attempted',
        end: 'normal',
        question: false,
        fingerprint: null,
        background: null,
        toolError: null,
        ...details,
      }),
    fires(late = 0) {
      const timer = driver.state.timer;
      if (timer === null) throw new Error('the session has no timer to fire');
      driver.now = Math.max(driver.now, timer.dueAt + late);
      return driver.happens({
        type: 'timer-fired',
        epoch: timer.epoch,
        dueAt: timer.dueAt,
      });
    },
    stopsFully(details) {
      if (driver.state.descriptor.mode === 'told')
        driver.happens({ type: 'activity-seen' });
      const stopped = driver.stops(details);
      return driver.state.timer === null ? stopped : driver.fires();
    },
    todo(id) {
      const found = driver.todos().find((todo) => todo.id === id);
      if (found === undefined) throw new Error(`there is no todo ${id}`);
      return found;
    },
    todos: () => driver.state.plan,
  };

  driver.happens({
    type: 'session-opened',
    descriptor: { ...driverDescriptor, ...options.descriptor },
    agent: {
      name: 'build',
      canWrite: 'yes',
      model: 'scripted/model',
      variant: null,
      ...options.agent,
    },
  });
  return driver;
}

export function injectionOf(step: Step): InjectCommand | null {
  return step.commands.find((command) => command.type === 'inject') ?? null;
}

export function answerOf(step: Step): AnswerCommand | null {
  return step.commands.find((command) => command.type === 'answer') ?? null;
}

/**
 * The text that a continuation carries, however the host gets it; null when the step
 * continued nothing.
 */
export function textOf(step: Step): string | null {
  const answer = answerOf(step);
  return injectionOf(step)?.text ?? (answer?.answer === 'continue' ? answer.text : null);
}
