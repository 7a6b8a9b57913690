// What every run does, whoever the agent is: it begins or is taken up, hears the human,
// asks the engine at a stop attempt, waits as it is told, and says at the end what came
// of it. Decides nothing.
import { endMarkedProcesses, sessionVariable } from '../../checks/process.ts';
import { type Decision, exitCodes } from '../../core/decision.ts';
import type { EventOf, Job, SessionDescriptor } from '../../core/events.ts';
import { findFailedBefore } from '../../core/settlement.ts';
import { isTurnOver, type State, unknownHost } from '../../core/state.ts';
import { isOpen } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import { checkPatienceMs, longestWaitMs } from '../../engine/runtime.ts';
import { settlementOf } from '../../engine/session-record.ts';
import { planView, type RunEnded } from '../agent-event.ts';
import { humanMessageId, humanWords, type Transcript } from '../context/history.ts';
import { defaultLimits } from '../workspace/tool.ts';
import { type AnyRun, ownAgentName, spokenWords } from './run.ts';

/** Of our own agent and of each of its workers. */
export function ownPlace(directory: string) {
  return {
    ...unknownHost,
    host: 'untildone',
    instance: `untildone:${directory}`,
    directory,
  };
}

type Opening = Readonly<{ descriptor: SessionDescriptor; model: string | null }>;

/** `shown`: what people read as the model. */
export async function beginRun(
  run: AnyRun,
  { descriptor, model }: Opening,
  shown = model ?? '',
) {
  const { goal, resume, directory, permissions } = run;
  const canWrite = permissions.mode === 'read-only' ? 'no' : 'yes';
  const agent = { name: ownAgentName, canWrite, model, variant: null } as const;
  await run.record({ type: 'session-opened', descriptor, agent, resumed: resume });
  if (resume) {
    const [last] = await run.store.decisions(run.sessionId, 1);
    run.before = {
      decisions: last?.sequence ?? 0,
      isSettled: (await run.state()).settled !== null,
    };
    // What a killed run left must not work against this one.
    await endMarkedProcesses(
      `${sessionVariable}=${run.sessionId}`,
      defaultLimits.endGraceMs,
    );
    const { state } = await run.record({ type: 'human-resumed', policyHash: null });
    // It died with its process, and nothing else would end it.
    const wait = { kind: 'compaction', shrunk: false } as const;
    if (state.waits.compacting) await run.record({ type: 'wait-ended', wait });
  }
  const about = {
    goal,
    model: shown,
    directory,
    resumed: resume,
    permissions: permissions.mode,
  };
  run.tell({ type: 'run-started', ...about });
}

/** Told when they are said, wherever that is. */
export function showWords(run: AnyRun) {
  run.control.onLook(({ words = [] }) => {
    for (const { messageId, text } of words) {
      if (!run.shownWords.has(messageId))
        run.tell({ type: 'human-message', text, state: 'queued' });
      run.shownWords.add(messageId);
    }
  });
}

/**
 * In the transcript first, for a run that is killed. An answer behind it means it was
 * heard.
 */
export async function hearHuman(run: AnyRun, transcript: Transcript) {
  const last = transcript.messages().at(-1);
  const messageId = last && humanMessageId(last);
  if (!messageId) return;
  const text = typeof last.content === 'string' ? last.content : '';
  await run.record({
    ...spokenWords(text, messageId),
    fingerprint: await run.fingerprint(),
  });
}

/** What a human's message brings: their words, their checks, their plan. */
export async function takeMessage(run: AnyRun, transcript: Transcript) {
  await hearHuman(run, transcript);
  const state = await run.state();
  // A session that is taken up without a new message goes on in the turn that had ended.
  if (run.resume && isTurnOver(state) && state.latch === null)
    await run.record({ type: 'human-resumed', policyHash: null, goesOn: true });
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
  const said = (await run.state()).words ?? [];
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

export const hasWords = ({ state: { latch, pause, words = [] } }: { state: State }) =>
  latch === null && pause?.by !== 'human' && words.length > 0;

/** The work itself, with the look before it. `close`: whatever it opened. */
export async function whileRunning(
  run: AnyRun,
  work: () => Promise<void>,
  close: () => Promise<void>,
) {
  // The clock's wake-ups do not hold the process.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await run.showPlan();
    await run.baseline.take();
    await work();
  } finally {
    clearInterval(alive);
    await run.baseline.end();
    run.control.close();
    await close();
    await run.planFile.close();
  }
}

type Told = Pick<EventOf<'stop-attempted'>, 'end' | 'question' | 'toolError'>;

export async function askToStop(
  run: AnyRun,
  told: Told,
  background: readonly Job[] | null,
) {
  await run.baseline.end();
  const seen = { fingerprint: await run.fingerprint(), background };
  const event = { type: 'stop-attempted', ...run.base(), ...told, ...seen } as const;
  return run.planFile.around(() =>
    run.engine.ask(event, run.clock.now() + checkPatienceMs),
  );
}

/**
 * What the agent is told to go on with; `ended`: it may stop; `heard`: the human spoke
 * while it waited.
 */
export async function followAnswer(
  run: AnyRun,
  first: Handled,
  askAgain: (end: Told['end']) => Promise<Handled>,
): Promise<'ended' | 'heard' | Readonly<{ text: string; decision: Decision }>> {
  for (let asked = first; ; ) {
    const { answer, decision, state } = asked;
    if (answer === null || decision === null || answer.answer === 'let-go')
      return 'ended';
    if (answer.answer === 'continue' && answer.text !== null)
      return { text: answer.text, decision };
    const { reason, sentence } = decision;
    run.tell({ type: 'waiting', reason, sentence, until: answer.dueAt });
    const dueAt = answer.dueAt ?? run.clock.now() + longestWaitMs;
    const hasHeard = await run.control.wait(dueAt, ({ words }) =>
      words?.length ? true : null,
    );
    if (hasHeard) return 'heard';
    await run.control.whilePaused();
    asked = await askAgain(state.lastStop?.end ?? 'normal');
  }
}

/** S8, V8. `failure`: what the last failed call said. */
export async function summariseRun(
  run: AnyRun,
  failure: string | null,
): Promise<RunEnded> {
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
