// `openSession`: holds an agent that someone else's program runs. It keeps the plan, runs
// the checks and answers every stop attempt; it calls no model. It judges as `untildone
// run` does (V1).
import { resolve } from 'node:path';
import type { Decision, Outcome } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import {
  type Draft,
  type Event,
  parseEvent,
  type StopEnd,
  stopEnd,
} from '../core/events.ts';
import { excerpt, problemSentence } from '../core/problem.ts';
import { endsInQuestion } from '../core/safe-text.ts';
import { text as anyText, object, optional, read } from '../core/schema.ts';
import type { Todo } from '../core/todo.ts';
import type { Handled } from '../engine/engine.ts';
import { explainDecision } from '../engine/session-record.ts';
import type { Store } from '../engine/store.ts';
import { createQueue, onAbort } from '../engine/system.ts';
import { openSqliteStore, openUserStore } from '../store/sqlite/sqlite-store.ts';
import type { TodoToolName } from '../tools/todo-tools.ts';
import {
  type ToolFormat,
  type ToolFormats,
  type ToolSchema,
  todoToolFormat,
  toolSchema,
} from '../tools/tool-formats.ts';
import { type BegunSession, beginSession } from './begin-session.ts';
import { createHold, wrongUse } from './hold-agent.ts';
import {
  type OpenedOptions,
  readSessionOptions,
  type SessionOptions,
} from './session-options.ts';
import { watchTools } from './watch-tools.ts';

export type { SessionOptions } from './session-options.ts';

/** One todo tool, for any framework that takes a description, a schema and a function. */
export interface SessionTool {
  readonly description: string;
  readonly inputSchema: ToolSchema;
  /**
   * What the model is told. Its mistakes are answers with an `error`; only a broken store
   * rejects.
   */
  execute(input: unknown, options?: unknown): Promise<Readonly<Record<string, unknown>>>;
}

/** What is known about the answer with which the agent wants to stop. */
export type StopAttempt = Readonly<{
  /**
   * What the agent said last: a question, or nothing at all, is answered otherwise than a
   * report.
   */
  text?: string;
  /** How its answer ended. Default: by itself. */
  end?: StopEnd;
}>;

/** Whether the agent may stop, why, and what to say to it if not. */
export type StopAnswer = Pick<Decision, 'reason' | 'sentence'> &
  Readonly<{
    answer: 'continue' | 'let-go';
    /** To be said to the agent; null: it may stop. */
    text: string | null;
    /** null: it goes on. */
    outcome: Outcome | null;
  }>;

/**
 * What was decided last, with what was said to the agent and the checks that had failed
 * by then (V6).
 */
export type Explanation = Decision &
  Awaited<ReturnType<typeof explainDecision>> & { readonly at: number };

/** An event without its id, session and time; what may be null may be left out. */
export type ToldEvent = Loose<Draft<Exclude<Event, { type: 'stop-attempted' }>>>;
type Loose<Kind> = Kind extends unknown
  ? {
      readonly [Name in keyof Kind as IsLoose<Kind, Name> extends true
        ? never
        : Name]: Kind[Name];
    } & {
      readonly [Name in keyof Kind as IsLoose<Kind, Name> extends true
        ? Name
        : never]?: Kind[Name];
    }
  : never;
type IsLoose<Kind, Name extends keyof Kind> = null extends Kind[Name]
  ? true
  : Name extends 'turnId'
    ? true
    : false;

/**
 * What an agent's call comes back with: a result of the AI SDK, streamed or not, `{ text,
 * messages }`, or a text.
 */
type AgentAnswer =
  | string
  | { readonly text: string | PromiseLike<string> }
  | { readonly messages: readonly unknown[] };
export type AgentCall = (messages: never[]) => AgentAnswer | PromiseLike<AgentAnswer>;
/**
 * Without the messages it never hears what is missing, and would be called again in vain.
 */
type Hears<Agent extends AgentCall> = Parameters<Agent>['length'] extends 0
  ? 'the function must take the messages'
  : unknown;

/**
 * Holds one agent: gives it todo tools, keeps its plan, runs the checks and answers when
 * it wants to stop.
 */
