// `openSession`: holds an agent that someone else's program runs. It keeps the plan, runs
// the checks and answers every stop attempt; it calls no model. It judges as `untildone
// run` does (V1).
import { resolve } from 'node:path';
import { allowedProposal } from '../core/check-specs.ts';
import type { Decision, Outcome } from '../core/decision.ts';
import { messageOf, UntildoneError } from '../core/error.ts';
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
import { explainDecision, recordedEvents } from '../engine/session-record.ts';
import type { Store } from '../engine/store.ts';
import { createQueue, onAbort } from '../engine/system.ts';
import { openSqliteStore, openUserStore } from '../store/sqlite/sqlite-store.ts';
import { createTodoTools, type TodoToolName } from '../tools/todo-tools.ts';
import {
  type ToolFormat,
  type ToolFormats,
  type ToolSchema,
  todoToolFormat,
  toolSchema,
} from '../tools/tool-formats.ts';
import { type BegunSession, beginSession } from './begin-session.ts';
import { type Reply, readReply } from './reply.ts';
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
type AgentCall = (messages: never[]) => AgentAnswer | PromiseLike<AgentAnswer>;
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
  return createSession(options, opened, () => opened.close()).catch(
    async (error: unknown) => {
      await opened.close();
      throw error;
    },
  );
}

