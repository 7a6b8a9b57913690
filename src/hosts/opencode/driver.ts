// Follows OpenCode: what must be known at once is noted when it is heard, and everything is told to the engine in the
// order of the session's queue. It decides nothing; how a stop attempt is made stands in stop.ts.
import type { AgentDescriptor } from '../../core/events.ts';
import { type Happening, isNews } from '../told.ts';
import { readHostError } from '../untrusted.ts';
import type { Plugin, SessionMemory } from './host.ts';
import { createStops } from './stop.ts';
import type { HostMessage, Signal, SignalOf } from './translate.ts';

type Heard = { readonly [Type in Signal['type']]: (signal: SignalOf<Type>, memory: SessionMemory) => void };

/** The abort is known before the record has it, and for far longer than from the last look at it to the call (P19). */
const stopped = { why: 'the human stopped the agent', lingerMs: 1000 };

export function createDriver(plugin: Plugin) {
  const { told, calls, clock, headless, configuration, voice } = plugin;
  const stops = createStops(plugin);

  const heard: Heard = {
    happened({ happening, about, eventId }, { id }) {
      later(id, happening, `${happening.type}/${about ?? eventId}`);
    },
    session({ info, eventId }, memory) {
      // The human took messages back: that is a word of theirs, and nothing is sent into what they look at.
      if (info.reverted && memory.info?.reverted === false) abort(memory.id, eventId, 'undone');
      memory.info = info;
    },
    busy(_signal, memory) {
      // What it is busy with is told next, by a human's words or by a step: then the engine hears of it.
      if (!memory.busy) Object.assign(memory, { failedSinceBusy: false, answeredSinceBusy: false });
      memory.busy = true;
    },
    idle({ eventId }, memory) {
      const { id, info, busy } = memory;
      // A turn that failed or was aborted idles twice, any other once.
      if (!busy && !memory.failedSinceBusy) told.after(id, () => stopWhileIdle(memory, eventId), stopped);
      if (!busy) return;
      memory.busy = false;
      // A parent that stopped while its subagent worked was told to wait for it (P18).
      if (info?.parentId != null)
        later(
          info.parentId,
          { type: 'wait-ended', wait: { kind: 'background', jobId: id } },
          `job-ended/${eventId}`,
        );
      // Where it leaves on idle it was answered before, and if it is to go on it has been told already.
      if (!headless || !memory.answeredSinceBusy) told.after(id, () => stops.idled(memory, eventId));
    },
    error({ error, eventId }, memory) {
      memory.failedSinceBusy = true;
      failed(memory, eventId, error);
    },
    assistant(step, memory) {
      const { messageId, error, eventId } = step;
      const before = memory.lastStep?.messageId ?? '';
      // Ids rise with time: what the host tells late of an earlier step is no news.
      if (messageId < before || messageId < memory.lastHumanId) return;
      memory.lastStep = step;
      // If the host went on by itself, what failed before is over.
      memory.failedSinceBusy = error !== null || (messageId === before && memory.failedSinceBusy);
      // An abort between two steps is told with the step alone.
      const isAbort = error !== null && readHostError(error, clock.now()).type === 'human-aborted';
      if (isAbort && memory.holds.size === 0) failed(memory, eventId, error);
      // An answer to a continuation of ours counts once the model has begun it.
      else if (messageId !== before && continuationOf(memory) === null && !(error !== null && memory.leaving))
        later(memory.id, { type: 'activity-seen' }, `step/${messageId}`);
    },
    'step-started'({ messageId }, memory) {
      const epoch = memory.lastStep?.messageId === messageId ? continuationOf(memory) : null;
      if (epoch === null) return;
      // Only now is it certain that the model got our continuation, should the host die (V5).
      told.after(memory.id, () => told.observed(memory, epoch));
      later(memory.id, { type: 'activity-seen' }, `step/${messageId}`);
    },
    text(spoken, memory) {
      memory.lastText = spoken;
    },
    shell({ messageId }, memory) {
      // A command that the human ran in the chat is a word of theirs without a text.
      humanSpoke(memory, messageId, null, async () => null);
    },
    tool({ callId, call, state, error }, memory) {
      if (state !== 'running') memory.toolError = error;
      // The host repeats them while a call prints.
      if (!isNews(memory, `${callId} ${state}`)) return;
      // The engine counts starts and ends against each other; a call that was over at once is told as both.
      later(memory.id, { type: 'tool-started', ...call }, `call/${callId}/start`);
      if (state !== 'running') later(memory.id, { type: 'tool-ended', ...call, error }, `call/${callId}/end`);
    },
    'step-ended'(signal, memory) {
      if (headless && stops.stepEnded(signal, memory)) return;
      memory.held = null;
      later(memory.id, signal.usage, `usage/${signal.eventId}`);
    },
    todos({ todos, eventId }, memory) {
      told.after(memory.id, async () => {
        // A list that equals the last one was still written by the agent: the engine counts that, and names it (P4).
        memory.written = await told.tell(memory, told.planWritten(todos), `todos/${eventId}`);
      });
    },
  };

  function later(id: string, happening: Happening, detail: string): void {
    told.after(id, (memory) => told.tell(memory, happening, detail));
  }

  function abort(id: string, eventId: string, how: string): void {
    const happening = { type: 'human-aborted', how } as const;
    told.after(id, (memory) => told.tell(memory, happening, `aborted/${eventId}`), stopped);
  }

  function failed({ id, leaving }: SessionMemory, eventId: string, error: unknown): void {
    const read = readHostError(error, clock.now());
    // If we told it to leave, the abort that it reports is nobody's will.
    if (leaving) return;
    if (read.type === 'human-aborted') abort(id, eventId, 'interrupted');
    else later(id, read, `error/${eventId}`);
  }

  /**
   * Nothing ran, and yet the host says idle: someone asked it to stop. That is meant for a countdown, or for a
   * continuation that the host has not begun to answer.
   */
  async function stopWhileIdle(memory: SessionMemory, eventId: string): Promise<void> {
    const session = await told.record(memory);
    // Told once: what we end below is reported as one more idle.
    if (session?.latch) return;
    const isSent = session?.injection?.state === 'intended' || session?.injection?.state === 'sent';
    if (session === null || (session.parked === null && session.timer === null && !isSent)) {
      memory.holds.clear();
      return;
    }
    await told.tell(memory, { type: 'human-aborted', how: 'stopped while idle' }, `aborted/${eventId}`);
    // The host may begin with our text although it was told to stop before that.
    if (isSent) await calls.abort(memory.id);
  }

  /** The epoch of the continuation that the last step answers; null: it answers something else. */
  function continuationOf({ lastStep, sent }: SessionMemory): number | null {
    return sent !== null && lastStep?.parentId === sent.messageId ? sent.epoch : null;
  }

  type AgentOf = () => Promise<AgentDescriptor | null>;

  function humanSpoke(memory: SessionMemory, messageId: string, text: string | null, agentOf: AgentOf): void {
    memory.holds.clear();
    told.after(memory.id, async () => {
      await configuration.renew();
      const problem = configuration.problem();
      if (problem !== null) voice.warnOnce(`off, because the configuration is broken: ${problem}`);
      const said = {
        type: 'human-spoke',
        messageId,
        turnId: messageId,
        text,
        agent: await agentOf(),
      } as const;
      await told.tell(memory, { ...said, fingerprint: null, policyHash: null }, `human/${messageId}`);
    });
  }

  return {
    stops,
    hear(signal: Signal): void {
      const note = heard[signal.type] as (signal: Signal, memory: SessionMemory) => void;
      note(signal, told.of(signal.sessionId));
    },
    hearHuman(id: string, { id: messageId, text, agent }: HostMessage): void {
      const memory = told.of(id);
      // Null: what the host, a plugin or we put into the session ourselves.
      if (text === null) return;
      Object.assign(memory, { leaving: false, toolError: null, lastHumanId: messageId });
      const agentOf: AgentOf = async () => ({ ...agent, canWrite: await calls.canWrite(agent.name) });
      humanSpoke(memory, messageId, text, agentOf);
    },
  };
}