export interface Session {
  readonly id: string;
  /** The todo tools, by name. The AI SDK takes them as they are. */
  readonly tools: Readonly<Record<TodoToolName, SessionTool>>;
  /** What a model is told about the tools, for programs that call its API themselves. */
  toolsFor<Format extends ToolFormat>(format: Format): ToolFormats[Format][];
  /**
   * The same tools, with their calls seen: work is told from talk by them. Give it all
   * that the agent has besides ours.
   */
  watch<Tools extends Readonly<Record<string, object>>>(tools: Tools): Tools;
  /**
   * Calls the agent until it may stop, each time with the whole conversation, and
   * resolves with its last answer. Rejects with what the agent rejects with. `messages`
   * are of whatever type the agent's own are.
   */
  hold<Agent extends AgentCall>(
    agent: Agent & Hears<Agent>,
  ): Promise<Awaited<ReturnType<Agent>>>;
  /** For loops of your own: the agent wants to stop. Waits for the checks. */
  stop(attempt?: StopAttempt): Promise<StopAnswer>;
  /**
   * Something happened that the session cannot see: `{ type: 'human-spoke', text: 'and
   * the docs' }`.
   */
  tell(event: ToldEvent): Promise<void>;
  readonly plan: readonly Todo[];
  /**
   * null: it has not settled, or goes on. Of a session that is taken up: how it had
   * settled, until it goes on.
   */
  readonly outcome: Outcome | null;
  /** null: the agent has not tried to stop. */
  why(): Promise<Explanation | null>;
  /**
   * Lifts a stop or a pause, as a human does. With the id of another session: leaves this
   * one and takes that one up.
   */
  resume(id?: string): Promise<Session>;
  /** The plan stays: `openSession({ id })` takes it up again. */
  close(): Promise<void>;
}

/** Opens a session that holds an agent of yours; everything has a default. */
export async function openSession(given: SessionOptions = {}): Promise<Session> {
  const options = readSessionOptions(given);
  const { store, environment, clock } = options;
  if (typeof store === 'object') return createSession(options, store, async () => {});
  const opened =
    store === undefined
      ? await openUserStore(environment, { clock })
      : await openSqliteStore({
          path: store === ':memory:' ? store : resolve(store),
          clock,
        });
  return createSession(options, opened, () => opened.close());
}

async function createSession(
  options: OpenedOptions,
  whole: Store,
  closeStore: () => Promise<void>,
): Promise<Session> {
  const { id: sessionId, clock, signal } = options;
  const begun = await beginSession(options, whole, sitOut).catch(
    async (error: unknown) => {
      await closeStore();
      throw error;
    },
  );
  const { store, engine, base, record, latest } = begun;
  let toolError: string | null = null;
  let isLeft = false;
  /** Ends the wait of a stop: something was told that may have ended its cause. */
  let wake = () => {};

  const { recordLater, recorded } = createRecorder(record);
  const closedError = () => wrongUse(`The session ${excerpt(sessionId)} is closed.`);
  async function ready() {
    if (isLeft) throw closedError();
    await recorded();
  }
  const abort = () =>
    void recordLater({ type: 'human-aborted', how: 'the signal of the program' });
  const stopListening = onAbort(signal, abort);

  /** One after the other: a second attempt would take the answer of the first. */
  const stopQueue = createQueue();
  const stop = (attempt: StopAttempt = {}) => stopQueue(() => askToStop(attempt));

  async function askToStop(attempt: StopAttempt): Promise<StopAnswer> {
    const { text, end } = readAttempt(attempt);
    // The clock's wake-ups do not hold the process.
    const alive = setInterval(() => {}, 2 ** 30);
    try {
      await ready();
      const first = await begun.askToStop({
        end: end ?? (text?.trim() === '' ? 'empty' : 'normal'),
        question: endsInQuestion(text ?? ''),
        toolError,
      });
      toolError = null;
      return answerOf(await begun.awaitAnswer(first), begun.outcome());
    } catch (error) {
      // Closed meanwhile: what broke then, such as the store, is no news.
      throw isLeft ? closedError() : error;
    } finally {
      clearInterval(alive);
    }
  }

  async function sitOut(_: unknown, dueAt: number) {
    let stops: (() => void)[] = [];
    await new Promise<void>((resolve) => {
      wake = resolve;
      stops = [clock.wake(dueAt, resolve), onAbort(signal, resolve)];
    });
    for (const stop of stops) stop();
    await ready();
    return true;
  }

  async function leave() {
    isLeft = true;
    stopListening();
    wake();
    try {
      await recorded();
      await record({ type: 'session-closed' });
    } finally {
      await begun.release();
    }
  }

  const held = createHold(options, begun, {
    ready,
    stop,
    recorded,
    isClosed: () => isLeft,
  });
  const session: Session = {
    id: sessionId,
    tools: createTools(begun, ready),
    toolsFor: todoToolFormat,
    watch(tools) {
      const watched = watchTools(tools, {
        began: (tool) =>
          void recordLater({ type: 'tool-started', tool, access: 'unknown' }),
        async ended(tool, error) {
          toolError = error;
          // Safe: the tool is the program's and did its work; the next stop tells what
          // could not be recorded.
          await recordLater({ type: 'tool-ended', tool, access: 'unknown', error }).catch(
            () => {},
          );
        },
      });
      recordLater(begun.seeTools());
      return watched;
    },
    hold: (agent) => held.hold(agent) as never,
    stop,
    async tell(told) {
      await ready();
      const { id, ...rest } = base();
      const read = parseEvent({ turnId: id, messageId: id, ...told, id, ...rest });
      if (!read.ok) throw new UntildoneError('invalid-event', `tell: ${read.sentence}`);
      const { event } = read;
      if (event.type === 'stop-attempted')
        throw wrongUse('tell: a stop attempt wants an answer: ask with session.stop().');
      const { type } = event;
      if (type === 'human-spoke') await begun.hear(event.text, event.messageId ?? id);
      else await engine.handle(event);
      if (type === 'human-spoke' && event.text?.trim()) held.say(event.text);
      wake();
    },
    get plan() {
      return latest().plan;
    },
    get outcome() {
      return begun.outcome();
    },
    async why() {
      await ready();
      const [last] = await store.decisions(sessionId, 1);
      if (last === undefined) return null;
      return { ...last.decision, at: last.at, ...(await explainDecision(store, last)) };
    },
    async resume(id = sessionId) {
      await ready();
      if (id === sessionId) {
        await record({ type: 'human-resumed' });
        wake();
        return session;
      }
      if ((await whole.state(id)) === null)
        throw new UntildoneError(
          'unknown-session',
          `There is no session ${excerpt(id)} in this store.`,
        );
      await leave();
      const other = { ...options, goal: undefined, checks: [], id };
      return createSession(other, whole, closeStore);
    },
    async close() {
      // The store is closed, or another session's by now.
      if (isLeft) return;
      await leave().finally(closeStore);
    },
  };
  return session;
}

