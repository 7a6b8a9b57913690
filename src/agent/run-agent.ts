// A run of our own agent, read downwards. At every stop attempt the engine decides; this
// file goes on, waits, or ends.
import type { Decision } from '../core/decision.ts';
import { isBudgetSpent, isContextFull } from '../core/rules.ts';
import { isOpen } from '../core/todo.ts';
import type { Handled } from '../engine/engine.ts';
import type { StopFacts } from '../guard/guard-transform.ts';
import { defaultLoopLimits, LoopDetector } from '../guard/loop-detector.ts';
import type { RunEnded } from './agent-event.ts';
import { countUnplanned, planningHint } from './context/planning-hint.ts';
import { planMessage, systemPrompt } from './context/prompt.ts';
import { conductRun, hasWords, joinWords, ownPlace } from './loop/conduct.ts';
import { type AgentRunOptions, openRun } from './loop/run.ts';
import type { Agent, StepResult } from './loop/step.ts';
import { compactIfDue, openAgent, recoverStep, runStep, takeAlarm } from './loop/step.ts';
import { openTools, settleInterrupted } from './loop/tool-calls.ts';
import { createDelegation } from './workers/delegation.ts';
import { delegateToolName } from './workers/worker-types.ts';

export type { AgentRunOptions, HumanControl } from './loop/run.ts';

export async function runAgent(options: AgentRunOptions): Promise<RunEnded> {
  const run = openRun(options);
  return conductRun(run, async (transcript) => {
    const { goal, control, model, settings, workers, gate } = run;
    const tools = openTools(run);
    const delegate = createDelegation(run, tools);
    if (delegate !== null) tools.push(delegate);
    const agent = openAgent({
      ...options,
      run,
      asked: settings,
      tools,
      transcript,
      system: systemPrompt({
        tools: tools.map(({ name }) => name),
        root: run.directory,
        platform: process.platform,
        startedOn: new Date((await run.state()).createdAt).toISOString().slice(0, 10),
        workers,
      }),
      // A loop of words is one that outlives the three levels of the reminder.
      detector: new LoopDetector({ ...defaultLoopLimits, repeatedTexts: 4 }),
      signal: () => control.signal,
      async waitForRetry(dueAt) {
        if (dueAt !== null) await control.wait(dueAt, () => null);
        return (await control.whilePaused()).latch === null;
      },
      plan: async () =>
        planMessage((await run.state()).plan, settings.context.planTodos, delegate?.name),
    });
    const special = {
      pause: 'todo_pause',
      verify: 'todo_verify',
      wait: 'read_job',
      ...(delegate && { delegate: delegateToolName }),
    };
    return {
      descriptor: {
        ...ownPlace(run.directory),
        kind: 'main',
        judgesGoal: true,
        tools: special,
      },
      model: model.label,
      shownModel: model.label,
      gate,
      prepare: (saysMore) => settleConversation(agent, saysMore),
      async work() {
        if (goal !== null) {
          const isPlanned = (await run.state()).plan.some(isOpen);
          const earlier = isPlanned ? [] : transcript.messages().slice(0, -1);
          agent.hint = planningHint(goal, countUnplanned(earlier));
        }
        await runLoop(agent);
        return agent.failure;
      },
      close: () => run.workspace.jobs.close(),
    };
  });
}

/** What waited for permission is given up if the human says something else. */
async function settleConversation(agent: Agent, saysMore: boolean) {
  const isSettled = await settleInterrupted(agent, saysMore ? 'give-up' : 'leave');
  if (saysMore) await agent.run.gate.withdraw(() => true);
  else if (isSettled && agent.transcript.messages().at(-1)?.role === 'assistant')
    await agent.note('[resumed] Go on with the plan.');
}

async function runLoop(agent: Agent) {
  const { run } = agent;
  /**
   * The last answer was sent back: the next call belongs to its step, and its text is let
   * out (I3).
   */
  let isRetry = false;
  for (;;) {
    let step: StepResult = { kind: 'aborted' };
    // A stop may have come before any step: during the baseline, or in a wait.
    const isStopped =
      run.control.signal.aborted ||
      (await run.isNow(({ state }) => state.latch !== null));
    const isReady = !isStopped && (await takeUp(agent));
    if (isReady) {
      if (!isRetry) {
        run.steps += 1;
        run.tell({ type: 'step-started', step: run.steps });
      }
      step = await runStep(agent, isRetry ? null : (stop) => askWhileHeld(agent, stop));
    }
    isRetry = step.kind === 'stopped' && step.isHeldBack;
    if (isReady && !isRetry) {
      run.turnId = (await run.state()).turn?.id ?? run.turnId;
      await run.planFile.follow();
      await run.showPlan();
    }
    const asked = await afterStep(agent, step);
    if (!isRetry && step.kind !== 'tools') agent.toolError = null;
    if (asked === null || !(await carryOut(agent, asked))) continue;
    if (!isReady || !(await run.isNow(hasWords))) return;
  }
}

