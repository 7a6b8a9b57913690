// A run of our own agent, read downwards. At every stop attempt the engine decides; this file goes on, waits, or ends.
import { endMarkedProcesses, sessionVariable } from '../checks/process.ts';
import { type Decision, exitCodes } from '../core/decision.ts';
import { isBudgetSpent, isContextFull } from '../core/rules.ts';
import type { State } from '../core/state.ts';
import { isOpen } from '../core/todo.ts';
import type { Handled } from '../engine/engine.ts';
import { checkPatienceMs, longestWaitMs } from '../engine/runtime.ts';
import { settlementOf } from '../engine/session-record.ts';
import { countComplexTurn, planningHint } from '../guard/complexity.ts';
import type { StopFacts } from '../guard/guard-transform.ts';
import { defaultLoopLimits, LoopDetector } from '../guard/loop-detector.ts';
import { planView, type RunEnded } from './agent-event.ts';
import { humanMessageId, humanWords, openTranscript, type Transcript } from './context/history.ts';
import { planMessage, systemPrompt } from './context/prompt.ts';
import type { AgentRunOptions, Run } from './loop/run.ts';
import { createHumanControl, openRun, ownAgentName, spokenWords } from './loop/run.ts';
import type { Agent, StepResult } from './loop/step.ts';
import { compactIfDue, openAgent, recover, runStep, takeAlarm } from './loop/step.ts';
import { openTools, settleInterrupted } from './loop/tool-calls.ts';
import { createDelegation, describeSession } from './workers/delegation.ts';
import { delegateToolName } from './workers/worker-types.ts';

export type { AgentRunOptions, HumanControl } from './loop/run.ts';

export async function runAgent(options: AgentRunOptions): Promise<RunEnded> {
  const run = openRun(options);
  const { goal, resume, sessionId, control } = run;
  const { context } = run.settings;
  const transcript = await openTranscript(run, { ...context, sessionId }, () => run.turnId);
  const spoken = goal === null ? null : humanWords(goal, run.identifiers.next());
  // First: whatever session a human finds after a crash can go on.
  if (spoken !== null && !resume) await transcript.append([spoken]);
  await begin(run);

  control.watch();
  const tools = openTools(run);
  const delegate = createDelegation(run, tools);
  if (delegate !== null) tools.push(delegate);
  const agent = openAgent({
    ...options,
    run,
    asked: run.settings,
    tools,
    transcript,
    system: systemPrompt({
      tools: tools.map(({ name }) => name),
      root: run.directory,
      platform: process.platform,
      startedOn: new Date((await run.state()).createdAt).toISOString().slice(0, 10),
      workers: run.workers,
    }),
    // A loop of words is one that outlives the three levels of the reminder.
    detector: new LoopDetector({ ...defaultLoopLimits, repeatedTexts: 4 }),
    signal: () => control.signal,
    async waitForRetry(dueAt) {
      if (dueAt !== null) await control.wait(dueAt, () => null);
      return (await control.whilePaused()).latch === null;
    },
    plan: async () => planMessage((await run.state()).plan, context.planTodos, delegate?.name),
  });
  control.onLook(({ words = [] }) => {
    for (const { messageId, text } of words) {
      if (!run.shownWords.has(messageId)) run.tell({ type: 'human-message', text, state: 'queued' });
      run.shownWords.add(messageId);
    }
  });

  if (spoken !== null && resume) {
    // What waited for permission is given up: the human said something else.
    await settleInterrupted(agent, 'give-up');
    await run.gate.withdraw(() => true);
    await transcript.append([spoken]);
  } else {
    const isSettled = await settleInterrupted(agent, 'leave');
    if (isSettled && transcript.messages().at(-1)?.role === 'assistant')
      await agent.note('[resumed] Go on with the plan.');
  }
  await hearHuman(run, transcript);
  if (run.replacedChecks) await run.record({ type: 'checks-replaced', checks: run.replacedChecks });
  // Not earlier: what the human said may have begun a new plan.
  await run.planFile.begin();
  run.turnId = (await run.state()).turn?.id ?? null;
  if (goal !== null) agent.hint = planningHint(goal, await complexTurnsBefore(run));

  // Not earlier: the words above would lift a stop that was asked for meanwhile.
  run.onControl?.(createHumanControl(run));
  // The clock's wake-ups do not hold the process.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await run.showPlan();
    await run.baseline.take();
    await runLoop(agent);
  } finally {
    clearInterval(alive);
    await run.baseline.end?.();
    control.close();
    await run.workspace.jobs.close();
    await run.planFile.close();
  }
  const ended = await summariseRun(run, agent.failure);
  run.emit(ended);
  return ended;
}

