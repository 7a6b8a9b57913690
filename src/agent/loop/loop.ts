// The loop, read downwards: one model step at a time until the system lets the agent go. At every stop attempt the
// engine decides; this file only carries out the answer: go on, wait, or end. Continuations are given here alone.
import type { EventOf } from '../../core/events.ts';
import { isBudgetSpent, isContextFull } from '../../core/rules.ts';
import { countPlan, openCount } from '../../core/state.ts';
import type { Handled } from '../../engine/engine.ts';
import { humanMessageId, humanWords } from '../context/history.ts';
import type { StopFacts } from '../guard/guard-transform.ts';
import { hasWords, whilePaused } from './control.ts';
import type { PlanFile } from './plan-file.ts';
import { isNow, type Run, showPlan, waitInRun } from './run.ts';
import { type Agent, compactIfDue, recover, runStep, type StepResult, takeAlarm } from './step.ts';
import { settleInterrupted } from './tool-calls.ts';

export interface Asked extends Handled {
  readonly end: EventOf<'stop-attempted'>['end'];
}

type StopDetails = Pick<EventOf<'stop-attempted'>, 'end' | 'question' | 'toolError'>;

interface Loop {
  readonly run: Run;
  readonly agent: Agent;
  readonly planFile: PlanFile;
}

/** How long one stop attempt waits for checks: our own loop has no host's timeout above it. */
const checkPatienceMs = 600_000;

/** Runs until the engine lets go; the settlement is on the session. `hint` goes with the first call that succeeds (I6). */
export async function runLoop(loop: Loop, hint: string | null): Promise<void> {
  const { run, agent, planFile } = loop;
  let firstHint = hint;
  let toolError: string | null = null;
  /** An answer was held back and sent back: the next call still belongs to its step, and what it says is let out (I3). */
  let isRetry = false;
  for (;;) {
    let step: StepResult = { kind: 'aborted' };
    const isReady = !run.control.signal.aborted && (await takeUp(loop)) === 'ready';
    if (isReady) {
      if (!isRetry) {
        run.steps += 1;
        run.tell({ type: 'step-started', step: run.steps });
      }
      const error = toolError;
      step = await runStep(agent, firstHint, isRetry ? null : (stop) => askWhileHeld(loop, stop, error));
      if (step.kind !== 'failed') firstHint = null;
    }
    isRetry = step.kind === 'stopped' && step.isHeldBack;
    if (isReady && !isRetry) {
      run.turnId = (await run.state())?.turn?.id ?? run.turnId;
      await planFile.follow();
      await showPlan(run);
    }
    const asked = await afterStep(loop, step, toolError);
    if (!isRetry) toolError = step.kind === 'tools' ? step.toolError : null;
    if (asked === null || !(await carryOut(loop, asked))) continue;
    if (!isReady || !hasWords(await run.state())) return;
  }
}

/**
 * What stands between two steps: calls that wait for the human's permission are asked about again, and words that the
 * human said meanwhile join the conversation, behind the results of the step before, so that no call loses its result.
 */
async function takeUp({ run, agent }: Loop): Promise<'ready' | 'unanswered'> {
  if ((await settleInterrupted(agent, 'ask')) === 'waiting') return 'unanswered';
  const { permissions, words = [] } = (await run.state()) ?? {};
  // No call of a step is under way here: whatever is still asked for, nobody waits for it.
  await run.gate.withdraw(permissions?.requests.filter(({ answer }) => answer === null) ?? []);
  for (const { messageId, text } of words) {
    const isThere = agent.transcript.messages().some(({ message }) => humanMessageId(message) === messageId);
    if (!isThere) await agent.transcript.append([humanWords(text, messageId)]);
    await run.record({ type: 'words-joined', messageId });
    run.shownWords.add(messageId);
    run.iterations.renew();
    run.tell({ type: 'human-message', text, state: 'joined' });
  }
  return 'ready';
}

/** The guard's question while a text is held; null: the text may go out, and the loop asks afterwards. */
async function askWhileHeld(loop: Loop, stop: StopFacts, toolError: string | null): Promise<Asked | null> {
  const { run, agent } = loop;
  const session = await run.state();
  // What the human just said is answered first; and a pause is waited for when nothing is held any more.
  if (session === null || session.pause !== null || hasWords(session)) return null;
  await raiseAlarm(loop, stop.text);
  // A window that is full is made smaller before the engine, which could only end the run, is asked (G8).
  if (await isNow(run, isContextFull)) await compactIfDue(agent);
  return attemptStop(loop, { end: stop.end, question: stop.question, toolError });
}

