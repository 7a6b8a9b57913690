// The idle enforcer, `untildone/enforcer`, for any program with an event bus: counts an idle session with open todos down and
// sends it back to work; any sign of life stops that (E1–E6). It never throws into the bus.
import { validateConfig } from '../../core/config.ts';
import { UntildoneError } from '../../core/error.ts';
import type { AgentDescriptor } from '../../core/events.ts';
import { problemSentence } from '../../core/problem.ts';
import { endsInQuestion, oneLine } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import { isOpen } from '../../core/todo.ts';
import type { OutboxRow } from '../../engine/store.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { createTold, type Happening, isNews, type Memory, waitEnded, waitStarted } from '../told.ts';
import { readHostError } from '../untrusted.ts';
import type { EnforcerEvent, EnforcerMessage, EnforcerOptions, EventOf } from './translate.ts';
import { createProgram, enforcerEvents, findOwn, isShown, readEnforcerEvent, readId } from './translate.ts';

export type { EnforcerAgent, EnforcerEvent, EnforcerEventName, EnforcerMessage, Toast } from './translate.ts';
export { type EnforcerOptions, type EnforcerTodo, enforcerEvents, type InjectOptions } from './translate.ts';

function createMemory() {
  return {
    /** Null: something happened since. `mark`: the end of the messages then. */
    idle: null as { readonly mark: string | null } | null,
    errored: false,
    aborted: false,
    asked: null as EnforcerMessage | null,
    /** Messages were read: an unknown one is new. */
    looked: false,
    active: false,
    /** Seen before their event came. */
    untold: new Set<string>(),
  };
}
type SessionMemory = Memory<ReturnType<typeof createMemory>>;
type Perform<Event> = (memory: SessionMemory, event: Event) => Promise<unknown>;

/** It is part of every id that we keep. */
const longestName = 60;
const backgroundMs = 2000;
const backgroundJob = { id: 'background', kind: 'subagent', description: 'background work' } as const;
const happened = { why: 'something happened in the session meanwhile' };
const holdsBack = /^(session\.(error|deleted)|(permission|question)\.asked)$/;