/** Records one event after the other, for callers that cannot wait. */
function createRecorder(record: BegunSession['record']) {
  const queue = createQueue();
  let last: Promise<unknown> = Promise.resolve();
  return {
    recordLater(event: Draft<Event>) {
      last = queue(() => record(event));
      // Safe: whoever waits for the record gets the failure.
      last.catch(() => {});
      return last;
    },
    /** All that was told is on the record. */
    recorded: () => last,
  };
}

function answerOf(handled: Handled | null, outcome: Outcome | null): StopAnswer {
  const { answer = null, decision = null } = handled ?? {};
  if (answer === null || answer.answer === 'wait' || decision === null)
    throw new UntildoneError(
      'invalid-event',
      'The engine gave no answer to a stop attempt.',
    );
  const { reason, sentence } = decision;
  return { answer: answer.answer, reason, sentence, text: answer.text, outcome };
}

function createTools(begun: BegunSession, ready: () => Promise<unknown>) {
  const tools = begun.todoTools().map(({ name, description, inputSchema, call }) => {
    const execute = async (input: unknown) => {
      await ready();
      const result = await call(input);
      await begun.record({ type: 'tool-ended', tool: name, access: 'todo', error: null });
      return result.ok ? result.output : { error: result.error.message };
    };
    const schema = toolSchema(inputSchema);
    const tool: SessionTool = { description, inputSchema: schema, execute };
    return [name, tool];
  });
  return Object.fromEntries(tools) as Session['tools'];
}

const attemptFields = object({ text: optional(anyText()), end: optional(stopEnd) });

function readAttempt(attempt: StopAttempt): StopAttempt {
  const known = read(attemptFields, attempt, 1);
  if (!known.ok) throw wrongUse(`stop: ${known.problems.map(problemSentence).join(' ')}`);
  const unknown = Object.keys(attempt).find(
    (name) => !Object.hasOwn(attemptFields.fields, name),
  );
  if (unknown === undefined) return attempt;
  throw wrongUse(`stop: ${excerpt(unknown)} is unknown; it takes text and end.`);
}
