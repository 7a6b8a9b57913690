// Begins a run or takes it up, hears the human, lets the agent work, and sums up the end,
// for our own agent and for a driven one. It decides nothing.
import { endMarkedProcesses, sessionVariable } from '../../checks/process.ts';
import { exitCodes } from '../../core/decision.ts';
import type { SessionDescriptor } from '../../core/events.ts';
import { findFailedBefore } from '../../core/settlement.ts';
import type { State } from '../../core/state.ts';
import { isOpen } from '../../core/todo.ts';
import { settlementOf } from '../../engine/session-record.ts';
import { describePlace } from '../../session/goal-session.ts';
import { planView, type RunEnded } from '../agent-event.ts';
import {
  humanMessageId,
  humanWords,
  openTranscript,
  type Transcript,
} from '../context/history.ts';
import { defaultLimits } from '../workspace/tool.ts';
import { type AnyRun, ownAgentName, type Run } from './run.ts';

/** For our own agent, each of its workers and every program that we drive. */
export const ownPlace = (directory: string) => describePlace('untildone', directory);

/** The agent of a run: our own, or a program that we drive. */
export type RunAgent = Readonly<{
  descriptor: SessionDescriptor;
  model: string | null;
  /** What people read as the model. */
  shownModel: string;
  /** null: it asks nobody through us. */
  gate: Run['gate'] | null;
  /**
   * The session is open. `saysMore`: words of the human are about to join a conversation
   * that is taken up.
   */
  prepare(saysMore: boolean): Promise<unknown>;
  /** Resolves with what the last failed call said. */
  work(): Promise<string | null>;
  close(): Promise<unknown>;
}>;

/** A run from its first word to its end, whoever the agent is. */
export async function conductRun(
  run: AnyRun,
  openAgent: (transcript: Transcript) => Promise<RunAgent>,
): Promise<RunEnded> {
  const { goal, resume, sessionId, settings, control } = run;
  const place = { ...settings.context, sessionId };
  const transcript = await openTranscript(run, place, () => run.turnId);
  const agent = await openAgent(transcript);
  const spoken = goal === null ? [] : [humanWords(goal, run.identifiers.next())];
  // Written first, so that a session that crashes right away can still be resumed.
  if (!resume) await transcript.append(spoken);
  await beginRun(run, agent);
  control.watch();
  showWords(run);
  await agent.prepare(goal !== null && resume);
  if (resume) await transcript.append(spoken);
  await takeMessage(run, transcript);
  // Not earlier: the words above would lift a stop that was asked for meanwhile.
  run.onControl?.({ ...control, answer: async (...said) => agent.gate?.answer(...said) });
  // The clock's wake-ups do not hold the process.
  const alive = setInterval(() => {}, 2 ** 30);
  let failure: string | null;
  try {
    await run.showPlan();
    await run.baseline.take();
    failure = await agent.work();
  } finally {
    clearInterval(alive);
    await run.baseline.end();
    control.close();
    await agent.close();
    await run.planFile.close();
  }
  const ended = await summariseRun(run, failure);
  run.emit(ended);
  return ended;
}

async function beginRun(run: AnyRun, { descriptor, model, shownModel }: RunAgent) {
  const { goal, resume: resumed, directory, permissions, sessionId } = run;
  const { mode } = permissions;
  const canWrite = mode === 'read-only' ? 'no' : 'yes';
  const agent = { name: ownAgentName, canWrite, model, variant: null } as const;
  await run.record({ type: 'session-opened', descriptor, agent, resumed });
  if (resumed) {
    const [last] = await run.store.decisions(sessionId, 1);
    const { settled } = await run.state();
    run.before = { decisions: last?.sequence ?? 0, isSettled: settled !== null };
    // What a killed run left must not work against this one.
    await endMarkedProcesses(`${sessionVariable}=${sessionId}`, defaultLimits.endGraceMs);
    const { state } = await run.record({ type: 'human-resumed', policyHash: null });
    // It died with its process, and nothing else would end it.
    const wait = { kind: 'compaction', shrunk: false } as const;
    if (state.waits.compacting) await run.record({ type: 'wait-ended', wait });
  }
  const about = { goal, model: shownModel, directory, resumed, permissions: mode };
  run.tell({ type: 'run-started', ...about });
}

/** Shows the human's words as soon as they are said, in whichever terminal. */
function showWords(run: AnyRun) {
  run.control.onLook(({ words }) => {
    for (const { messageId, text } of words) {
      if (!run.shownWords.has(messageId))
        run.tell({ type: 'human-message', text, state: 'queued' });
      run.shownWords.add(messageId);
    }
  });
}