export type Enforcer = ReturnType<typeof createEnforcer>;
export function createEnforcer(options: EnforcerOptions) {
  const { name = 'untildone-enforcer', clock = systemClock, environment = process.env } = options;
  const { checker = null, directory = null, onError = () => {} } = options;
  if (readId(name) === null || name.length > longestName)
    throw new UntildoneError('invalid-config', `name: must be a text of 1 to ${longestName} characters`);
  const flags = validateConfig(options.settings ?? {});
  if (!flags.ok) throw new UntildoneError('invalid-config', flags.problems.map(problemSentence).join('; '));
  const program = createProgram(options, clock, onError);
  const told = createTold({
    ...{ name, prefix: `${name}:`, instance: name, clock, environment, checker, onError },
    ...{ identifiers: createIdentifiers(clock), store: options.store, watch: followBackground },
    ...{ directory, flags, rereads: true },
    // It switches the enforcer off, and is told once (C1).
    onProblem: (sentences) => onError(new UntildoneError('invalid-config', sentences.join('; '))),
    adapter: {
      own: createMemory,
      async describe(memory) {
        const { headless = false, seesTools = true, tools: { pause = null, verify = null } = {} } = options;
        const kind = await program.kind(memory.id);
        const facts = { kind, parentId: null, directory, headless, immediate: false, seesTools };
        const everyAgentWrites = options.agentInfo === undefined;
        return [{ ...facts, everyAgentWrites, tools: { pause, verify } }, await agentOf(memory)];
      },
      todos: ({ id }) => program.todos(id),
      async inject({ key, text, session }, { id }) {
        const { name: agent, model, variant } = session.agent;
        try {
          await options.inject(id, text, { agent, model, variant, key });
          return null;
        } catch (error) {
          // Safe: the engine hears of it, and sends it again.
          onError(error);
          return String(error).slice(0, 500);
        }
      },
      async find({ epoch }, memory) {
        const messages = await program.messages(memory.id);
        if (messages === null) return 'unknown';
        return isShown(await outboxOf(memory), epoch, messages) ? 'present' : 'absent';
      },
      // Nothing runs in one that this process has not heard of.
      isIdle: async ({ id, opened, idle }) =>
        (await program.isIdle(id)) ?? (opened === null || idle !== null),
      async lookAgain(memory) {
        const { mark } = await lookAtMessages(memory);
        const before = memory.idle?.mark ?? null;
        const hasGrown = before !== null && mark !== null && mark !== before;
        if (hasGrown || (await program.isIdle(memory.id)) === false)
          await told.tell(memory, { type: 'activity-seen' });
        await lookAtBackground(memory);
      },
      show: async ({ id }, toast) => options.toast?.(id, { durationMs: 5000, ...toast }),
    },
  });
  const waiting = new Set<string>();
  let cancelLook: (() => void) | null = null;
  const complain = (sentence: string) => onError(new UntildoneError('invalid-event', sentence));

  async function agentOf(memory: SessionMemory): Promise<AgentDescriptor | null> {
    const { asked } = memory;
    if (options.agentInfo === undefined && !asked?.agent && !asked?.model) return null;
    const { agent = null, model = null, variant = null } = asked ?? {};
    const recorded = asked === null ? (await told.record(memory))?.agent : undefined;
    const known = recorded ?? { name: agent, model, variant };
    const info = await program.agentInfo(memory.id, known.name);
    return { ...known, name: known.name ?? info.name, canWrite: info.canWrite };
  }

  const outboxOf = ({ stored }: SessionMemory): Promise<readonly OutboxRow[]> =>
    told.store().outbox({ sessionId: stored });

  function tells<Event>(happeningOf: (event: Event) => Happening): Perform<Event> {
    return (memory, event) => told.tell(memory, happeningOf(event));
  }

  const perform: { readonly [Name in EnforcerEvent['type']]: Perform<EventOf<Name>> } = {
    'session.idle': idled,
    'session.error'(memory, { error }) {
      const read = readHostError(error, clock.now());
      Object.assign(memory, read.type === 'human-aborted' ? { aborted: true } : { errored: true });
      return told.tell(memory, read);
    },
    'session.deleted': tells(() => ({ type: 'session-deleted' })),
    'message.updated': messageSeen,
    'message.after': messageSeen,
    'tool.before'(memory, { tool }) {
      wake(memory);
      return told.tell(memory, { type: 'tool-started', tool, access: program.toolAccess(tool) });
    },
    async 'tool.after'(memory, { tool, error: said }) {
      const access = program.toolAccess(tool);
      const error = said == null ? null : oneLine(said, 500);
      wake(memory, error);
      await told.tell(memory, { type: 'tool-ended', tool, access, error });
      // So that work between two changes is seen as such (V4).
      if (access === 'todo') await told.takeList(memory);
    },
    'permission.asked': tells(({ requestId }) => waitStarted({ kind: 'permission', requestId })),
    'permission.answered': tells(({ requestId, granted }) =>
      waitEnded({ kind: 'permission', requestId, granted }),
    ),
    'question.asked': tells(({ requestId }) => waitStarted({ kind: 'question', requestId })),
    'question.answered': tells(({ requestId, rejected = false }) =>
      waitEnded({ kind: 'question', requestId, rejected }),
    ),
    'compaction.started': tells(() => waitStarted({ kind: 'compaction' })),
    'compaction.ended': tells(() => waitEnded({ kind: 'compaction', shrunk: true })),
  };

  async function idled(memory: SessionMemory, { end }: EventOf<'session.idle'>) {
    const { id } = memory;
    const { question, overtaken, mark } = await lookAtMessages(memory);
    if (overtaken) {
      // Its event waits behind this one, or never comes.
      if (memory.waiting > 1) return;
      return complain(
        `session.idle of ${oneLine(id, 80)}: the last message is the human's, and no message.updated told of it; the idle was left alone`,
      );
    }
    await told.open(memory);
    const isKnown = await told.takeList(memory);
    // Nothing is concluded; the next idle reads it again.
    if (!isKnown && !(await told.record(memory))?.plan.some(isOpen)) return;
    const count = await program.background(id);
    Object.assign(memory, { idle: { mark }, active: false });
    await told.tell(memory, {
      type: 'stop-attempted',
      end: end ?? (memory.errored ? 'error' : 'normal'),
      ...{ question, fingerprint: null, toolError: memory.toolError },
      background: count === null ? null : count > 0 ? [backgroundJob] : [],
    });
  }

  /** Ours is a sign of delivery, a known one an echo (E2). */
  async function messageSeen(memory: SessionMemory, event: EventOf<'message.after' | 'message.updated'>) {
    const { id, role, text, key } = event.message;
    if (role === 'assistant') return assistantSpoke(memory, id);
    if (id !== undefined) memory.untold.delete(id);
    if (id !== undefined && !isNews(memory, `user ${id}`)) return;
    // Some programs tell of it before its text, by which our own and stop words are known.
    const isBare = id !== undefined && text === undefined && key === undefined;
    const shown = isBare ? await program.messages(memory.id) : null;
    const found = shown?.findLast((one) => one.id === id && one.role === 'user');
    const message = { ...found, ...event.message };
    const epoch = findOwn(await outboxOf(memory), message);
    await (epoch === null ? humanSpoke(memory, message) : told.observed(memory, epoch));
  }

  async function assistantSpoke(memory: SessionMemory, id: string | undefined) {
    // It grows in many events, some after the idle.
    if (id === undefined ? memory.active : !isNews(memory, `assistant ${id}`)) return;
    memory.active = true;
    wake(memory);
    await told.tell(memory, { type: 'activity-seen' });
  }

  async function humanSpoke(memory: SessionMemory, message: EnforcerMessage) {
    memory.asked = message;
    wake(memory);
    await told.humanSpoke(memory, message);
  }

  /** Tells what no event said (G5). `overtaken`: an event is on its way. `mark`: grows as the agent writes. */
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
    const { id = '', text = '', error } = answer;
    let overtaken = false;
    if (id !== '' && !memory.heard.has(`assistant ${id}`)) {
      // It stood there before us: a restart must not cancel a countdown.
      if (isFirst) isNews(memory, `assistant ${id}`);
      else if (memory.waiting > 1) overtaken = true;
      else await assistantSpoke(memory, id);
    }
    const read = error === undefined || id === '' ? null : readHostError(error, clock.now());
    // Once: a human may have resumed since.
    if (read?.type === 'human-aborted' && !memory.aborted) await told.tell(memory, read, `aborted/${id}`);
    return { question: endsInQuestion(text), overtaken, mark: `${id}:${text.length}` };
  }

  async function noticeHumans(memory: SessionMemory, asked: readonly EnforcerMessage[]) {
    const recorded = (await told.record(memory))?.humanMessageIds ?? [];
    const named = asked.flatMap(({ id, ...rest }) => (id === undefined ? [] : [{ ...rest, id }]));
    const known = named.findLastIndex(({ id }) => memory.heard.has(`user ${id}`) || recorded.includes(id));
    // Of one that began without us only the last word counts.
    const news = known === -1 ? named.slice(-1) : named.slice(known + 1);
    for (const { id } of named) isNews(memory, `user ${id}`);
    for (const message of news) {
      isNews({ heard: memory.untold }, message.id);
      await humanSpoke(memory, message);
    }
    memory.asked ??= asked.at(-1) ?? null;
  }

  async function lookAtBackground(memory: SessionMemory) {
    const count = await program.background(memory.id);
    const { id: jobId } = backgroundJob;
    const isKnown = (await told.record(memory))?.jobs.some(({ id }) => id === jobId) ?? false;
    if (count === null || count > 0 === isKnown) return;
    const started = waitStarted({ kind: 'background', job: backgroundJob });
    await told.tell(memory, isKnown ? waitEnded({ kind: 'background', jobId }) : started);
  }

  /** No event tells that it fell to zero (G3). */
  function followBackground({ id, parked }: Session) {
    if (parked?.cause === 'background') waiting.add(id);
    else waiting.delete(id);
    if (waiting.size > 0) cancelLook ??= clock.wake(clock.now() + backgroundMs, lookAtAll);
  }

  async function lookAtAll() {
    for (const id of waiting) await lookAtBackground(told.ofStored(id)).catch(onError);
    cancelLook = waiting.size === 0 ? null : clock.wake(clock.now() + backgroundMs, lookAtAll);
  }

  async function resumeLooking() {
    if (!(await told.ready)) return;
    const { due } = await told.store().timers(told.instance(), Number.MAX_SAFE_INTEGER, 1000);
    for (const { sessionId } of due) {
      const session = await told.store().state(sessionId);
      if (session !== null) followBackground(session);
    }
  }
  resumeLooking().catch(onError);

  async function mark(sessionId: string, type: 'wait-started' | 'wait-ended') {
    if (readId(sessionId) === null) complain('a mark needs a session');
    else await told.later(sessionId, { type, wait: { kind: 'recovery' } });
  }

  return {
    name,
    description: options.description ?? 'Sends an idle agent back to its open todos until they are done.',
    priority: options.priority ?? 40,
    events: enforcerEvents,
    /** In order within a session. Never rejects. */
    async handler(given: EnforcerEvent): Promise<void> {
      const read = readEnforcerEvent(given);
      if (read.read === 'broken') complain(read.sentence);
      if (read.read !== 'event') return;
      const { event } = read;
      const isHuman = 'message' in event && event.message.role === 'user';
      const hold = isHuman || holdsBack.test(event.type) ? happened : undefined;
      await told.after(event.sessionId, (memory) => perform[event.type](memory, event as never), hold);
    },
    /** Nothing is sent while the program mends the session (E3). */
    markRecovering: (sessionId: string) => mark(sessionId, 'wait-started'),
    markRecoveryComplete: (sessionId: string) => mark(sessionId, 'wait-ended'),
    /** Cancels countdowns. Never rejects. */
    dispose(): Promise<void> {
      waiting.clear();
      cancelLook?.();
      return told.end();
    },
  };
}

function wake(memory: SessionMemory, toolError: string | null = null): void {
  Object.assign(memory, { idle: null, errored: false, toolError, aborted: false });
}
