// Follows the sessions of OpenCode. What must be known at once is noted when we hear it,
// and the rest goes through the queue of the session. In an OpenCode that stays, an idle
// is a stop attempt. `opencode run` exits within milliseconds of its idle, but goes on
// while its session has a message newer than the step that ended. So if the agent would
// be continued, an empty message is placed while the host waits for us: the continuation
// fills it if the step was the last; if tool calls follow, nobody ever sees it.
import { endsInQuestion } from '../../core/safe-text.ts';
import { isOnItsWay, type Session } from '../../core/state.ts';
import { type EventDraft, stopHold, type ToldAdapter, waitEnded } from '../told.ts';
import { changesTheHost, pluginSession } from '../told-plugin.ts';
import { type Fields, listOf, readHostError, recordOf, textOf } from '../untrusted.ts';
import type { HostMessage, Plugin, SessionMemory } from './host.ts';
import { createMessageIds, messageOf } from './host.ts';
import {
  idOf,
  readCall,
  readSession,
  readStep,
  readTodos,
  usageOf,
} from './translate.ts';

/** Whether OpenCode exits when its session idles, by its command line. */
export function leavesOnIdle(argv: readonly string[]): boolean {
  const words = argv.slice(2);
  const command = words.find((word) => /^(run|serve|web|acp|attach|github)$/.test(word));
  const isInteractive = words.some((word) => /^(-i|--interactive(=true)?)$/.test(word));
  return command === 'github' || (command === 'run' && !isInteractive);
}

/**
 * How the last step ended, in our words.
 * @param finish the reason that the host gives; null: none
 */
export function factsOf(memory: SessionMemory, finish = memory.lastStep?.finish ?? null) {
  const { lastStep: step, lastText, toolError, failedSinceBusy } = memory;
  const text = (lastText?.messageId === step?.messageId && lastText?.text) || '';
  const question = step?.summary !== true && endsInQuestion(text);
  const endOf = () => {
    if (finish === 'content-filter') return finish;
    if (failedSinceBusy || step?.error != null) return 'error';
    if (step === null) return 'normal';
    // Neither finished nor failed: the step was broken off.
    if (finish === null) return 'cancelled';
    if (finish === 'length') return finish;
    return finish === 'stop' && text.trim() === '' ? 'empty' : 'normal';
  };
  return { end: endOf(), question, toolError } as const;
}

type EventHandler = (fields: Fields) => unknown;
/** What the host writes before a command that the human typed. */
const shellSentence = 'The following tool was executed by the user';
/** How long an idle of a broken turn waits for its error. */
const errorDelayMs = 300;

/** Hands one event of the host to the session that it concerns. */
export function handleHostEvent(plugin: Plugin, event: unknown) {
  const { type, id, properties } = recordOf(event);
  const fields = recordOf(properties);
  const sessionId = idOf(fields['sessionID']) ?? idOf(recordOf(fields['info'])['id']);
  const name = textOf(type) ?? '';
  const eventId = idOf(id);
  // Only events with these names concern a session.
  const concernsSession = /^(session|message|todo|permission|question)\./.test(name);
  if (concernsSession && sessionId && eventId !== null)
    openCodeSession(plugin, sessionId, eventId).hear(name, fields);
}

/**
 * The functions of one session in OpenCode. May be called often.
 * @param eventId the id of the event that the host reports
 */
