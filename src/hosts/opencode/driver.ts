// Follows OpenCode: what must be known at once is noted when heard, the rest goes through the session's queue. Where the host
// stays, an idle is a stop attempt. `opencode run` leaves within milliseconds of its idle, but goes on while its session
// has a message newer than the step that ended. So where the agent would be sent on, an empty one is placed while the host
// waits for us: the continuation fills it if the step was the last; if tool calls follow, nobody ever sees it.
import type { EventOf } from '../../core/events.ts';
import { endsInQuestion } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import { mayHaveMoved } from '../../core/work.ts';
import { compactionFailed } from '../shared.ts';
import { type Happening, isNews, waitEnded } from '../told.ts';
import { type Fields, listOf, readHostError, recordOf, textOf } from '../untrusted.ts';
import { type HostMessage, messageOf, type Plugin, placeOf, type SessionMemory } from './host.ts';
import { idOf, readCall, readSession, readStep, readTodos, usageOf } from './translate.ts';

const commands: ReadonlySet<string> = new Set(['run', 'serve', 'web', 'acp', 'attach', 'github']);
export function leavesOnIdle(argv: readonly string[]): boolean {
  const words = argv.slice(2);
  const command = words.find((word) => commands.has(word));
  if (command === 'github') return true;
  return command === 'run' && !words.some((word) => word === '-i' || /^--interactive(?:=true)?$/u.test(word));
}

export function factsOf(memory: SessionMemory, finish = memory.lastStep?.finish ?? null) {
  const { lastStep: step, lastText, toolError, failedSinceBusy } = memory;
  const text = step !== null && lastText?.messageId === step.messageId ? lastText.text : '';
  const question = step?.summary !== true && endsInQuestion(text);
  const endOf = (): EventOf<'stop-attempted'>['end'] => {
    if (finish === 'content-filter') return finish;
    if (failedSinceBusy || (step !== null && step.error !== null)) return 'error';
    if (step === null) return 'normal';
    // Neither finished nor failed: broken off.
    if (finish === null) return 'cancelled';
    return finish === 'length' ? finish : finish === 'stop' && text.trim() === '' ? 'empty' : 'normal';
  };
  return { end: endOf(), question, toolError };
}

type Hear = (fields: Fields, memory: SessionMemory, eventId: string) => unknown;
/** Lingers longer than from the last look at the record to the call (P19). */
const stopped = { why: 'the human stopped the agent', lingerMs: 1000 };
/** Before a command that the human typed. */
const shellSentence = 'The following tool was executed by the user';
const errorDelayMs = 300;
/** Beyond that tool calls count instead. */
const fingerprintMs = 5000;

