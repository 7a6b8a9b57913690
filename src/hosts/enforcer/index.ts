// The idle enforcer, `untildone/enforcer`, for any program with an event bus: when a session goes idle with open todos, it
// counts down and sends the agent back to work; any sign of life stops it (E1–E6). It never throws into the bus.
import { validateConfig } from '../../core/config.ts';
import { UntildoneError } from '../../core/error.ts';
import type { AgentDescriptor, EventOf as CoreEventOf } from '../../core/events.ts';
import { problemSentence } from '../../core/problem.ts';
import { endsInQuestion, oneLine } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import { isOpen } from '../../core/todo.ts';
import type { OutgoingText } from '../../engine/host.ts';
import type { OutboxRow } from '../../engine/store.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { createConfiguration } from '../../open.ts';
import { openUserStore } from '../../store/sqlite/sqlite-store.ts';
import { createTold, isNews, keepNewest, type Memory } from '../told.ts';
import { readHostError, withinTime } from '../untrusted.ts';
import {
  createProgram,
  type EnforcerEvent,
  type EnforcerEventName,
  type EnforcerMessage,
  type EnforcerOptions,
  type EventOf,
  enforcerEvents,
  findOwn,
  isShown,
  readEnforcerEvent,
  readId,
} from './translate.ts';

export type { Toast } from '../told-runtime.ts';
export {
  type EnforcerAgent,
  type EnforcerEvent,
  type EnforcerEventName,
  type EnforcerMessage,
  type EnforcerOptions,
  type EnforcerTodo,
  enforcerEvents,
  type InjectOptions,
} from './translate.ts';

export interface Enforcer {
  readonly name: string;
  readonly description: string;
  readonly priority: number;
  /** The names of the events to deliver; the handler leaves all others alone. */
  readonly events: readonly EnforcerEventName[];
  /** Settles when the event was dealt with. Never rejects. Events of one session are dealt with in order. */
  handler(event: EnforcerEvent): Promise<void>;
  /** The program mends the session by itself: nothing is sent until it says that it is complete (E3). */
  markRecovering(sessionId: string): Promise<void>;
  markRecoveryComplete(sessionId: string): Promise<void>;
  /** A clean end: countdowns are cancelled, nothing is sent any more. Never rejects; may be called twice. */
  dispose(): Promise<void>;
}

function createMemory() {
  return {
    /** The last idle, if nothing happened since, and what stood at the end of the messages then. */
    idle: null as { readonly mark: string | null } | null,
    /** The last that happened was an error; or an abort. */
    errored: false,
    aborted: false,
    /** The human's last message as it was told. */
    asked: null as EnforcerMessage | null,
    /** The messages were read once: an unknown one is new from then on. */
    looked: false,
    /** An assistant's message without an id was told since the last idle. */
    active: false,
    /** Messages of the human that were seen before their event came. */
    untold: new Set<string>(),
  };
}
type SessionMemory = Memory<ReturnType<typeof createMemory>>;
type Perform = {
  readonly [Name in EnforcerEventName]: (memory: SessionMemory, event: EventOf<Name>) => Promise<unknown>;
};

/** It is part of every id that we keep, and of the name by which countdowns are found again. */
const longestName = 60;
/** Messages that were seen before their event: more are not on their way at once. */
const mostUntold = 200;
/**
 * Some programs answer only when the whole turn is over. After this time the text counts as taken; the watchdog sees
 * whether anything follows. Other sessions' countdowns wait meanwhile.
 */
const injectPatienceMs = 2000;
/** How long a word about a turn's end is shown; a countdown's toasts have a setting of their own. */
const noticeDurationMs = 5000;
/** A look at the number of background jobs costs one callback; a human does not notice the delay. */
const backgroundMs = 2000;
/** More than a program leaves behind; those beyond are looked at when their time has come. */
const mostWaiting = 1000;
/** One entry stands for all: a count has no names. */
const backgroundJob = { id: 'background', kind: 'subagent', description: 'background work' } as const;
/** Something that forbids sending was received and is not written down yet (G4, P19). */
const holding = { why: 'something happened in the session meanwhile' };
const holdsBack = /^(session\.(error|deleted)|(permission|question)\.asked)$/;