export function openCodeSession(plugin: Plugin, id: string, eventId = '') {
  const { told, calls, clock, headless, voice, directory } = plugin;
  const followed = pluginSession(plugin, id);
  const { memory, record, after, later, tell, stopAnswered, event, ...rest } = followed;
  const { humanSpoke, prepareStop, closeCompaction } = rest;

  /**
   * Handlers by the name of the event. All other events (such as every word that streams)
   * are ignored.
   */
  const handlers: Readonly<Record<string, EventHandler>> = {
    'session.created': sessionSeen,
    'session.updated': sessionSeen,
    'session.deleted': () =>
      later({ type: 'session-deleted' }, `session-deleted/${eventId}`),
    'session.status'({ status }) {
      // A retry counts as busy too; an idle ends both.
      if (!['busy', 'retry'].includes(String(recordOf(status)['type']))) return;
      if (!memory.busy)
        Object.assign(memory, {
          failedSinceBusy: false,
          abortedSinceBusy: false,
          answeredSinceBusy: false,
        });
      memory.busy = true;
    },
    'session.idle'() {
      const { info, busy } = memory;
      // After a turn that failed or was aborted, a second idle is an echo.
      if (!busy && !memory.failedSinceBusy) after(stopWhileIdle, stopHold);
      if (!busy) return;
      memory.busy = false;
      const ended = waitEnded({ kind: 'background', jobId: id });
      // The parent of the session may wait for it (P18).
      if (info?.parentId != null)
        told.follow(info.parentId).later(ended, `job-ended/${eventId}`);
      if (!headless || !memory.answeredSinceBusy) after(attemptStop);
    },
    'session.error'({ error }) {
      memory.failedSinceBusy = true;
      if (memory.leaving) return;
      const read = readHostError(error, clock.now());
      memory.abortedSinceBusy ||= read.type === 'human-aborted';
      if (read.type === 'human-aborted') aborted('interrupted');
      else later(read, `error/${eventId}`);
    },
    'session.compacted': () =>
      later(waitEnded({ kind: 'compaction', shrunk: true }), `wait-ended/${eventId}`),
    'message.updated': messageSeen,
    'message.part.updated'({ part }) {
      const fields = recordOf(part);
      const messageId = textOf(fields['messageID']);
      const read = fields['type'] === 'tool' ? readCall(fields) : null;
      if (messageId === null) return;
      if (read !== null) rest.callSeen(read);
      if (fields['type'] === 'text') textSeen(messageId, fields);
      if (fields['type'] === 'step-start') stepStarted(messageId);
      if (fields['type'] === 'step-finish') stepEnded(messageId, fields);
    },
    'todo.updated'({ todos }) {
      if (!Array.isArray(todos)) return;
      after(async () => {
        // Even a list that equals the last one: the engine counts that, and names it
        // (P4).
        memory.written = await tell(
          told.planWritten(readTodos(todos)),
          `todos/${eventId}`,
        );
      });
    },
    'permission.asked': createWaitHandler('id', 'permission'),
    'permission.replied': createWaitHandler('requestID', 'permission', ({ reply }) => ({
      granted: reply !== 'reject',
    })),
    'question.asked': createWaitHandler('id', 'question'),
    'question.replied': createWaitHandler('requestID', 'question', () => ({
      rejected: false,
    })),
    'question.rejected': createWaitHandler('requestID', 'question', () => ({
      rejected: true,
    })),
  };

  /**
   * Handles the beginning and the end of a wait. A question has its own id in `id`; an
   * answer has the id of its question in `requestID`.
   */
  function createWaitHandler(
    key: 'id' | 'requestID',
    kind: string,
    answerOf?: (fields: Fields) => object,
  ): EventHandler {
    return (fields) => {
      const type = key === 'id' ? 'wait-started' : 'wait-ended';
      const requestId = idOf(fields[key]);
      const wait = { kind, ...answerOf?.(fields), requestId };
      if (requestId !== null)
        later({ type, wait } as EventDraft, `${type}/${kind}/${requestId}`);
    };
  }

  function sessionSeen({ info }: Fields) {
    const session = readSession(info);
    if (session === null) return;
    // The human took messages back: nothing is sent into that.
    if (session.reverted && memory.info?.reverted === false) aborted('undone');
    memory.info = session;
  }

  function messageSeen({ info }: Fields) {
    const step = readStep(info);
    const before = memory.lastStep?.messageId ?? '';
    // Ids rise with time, so this event of an earlier step comes late.
    if (
      step === null ||
      step.messageId < before ||
      step.messageId < (memory.asked?.id ?? '')
    )
      return;
    memory.lastStep = step;
    const { messageId, error } = step;
    memory.failedSinceBusy =
      error !== null || (messageId === before && memory.failedSinceBusy);
    if (error !== null && memory.leaving) return;
    // An abort between two steps has no event of its own.
    const isAbort =
      error !== null && readHostError(error, clock.now()).type === 'human-aborted';
    const isStopped = [...memory.holds].some(({ why }) => why === stopHold.why);
    if (isAbort) memory.abortedSinceBusy = true;
    if (isAbort && !isStopped) aborted('interrupted');
    // The answer to a continuation counts once the model has begun it.
    else if (messageId !== before && answeredEpoch() === null)
      later({ type: 'activity-seen' }, `step/${messageId}`);
  }

  function stepStarted(messageId: string) {
    const epoch = memory.lastStep?.messageId === messageId ? answeredEpoch() : null;
    if (epoch === null) return;
    // Only now is it certain that the model got the continuation (V5).
    after(() => rest.observed(epoch));
    later({ type: 'activity-seen' }, `step/${messageId}`);
  }

  function textSeen(messageId: string, { text: written, synthetic, time }: Fields) {
    const text = textOf(written) ?? '';
    if (synthetic === true && text === shellSentence)
      humanSpoke({ id: messageId, text: null });
    // A human's text has no times; a text of the model has an end when it is complete.
    if (synthetic !== true && typeof recordOf(time)['end'] === 'number')
      memory.lastText = { messageId, text };
  }

  const aborted = (how: string) => rest.aborted(how, `aborted/${eventId}`);

  /**
   * Handles an idle while nothing ran: someone stops a countdown, or a continuation
   * before it began.
   */
  async function stopWhileIdle() {
    const session = await record();
    // Our own abort below makes the host idle once more.
    if (session?.latch) return;
    const isSent = isOnItsWay(session?.injection ?? null);
    if (!session?.parked && !session?.timer && !isSent) return memory.holds.clear();
    await tell(
      { type: 'human-aborted', how: 'stopped while idle' },
      `aborted/${eventId}`,
    );
    // The host may still begin with our text.
    if (isSent) await calls.abort(id);
  }

  /** The epoch of our continuation that the last step answers; null: it answers none. */
  function answeredEpoch() {
    const { lastStep, sent } = memory;
    return sent !== null && lastStep?.parentId === sent.messageId ? sent.epoch : null;
  }

  /** The stop attempt with these facts. Subagents that run are its background jobs. */
  function stopOf(facts: ReturnType<typeof factsOf>, fingerprint: string | null) {
    const job = { kind: 'subagent', description: 'a subagent' } as const;
    const children = told.all().filter(({ busy, info }) => busy && info?.parentId === id);
    const background = children.map((child) => ({ id: child.id, ...job }));
    return { type: 'stop-attempted', ...facts, fingerprint, background } as const;
  }

  async function attemptStop() {
    // When a broken turn idles for the first time, its error has not come yet.
    if (memory.lastStep?.finish === null && !memory.failedSinceBusy)
      await new Promise<void>((resolve) =>
        clock.wake(clock.now() + errorDelayMs, resolve),
      );
    if (memory.busy) return;
    // The host reports an abort as an error, and only after this idle: it is no failure.
    const facts = memory.abortedSinceBusy
      ? { ...factsOf(memory), end: 'cancelled' as const }
      : factsOf(memory);
    const fingerprint = headless ? null : await prepareStop();
    if (memory.busy) return;
    await closeCompaction(`compaction-failed/${eventId}`);
    await tell(stopOf(facts, fingerprint), `stop/${eventId}`);
  }

  /**
   * Gives the agent that the host knows. A driven session has the name of our own agent,
   * which the host does not know.
   */
  function withHostAgent(session: Session): Pick<Session, 'agent'> {
    const { asked } = memory;
    return told.isDriven(memory) && asked
      ? { agent: { ...session.agent, ...asked.agent } }
      : session;
  }

  /** Places an empty message, which keeps the host from exiting after this step. */
  async function holdStep(stepId: string, session: Session) {
    const held = {
      stepId,
      ...createMessageIds(`hold:${stepId}`, clock.now()),
      isWanted: false,
      text: null,
    };
    memory.held = held;
    const part = { text: '', synthetic: true, ignored: true };
    const error = await calls.show(id, messageOf(held, withHostAgent(session), part));
    // The continuation then comes as a message of its own, maybe too late.
    if (error !== null && memory.held === held) memory.held = null;
  }

  /**
   * Asks what the engine would answer if the agent stopped now. Null: the agent may stop,
   * or is a subagent, which is never held. Nobody can wait for checks here, since a text
   * is as often a word between two calls as an answer: unless a plan was worked through,
   * the agent is told to ask for the checks.
   */
  async function foreseeStop(stop: ReturnType<typeof stopOf>, detail: string) {
    const session = await record();
    if (session === null || session.descriptor.kind === 'subagent') return null;
    const foreseen = event(stop, `stop/${detail}`);
    const decision = await told.opened().runtime.foresee(foreseen);
    const waits = decision?.answer === 'wait' && decision.reason === 'nothing-open';
    if (!decision || decision.observed || (decision.answer !== 'continue' && !waits))
      return null;
    const { turn, finalRun } = session;
    const isFinal =
      turn?.touchedPlan === true || (finalRun?.overdue === true && turn?.ended === false);
    return { session, event: foreseen, runsChecks: waits && isFinal };
  }

  /**
   * Prepares the end of a step when its text is complete. Tool calls may follow, so only
   * the checks of a finished plan run already (V1).
   */
  async function finishText(messageId: string) {
    // A summary is no answer; and a step may have several texts.
    if (memory.lastStep?.summary === true) return null;
    if (memory.held?.stepId === messageId || memory.answeredStep === messageId)
      return null;
    const value = await prepareStop();
    memory.fingerprint = { messageId, value };
    const foreseen = await foreseeStop(
      stopOf(factsOf(memory, 'stop'), value),
      `text/${messageId}`,
    );
    if (foreseen?.runsChecks === false) await holdStep(messageId, foreseen.session);
    if (!foreseen?.runsChecks) return null;
    memory.answeredStep = messageId;
    const handled = await told.opened().runtime.handle(foreseen.event);
    stopAnswered(handled);
    return handled;
  }

  /**
   * Prepares the next step in case it has no text, because then the host does not ask us
   * when it ends.
   */
  async function prepareHold() {
    const { lastStep: step, toolError } = memory;
    const stop = stopOf({ end: 'empty', question: false, toolError }, null);
    const foreseen = step && (await foreseeStop(stop, `prepared/${step.messageId}`));
    memory.prepared = foreseen && { stepId: step.messageId, session: foreseen.session };
  }

  /** Handles the end of a step. Awaits nothing before the host is kept from exiting. */
  function stepEnded(messageId: string, part: Fields) {
    const reason = textOf(part['reason']) ?? 'unknown';
    const usage = usageOf(part);
    const isLast =
      reason !== 'tool-calls' &&
      reason !== 'unknown' &&
      memory.lastStep?.summary !== true;
    if (headless && isLast) memory.answeredSinceBusy = true;
    if (!headless || !isLast || memory.answeredStep === messageId) {
      memory.held = null;
      return later(usage, `usage/${eventId}`);
    }
    const { held, prepared } = memory;
    const isPrepared = held?.stepId !== messageId && prepared?.stepId === messageId;
    const placed = isPrepared ? holdStep(messageId, prepared.session) : null;
    if (memory.held?.stepId === messageId) memory.held.isWanted = true;
    const facts = factsOf(memory, reason);
    return after(async () => {
      await placed;
      // Reported before the stop, because what this step cost has a say (G8).
      await tell(usage, `usage/${eventId}`);
      const value =
        memory.fingerprint?.messageId === messageId ? memory.fingerprint.value : null;
      await closeCompaction(`compaction-failed/${eventId}`);
      const stop = event(stopOf(facts, value), `stop/${eventId}`);
      stopAnswered(await told.opened().runtime.ask(stop, clock.now()));
      // The host was held and the agent may stop: without an abort, the host would ask
      // the model for ever.
      if (memory.held?.stepId === messageId && memory.held.text === null) {
        memory.leaving = true;
        await calls.abort(id);
      }
    });
  }

  const adapter: ToldAdapter = {
    async describe() {
      memory.info ??= await calls.session(id);
      const { info, asked } = memory;
      const parentId = info?.parentId ?? null;
      const known = parentId === null ? 'main' : 'subagent';
      const kind = info === null ? 'unknown' : known;
      const named = changesTheHost(plugin);
      const tools = {
        pause: named ? 'todo_pause' : null,
        verify: named ? 'todo_verify' : null,
      };
      const agent = asked && {
        ...asked.agent,
        canWrite: await calls.canWrite(asked.agent.name),
      };
      return [{ kind, parentId, directory, headless, immediate: headless, tools }, agent];
    },
    todos: () => calls.todos(id),
    inject({ key, session, text, epoch }) {
      const held = memory.held?.isWanted ? memory.held : null;
      if (held !== null) held.text = text;
      const ids =
        held ?? createMessageIds(key, session.injection?.at ?? session.updatedAt);
      memory.sent = { messageId: ids.messageId, epoch };
      const part = { text, synthetic: true, metadata: { untildone: { key } } };
      return calls.prompt(id, messageOf(ids, withHostAgent(session), part));
    },
    async find({ key }) {
      const messages = await calls.messages(id);
      if (messages === null) return 'unknown';
      const isOurs = (part: Fields) =>
        recordOf(recordOf(part['metadata'])['untildone'])['key'] === key;
      const ours = messages.find(({ parts }) => parts.some(isOurs));
      if (ours === undefined) return 'absent';
      const isAnswered = messages.some(
        ({ info: { role, parentID, finish, error }, parts }) => {
          // An answer that brought nothing may never have reached the model.
          const brought =
            parts.length > 0 ||
            typeof finish === 'string' ||
            Object.keys(recordOf(error))[0];
          return role === 'assistant' && parentID === ours.info['id'] && brought;
        },
      );
      if (isAnswered) return 'present';
      // If nothing runs, no model will get it, and sending it again replaces it.
      return (await calls.isIdle(id)) === true ? 'absent' : 'unknown';
    },
    isIdle: async () => (await calls.isIdle(id)) ?? false,
    show: voice.show,
  };

  return {
    ...adapter,
    stopOf,
    hear(name: string, fields: Fields) {
      if (Object.hasOwn(handlers, name)) handlers[name]?.(fields);
    },
    /** Records a human's message. Gives what else the model has to know. */
    hearHuman(message: HostMessage) {
      Object.assign(memory, { leaving: false, asked: message });
      return humanSpoke(message);
    },
    /**
     * Fills the continuation into the messages of the next step, because the host has
     * read them already.
     */
    async beforeStep(messages: readonly Fields[]) {
      await after(async () => {
        const { held } = memory;
        if (held !== null && held.text !== null) {
          const found = messages.find(
            ({ info }) => recordOf(info)['id'] === held.messageId,
          );
          const part = listOf(found?.['parts']).find(
            (one) => recordOf(one)['id'] === held.partId,
          );
          if (part !== undefined)
            Object.assign(part as object, { text: held.text, ignored: false });
          memory.held = null;
        }
        await prepareHold();
      });
    },
    async textCompleted(messageId: string, text: string) {
      memory.lastText = { messageId, text };
      if (text.trim() !== '') memory.prepared = null;
      const finished = await after(() => finishText(messageId));
      // Outside the queue, so that an abort meanwhile is heard.
      await finished?.checks;
    },
  };
}