/** What the step's end asks of the engine; null: nothing, the next step may start. */
async function afterStep(loop: Loop, step: StepResult, toolError: string | null): Promise<Asked | null> {
  const { run, agent } = loop;
  switch (step.kind) {
    case 'aborted': {
      await settleInterrupted(agent, 'leave');
      const session = await whilePaused(run);
      if (session?.latch) return attemptStop(loop, plainStop('cancelled'));
      const isUnanswered = session !== null && session.waits.permissions.length > 0;
      // Nobody is here to answer: the engine says how such a run ends.
      return isUnanswered && !run.asking.here ? attemptStop(loop, plainStop('normal')) : null;
    }
    case 'failed':
      await settleInterrupted(agent, 'leave');
      return (await recover(agent, step.error)) === 'retry' ? null : attemptStop(loop, plainStop('error'));
    case 'stopped':
      if (step.asked !== null) return step.asked;
      if (hasWords(await run.state())) return null;
      await raiseAlarm(loop, step.text);
      await whilePaused(run);
      return attemptStop(loop, { end: step.end, question: step.question, toolError });
    case 'tools': {
      if (await raiseAlarm(loop, null)) return attemptStop(loop, plainStop('normal'));
      const session = await whilePaused(run);
      if (session?.latch || session?.pause) return attemptStop(loop, plainStop('normal'));
      const isCut = run.iterations.isSpentBy(session === null ? 0 : openCount(countPlan(session.plan)));
      // An agent that never stops by itself must meet its budgets all the same (G8).
      if (!isCut) await compactIfDue(agent);
      if (!isCut && !(await isNow(run, isBudgetSpent))) return null;
      const cut = await attemptStop(loop, plainStop('iteration-budget'));
      if (!isSkip(cut)) return cut;
      run.iterations.renew();
      return null;
    }
  }
}

async function carryOut(loop: Loop, first: Asked): Promise<boolean> {
  const { run, agent } = loop;
  for (let asked = first; ; ) {
    const { answer, decision } = asked;
    if (answer === null || answer.answer === 'let-go') return true;
    if (answer.answer === 'continue' && answer.text !== null) {
      await goOn(loop, answer.text, decision);
      return false;
    }
    const reason = decision?.reason ?? 'waiting';
    run.tell({ type: 'waiting', reason, sentence: decision?.sentence ?? '', until: answer.dueAt });
    const ended = await waitInRun(run, reason, answer.dueAt);
    if (ended.note !== null) await agent.note(ended.note);
    if (ended.goOn) return false;
    await whilePaused(run);
    asked = await attemptStop(loop, plainStop(asked.end));
  }
}

/** The one place where the agent is sent on: into the conversation first, then told and counted. */
async function goOn({ run, agent }: Loop, text: string, decision: Handled['decision']): Promise<void> {
  await agent.transcript.append([{ kind: 'continuation', message: { role: 'user', content: text } }]);
  run.iterations.renew();
  const textKind = decision?.textKind ?? 'standard';
  run.continuations.set(textKind, (run.continuations.get(textKind) ?? 0) + 1);
  const number = [...run.continuations.values()].reduce((sum, count) => sum + count, 0);
  const { level, sentence = '' } = decision ?? {};
  run.tell({ type: 'continuation', textKind, level: level ?? 1, sentence, text, number });
}

async function attemptStop({ run, planFile }: Loop, details: StopDetails): Promise<Asked> {
  const fingerprint = await run.fingerprint();
  const background = run.jobs.running();
  const event = { ...details, type: 'stop-attempted', ...run.base(), fingerprint, background } as const;
  const handled = await planFile.around(() => run.engine.ask(event, run.clock.now() + checkPatienceMs));
  return { ...handled, end: details.end };
}

function plainStop(end: EventOf<'stop-attempted'>['end']): StopDetails {
  return { end, question: false, toolError: null };
}

/** Nobody holds this agent to a plan (read-only, switched off, observed): it ends by itself, not by our budget (C2). */
function isSkip({ answer, decision }: Handled): boolean {
  return answer?.answer === 'let-go' && (decision?.outcome === null || decision?.observed === true);
}

/** I8: puts a loop on the record, so that the engine sees it when it is asked. */
async function raiseAlarm({ run, agent }: Loop, said: string | null): Promise<boolean> {
  const pattern = takeAlarm(agent, said);
  if (pattern === null) return false;
  await run.record({ type: 'loop-alarmed', pattern });
  run.tell({ type: 'notice', sentence: `Loop alarm: ${pattern}` });
  return true;
}