async function createSession(
  options: OpenedOptions,
  whole: Store,
  closeStore: () => Promise<void>,
): Promise<Session> {
  const { id: sessionId, clock, signal } = options;
  const begun = await beginSession(options, whole, sitOut);
  const { store, engine, base, record, latest } = begun;
  const history: unknown[] = begun.words.map(fromUser);
  let toolError: string | null = null;
  let isLeft = false;
  let isHeld = false;
  let isUnusedTold = false;
  /** Ends the wait of a stop: something was told that may have ended its cause. */
  let wake = () => {};

  /** In order, and on the record before anything is asked. */
  const queue = createQueue();
  let recorded: Promise<unknown> = Promise.resolve();
  function recordLater(event: Draft<Event>) {
    recorded = queue(() => record(event));
    // Safe: whoever waits for the record gets the failure.
    recorded.catch(() => {});
    return recorded;
  }
  const closedError = () => wrongUse(`The session ${excerpt(sessionId)} is closed.`);
  async function ready() {
    if (isLeft) throw closedError();
    await recorded;
  }
  const abort = () =>
    void recordLater({ type: 'human-aborted', how: 'the signal of the program' });
  const stopListening = onAbort(signal, abort);

  /** One after the other: a second attempt would take the answer of the first. */
  const stopQueue = createQueue();
  const stop = (attempt: StopAttempt = {}) => stopQueue(() => askToStop(attempt));

  async function askToStop(attempt: StopAttempt): Promise<StopAnswer> {
    const { text = null, end } = readAttempt(attempt);
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
      const { answer, decision } = (await begun.awaitAnswer(first)) ?? first;
      if (answer === null || answer.answer === 'wait' || decision === null)
        throw new UntildoneError(
          'invalid-event',
          'The engine gave no answer to a stop attempt.',
        );
      const { reason, sentence } = decision;
      const outcome = begun.outcome();
      return { answer: answer.answer, reason, sentence, text: answer.text, outcome };
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

  /** The error is the program's own; what it means for the work is on the record. */
  async function noteFailure(error: unknown) {
    const name = error instanceof Error ? error.name : 'Error';
    if (signal.aborted || name === 'AbortError') return stop({ end: 'cancelled' });
    const message = messageOf(error).slice(0, 2000);
    const about = {
      signature: `${name}: ${message.slice(0, 200)}`,
      message,
      retryAt: null,
    };
    await record({ type: 'error-occurred', kind: 'other', ...about });
    return stop({ end: 'error' });
  }

  async function callAgent(agent: AgentCall) {
    try {
      signal.throwIfAborted();
      const answer = await agent([...history] as never[]);
      return { answer, reply: await readReply(answer, history) };
    } catch (error) {
      if (!(error instanceof UntildoneError) && !isLeft) await noteFailure(error);
      throw error;
    }
  }

  async function note({ messages, usage, asks }: Reply) {
    history.push(...messages);
    const isPending = latest().waits.permissions.includes(approval.requestId);
    if (asks && !isPending) await record({ type: 'wait-started', wait: approval });
    if (!asks && isPending)
      await record({ type: 'wait-ended', wait: { ...approval, granted: true } });
    const unknown = { cost: null, contextTokens: null, contextLimit: null };
    if (usage !== null) await record({ type: 'usage-reported', ...usage, ...unknown });
  }

  async function holdAgent(agent: AgentCall) {
    for (;;) {
      const { answer, reply } = await callAgent(agent);
      await ready();
      await note(reply);
      const { text } = await stop({ text: reply.text, end: reply.end });
      await recorded;
      if (text === null) await tellUnused();
      if (text === null || signal.aborted) return answer;
      history.push(fromUser(text));
    }
  }

  /**
   * Whoever forgot to pass the tools on sees only an agent that never plans. Work that is
   * `done` needed none.
   */
  async function tellUnused() {
    if (
      isUnusedTold ||
      !['claimed', 'exhausted', 'stagnant'].includes(begun.outcome() ?? '')
    )
      return;
    for await (const event of recordedEvents(store, sessionId))
      if (event.type === 'tool-ended' && event.access === 'todo') return;
    isUnusedTold = true;
    options.onNotice(
      'The agent called no todo tool: if it is to keep a plan, pass session.tools to it.',
    );
  }

  async function leave() {
    isLeft = true;
    stopListening();
    wake();
    try {
      await recorded;
      await record({ type: 'session-closed' });
    } finally {
      await begun.release();
    }
  }

  const session: Session = {
    id: sessionId,
    tools: createTools(options, begun, ready),
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
    async hold(agent: AgentCall) {
      await ready();
      if (typeof agent !== 'function')
        throw wrongUse(
          `hold: must be a function that calls the agent, got ${excerpt(agent)}`,
        );
      if (isHeld)
        throw wrongUse('hold: the agent is held already: wait until that has ended.');
      if (history.length === 0)
        throw wrongUse(
          'hold: there is nothing to say to the agent: give openSession a goal.',
        );
      isHeld = true;
      const held = begun.goOn().then(() => holdAgent(agent));
      return (await held.finally(() => {
        isHeld = false;
      })) as never;
    },
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
      if (type === 'human-spoke' && event.text?.trim())
        history.push(fromUser(event.text));
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
      const other = createSession(
        { ...options, goal: undefined, checks: [], id },
        whole,
        closeStore,
      );
      return other.catch(async (error: unknown) => {
        await closeStore();
        throw error;
      });
    },
    async close() {
      // The store is closed, or another session's by now.
      if (isLeft) return;
      await leave().finally(closeStore);
    },
  };
  return session;
}

/** What an agent waits for whose answer says only that it waits. */
const approval = { kind: 'permission', requestId: 'approval' } as const;

const wrongUse = (sentence: string) => new UntildoneError('usage', sentence);
const fromUser = (content: string) => ({ role: 'user', content });

function createTools(
  { id: sessionId, clock, identifiers }: OpenedOptions,
  begun: BegunSession,
  ready: () => Promise<unknown>,
) {
  const { engine, store, record, settings } = begun;
  const resolveCheck = (proposal: string) => allowedProposal(settings(), proposal);
  const context = {
    engine,
    store,
    sessionId,
    actor: 'agent',
    clock,
    identifiers,
    resolveCheck,
  } as const;
  const tools = createTodoTools(context).map(
    ({ name, description, inputSchema, call }) => {
      const execute = async (input: unknown) => {
        await ready();
        const result = await call(input);
        await record({ type: 'tool-ended', tool: name, access: 'todo', error: null });
        return result.ok ? result.output : { error: result.error.message };
      };
      return [
        name,
        {
          description,
          inputSchema: toolSchema(inputSchema),
          execute,
        } satisfies SessionTool,
      ];
    },
  );
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
