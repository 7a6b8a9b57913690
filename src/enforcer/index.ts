// The idle enforcer, `untildone/enforcer`, for any program with an event bus: it counts
// an idle session with open todos down and sends it back to work; any sign of life stops
// the countdown (E1–E6). It never throws into the bus.
import { validateConfig } from '../core/config.ts';
import type { Decision } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import { problemSentence } from '../core/problem.ts';
import { endsInQuestion, oneLine } from '../core/safe-text.ts';
import type { Session } from '../core/state.ts';
import { checkedTexts } from '../core/texts.ts';
import { isOpen } from '../core/todo.ts';
import { createIdentifiers, systemClock } from '../engine/system.ts';
import type { HostConnection, ToldAdapter } from '../hosts/told.ts';
import { createTold, newsHold, waitEnded, waitStarted } from '../hosts/told.ts';
import { readHostError } from '../hosts/untrusted.ts';
import type {
  EnforcerEvent,
  EnforcerMessage,
  EnforcerOptions,
  EventOf,
  Parts,
} from './translate.ts';
import * as translate from './translate.ts';

export type {
  EnforcerAgent,
  EnforcerDecision,
  EnforcerEvent,
  EnforcerEventName,
  EnforcerMessage,
  Toast,
} from './translate.ts';
export {
  type EnforcerOptions,
  type EnforcerTodo,
  enforcerEvents,
  type InjectOptions,
} from './translate.ts';

function createMemory() {
  return {
    /**
     * The last idle; null once anything happened after it. `mark`: where the messages
     * ended at that idle.
     */
    idle: null as { mark: string | null } | null,
    errored: false,
    aborted: false,
    asked: null as EnforcerMessage | null,
    /** True: the messages were read once, so an unknown message is new. */
    looked: false,
  };
}
type OwnMemory = ReturnType<typeof createMemory>;

/** The name is part of every id that we store. */
const longestName = 60;
const backgroundMs = 2000;
const backgroundJob = {
  id: 'background',
  kind: 'subagent',
  description: 'background work',
} as const;
/** The background jobs for a count; null: the program does not say. */
function jobsOf(count: number | null) {
  if (count === null) return null;
  return count > 0 ? [backgroundJob] : [];
}
/**
 * How many messages of a conversation are remembered: more would push other entries out
 * of the memory.
 */
const mostEchoed = 200;
/** Stands for assistant messages without an id, which count once between two idles. */
const nameless = 'assistant';
const holdsBack = /^(session\.(error|deleted)|(permission|question)\.asked)$/;

/** What `createEnforcer` returns. */
export type Enforcer = ReturnType<typeof createEnforcer>;
/**
 * Creates an enforcer, which counts an idle session with open todos down and sends it
 * back to work. Throws `invalid-config` for a wrong option.
 */