async function begin(run: Run) {
  const { goal, resume, directory, model, permissions, workspace } = run;
  const delegates = run.workers.length > 0 ? { delegate: delegateToolName } : {};
  const descriptor = describeSession(run, {
    pause: 'todo_pause',
    verify: 'todo_verify',
    wait: 'read_job',
    ...delegates,
  });
  const canWrite = permissions.mode === 'read-only' ? 'no' : 'yes';
  const agent = { name: ownAgentName, canWrite, model: model.label, variant: null } as const;
  await run.record({ type: 'session-opened', descriptor, agent, resumed: resume });
  if (resume) {
    const [last] = await run.store.decisions(run.sessionId, 1);
    run.before = { decisions: last?.sequence ?? 0, settledAt: (await run.state()).settled?.at ?? null };
    // What a killed run left must not work against this one.
    await endMarkedProcesses(`${sessionVariable}=${run.sessionId}`, workspace.limits.endGraceMs);
    const { state } = await run.record({ type: 'human-resumed', policyHash: null });
    // It died with its process, and nothing else would end it.
    const wait = { kind: 'compaction', shrunk: false } as const;
    if (state.waits.compacting) await run.record({ type: 'wait-ended', wait });
  }
  const about = { goal, model: model.label, directory, resumed: resume, permissions: permissions.mode };
  run.tell({ type: 'run-started', ...about });
}

/** In the transcript first, for a run that is killed. An answer behind it means it was heard. */
export async function hearHuman(run: Run, transcript: Transcript) {
  const last = transcript.messages().at(-1);
  const messageId = last && humanMessageId(last);
  if (!messageId) return;
  const text = typeof last.content === 'string' ? last.content : '';
  await run.record({ ...spokenWords(text, messageId), fingerprint: await run.fingerprint() });
}

/** Of the newest turns; older ones make no hint firmer. */
const mostDecisions = 5000;

/** I6: complex requests without a plan before this turn, in earlier runs too. A session of days has many events. */
async function complexTurnsBefore({ store, sessionId, turnId }: Run) {
  const pageSize = 1000;
  let turns = 0;
  // Words that joined a turn began none: no decision bears their name.
  const begun = new Set((await store.decisions(sessionId, mostDecisions)).map((made) => made.turnId));
  for (let after = 0; ; ) {
    const page = await store.events({ sessionId, after, limit: pageSize });
    for (const { event } of page) {
      const isEarlier = event.type !== 'human-spoke' || (event.turnId !== turnId && begun.has(event.turnId));
      if (isEarlier) turns = countComplexTurn(turns, event);
    }
    if (page.length < pageSize) return turns;
    after = page.at(-1)?.applied ?? after;
  }
}

