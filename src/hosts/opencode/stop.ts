// A stop attempt: the host's own list first, then the workspace, then the engine's decision. On idle where the host stays.
// `opencode run` leaves within milliseconds of its idle: too soon to decide and to send. It goes on as long as its
// session has a message that is newer than the step that just ended; so where the agent would be sent on, an empty one
// is placed while the host still waits for us. If the step turns out to be the last, it is filled with the
// continuation; if tool calls follow, it stays empty, which nobody ever sees.
import { fingerprintWorkspace } from '../../checks/fingerprint.ts';
import type { EventOf } from '../../core/events.ts';
import { endsInQuestion } from '../../core/safe-text.ts';
import type { Session } from '../../core/state.ts';
import type { Handled } from '../../engine/engine.ts';
import { compactionFailed, mayHaveMoved } from '../shared.ts';
import { listOf, recordOf, textOf } from '../untrusted.ts';
import { type Plugin, placeOf, type SessionMemory, speakerOf } from './host.ts';
import type { SignalOf } from './translate.ts';

const commands: ReadonlySet<string> = new Set(['run', 'serve', 'web', 'acp', 'attach', 'github']);

/** By the host's command line. True: there is no time after an idle, so that decisions are made before it. */
export function leavesOnIdle(argv: readonly string[]): boolean {
  // The first two words are the runtime and the host's own file.
  const words = argv.slice(2);
  const command = words.find((word) => commands.has(word));
  if (command === 'github') return true;
  return command === 'run' && !words.some((word) => word === '-i' || /^--interactive(?:=true)?$/u.test(word));
}

/** What is known of the step that ended, at the moment of its end. */
export function factsOf(memory: SessionMemory, finish = memory.lastStep?.finish ?? null): StepFacts {
  const { lastStep: step, lastText, toolError } = memory;
  const text = step !== null && lastText?.messageId === step.messageId ? lastText.text : '';
  const isFailed = memory.failedSinceBusy || (step !== null && step.error !== null);
  const question = step?.summary !== true && endsInQuestion(text);
  if (finish === 'content-filter') return { end: finish, question, toolError };
  if (isFailed || step === null) return { end: isFailed ? 'error' : 'normal', question, toolError };
  // A step that never finished and brought no error was broken off.
  if (finish === null) return { end: 'cancelled', question, toolError };
  const end = finish === 'stop' && text.trim() === '' ? 'empty' : 'normal';
  return { end: finish === 'length' ? finish : end, question, toolError };
}
export type StepFacts = Pick<EventOf<'stop-attempted'>, 'end' | 'question' | 'toolError'>;

/** An error that belongs to an idle may be told after it, but not later than this. */
const errorDelayMs = 300;
/** A stop waits for it; a folder that takes longer has no fingerprint, and tool calls count instead. */
const fingerprintMs = 5000;