export function createDriver(plugin: Plugin) {
  const { told, calls, clock, headless, directory, environment, configuration, voice } = plugin;
  const { later } = told;

  /** Most of what the host tells (every word that streams) is left alone. */
  const heard: Readonly<Record<string, Hear>> = {
    'session.created': sessionSeen,
    'session.updated': sessionSeen,
    'session.deleted': (_fields, { id }, eventId) =>
      later(id, { type: 'session-deleted' }, `session-deleted/${eventId}`),
    'session.status'({ status }, memory) {
      // A retry is busy too; the end of both comes as an idle.
      if (!['busy', 'retry'].includes(String(recordOf(status)['type']))) return;
      if (!memory.busy) Object.assign(memory, { failedSinceBusy: false, answeredSinceBusy: false });
      memory.busy = true;
    },
    'session.idle'(_fields, memory, eventId) {
      const { id, info, busy } = memory;
      // Only a turn that failed or was aborted idles twice.
      if (!busy && !memory.failedSinceBusy) told.after(id, () => stopWhileIdle(memory, eventId), stopped);
      if (!busy) return;
      memory.busy = false;
      // Its parent may wait for it (P18).
      if (info?.parentId != null)
        later(info.parentId, waitEnded({ kind: 'background', jobId: id }), `job-ended/${eventId}`);
      if (!headless || !memory.answeredSinceBusy) told.after(id, () => idled(memory, eventId));
    },
    'session.error'({ error }, memory, eventId) {
      memory.failedSinceBusy = true;
      failed(memory, eventId, error);
    },
    'session.compacted': (_fields, { id }, eventId) =>
      later(id, waitEnded({ kind: 'compaction', shrunk: true }), `wait-ended/${eventId}`),
    'message.updated': messageSeen,
    'message.part.updated'({ part }, memory, eventId) {
      const fields = recordOf(part);
      const messageId = textOf(fields['messageID']);
      if (messageId === null) return;
      if (fields['type'] === 'text') textSeen(memory, messageId, fields);
      if (fields['type'] === 'tool') toolSeen(memory, fields);
      if (fields['type'] === 'step-start') stepStarted(memory, messageId);
      if (fields['type'] === 'step-finish') stepEnded(memory, messageId, fields, eventId);
    },
    'todo.updated'({ todos }, { id }, eventId) {
      if (!Array.isArray(todos)) return;
      told.after(id, async (memory) => {
        // Even one that equals the last: the engine counts that, and names it (P4).
        memory.written = await told.tell(memory, told.planWritten(readTodos(todos)), `todos/${eventId}`);
      });
    },
    'permission.asked': waits('id', 'permission'),
    'permission.replied': waits('requestID', 'permission', ({ reply }) => ({ granted: reply !== 'reject' })),
    'question.asked': waits('id', 'question'),
    'question.replied': waits('requestID', 'question', () => ({ rejected: false })),
    'question.rejected': waits('requestID', 'question', () => ({ rejected: true })),
  };

  /** A question carries itself as `id`, an answer its question as `requestID`. */
  function waits(key: 'id' | 'requestID', kind: string, answerOf?: (fields: Fields) => object): Hear {
    return (fields, { id }) => {
      const [type, requestId] = [key === 'id' ? 'wait-started' : 'wait-ended', idOf(fields[key])];
      const wait = { kind, ...answerOf?.(fields), requestId };
      if (requestId !== null) later(id, { type, wait } as Happening, `${type}/${kind}/${requestId}`);
    };
  }

  function sessionSeen({ info }: Fields, memory: SessionMemory, eventId: string) {
    const session = readSession(info);
    if (session === null) return;
    // Messages were taken back: nothing is sent into that.
    if (session.reverted && memory.info?.reverted === false) aborted(memory.id, eventId, 'undone');
    memory.info = session;
  }

  function messageSeen({ info }: Fields, memory: SessionMemory, eventId: string) {
    const step = readStep(info);
    const before = memory.lastStep?.messageId ?? '';
    // Ids rise with time: this is told late of an earlier step.
    if (step === null || step.messageId < before || step.messageId < (memory.asked?.id ?? '')) return;
    memory.lastStep = step;
    const { messageId, error } = step;
    memory.failedSinceBusy = error !== null || (messageId === before && memory.failedSinceBusy);
    // An abort between two steps has no event of its own.
    const isAbort = error !== null && readHostError(error, clock.now()).type === 'human-aborted';
    if (isAbort && memory.holds.size === 0) failed(memory, eventId, error);
    // An answer to a continuation counts once the model has begun it.
    else if (messageId !== before && continuationOf(memory) === null && !(error !== null && memory.leaving))
      later(memory.id, { type: 'activity-seen' }, `step/${messageId}`);
  }

  function stepStarted(memory: SessionMemory, messageId: string) {
    const epoch = memory.lastStep?.messageId === messageId ? continuationOf(memory) : null;
    if (epoch === null) return;
    // Only now has the model got it for certain (V5).
    told.after(memory.id, () => told.observed(memory, epoch));
    later(memory.id, { type: 'activity-seen' }, `step/${messageId}`);
  }

  function textSeen(memory: SessionMemory, messageId: string, { text: said, synthetic, time }: Fields) {
    const text = textOf(said) ?? '';
    if (synthetic === true && text === shellSentence) humanSpoke(memory, { id: messageId, text: null });
    // A human's text has no times; a model's has an end when it is whole.
    if (synthetic !== true && typeof recordOf(time)['end'] === 'number')
      memory.lastText = { messageId, text };
  }

  function toolSeen(memory: SessionMemory, part: Fields) {
    const read = readCall(part);
    if (read === null) return;
    const { callId, call, isOver, error } = read;
    if (isOver) memory.toolError = error;
    // Repeated while a call prints.
    if (!isNews(memory, `${callId} ${isOver}`)) return;
    // A call that was over at once is both.
    later(memory.id, { type: 'tool-started', ...call }, `call/${callId}/start`);
    if (isOver) later(memory.id, { type: 'tool-ended', ...call, error }, `call/${callId}/end`);
  }

  const aborted = (id: string, eventId: string, how: string) =>
    later(id, { type: 'human-aborted', how }, `aborted/${eventId}`, stopped);

  function failed({ id, leaving }: SessionMemory, eventId: string, error: unknown) {
    if (leaving) return;
    const read = readHostError(error, clock.now());
    if (read.type === 'human-aborted') aborted(id, eventId, 'interrupted');
    else later(id, read, `error/${eventId}`);
  }

  /** Nothing ran, and yet it idles: someone stops a countdown, or a continuation before it began. */
  async function stopWhileIdle(memory: SessionMemory, eventId: string) {
    const session = await told.record(memory);
    // What we abort below idles once more.
    if (session?.latch) return;
    const isSent = session?.injection?.state === 'intended' || session?.injection?.state === 'sent';
    if (session === null || (session.parked === null && session.timer === null && !isSent))
      return memory.holds.clear();
    await told.tell(memory, { type: 'human-aborted', how: 'stopped while idle' }, `aborted/${eventId}`);
    // It may still begin with our text.
    if (isSent) await calls.abort(memory.id);
  }

  const continuationOf = ({ lastStep, sent }: SessionMemory) =>
    sent !== null && lastStep?.parentId === sent.messageId ? sent.epoch : null;

  function humanSpoke(memory: SessionMemory, said: Pick<HostMessage, 'id' | 'text'>) {
    memory.holds.clear();
    told.after(memory.id, async () => {
      await configuration.renew();
      const problem = configuration.problem();
      if (problem !== null) voice.warnOnce(`off, because the configuration is broken: ${problem}`);
      await told.humanSpoke(memory, said, said.id);
    });
  }

  function stopOf(memory: SessionMemory, facts: ReturnType<typeof factsOf>, fingerprint: string | null) {
    const job = { kind: 'subagent', description: 'a subagent' } as const;
    const children = told.all().filter(({ busy, info }) => busy && info?.parentId === memory.id);
    const background = children.map(({ id }) => ({ id, ...job }));
    return { type: 'stop-attempted', ...facts, fingerprint, background } as const;
  }

  /** What only the host knows (G5), and the workspace. */
  async function prepareStop(memory: SessionMemory): Promise<string | null> {
    await told.takeList(memory);
    const session = await told.record(memory);
    const isMeasured = session?.plan.length || configuration.current().goalChecks.length > 0;
    if (session === null || !isMeasured || !mayHaveMoved(session.work)) return null;
    const limits = { timeoutMs: fingerprintMs, environment };
    return told.checker().lookAtStop({ sessionId: memory.stored, directory }, limits);
  }

  /** It never said that its compaction ended: it failed. */
  async function closeCompaction(memory: SessionMemory, eventId: string) {
    if ((await told.record(memory))?.waits.compacting)
      await told.tell(memory, compactionFailed, `compaction-failed/${eventId}`);
  }

  async function idled(memory: SessionMemory, eventId: string) {
    // At the first idle of a broken turn its error is not told yet.
    if (memory.lastStep?.finish === null && !memory.failedSinceBusy)
      await new Promise<void>((resolve) => clock.wake(clock.now() + errorDelayMs, resolve));
    if (memory.busy) return;
    const facts = factsOf(memory);
    const fingerprint = headless ? null : await prepareStop(memory);
    if (memory.busy) return;
    await closeCompaction(memory, eventId);
    await told.tell(memory, stopOf(memory, facts, fingerprint), `stop/${eventId}`);
  }

  async function hold(memory: SessionMemory, stepId: string, session: Session) {
    const held = { stepId, ...placeOf(`hold:${stepId}`, clock.now()), isWanted: false, text: null };
    memory.held = held;
    const body = messageOf(held, session, { text: '', synthetic: true, ignored: true });
    const error = await calls.show(memory.id, body);
    // Then the continuation comes as its own message, maybe too late.
    if (error !== null && memory.held === held) memory.held = null;
  }

  // Null: it would end; subagents are never held. Nobody can wait for checks here: unless a plan was worked through, the
  // agent is told to ask for them, because a text is as often a word between two calls as an answer.
  async function foresee(memory: SessionMemory, stop: ReturnType<typeof stopOf>, detail: string) {
    const session = await told.record(memory);
    if (session === null || session.descriptor.kind === 'subagent') return null;
    const event = told.event(memory, stop, `stop/${detail}`);
    const decision = await told.runtime().foresee(event);
    const waits = decision?.answer === 'wait' && decision.reason === 'nothing-open';
    if (!decision || decision.observed || (decision.answer !== 'continue' && !waits)) return null;
    const { turn, finalRun } = session;
    const isFinal = turn?.touchedPlan === true || (finalRun?.overdue === true && turn?.ended === false);
    return { session, event, runsChecks: waits && isFinal };
  }

  /** Tool calls may follow; only checks of a finished plan run already (V1). */
  async function finishText(memory: SessionMemory, messageId: string) {
    // A summary is no answer, and a step may have several texts.
    if (memory.lastStep?.summary === true) return null;
    if (memory.held?.stepId === messageId || memory.answeredStep === messageId) return null;
    const value = await prepareStop(memory);
    memory.fingerprint = { messageId, value };
    const stop = stopOf(memory, factsOf(memory, 'stop'), value);
    const seen = await foresee(memory, stop, `text/${messageId}`);
    if (seen?.runsChecks === false) await hold(memory, messageId, seen.session);
    if (!seen?.runsChecks) return null;
    memory.answeredStep = messageId;
    return told.runtime().handle(seen.event);
  }

  /** After a step without a word nobody asks us. */
  async function prepareHold(memory: SessionMemory) {
    memory.prepared = null;
    const { lastStep: step, toolError } = memory;
    if (step === null) return;
    const stop = stopOf(memory, { end: 'empty', question: false, toolError }, null);
    const seen = await foresee(memory, stop, `prepared/${step.messageId}`);
    if (seen !== null) memory.prepared = { stepId: step.messageId, session: seen.session };
  }

  /** Nothing is awaited before the host is kept from leaving. */
  function stepEnded(memory: SessionMemory, messageId: string, part: Fields, eventId: string) {
    const [reason, usage] = [textOf(part['reason']) ?? 'unknown', usageOf(part)];
    const isLast = reason !== 'tool-calls' && reason !== 'unknown' && memory.lastStep?.summary !== true;
    if (headless && isLast) memory.answeredSinceBusy = true;
    if (!headless || !isLast || memory.answeredStep === messageId) {
      memory.held = null;
      return later(memory.id, usage, `usage/${eventId}`);
    }
    const { held, prepared } = memory;
    const isPrepared = held?.stepId !== messageId && prepared?.stepId === messageId;
    const placed = isPrepared ? hold(memory, messageId, prepared.session) : null;
    if (memory.held?.stepId === messageId) memory.held.isWanted = true;
    const facts = factsOf(memory, reason);
    return told.after(memory.id, async () => {
      await placed;
      const value = memory.fingerprint?.messageId === messageId ? memory.fingerprint.value : null;
      await closeCompaction(memory, eventId);
      const stop = told.event(memory, stopOf(memory, facts, value), `stop/${eventId}`);
      await told.runtime().ask(stop, clock.now());
      // Held, then let go: the host would ask the model for ever.
      if (memory.held?.stepId === messageId && memory.held.text === null) {
        memory.leaving = true;
        await calls.abort(memory.id);
      }
      await told.tell(memory, usage, `usage/${eventId}`);
    });
  }

  return {
    stopOf,
    hear(event: unknown) {
      const { type, id, properties } = recordOf(event);
      const fields = recordOf(properties);
      const sessionId = idOf(fields['sessionID']) ?? idOf(recordOf(fields['info'])['id']);
      const [name, eventId] = [textOf(type) ?? '', idOf(id)];
      if (sessionId && eventId !== null && Object.hasOwn(heard, name))
        heard[name]?.(fields, told.of(sessionId), eventId);
    },
    hearHuman(id: string, message: HostMessage) {
      if (message.text === null) return;
      const memory = told.of(id);
      Object.assign(memory, { leaving: false, toolError: null, asked: message });
      humanSpoke(memory, message);
    },
    /** Fills in the continuation: the host has read its messages before. */
    async beforeStep(messages: readonly unknown[]) {
      const all = messages.map(recordOf);
      const id = textOf(recordOf(all[0]?.['info'])['sessionID']);
      if (id === null || !headless) return;
      await told.after(id, async (memory) => {
        const { held } = memory;
        if (held !== null && held.text !== null) {
          const found = all.find(({ info }) => recordOf(info)['id'] === held.messageId);
          const part = listOf(found?.['parts']).find((one) => recordOf(one)['id'] === held.partId);
          if (part !== undefined) Object.assign(part as object, { text: held.text, ignored: false });
          memory.held = null;
        }
        await prepareHold(memory);
      });
    },
    async textCompleted(id: string, messageId: string, text: string) {
      if (!headless) return;
      const spoken = told.of(id);
      spoken.lastText = { messageId, text };
      if (text.trim() !== '') spoken.prepared = null;
      const finished = await told.after(id, (memory) => finishText(memory, messageId));
      // Outside the queue: an abort meanwhile must be heard.
      await finished?.checks;
    },
  };
}
