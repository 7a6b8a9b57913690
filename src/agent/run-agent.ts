// A run of our own agent from start to summary: puts the loop, the guard, the context, the tools and the human's
// control together. Everything that is decided in it is decided by the engine.

import { allowedProposal } from '../core/check-specs/check-specs.ts';
import { settingsForAgent } from '../core/config/agent-settings.ts';
import type { Policy } from '../core/config/policy.ts';
import { isAllowanceSpent, isBudgetSpent, isContextFull } from '../core/rules/limit-rules.ts';
import { openCount } from '../core/session.ts';
import type { Clock, Identifiers } from '../engine/clock.ts';
import type { Checker } from '../engine/host.ts';
import { createRuntime, type Runtime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import type { PlanFileSync } from '../plan-file/plan-file-sync.ts';
import type { Emit, RunEnded } from './agent-event.ts';
import { systemPrompt } from './context/prompt.ts';
import { GuardMemory } from './guard/guard-memory.ts';
import { defaultLoopLimits, LoopDetector } from './guard/loop-detector.ts';
import { planningHint } from './guard/planning-hint.ts';
import { beginRun, ownAgentName } from './loop/begin-run.ts';
import { createCompaction } from './loop/compact-history.ts';
import { complexTurnsBefore } from './loop/complex-turns.ts';
import { createContextWindow } from './loop/context-window.ts';
import { createControl } from './loop/control.ts';
import { followPlanFile } from './loop/follow-plan-file.ts';
import { hearHuman, humanWords } from './loop/hear-human.ts';
import { createHumanControl, type HumanControl } from './loop/human-control.ts';
import { settleInterrupted, type WaitingCalls } from './loop/interrupted-calls.ts';
import { createIterationBudget } from './loop/iteration-budget.ts';
import { runModelStep } from './loop/model-step.ts';
import { createRecovery } from './loop/recover.ts';
import { runLoop } from './loop/run-loop.ts';
import { createRunCounts } from './loop/run-state.ts';
import { summariseRun } from './loop/run-summary.ts';
import { createRunWorkspace } from './loop/run-workspace.ts';
import { createTakeUp } from './loop/take-up.ts';
import { createCallTool } from './loop/tool-calls.ts';
import { openTranscript } from './loop/transcript.ts';
import { createUsageCount } from './loop/usage-count.ts';
import { createWaits } from './loop/waits.ts';
import { createWatchedPlan } from './loop/watched-plan.ts';
import { cacheOptions } from './models/cache-options.ts';
import type { ResolvedModel } from './models/resolve-model.ts';
import { defaultRetryLimits } from './models/retry-plan.ts';
import { type Asking, createPermissionGate, noAsking } from './permissions/permission-gate.ts';
import { createDelegation } from './workers/delegation.ts';
import { type Worker, withWorkerTypes } from './workers/worker.ts';
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
  /** How the human is asked for what the policy leaves open; absent: nobody is there. */
  readonly asking?: Asking;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly emit: Emit;
  readonly checker?: Checker;
  /** Who todos can be handed to (S4); none: there is no `delegate`. */
  readonly workers?: readonly Worker[];
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

export type { HumanControl } from './loop/human-control.ts';

/** How long one stop attempt waits for checks: our own loop has no host's timeout above it. */
const checkPatienceMs = 600_000;

export async function runAgent(options: AgentRunOptions): Promise<RunEnded> {
  const { store, clock, identifiers, sessionId, emit, model, directory, workers = [] } = options;
  const policy = withWorkerTypes(options.policy, workers);
  const settings = settingsForAgent(policy.settings, ownAgentName);
  const startedAt = clock.now();
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
    emit({ type: 'waiting', at: clock.now(), sessionId, reason: 'paused-by-human', sentence, until: null });
  });
  const asking = options.asking ?? noAsking;
  const gate = createPermissionGate({ ...options, engine: runtime, control, asking });
  options.onControl?.(createHumanControl({ ...options, engine: runtime, control, gate }));
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
  const waits = createWaits(clock, control, workspace.jobs);
  const counts = createRunCounts();
  const countUsage = createUsageCount({ ...options, engine: runtime, counts });
  const plan = createWatchedPlan({ ...options, session });
  const random = options.random ?? Math.random;
  const delegate = createDelegation({
    ...options,
    workers,
    engine: runtime,
    settings,
    tools: workspace.tools,
    gate,
    control,
    counts,
    countUsage,
    isAllowanceSpent: async () => {
      const spent = await spending();
      return spent !== null && isAllowanceSpent(spent);
    },
    showPlan: plan.show,
    random,
  });
  const tools = delegate === null ? workspace.tools : [...workspace.tools, delegate];
  const callTool = createCallTool({ ...options, engine: runtime, gate, signal: () => control.signal });
  const settle = (waiting: WaitingCalls) =>
    settleInterrupted(store, sessionId, transcript, tools, callTool, waiting);
  const iterations = createIterationBudget(settings.iterations);
  const places = { transcript, control, gate, iterations, settle };
  const between = createTakeUp({ ...options, ...places, engine: runtime, session });
  if (spoken !== null && options.resume) {
    await between.giveUpRequests();
    await transcript.append([spoken]);
  } else if (
    (await settle('leave')) === 'settled' &&
    transcript.messages().at(-1)?.message.role === 'assistant'
  ) {
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
      workers,
    }),
    cache: cacheOptions(model.family, sessionId),
    settings: settings.context,
    contextLimit: model.contextLimit,
    model: model.model,
    delegate: delegate?.name ?? null,
    onUsage: async (usage) => {
      await countUsage(usage, { model, fillsContext: false });
    },
  });
  const compactIfDue = createCompaction(
    { ...options, engine: runtime, context, signal: () => control.signal },
    transcript,
  );
  const limits = { ...defaultRetryLimits, attempts: settings.circuitAfter };
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
  // The three levels of the reminder come first: a loop of words is one that outlives them.
  const detector = new LoopDetector({ ...defaultLoopLimits, repeatedTexts: 4 });
  const memory = new GuardMemory();
  const complexTurns = await complexTurnsBefore(store, sessionId, turnId);
  let hint = options.goal === null ? null : planningHint(options.goal, complexTurns);
  let alarm: string | null = null;

  async function spending() {
    const current = await session();
    return current === null ? null : { session: current, settings, at: clock.now() };
  }

  // A pending wait must not let the process end: the clock's wake-ups do not hold it.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    await plan.show();
    await runLoop({
      ...options,
      runtime: planFile.runtime,
      transcript,
      control,
      waits,
      counts,
      iterations,
      session,
      checkPatienceMs,
      settleInterrupted: async () => {
        await settle('leave');
      },
      takeUp: between.takeUp,
      hasWords: between.hasWords,
      isAnswerable: asking.here,
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
            readPlan: plan.read,
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
          onUsage: async (usage) => {
            const { inputTokens } = await countUsage(usage, { model, fillsContext: true });
            context.reported(inputTokens);
          },
          onHeldBack,
        });
        if (result.kind !== 'failed') {
          recovery.succeeded();
          hint = null;
        }
        turnId = (await session())?.turn?.id ?? turnId;
        await planFile.follow();
        await plan.show();
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