export function createStops(plugin: Plugin) {
  const { told, calls, clock, headless, directory, environment } = plugin;

  function stopOf({ id }: SessionMemory, facts: StepFacts, fingerprint: string | null) {
    const children = told.all().filter(({ busy, info }) => busy && info?.parentId === id);
    const job = { kind: 'subagent', description: 'a subagent' } as const;
    const background = children.map((child) => ({ id: child.id, ...job }));
    return { type: 'stop-attempted', ...facts, fingerprint, background } as const;
  }

  /** Brings the record up to date with what only the host knows (G5), and looks at the workspace. */
  async function prepareStop(memory: SessionMemory): Promise<string | null> {
    await told.takeList(memory);
    const session = await told.record(memory);
    const isMeasured = session?.plan.length || plugin.configuration.current().goalChecks.length > 0;
    if (session === null || !isMeasured || !mayHaveMoved(session.work)) return null;
    const seen = await fingerprintWorkspace(directory, { timeoutMs: fingerprintMs, environment });
    return seen.ok ? seen.fingerprint : null;
  }

  /** The host works on although it never said that its compaction ended: it failed. */
  async function closeCompaction(memory: SessionMemory, eventId: string): Promise<void> {
    if ((await told.record(memory))?.waits.compacting)
      await told.tell(memory, compactionFailed, `compaction-failed/${eventId}`);
  }

  async function idled(memory: SessionMemory, eventId: string): Promise<void> {
    // At the first idle of a broken turn the host has not told its error yet.
    if (memory.lastStep?.finish === null && !memory.failedSinceBusy)
      await new Promise<void>((resolve) => clock.wake(clock.now() + errorDelayMs, resolve));
    if (memory.busy) return;
    const facts = factsOf(memory);
    const fingerprint = headless ? null : await prepareStop(memory);
    if (memory.busy) return;
    await closeCompaction(memory, eventId);
    await told.tell(memory, stopOf(memory, facts, fingerprint), `stop/${eventId}`);
  }

  /** Keeps the host from leaving after this step. */
  async function hold(memory: SessionMemory, stepId: string, session: Session): Promise<void> {
    const held = { stepId, ...placeOf(`hold:${stepId}`, clock.now()), isWanted: false, text: null };
    memory.held = held;
    const part = { id: held.partId, type: 'text', text: '', synthetic: true, ignored: true } as const;
    const body = { messageID: held.messageId, ...speakerOf(session), parts: [part] };
    const error = await calls.show(memory.id, body);
    // Then the continuation is sent as a message of its own, and may come too late.
    if (error !== null && memory.held === held) memory.held = null;
  }

  /** Null: nobody is held here. */
  async function heldSession(memory: SessionMemory): Promise<Session | null> {
    const session = await told.record(memory);
    return session?.descriptor.kind === 'subagent' ? null : session;
  }

  /** Whether tool calls follow a text cannot be known yet; only checks of a finished plan run at its end already (V1). */
  async function finishText(memory: SessionMemory, messageId: string): Promise<Handled | null> {
    // The summary of a compaction is nobody's answer, and a step may have several texts.
    if (memory.lastStep?.summary === true) return null;
    if (memory.held?.stepId === messageId || memory.answeredStep === messageId) return null;
    const value = await prepareStop(memory);
    memory.fingerprint = { messageId, value };
    const session = await heldSession(memory);
    if (session === null) return null;
    const stop = told.event(memory, stopOf(memory, factsOf(memory, 'stop'), value), `stop/text/${messageId}`);
    const next = await told.runtime().foresee(stop);
    if (next === 'continue') await hold(memory, messageId, session);
    if (next !== 'checks') return null;
    memory.answeredStep = messageId;
    return told.runtime().handle(stop);
  }

  /** If the step that begins ends without a word, there is no later chance to ask; nothing is placed before it ends. */
  async function prepareHold(memory: SessionMemory): Promise<void> {
    memory.prepared = null;
    const session = await heldSession(memory);
    const { lastStep: step, toolError } = memory;
    if (session === null || step === null) return;
    const stop = stopOf(memory, { end: 'empty', question: false, toolError }, null);
    const next = await told.runtime().foresee(told.event(memory, stop, `stop/prepared/${step.messageId}`));
    if (next !== 'leave') memory.prepared = { stepId: step.messageId, session };
  }

  /** What a continuation says must be there before the model is asked; the host has read its messages before. */
  async function beforeStep(messages: readonly unknown[]): Promise<void> {
    const all = messages.map(recordOf);
    const id = textOf(recordOf(all[0]?.['info'])['sessionID']);
    if (id === null) return;
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
  }

  async function textCompleted(id: string, messageId: string, text: string): Promise<void> {
    const spoken = told.of(id);
    spoken.lastText = { messageId, text };
    // What was prepared holds for a step without a word: from here on the words count.
    if (text.trim() !== '') spoken.prepared = null;
    const finished = await told.after(id, (memory) => finishText(memory, messageId));
    // Outside the queue: an abort in the meantime is heard, and looked at again before anything is sent.
    await finished?.checks;
  }

  /** False: nothing is decided here. The host leaves in a moment unless it is kept: nothing is awaited before that. */
  function stepEnded(signal: SignalOf<'step-ended'>, memory: SessionMemory): boolean {
    const { messageId, reason, eventId, usage } = signal;
    if (reason === 'tool-calls' || reason === 'unknown' || memory.lastStep?.summary === true) return false;
    memory.answeredSinceBusy = true;
    if (memory.answeredStep === messageId) return false;
    const { held, prepared } = memory;
    const isPrepared = held?.stepId !== messageId && prepared?.stepId === messageId;
    const placed = isPrepared ? hold(memory, messageId, prepared.session) : null;
    if (memory.held?.stepId === messageId) memory.held.isWanted = true;
    const facts = factsOf(memory, reason);
    told.after(memory.id, async () => {
      await placed;
      const value = memory.fingerprint?.messageId === messageId ? memory.fingerprint.value : null;
      await closeCompaction(memory, eventId);
      const stop = told.event(memory, stopOf(memory, facts, value), `stop/${eventId}`);
      // Nobody waits for checks here: what has to be run is asked for by the agent itself.
      await told.runtime().ask(stop, clock.now());
      // It was held because it would go on, and then it was let go: the host would ask the model again and again.
      if (memory.held?.stepId === messageId && memory.held.text === null) {
        memory.leaving = true;
        await calls.abort(memory.id);
      }
      await told.tell(memory, usage, `usage/${eventId}`);
    });
    return true;
  }

  return { idled, beforeStep, textCompleted, stepEnded, stopOf };
}