export function createEnforcer(options: EnforcerOptions) {
  const {
    name = 'untildone-enforcer',
    clock = systemClock,
    environment = process.env,
  } = options;
  const { checker = null, directory = null } = options;
  // Safe: an error of the program's own callbacks is the program's, and must not stop the
  // queue of a session.
  const onError = (error: unknown) =>
    void callNow(() => options.onError?.(error)).catch(() => {});
  if (translate.readId(name) === null || name.length > longestName)
    throw new UntildoneError(
      'invalid-config',
      `name: must be a text of 1 to ${longestName} characters`,
    );
  const flags = validateConfig(options.settings ?? {});
  if (!flags.ok)
    throw new UntildoneError(
      'invalid-config',
      flags.problems.map(problemSentence).join('; '),
    );
  const connection: HostConnection<OwnMemory> = createTold({
    name,
    prefix: `${name}:`,
    instance: name,
    clock,
    environment,
    checker,
    onError,
    identifiers: createIdentifiers(clock),
    store: options.store,
    watch,
    directory,
    flags,
    rereads: true,
    own: createMemory,
    adapter: ({ id }) => sessionOf(id),
    ...(options.texts && {
      texts: checkedTexts(options.texts, (why) =>
        onError(new UntildoneError('usage', why)),
      ),
    }),
    // A broken configuration switches the enforcer off, and is reported once (C1).
    onProblem: (sentences) =>
      onError(new UntildoneError('invalid-config', sentences.join('; '))),
  });
  const waiting = new Set<string>();
  let cancelCheck: (() => void) | null = null;

  const sessionOf = (id: string) =>
    enforcerSession({ options, connection, clock, onError }, id);

  function watch(session: Session, _events: unknown, decisions: readonly Decision[]) {
    const { id } = connection.ofStored(session.id);
    for (const { answer, reason, sentence, outcome, dueAt, observed } of decisions) {
      const decision = { answer, reason, sentence, outcome, dueAt, observed };
      callNow(() => options.onDecision?.(id, decision)).catch(onError);
    }
    watchBackground(session);
  }

  /**
   * No event says that background work ended, so we ask every two seconds while a stop
   * waits for it (G3).
   */
  function watchBackground({ id, parked }: Session) {
    if (parked?.cause === 'subagent-at-work') waiting.add(id);
    else waiting.delete(id);
    if (waiting.size > 0)
      cancelCheck ??= clock.wake(clock.now() + backgroundMs, checkBackgrounds);
  }

  async function checkBackgrounds() {
    for (const id of waiting)
      await sessionOf(connection.ofStored(id).id).lookAtBackground().catch(onError);
    cancelCheck =
      waiting.size === 0
        ? null
        : clock.wake(clock.now() + backgroundMs, checkBackgrounds);
  }

  async function resumeWatching() {
    if (!(await connection.ready)) return;
    const { due } = await connection
      .store()
      .timers(connection.opened().instance, Number.MAX_SAFE_INTEGER, 1000);
    for (const { sessionId } of due) {
      const session = await connection.store().state(sessionId);
      if (session !== null) watchBackground(session);
    }
  }
  resumeWatching().catch(onError);

  async function mark(sessionId: string, type: 'wait-started' | 'wait-ended') {
    if (translate.readId(sessionId) === null)
      onError(invalidEvent('a mark needs a session'));
    else await connection.follow(sessionId).later({ type, wait: { kind: 'recovery' } });
  }

  return {
    name,
    description:
      options.description ??
      'Sends an idle agent back to its open todos until they are done.',
    priority: options.priority ?? 40,
    events: translate.enforcerEvents,
    /** Handles one event; the events of a session in their order. Never rejects. */
    async handler(given: EnforcerEvent): Promise<void> {
      const read = translate.readEnforcerEvent(given);
      if (read.read === 'broken') onError(invalidEvent(read.sentence));
      if (read.read !== 'event') return;
      const { event } = read;
      const isHuman = 'message' in event && event.message.role === 'user';
      const hold = isHuman || holdsBack.test(event.type) ? newsHold : undefined;
      const { after, perform } = sessionOf(event.sessionId);
      await after(() => perform[event.type](event as never), hold);
    },
    /** Nothing is sent while the program repairs the session (E3). */
    markRecovering: (sessionId: string) => mark(sessionId, 'wait-started'),
    markRecoveryComplete: (sessionId: string) => mark(sessionId, 'wait-ended'),
    /** Cancels countdowns. Never rejects. */
    dispose(): Promise<void> {
      waiting.clear();
      cancelCheck?.();
      return connection.end();
    },
  };
}

/** Calls at once; if the callback throws, the promise rejects. */
const callNow = async (callback: () => unknown) => callback();
const invalidEvent = (sentence: string) => new UntildoneError('invalid-event', sentence);

type Perform = {
  readonly [Name in EnforcerEvent['type']]: (event: EventOf<Name>) => Promise<unknown>;
};

