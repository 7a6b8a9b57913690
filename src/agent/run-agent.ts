// A run of our own agent from start to summary: puts the loop, the guard, the context, the tools and the human's
// control together. Everything that is decided in it is decided by the engine.

import { allowedProposal } from '../core/check-specs/check-specs.ts';
import { settingsForAgent } from '../core/config/agent-settings.ts';
import type { Policy } from '../core/config/policy.ts';
import { isBudgetSpent, isContextFull } from '../core/rules/limit-rules.ts';
import { openCount } from '../core/session.ts';
import { createRuntime, type Runtime } from '../engine/runtime.ts';
import { sha256 } from '../engine/system.ts';
import type { PlanFileSync } from '../plan-file/plan-file-sync.ts';
import type { Clock, Identifiers } from '../ports/clock.ts';
import type { Checker } from '../ports/host.ts';
import type { Store } from '../ports/store.ts';
import type { Emit, RunEnded } from './agent-event.ts';
import { systemPrompt } from './context/prompt.ts';
import { GuardMemory } from './guard/guard-memory.ts';
import { defaultLoopLimits, LoopDetector } from './guard/loop-detector.ts';
import { planningHint } from './guard/planning-hint.ts';
import { beginRun, ownAgentName } from './loop/begin-run.ts';
import { complexTurnsBefore } from './loop/complex-turns.ts';
import { createContextWindow } from './loop/context-window.ts';
import { type Control, createControl } from './loop/control.ts';
import { followPlanFile } from './loop/follow-plan-file.ts';
import { hearHuman, humanWords } from './loop/hear-human.ts';
import { settleInterrupted } from './loop/interrupted-calls.ts';
import { createIterationBudget } from './loop/iteration-budget.ts';
import { runModelStep, type StepUsage } from './loop/model-step.ts';
import { createRecovery } from './loop/recover.ts';
import { runLoop } from './loop/run-loop.ts';
import { addUsage, createRunCounts } from './loop/run-state.ts';
import { summariseRun } from './loop/run-summary.ts';
import { createRunWorkspace } from './loop/run-workspace.ts';
import { createCallTool } from './loop/tool-calls.ts';
import { openTranscript } from './loop/transcript.ts';
import { planOf, todoViews } from './loop/views.ts';
import { createWaits } from './loop/waits.ts';
import { cacheOptions } from './models/cache-options.ts';
import type { ResolvedModel } from './models/resolve-model.ts';
import { defaultRetryLimits } from './models/retry-plan.ts';
import { callUsage } from './models/usage.ts';
import type { PermissionPolicy } from './workspace/permission.ts';

export interface AgentRunOptions {
  /** null: a session is taken up again without a new message. */
  readonly goal: string | null;
  readonly sessionId: string;
  readonly resume: boolean;
  readonly model: ResolvedModel;
  readonly store: Store;
  readonly clock: Clock;
  readonly identifiers: Identifiers;
  readonly policy: Policy;
  readonly directory: string;
  readonly permissions: PermissionPolicy;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly emit: Emit;
  readonly checker?: Checker;
  /** The plan file that goes with this session, over the engine of the run. */
  readonly planFile?: (engine: Runtime) => PlanFileSync;
  /** Fingerprint of the workspace now; null where none can be taken. */
  readonly fingerprint: () => Promise<string | null>;
  /** Hands the human's controls to the caller, which knows about signals and keys. */
  readonly onControl?: (control: HumanControl) => void;
  /** `claimed` counts as success. */
  readonly acceptClaims: boolean;
  readonly random?: () => number;
}

export interface HumanControl {
  /** First Ctrl-C: latch, and stop after this step. */
  stopAfterStep(): Promise<void>;
  /** Second Ctrl-C: at once. */
  stopNow(): void;
}

/** How long one stop attempt waits for checks: our own loop has no host's timeout above it. */
const checkPatienceMs = 600_000;