export function createEnforcer(options: EnforcerOptions): Enforcer {
  const { name = 'untildone-enforcer', clock = systemClock, environment = process.env } = options;
  const { checker, onError = () => {} } = options;
  if (readId(name) === null || name.length > longestName)
    throw new UntildoneError('invalid-config', `name: must be a text of 1 to ${longestName} characters`);
  const flags = validateConfig(options.settings ?? {});
  if (!flags.ok) throw new UntildoneError('invalid-config', flags.problems.map(problemSentence).join('; '));
  // Over what files and environment say. What cannot be used switches the enforcer off and is told once (C1).
  const configuration = createConfiguration({
    ...{ environment, flags, directory: options.directory ?? null, checker: checker ?? null, rereads: true },
    onProblem: (sentences) => onError(new UntildoneError('invalid-config', sentences.join('; '))),
    get store() {
      return told.store();
    },
  });
  const identifiers = createIdentifiers(clock);
  const program = createProgram(options, clock, onError);
  const told = createTold({
    ...{ name, prefix: `${name}:`, instance: name, clock, identifiers, onError, isAwaited: true },
    openStore: async () => options.store ?? openUserStore(environment, { clock }),
    closesStore: options.store === undefined,
    policy: () => configuration.current(),
    ...(checker === undefined ? {} : { checker: () => checker }),
    watch: followBackground,
    adapter: {
      own: createMemory,
      describe: async (memory) => [await describe(memory), await agentOf(memory)],
      todos: ({ id }) => program.todos(id),
      inject,
      async find({ epoch }, memory) {
        const messages = await program.messages(memory.id);
        if (messages === null) return 'unknown';
        return isShown(await outboxOf(memory), epoch, messages) ? 'present' : 'absent';
      },
      // Of a session that this process has heard nothing of, nothing runs.
      isIdle: async ({ id, opened, idle }) =>
        (await program.isIdle(id)) ?? (opened === null || idle !== null),
      async lookAgain(memory, session) {
        await lookForActivity(memory);
        await lookAtBackground(memory, session);
      },
      toast: async ({ id }, toast) => options.toast?.(id, toast),
      notify: async ({ id }, notice) => options.toast?.(id, { ...notice, durationMs: noticeDurationMs }),
    },
  });
  /** Stops that wait for background work. */
  const waiting = new Map<string, Session>();
  let cancelLook: (() => void) | null = null;

  async function inject(outgoing: OutgoingText, memory: SessionMemory) {
    const { key, text, session, epoch } = outgoing;
    const { name: agent, model, variant } = session.agent;
    // Called in this very moment: after a detour the human might have acted.
    const sending = (async () => options.inject(memory.id, text, { agent, model, variant, key }))();
    let answered = false;
    sending.catch((cause: unknown) => {
      if (!answered) return;
      // Refused after it counted as taken: the engine sends it again, unless it was seen meanwhile.
      onError(cause);
      const error = String(cause).slice(0, 500);
      const late = { type: 'delivery-reported', epoch, news: 'failed', error } as const;
      told.tell(memory, late, `refused/${epoch}/${session.injection?.attempts ?? 0}`).catch(onError);
    });
    const answer = await withinTime(clock, injectPatienceMs, () => sending);
    answered = true;
    if (answer.answered || answer.late) return { taken: true } as const;
    onError(answer.error);
    return { taken: false, error: String(answer.error).slice(0, 500) } as const;
  }

  async function describe({ id }: SessionMemory) {
    const { directory = null, headless = false, seesTools = true, tools = {} } = options;
    const facts = { kind: await program.kind(id), parentId: null, directory, headless, immediate: false };
    const named = { pause: tools.pause ?? null, verify: tools.verify ?? null };
    return { ...facts, everyAgentWrites: options.agentInfo === undefined, seesTools, tools: named };
  }

  /** Those of the human's last message; before one is known, as the store has them. null: as it was. */
  async function agentOf(memory: SessionMemory): Promise<AgentDescriptor | null> {
    const { asked } = memory;
    const known = asked === null ? (await told.record(memory))?.agent : undefined;
    const { agent = known?.name ?? null, model = known?.model ?? null } = asked ?? {};
    const { variant = known?.variant ?? null } = asked ?? {};
    if (options.agentInfo === undefined && (asked === null || (agent === null && model === null)))
      return null;
    const info = await program.agentInfo(memory.id, agent);
    return { name: agent ?? info.name, canWrite: info.canWrite, model, variant };
  }

  async function outboxOf({ stored }: SessionMemory): Promise<readonly OutboxRow[]> {
    return told.store().outbox({ sessionId: stored });
  }

  const perform: Perform = {
    'session.idle': idled,
    'session.error'(memory, { error }) {
      const read = readHostError(error, clock.now());
      Object.assign(memory, read.type === 'human-aborted' ? { aborted: true } : { errored: true });
      return told.tell(memory, read);
    },
    'session.deleted': (memory) => told.tell(memory, { type: 'session-deleted' }),
    'message.updated': messageSeen,
    'message.after': messageSeen,
    'tool.before'(memory, { tool }) {
      wake(memory);
      return told.tell(memory, { type: 'tool-started', tool, access: program.toolAccess(tool) });
    },
    async 'tool.after'(memory, { tool, error }) {
      const call = { tool, access: program.toolAccess(tool) };
      wake(memory);
      memory.toolError = error == null ? null : oneLine(error, 500);
      await told.tell(memory, { type: 'tool-ended', ...call, error: memory.toolError });
      // Read when it changes, so that work between two changes is seen as such (V4).
      if (call.access === 'todo') await told.takeList(memory);
    },
    'permission.asked': (memory, { requestId }) => begins(memory, { kind: 'permission', requestId }),
    'permission.answered': (memory, { requestId, granted }) =>
      ends(memory, { kind: 'permission', requestId, granted }),
    'question.asked': (memory, { requestId }) => begins(memory, { kind: 'question', requestId }),
    'question.answered': (memory, { requestId, rejected = false }) =>
      ends(memory, { kind: 'question', requestId, rejected }),
    'compaction.started': (memory) => begins(memory, { kind: 'compaction' }),
    'compaction.ended': (memory) => ends(memory, { kind: 'compaction', shrunk: true }),
  };

  function begins(memory: SessionMemory, wait: CoreEventOf<'wait-started'>['wait']): Promise<unknown> {
    return told.tell(memory, { type: 'wait-started', wait });
  }

  function ends(memory: SessionMemory, wait: CoreEventOf<'wait-ended'>['wait']): Promise<unknown> {
    return told.tell(memory, { type: 'wait-ended', wait });
  }

  async function messageSeen(
    memory: SessionMemory,
    { message }: EventOf<'message.after' | 'message.updated'>,
  ) {
    if (message.role === 'user') await userSpoke(memory, message);
    else await assistantSpoke(memory, message.id);
  }

  async function idled(memory: SessionMemory, { end }: EventOf<'session.idle'>): Promise<void> {
    const { question, overtaken, mark } = await lookAtMessages(memory);
    if (overtaken) {
      // Its event waits behind this one, or it never comes: then the session would idle for ever without a word.
      if (memory.waiting === 1) onError(unheard(memory.id));
      return;
    }
    await told.open(memory);
    const isKnown = await told.takeList(memory);
    // That nothing is open cannot be said of a list that nobody could read; the next idle reads it again.
    if (!isKnown && !(await told.record(memory))?.plan.some(isOpen)) return;
    const count = await program.background(memory.id);
    Object.assign(memory, { idle: { mark }, active: false });
    await told.tell(memory, {
      type: 'stop-attempted',
      end: end ?? (memory.errored ? 'error' : 'normal'),
      question,
      fingerprint: null,
      background: count === null ? null : count > 0 ? [backgroundJob] : [],
      toolError: memory.toolError,
    });
  }

  async function assistantSpoke(memory: SessionMemory, id: string | undefined): Promise<void> {
    // A message grows in many events, and late ones follow the idle: one of them says all there is to say.
    if (id === undefined ? memory.active : !isNews(memory, `assistant ${id}`)) return;
    memory.active = true;
    wake(memory);
    await told.tell(memory, { type: 'activity-seen' });
  }

  /** Ours comes back as a sign of delivery; one that is known already is an echo and means nothing (E2). */
  async function userSpoke(memory: SessionMemory, message: EnforcerMessage): Promise<void> {
    const { id } = message;
    if (id !== undefined) memory.untold.delete(id);
    if (id !== undefined && memory.heard.has(`user ${id}`)) return;
    const isBare = message.text === undefined && message.key === undefined;
    const whole = isBare && id !== undefined ? await lookUp(memory, message) : message;
    const epoch = findOwn(await outboxOf(memory), whole);
    if (epoch === null) return humanSpoke(memory, whole);
    if (id !== undefined) isNews(memory, `user ${id}`);
    await told.observed(memory, epoch);
  }

  /** Some programs tell of a message before its text: stop words and our own texts are known only by it. */
  async function lookUp(memory: SessionMemory, message: EnforcerMessage): Promise<EnforcerMessage> {
    const messages = await program.messages(memory.id);
    const found = messages?.findLast(({ id, role }) => id === message.id && role === 'user');
    if (found === undefined) return message;
    const { agent = found.agent, model = found.model, variant = found.variant } = message;
    return { ...found, agent, model, variant };
  }

  async function humanSpoke(memory: SessionMemory, message: EnforcerMessage): Promise<void> {
    const { id: messageId = null, text = null } = message;
    if (messageId !== null) isNews(memory, `user ${messageId}`);
    memory.asked = message;
    wake(memory);
    const agent = await told.open(memory);
    const said = { type: 'human-spoke', messageId, text, turnId: identifiers.next(), agent } as const;
    await told.tell(memory, { ...said, fingerprint: null, policyHash: null });
  }

  /**
   * Tells what the messages show and no event said (G5). `overtaken`: someone has spoken since the agent stopped, and the
   * event of it is still on its way. `mark`: what stands at the end; another one later: the agent has gone on writing.
   */
  async function lookAtMessages(memory: SessionMemory) {
    const nothing = { question: false, overtaken: false, mark: null };
    const messages = await program.messages(memory.id);
    if (messages === null) return nothing;
    const isFirst = !memory.looked;
    memory.looked = true;
    const rows = await outboxOf(memory);
    const asked = messages.filter((message) => message.role === 'user' && findOwn(rows, message) === null);
    await noticeHumans(memory, asked);
    const last = asked.at(-1);
    const since = last === undefined ? messages : messages.slice(messages.lastIndexOf(last) + 1);
    const answer = since.findLast(({ role }) => role === 'assistant');
    if (answer === undefined)
      return { ...nothing, overtaken: last?.id !== undefined && memory.untold.has(last.id) };
    const overtaken = await noticeAnswer(memory, answer, isFirst);
    const { id = '', text = '', error } = answer;
    const read = error === undefined || id === '' ? null : readHostError(error, clock.now());
    // Once per message: a human who has resumed since is not stopped again by the same trace.
    if (read?.type === 'human-aborted' && !memory.aborted) await told.tell(memory, read, `aborted/${id}`);
    return { question: endsInQuestion(text), overtaken, mark: `${id}:${text.length}` };
  }

  /** In order, all that no event has told: the last word of the human must be the last that we hear. */
  async function noticeHumans(memory: SessionMemory, asked: readonly EnforcerMessage[]): Promise<void> {
    const recorded = (await told.record(memory))?.humanMessageIds ?? [];
    // Without an id nobody can say whether it was told before.
    const named = asked.flatMap(({ id, ...rest }) => (id === undefined ? [] : [{ ...rest, id }]));
    const known = named.findLastIndex(({ id }) => memory.heard.has(`user ${id}`) || recorded.includes(id));
    // Of a conversation that began without us only the last word counts; the rest must not be taken for news later.
    const news = known === -1 ? named.slice(-1) : named.slice(known + 1);
    for (const message of named) if (!news.includes(message)) isNews(memory, `user ${message.id}`);
    for (const message of news) {
      keepNewest(memory.untold.add(message.id), mostUntold);
      await humanSpoke(memory, message);
    }
    memory.asked ??= asked.at(-1) ?? null;
  }

  /**
   * What stood there when this process first looked is not news: a restart must not cancel a countdown. True: its own
   * event waits behind this one and will tell it.
   */
  async function noticeAnswer(
    memory: SessionMemory,
    { id }: EnforcerMessage,
    isFirst: boolean,
  ): Promise<boolean> {
    if (id === undefined || memory.heard.has(`assistant ${id}`)) return false;
    if (isFirst) isNews(memory, `assistant ${id}`);
    else if (memory.waiting > 1) return true;
    else await assistantSpoke(memory, id);
    return false;
  }

  /** At the end of a countdown: a program that is busy again, or whose last answer has grown, is not interrupted. */
  async function lookForActivity(memory: SessionMemory): Promise<void> {
    const { mark } = await lookAtMessages(memory);
    const before = memory.idle?.mark ?? null;
    const hasGrown = before !== null && mark !== null && mark !== before;
    const isBusy = (await program.isIdle(memory.id)) === false;
    if (hasGrown || isBusy) await told.tell(memory, { type: 'activity-seen' });
  }

  /** The record follows the count; a job that ended lets a stop that waits for it be decided again. */
  async function lookAtBackground(memory: SessionMemory, { jobs }: Session): Promise<void> {
    const count = await program.background(memory.id);
    const isKnown = jobs.some(({ id }) => id === backgroundJob.id);
    if (count !== null && count > 0 && !isKnown)
      await begins(memory, { kind: 'background', job: backgroundJob });
    if (count === 0 && isKnown) await ends(memory, { kind: 'background', jobId: backgroundJob.id });
  }

  /**
   * While a stop waits for background work of which the program gives only a number, the number is asked for again: no
   * event would tell that it fell to zero, and a wait must end by itself when its cause ends (G3).
   */
  function followBackground(session: Session): void {
    if (session.parked?.cause === 'background') waiting.set(session.id, session);
    else waiting.delete(session.id);
    if (waiting.size > 0) cancelLook ??= clock.wake(clock.now() + backgroundMs, lookAtAll);
  }

  async function lookAtAll(): Promise<void> {
    for (const { id } of [...waiting.values()]) {
      const session = waiting.get(id);
      if (session !== undefined) await lookAtBackground(told.ofStored(id), session).catch(onError);
    }
    cancelLook = waiting.size === 0 ? null : clock.wake(clock.now() + backgroundMs, lookAtAll);
  }

  /** Sessions that a process before us left waiting. */
  async function resumeLooking(): Promise<void> {
    if (!(await told.ready)) return;
    const store = told.store();
    const { due } = await store.timers(told.instance(), Number.MAX_SAFE_INTEGER, mostWaiting);
    for (const { sessionId } of due) {
      const session = await store.state(sessionId);
      if (session !== null) followBackground(session);
    }
  }
  resumeLooking().catch(onError);

  async function mark(sessionId: string, type: 'wait-started' | 'wait-ended'): Promise<void> {
    if (readId(sessionId) === null) onError(new UntildoneError('invalid-event', 'a mark needs a session'));
    else await told.after(sessionId, (memory) => told.tell(memory, { type, wait: { kind: 'recovery' } }));
  }

  async function performAny(memory: SessionMemory, event: EnforcerEvent): Promise<void> {
    if (memory.opened === null && event.type !== 'session.deleted') await told.open(memory);
    await (perform[event.type] as (memory: SessionMemory, event: EnforcerEvent) => Promise<unknown>)(
      memory,
      event,
    );
  }

  return {
    name,
    description: options.description ?? 'Sends an idle agent back to its open todos until they are done.',
    priority: options.priority ?? 40,
    events: enforcerEvents,
    async handler(event) {
      const read = readEnforcerEvent(event);
      if (read.read === 'broken') onError(new UntildoneError('invalid-event', read.sentence));
      if (read.read !== 'event') return;
      const { type, sessionId } = read.event;
      const isHuman = 'message' in read.event && read.event.message.role === 'user';
      const hold = isHuman || holdsBack.test(type) ? holding : undefined;
      await told.after(sessionId, (memory) => performAny(memory, read.event), hold);
    },
    markRecovering: (sessionId) => mark(sessionId, 'wait-started'),
    markRecoveryComplete: (sessionId) => mark(sessionId, 'wait-ended'),
    dispose() {
      waiting.clear();
      cancelLook?.();
      return told.end();
    },
  };
}

/** The agent works: what ended its last step is past. */
function wake(memory: SessionMemory): void {
  Object.assign(memory, { idle: null, errored: false, toolError: null, aborted: false });
}

function unheard(sessionId: string): UntildoneError {
  const what = `session.idle of ${oneLine(sessionId, 80)}: the last message is the human's, and no message.updated`;
  return new UntildoneError('invalid-event', `${what} told of it; the idle was left alone`);
}