async function runLoop(agent: Agent) {
  const { run } = agent;
  /** The last answer was sent back: the next call belongs to its step, and its text is let out (I3). */
  let isRetry = false;
  for (;;) {
    let step: StepResult = { kind: 'aborted' };
    // A stop may have come before any step: during the baseline, or in a wait.
    const isStopped = run.control.signal.aborted || (await run.isNow(({ state }) => state.latch !== null));
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

/** Waiting calls are asked about again, and the human's words join. False: nobody answered. */
async function takeUp(agent: Agent) {
  const { run, transcript } = agent;
  if (!(await settleInterrupted(agent, 'ask'))) return false;
  // Said after the end: a new goal.
  if ((await run.state()).baseline === undefined) await run.baseline.take();
  // No call is under way.
  await run.gate.withdraw(({ answer }) => answer === null);
  for (const { messageId, text } of (await run.state()).words ?? []) {
    const isThere = transcript.messages().some((message) => humanMessageId(message) === messageId);
    if (!isThere) await transcript.append([humanWords(text, messageId)]);
    await run.record({ type: 'words-joined', messageId });
    run.shownWords.add(messageId);
    run.iterations.renew();
    run.tell({ type: 'human-message', text, state: 'joined' });
  }
  return true;
}

const hasWords = ({ state: { latch, pause, words = [] } }: { state: State }) =>
  latch === null && pause?.by !== 'human' && words.length > 0;

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
      return waits.permissions.length > 0 && !run.asking.here ? attemptStop(agent, 'normal') : null;
    }
    case 'failed':
      await settleInterrupted(agent, 'leave');
      return (await recover(agent, step.error)) ? null : attemptStop(agent, 'error');
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
async function attemptStop(agent: Agent, end: StopFacts['end'], said?: { question: boolean }) {
  const { run } = agent;
  await run.baseline.end?.();
  const told = { end, question: said?.question ?? false, toolError: said ? agent.toolError : null };
  const seen = { fingerprint: await run.fingerprint(), background: run.workspace.jobs.running() };
  const event = { type: 'stop-attempted', ...run.base(), ...told, ...seen } as const;
  return run.planFile.around(() => run.engine.ask(event, run.clock.now() + checkPatienceMs));
}

/** True: the run may end. */
async function carryOut(agent: Agent, first: Handled) {
  const { run } = agent;
  for (let asked = first; ; ) {
    const { answer, decision, state } = asked;
    if (answer === null || decision === null || answer.answer === 'let-go') return true;
    if (answer.answer === 'continue' && answer.text !== null) {
      await goOn(agent, answer.text, decision);
      return false;
    }
    const { reason, sentence } = decision;
    run.tell({ type: 'waiting', reason, sentence, until: answer.dueAt });
    const dueAt = answer.dueAt ?? run.clock.now() + longestWaitMs;
    const hasHeard = await run.control.wait(dueAt, ({ words }) => (words?.length ? true : null));
    if (hasHeard) return false;
    await run.control.whilePaused();
    asked = await attemptStop(agent, state.lastStop?.end ?? 'normal');
  }
}

/** The one place that sends the agent on. */
async function goOn({ run, note }: Agent, text: string, { textKind: kind, level, sentence }: Decision) {
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

/** S8, V8. `failure`: what the last failed call said. */
async function summariseRun(run: Run, failure: string | null): Promise<RunEnded> {
  const { sessionId, steps, toolCalls, usage, continuations, store, clock } = run;
  const state = await run.state();
  const [stored] = await store.decisions(sessionId, 1);
  // How an earlier run ended says nothing about this one.
  const last = stored !== undefined && stored.sequence > run.before.decisions ? stored.decision : null;
  const settled = state.settled?.at === run.before.settledAt ? null : state.settled;
  const { outcome, reason } = settlementOf({ ...state, settled }, last);
  // V1: never flaky checks, edited protected paths, a broken record, todos cancelled without a reason.
  const rests = last?.outcome === 'claimed' ? last.inputs['rests'] : null;
  const restsOnWord = rests === 'word' || (rests === null && isWordEnough(state, run.policy));
  const decided = last?.sentence ?? 'The run ended without a decision.';
  const sentence = last?.observed ? `Only observed, not carried out: ${decided}` : decided;
  // What an earlier turn left open stays and is named at the end (T3).
  const left = state.leftOver ? await store.todos({ planId: state.leftOver.planId }) : [];
  const failed = Object.entries(state.goal).filter(([, { state }]) => state === 'failed');
  return {
    ...{ type: 'run-ended', at: clock.now(), sessionId, outcome, reason },
    sentence: outcome === 'failed' && failure !== null ? `${sentence} ${failure}` : sentence,
    exitCode: outcome === 'claimed' && run.acceptClaims && restsOnWord ? 0 : exitCodes[outcome],
    todos: planView(state.plan).todos,
    failedChecks: failed.map(([check, { tail }]) => ({ check, tail })),
    leftOver: left.filter(isOpen).map(({ title }) => title),
    continuations: [...new Set(continuations)].map((textKind) => {
      return { textKind, count: continuations.filter((kind) => kind === textKind).length };
    }),
    ...{ steps, toolCalls, usage, milliseconds: clock.now() - run.startedAt },
    resumeCommand: `untildone run --resume ${sessionId}`,
  };
}

/** Where nobody verified anything: nothing was there that could have been. */
function isWordEnough({ plan, recordBroken }: State, { goalChecks }: Run['policy']): boolean {
  const isDoubtful = ({ checks, status, reason }: State['plan'][number]) =>
    checks.length > 0 || (status === 'cancelled' && reason === null);
  return goalChecks.length === 0 && recordBroken === null && !plan.some(isDoubtful);
}