/**
 * Waiting calls are asked about again, and the human's words join. False: nobody
 * answered.
 */
async function takeUp(agent: Agent) {
  const { run, transcript } = agent;
  if (!(await settleInterrupted(agent, 'ask'))) return false;
  // Said after the end: a new goal.
  if ((await run.state()).baseline === null) await run.baseline.take();
  // No call is under way.
  await run.gate.withdraw(({ answer }) => answer === null);
  if ((await joinWords(run, transcript)).length > 0) run.iterations.renew();
  return true;
}

/** null: the text may go out, and the loop asks afterwards. */
async function askWhileHeld(agent: Agent, stop: StopFacts): Promise<Handled | null> {
  const state = await agent.run.state();
  // Words are answered first; a pause is waited for when nothing is held.
  if (state.pause !== null || hasWords({ state })) return null;
  await raiseAlarm(agent, stop.text);
  // The engine could only end a run whose context is full (G8).
  if (await agent.run.isNow(isContextFull)) await compactIfDue(agent);
  return attemptStop(agent, stop.end, stop);
}

/** null: the next step may start. */
async function afterStep(agent: Agent, step: StepResult): Promise<Handled | null> {
  const { run } = agent;
  switch (step.kind) {
    case 'aborted': {
      await settleInterrupted(agent, 'leave');
      const { latch, waits } = await run.control.whilePaused();
      if (latch !== null) return attemptStop(agent, 'cancelled');
      // The engine says how a run ends that nobody answers.
      return waits.permissions.length > 0 && !run.asking.here
        ? attemptStop(agent, 'normal')
        : null;
    }
    case 'failed':
      await settleInterrupted(agent, 'leave');
      return (await recoverStep(agent, step.error)) ? null : attemptStop(agent, 'error');
    case 'stopped':
      if (step.asked !== null) return step.asked;
      if (await run.isNow(hasWords)) return null;
      await raiseAlarm(agent, step.text);
      await run.control.whilePaused();
      return attemptStop(agent, step.end, step);
    case 'tools': {
      if (await raiseAlarm(agent)) return attemptStop(agent, 'normal');
      const { latch, pause, plan } = await run.control.whilePaused();
      if (latch !== null || pause !== null) return attemptStop(agent, 'normal');
      const isCut = !step.isFree && run.iterations.isSpentBy(plan.some(isOpen));
      // One that never stops meets its budgets all the same (G8).
      if (!isCut) await compactIfDue(agent);
      if (!isCut && !(await run.isNow(isBudgetSpent))) return null;
      const cut = await attemptStop(agent, 'iteration-budget');
      // Read-only, switched off, observed: it ends by itself, not by a budget (C2).
      const isHeld = cut.decision?.outcome !== null && cut.decision?.observed !== true;
      if (cut.answer?.answer !== 'let-go' || isHeld) return cut;
      run.iterations.renew();
      return null;
    }
  }
}

/** `said` absent: it was stopped. */
function attemptStop(agent: Agent, end: StopFacts['end'], said?: { question: boolean }) {
  const { question } = said ?? { question: false };
  return agent.run.askToStop({ end, question, toolError: said ? agent.toolError : null });
}

/** True: the run may end. */
async function carryOut(agent: Agent, first: Handled) {
  const handled = await agent.run.awaitAnswer(first);
  const { answer = null, decision = null } = handled ?? {};
  if (answer?.text == null || decision === null) return handled !== null;
  await goOn(agent, answer.text, decision);
  return false;
}

/** The one place that sends the agent on. */
async function goOn(
  { run, note }: Agent,
  text: string,
  { textKind: kind, level, sentence }: Decision,
) {
  await note(text, 'continuation');
  run.iterations.renew();
  const textKind = kind ?? 'standard';
  const number = run.continuations.push(textKind);
  run.tell({ type: 'continuation', textKind, level: level ?? 1, sentence, text, number });
}

/** I8: on the record, so that the engine sees it when it is asked. */
async function raiseAlarm(agent: Agent, said?: string) {
  const pattern = takeAlarm(agent, said);
  if (pattern === null) return false;
  await agent.record({ type: 'loop-alarmed', pattern });
  agent.tell({ type: 'notice', sentence: `The agent is repeating itself: ${pattern}` });
  return true;
}