/**
 * The message is in the transcript before it is recorded, so a killed run still has it.
 * If an answer follows it, it was recorded.
 */
export async function hearHuman(run: AnyRun, transcript: Transcript) {
  const last = transcript.messages().at(-1);
  const messageId = last && humanMessageId(last);
  if (!messageId) return;
  await run.hear(typeof last.content === 'string' ? last.content : '', messageId);
}

/** What a human's message brings: their words, their checks, their plan. */
async function takeMessage(run: AnyRun, transcript: Transcript) {
  await hearHuman(run, transcript);
  // A session that is taken up without a new message goes on in the turn that had ended.
  if (run.resume) await run.goOn();
  if (run.replacedChecks)
    await run.record({ type: 'checks-replaced', checks: run.replacedChecks });
  // Not earlier: what the human said may have begun a new plan.
  await run.planFile.begin();
  run.turnId = (await run.state()).turn?.id ?? null;
}

/** The words that were said meanwhile, now part of the conversation. */
export async function joinWords(
  run: AnyRun,
  transcript: Transcript,
): Promise<readonly string[]> {
  const said = (await run.state()).words;
  for (const { messageId, text } of said) {
    const isThere = transcript
      .messages()
      .some((message) => humanMessageId(message) === messageId);
    if (!isThere) await transcript.append([humanWords(text, messageId)]);
    await run.record({ type: 'words-joined', messageId });
    run.shownWords.add(messageId);
    run.tell({ type: 'human-message', text, state: 'joined' });
  }
  return said.map(({ text }) => text);
}

export const hasWords = ({ state: { latch, pause, words } }: { state: State }) =>
  latch === null && pause?.by !== 'human' && words.length > 0;

/** S8, V8. `failure`: what the last failed call said. */
async function summariseRun(run: AnyRun, failure: string | null): Promise<RunEnded> {
  const { sessionId, steps, toolCalls, usage, continuations, store, clock } = run;
  const state = await run.state();
  const [stored] = await store.decisions(sessionId, 1);
  // How an earlier run ended says nothing about this one.
  const last =
    stored !== undefined && stored.sequence > run.before.decisions
      ? stored.decision
      : null;
  const { outcome, reason } = settlementOf(state, last);
  // V1: never flaky checks, edited protected paths, a broken record, todos cancelled
  // without a reason.
  const rests = last?.outcome === 'claimed' ? last.inputs['rests'] : null;
  const restsOnWord =
    rests === 'word' || (rests === null && isWordEnough(state, run.policy));
  const decided = last?.sentence ?? 'The run ended without a decision.';
  const sentence = last?.observed
    ? `Only observed, not carried out: ${decided}`
    : decided;
  // What an earlier turn left open stays and is named at the end (T3).
  const left = state.leftOver ? await store.todos({ planId: state.leftOver.planId }) : [];
  const failed = Object.entries(state.goal).filter(([, { state }]) => state === 'failed');
  const failedNames = failed.map(([check]) => check);
  const failedBefore = findFailedBefore(state, failedNames);
  return {
    type: 'run-ended',
    at: clock.now(),
    sessionId,
    outcome,
    reason,
    sentence:
      outcome === 'failed' && failure !== null ? `${sentence} ${failure}` : sentence,
    exitCode:
      outcome === 'claimed' && run.acceptClaims && restsOnWord ? 0 : exitCodes[outcome],
    todos: planView(state.plan).todos,
    failedChecks: failed.map(([check, { tail }]) => ({
      check,
      tail,
      failedBefore: failedBefore.includes(check),
    })),
    leftOver: left.filter(isOpen).map(({ title }) => title),
    continuations: [...new Set(continuations)].map((textKind) => {
      return {
        textKind,
        count: continuations.filter((kind) => kind === textKind).length,
      };
    }),
    steps,
    toolCalls,
    usage,
    milliseconds: clock.now() - run.startedAt,
    resumeCommand: `untildone run --resume ${sessionId}`,
  };
}

/** Where nobody verified anything: nothing was there that could have been. */
function isWordEnough(
  { plan, recordBroken }: State,
  { goalChecks }: AnyRun['policy'],
): boolean {
  const isDoubtful = ({ checks, status, reason }: State['plan'][number]) =>
    checks.length > 0 || (status === 'cancelled' && reason === null);
  return goalChecks.length === 0 && recordBroken === null && !plan.some(isDoubtful);
}
