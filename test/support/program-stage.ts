// A program with an event bus, for tests: sessions with a list and messages, in which
// only happens what a test says. What is injected appears as a user's message and is told
// on the bus, as a real program would.

import {
  createEnforcer,
  type Enforcer,
  type EnforcerEvent,
  type EnforcerMessage,
  type EnforcerOptions,
  type EnforcerTodo,
  type InjectOptions,
  type Toast,
} from '../../src/enforcer/index.ts';
import {
  createSimulatedClock,
  type SimulatedClock,
} from '../../src/simulated/simulated-clock.ts';
import { createMemoryStore } from './memory-store.ts';

export interface Injected {
  readonly sessionId: string;
  readonly text: string;
  readonly options: InjectOptions;
}

export interface ProgramStage {
  readonly enforcer: Enforcer;
  readonly clock: SimulatedClock;
  readonly options: EnforcerOptions;
  readonly injected: Injected[];
  readonly toasts: Toast[];
  readonly errors: unknown[];
  readonly messages: EnforcerMessage[];
  todos: readonly EnforcerTodo[];
  emits(event: EnforcerEvent): Promise<void>;
  says(text: string, about?: Partial<EnforcerMessage>): Promise<void>;
  answers(text?: string, about?: Partial<EnforcerMessage>): Promise<void>;
  works(tool?: string): Promise<void>;
  idles(): Promise<void>;
  /** The same program started again over the same store; the one before has died. */
  restarts(): ProgramStage;
}

export const theSession = 'session-1';

/** No file and no variable of whoever runs the tests reaches them. */
const environment = { HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };

export function createProgramStage(
  overrides: Partial<EnforcerOptions> = {},
  before?: Pick<ProgramStage, 'messages' | 'todos'>,
): ProgramStage {
  const clock = (overrides.clock as SimulatedClock | undefined) ?? createSimulatedClock();
  const store = overrides.store ?? createMemoryStore();
  const injected: Injected[] = [];
  const toasts: Toast[] = [];
  const errors: unknown[] = [];
  const messages = before?.messages ?? [];
  let count = messages.length;
  let alive = true;
  const mortal = {
    now: clock.now,
    wake: (at: number, call: () => void) => clock.wake(at, () => alive && call()),
  };
  const options: EnforcerOptions = {
    getTodos: () => stage.todos,
    getMessages: () => messages,
    async inject(sessionId, text, about) {
      injected.push({ sessionId, text, options: about });
      await stage.says(text, { key: about.key });
    },
    toast: (_sessionId, toast) => {
      toasts.push(toast);
    },
    onError: (error) => {
      errors.push(error);
    },
    environment,
    store,
    ...overrides,
    clock: mortal,
  };
  const enforcer = createEnforcer(options);
  const emits = (event: EnforcerEvent): Promise<void> => enforcer.handler(event);
  const adds = async (message: EnforcerMessage): Promise<void> => {
    messages.push(message);
    await emits({ type: 'message.updated', sessionId: theSession, message });
  };
  const stage: ProgramStage = {
    enforcer,
    clock,
    options,
    injected,
    toasts,
    errors,
    messages,
    todos: before?.todos ?? [],
    emits,
    says: (text, about = {}) =>
      adds({ id: `message-${++count}`, role: 'user', text, ...about }),
    answers: (text = 'Done.', about = {}) =>
      adds({ id: `message-${++count}`, role: 'assistant', text, ...about }),
    async works(tool = 'edit') {
      await emits({ type: 'tool.before', sessionId: theSession, tool });
      await emits({ type: 'tool.after', sessionId: theSession, tool });
    },
    idles: () => emits({ type: 'session.idle', sessionId: theSession }),
    restarts() {
      alive = false;
      return createProgramStage({ ...overrides, store, clock }, stage);
    },
  };
  return stage;
}

/** A human asked, the agent planned two todos, worked on one, and stopped. */
export async function stopped(
  overrides: Partial<EnforcerOptions> = {},
): Promise<ProgramStage> {
  const stage = createProgramStage(overrides);
  await stage.says('Build it.', {
    agent: 'build',
    model: 'scripted/model',
    variant: 'high',
  });
  stage.todos = [{ content: 'write the parser' }, { content: 'write the tests' }];
  await stage.works('todo_write');
  await stage.works();
  await stage.answers();
  await stage.idles();
  return stage;
}