export async function runAgent(options: AgentRunOptions): Promise<RunEnded> {
  const { store, clock, identifiers, sessionId, emit, model, policy, directory } = options;
  const settings = settingsForAgent(policy.settings, ownAgentName);
  const startedAt = clock.now();
  const base = () => ({ id: identifiers.next(), sessionId, at: clock.now() });
  const session = () => store.read(async (reader) => reader.session(sessionId));
  const runtime = createRuntime({
    store,
    clock,
    identifiers,
    hash: sha256,
    policy: () => policy,
    ...(options.checker === undefined ? {} : { checker: options.checker }),
  });
  const { maxMessages } = settings.context;
  const spoken = options.goal === null ? null : humanWords(options.goal, identifiers.next());
  let turnId: string | null = null;
  const transcript = await openTranscript({ store, clock, sessionId, turnId: () => turnId, maxMessages });
  // The goal is on record before its session is: whatever session a human finds after a crash can go on.
  if (spoken !== null && !options.resume) await transcript.append([spoken]);
  await beginRun(runtime, options);

  const control = createControl(store, clock, sessionId, () => {
    const sentence =
      'Paused by a human. `untildone resume` in another terminal goes on; Ctrl-C ends the run.';
    emit({ type: 'notice', at: clock.now(), sessionId, sentence });
  });
  options.onControl?.(humanControl(options, control, runtime));
  const todos = {
    engine: runtime,
    store,
    sessionId,
    actor: 'agent',
    clock,
    identifiers,
    resolveCheck: (proposal: string) => allowedProposal(settings, proposal),
  } as const;
  const workspace = createRunWorkspace({ ...options, settings, todos });
  const { tools } = workspace;
  const waits = createWaits(clock, control, workspace.jobs);
  const callTool = createCallTool({ ...options, engine: runtime, signal: () => control.signal });
  const settle = async (): Promise<void> => {
    await settleInterrupted(store, sessionId, transcript, tools, callTool);
  };
  await settle();
  if (spoken !== null && options.resume) await transcript.append([spoken]);
  else if (transcript.messages().at(-1)?.message.role === 'assistant') {
    const content = '[resumed] Go on with the plan.';
    await transcript.append([{ kind: 'note', message: { role: 'user', content } }]);
  }
  await hearHuman(runtime, transcript, options);
  // Not before: what the human said may have begun a new plan.
  const planFile = followPlanFile(runtime, options);
  await planFile.begin();
  const opened = await session();
  turnId = opened?.turn?.id ?? null;

  const context = createContextWindow({
    store,
    session,
    transcript,
    system: systemPrompt({
      tools: tools.map(({ name }) => name),
      root: directory,
      platform: process.platform,
      startedOn: new Date(opened?.createdAt ?? startedAt).toISOString().slice(0, 10),
    }),
    cache: cacheOptions(model.family, sessionId),
    settings: settings.context,
    contextLimit: model.contextLimit,
    model: model.model,
    onUsage: countUsage,
  });
  const limits = { ...defaultRetryLimits, attempts: settings.circuitAfter };
  const random = options.random ?? Math.random;
  const recovery = createRecovery({
    ...options,
    engine: runtime,
    about: model,
    limits,
    context,
    control,
    waits,
    random,
  });
  const counts = createRunCounts();
  // The three levels of the reminder come first: a loop of words is one that outlives them.
  const detector = new LoopDetector({ ...defaultLoopLimits, repeatedTexts: 4 });
  const memory = new GuardMemory();
  const complexTurns = await complexTurnsBefore(store, sessionId, turnId);
  let hint = options.goal === null ? null : planningHint(options.goal, complexTurns);
  let alarm: string | null = null;
  let shownPlan = '';
  let compactedLength = -1;

  async function readPlan(): Promise<string> {
    const current = await session();
    return current === null ? '[]' : JSON.stringify(todoViews(await planOf(store, current)));
  }

  async function showPlan(): Promise<void> {
    const plan = await readPlan();
    if (plan === shownPlan) return;
    shownPlan = plan;
    const views = JSON.parse(plan) as ReturnType<typeof todoViews>;
    const completed = views.filter(({ status }) => status === 'completed').length;
    emit({ type: 'plan-changed', at: clock.now(), sessionId, todos: views, completed, total: views.length });
  }

  /** Before the window is full, its older part is summarised; the engine knows, so that nothing is sent meanwhile. */
  async function compactIfDue(): Promise<void> {
    const { length } = transcript.messages();
    // What could not be made smaller is left alone until there is more of it.
    if (!context.isCompactionDue() || length === compactedLength) return;
    await runtime.handle({ ...base(), type: 'compaction-started' });
    const { shrunk, before, after } = await context.compact(control.signal);
    await runtime.handle({ ...base(), type: 'compaction-ended', shrunk });
    if (shrunk)
      emit({ type: 'compacted', at: clock.now(), sessionId, messagesBefore: before, messagesAfter: after });
    compactedLength = transcript.messages().length;
  }

  async function spending() {
    const current = await session();
    return current === null ? null : { session: current, settings, at: clock.now() };
  }

  /** Every call counts, those for summaries too; only the agent's own say how full the window is (`contextTokens`). */
  async function countUsage(usage: StepUsage, contextTokens: number | null = null): Promise<void> {
    const step = callUsage(usage, model.price);
    counts.usage = addUsage(counts.usage, step);
    const { inputTokens, outputTokens, cost } = step;
    const window = { contextTokens, contextLimit: model.contextLimit };
    await runtime.handle({ ...base(), type: 'usage-reported', inputTokens, outputTokens, cost, ...window });
    emit({ type: 'usage', at: clock.now(), sessionId, step, total: counts.usage });
  }

  async function countStep(usage: StepUsage): Promise<void> {
    const { inputTokens } = callUsage(usage, model.price);
    context.reported(inputTokens);
    await countUsage(usage, inputTokens);
  }

  // A pending wait must not let the process end: the clock's wake-ups do not hold it.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await showPlan();
    await runLoop({
      ...options,
      runtime: planFile.runtime,
      transcript,
      control,
      waits,
      counts,
      iterations: createIterationBudget(settings.iterations),
      session,
      checkPatienceMs,
      settleInterrupted: settle,
      recover: recovery.recover,
      makeRoom: async () => {
        const spent = await spending();
        if (spent !== null && isContextFull(spent)) await compactIfDue();
      },
      isBudgetSpent: async () => {
        await compactIfDue();
        const spent = await spending();
        return spent !== null && isBudgetSpent(spent);
      },
      loopAlarm: (said) => {
        if (said !== null) alarm ??= detector.observeText(said)?.pattern ?? null;
        const pattern = alarm;
        alarm = null;
        return pattern;
      },
      step: async (ask, onHeldBack) => {
        await compactIfDue();
        let attempts = 0;
        const result = await runModelStep({
          ...options,
          model: model.model,
          tools,
          transcript,
          callTool,
          signal: control.signal,
          prompt: () => context.prompt(attempts++ === 0 ? hint : null),
          guard: {
            memory,
            ask,
            readPlan,
            hasOpenTodos: async () => {
              const current = await session();
              return current !== null && openCount(current.counts) > 0;
            },
            isPaused: async () => (await session())?.pause !== null,
          },
          onCall: ({ tool, input, result: { output } }) => {
            counts.toolCalls += 1;
            alarm ??= detector.observeCall({ name: tool, input, result: output })?.pattern ?? null;
          },
          onUsage: countStep,
          onHeldBack,
        });
        if (result.kind !== 'failed') {
          recovery.succeeded();
          hint = null;
        }
        turnId = (await session())?.turn?.id ?? turnId;
        await planFile.follow();
        await showPlan();
        return result;
      },
    });
  } finally {
    clearInterval(alive);
    control.close();
    await workspace.close();
    await planFile.close();
  }
  const ended = await summariseRun({
    store,
    session: await session(),
    sessionId,
    counts,
    startedAt,
    endedAt: clock.now(),
    failure: recovery.lastSentence(),
    acceptClaims: options.acceptClaims,
  });
  emit(ended);
  return ended;
}

function humanControl(options: AgentRunOptions, control: Control, runtime: Runtime): HumanControl {
  const { identifiers, sessionId, clock } = options;
  return {
    async stopAfterStep() {
      control.letStepFinish();
      const base = { id: identifiers.next(), sessionId, at: clock.now() };
      await runtime.handle({ ...base, type: 'human-aborted', how: 'Ctrl-C' });
      control.endWaits();
    },
    stopNow: () => control.abortStep(),
  };
}