function enforcerSession(
  parts: Parts & { readonly connection: HostConnection<OwnMemory> },
  id: string,
) {
  const { options, connection, clock, onError } = parts;
  const program = translate.createProgram(parts, id);
  const { memory, record, tell, open, observed, takeList, isNews, ...hostSession } =
    connection.follow(id);
  const outbox = () => connection.store().outbox({ sessionId: memory.stored });

  const perform: Perform = {
    'session.idle': idled,
    'session.error'({ error }) {
      const read = readHostError(error, clock.now());
      Object.assign(
        memory,
        read.type === 'human-aborted' ? { aborted: true } : { errored: true },
      );
      return tell(read);
    },
    'session.deleted': () => tell({ type: 'session-deleted' }),
    'message.updated': messageSeen,
    'message.after': messageSeen,
    async 'tool.before'({ tool }) {
      noteActivity();
      await tell({ type: 'tool-started', tool, access: await program.toolAccess(tool) });
    },
    async 'tool.after'({ tool, error: toolError }) {
      const access = await program.toolAccess(tool);
      const error = toolError == null ? null : oneLine(toolError, 500);
      // A mistake with the list says nothing about the todo (S6).
      noteActivity(access === 'todo' ? null : error);
      await tell({ type: 'tool-ended', tool, access, error });
      // The list is read now, so that work between two changes is seen as work (V4).
      if (access === 'todo') await takeList();
    },
    'permission.asked': ({ requestId }) =>
      tell(waitStarted({ kind: 'permission', requestId })),
    'permission.answered': ({ requestId, granted }) =>
      tell(waitEnded({ kind: 'permission', requestId, granted })),
    'question.asked': ({ requestId }) =>
      tell(waitStarted({ kind: 'question', requestId })),
    'question.answered': ({ requestId, rejected = false }) =>
      tell(waitEnded({ kind: 'question', requestId, rejected })),
    'usage.reported': (given) => tell(translate.usageOf(given)),
    'compaction.started': () => tell(waitStarted({ kind: 'compaction' })),
    'compaction.ended': () => tell(waitEnded({ kind: 'compaction', shrunk: true })),
  };

  async function idled({ end }: EventOf<'session.idle'>) {
    const { question, overtaken, mark } = await lookAtMessages();
    if (overtaken) {
      // If more events are queued, that message's own event is among them; otherwise the
      // program never sent it.
      if (memory.waiting > 1) return;
      const missedMessage = `session.idle of ${oneLine(id, 80)}: the last message is the human's, and no message.updated told of it; the idle was left alone`;
      return onError(invalidEvent(missedMessage));
    }
    await open();
    const isKnown = await takeList();
    // We conclude nothing; the next idle reads the list again.
    if (!isKnown && !(await record())?.plan.some(isOpen)) return;
    const count = await program.background();
    memory.idle = { mark };
    memory.heard.delete(nameless);
    await tell({
      type: 'stop-attempted',
      end: end ?? (memory.errored ? 'error' : 'normal'),
      question,
      fingerprint: null,
      background: jobsOf(count),
      toolError: memory.toolError,
    });
  }

  /**
   * Our own text shows that it was delivered. A human message with a known id is an echo
   * and is ignored (E2).
   */
  async function messageSeen({
    message: announced,
  }: {
    readonly message: EnforcerMessage;
  }) {
    const { id, role, text, key } = announced;
    if (role === 'assistant') return assistantSpoke(id);
    if (id !== undefined) memory.heard.delete(`untold ${id}`);
    if (id !== undefined && !isNews(`user ${id}`)) return;
    // Some programs announce a message before its text. We need the text to recognise our
    // own texts and stop words.
    const isBare = id !== undefined && text === undefined && key === undefined;
    const shown = isBare ? await program.messages() : null;
    const found = shown?.findLast((one) => one.id === id && one.role === 'user');
    const message = { ...found, ...announced };
    const epoch = translate.findOwn(await outbox(), message);
    await (epoch === null ? humanSpoke(message) : observed(epoch));
  }

  async function assistantSpoke(id: string | undefined) {
    // The message grows in many events, some of them after the idle.
    if (!isNews(id === undefined ? nameless : `assistant ${id}`)) return;
    noteActivity();
    await tell({ type: 'activity-seen' });
  }

  async function humanSpoke(message: EnforcerMessage) {
    memory.asked = message;
    noteActivity();
    await hostSession.humanSpoke(message);
  }

  function noteActivity(toolError: string | null = null) {
    Object.assign(memory, { idle: null, errored: false, toolError, aborted: false });
  }

  /**
   * Records what only the messages show (G5). `overtaken`: an event is still to come.
   * `mark`: it changes while the agent writes.
   */
  async function lookAtMessages() {
    const nothing = { question: false, overtaken: false, mark: null };
    const messages = await program.messages();
    if (messages === null) return nothing;
    const isFirst = !memory.looked;
    memory.looked = true;
    const rows = await outbox();
    const humanMessages = messages.filter(
      (message) => message.role === 'user' && translate.findOwn(rows, message) === null,
    );
    await noticeHumans(humanMessages);
    const last = humanMessages.at(-1);
    const since =
      last === undefined ? messages : messages.slice(messages.lastIndexOf(last) + 1);
    const answer = since.findLast(({ role }) => role === 'assistant');
    if (answer === undefined)
      return { ...nothing, overtaken: memory.heard.has(`untold ${last?.id}`) };
    const { id = '', text = '', error } = answer;
    let overtaken = false;
    if (id !== '' && !memory.heard.has(`assistant ${id}`)) {
      // The message stood there before us: a restart must not cancel a countdown.
      if (isFirst) isNews(`assistant ${id}`);
      else if (memory.waiting > 1) overtaken = true;
      else await assistantSpoke(id);
    }
    const read =
      error === undefined || id === '' ? null : readHostError(error, clock.now());
    // Recorded once per message: the human may have resumed after that abort.
    if (read?.type === 'human-aborted' && !memory.aborted)
      await tell(read, `aborted/${id}`);
    return { question: endsInQuestion(text), overtaken, mark: `${id}:${text.length}` };
  }

  async function noticeHumans(humanMessages: readonly EnforcerMessage[]) {
    const recorded = (await record())?.humanMessageIds ?? [];
    const named = humanMessages.flatMap(({ id, ...fields }) =>
      id === undefined ? [] : [{ ...fields, id }],
    );
    const known = named.findLastIndex(
      ({ id }) => memory.heard.has(`user ${id}`) || recorded.includes(id),
    );
    // If the conversation began without us, only its last human message counts.
    const news = known === -1 ? named.slice(-1) : named.slice(known + 1);
    for (const { id } of named.slice(-mostEchoed)) isNews(`user ${id}`);
    for (const message of news) {
      isNews(`untold ${message.id}`);
      await humanSpoke(message);
    }
    memory.asked ??= humanMessages.at(-1) ?? null;
  }

  async function lookAtBackground() {
    const count = await program.background();
    const { id: jobId } = backgroundJob;
    const isKnown = (await record())?.jobs.some((job) => job.id === jobId) ?? false;
    if (count === null || count > 0 === isKnown) return;
    const started = waitStarted({ kind: 'background', job: backgroundJob });
    await tell(isKnown ? waitEnded({ kind: 'background', jobId }) : started);
  }

  async function agentOf() {
    const { asked } = memory;
    if (options.agentInfo === undefined && !asked?.agent && !asked?.model) return null;
    const { agent = null, model = null, variant = null } = asked ?? {};
    const recorded = asked === null ? (await record())?.agent : undefined;
    const known = recorded ?? { name: agent, model, variant };
    const { name, canWrite } = await program.agentInfo(known.name);
    return { ...known, name: known.name ?? name, canWrite };
  }

  const adapter: ToldAdapter = {
    async describe() {
      const {
        headless = false,
        seesTools = true,
        directory = null,
        agentInfo,
        tools,
      } = options;
      const { pause = null, verify = null } = tools ?? {};
      const facts = { kind: await program.kind(), directory, headless, seesTools };
      const everyAgentWrites = agentInfo === undefined;
      return [{ ...facts, everyAgentWrites, tools: { pause, verify } }, await agentOf()];
    },
    todos: program.todos,
    async inject({ key, text, session }) {
      const { name: agent, model, variant } = session.agent;
      try {
        await options.inject(id, text, { agent, model, variant, key });
        return null;
      } catch (error) {
        // Safe: the engine learns of it, and sends the text again.
        onError(error);
        return String(error).slice(0, 500);
      }
    },
    async find({ epoch }) {
      const messages = await program.messages();
      if (messages === null) return 'unknown';
      return translate.isShown(await outbox(), epoch, messages) ? 'present' : 'absent';
    },
    // Nothing runs in a session that this process has not heard of.
    isIdle: async () =>
      (await program.isIdle()) ?? (memory.opened === null || memory.idle !== null),
    async lookAgain() {
      const { mark } = await lookAtMessages();
      const before = memory.idle?.mark ?? null;
      const hasGrown = before !== null && mark !== null && mark !== before;
      if (hasGrown || (await program.isIdle()) === false)
        await tell({ type: 'activity-seen' });
      await lookAtBackground();
    },
    show: async (toast) => options.toast?.(id, { durationMs: 5000, ...toast }),
  };
  return { ...adapter, after: hostSession.after, perform, lookAtBackground };
}
