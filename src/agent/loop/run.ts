// One run of our own agent as all its parts see it: whom it reports to, whom it tells, what it counts, and its end in
// one event. What the run wants from engine and store passes here, in history.ts and in tool-calls.ts.
import { type Decision, exitCodes, type Outcome } from '../../core/decision.ts';
import type { Event, Job } from '../../core/events.ts';
import type { Policy } from '../../core/policy.ts';
import { type Settings, settingsForAgent } from '../../core/settings.ts';
import { countPlan, nextTodos, openCount, type State } from '../../core/state.ts';
import type { TextKind } from '../../core/texts.ts';
import { isOpen } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Checker, Clock, Identifiers } from '../../engine/host.ts';
import { createRuntime, type Runtime } from '../../engine/runtime.ts';
import type { Store } from '../../engine/store.ts';
import { sha256 } from '../../engine/system.ts';
import type { PlanFileSync } from '../../plan-file/plan-file-sync.ts';
import { type AgentEvent, type Emit, type RunEnded, todoViews, type UsageView } from '../agent-event.ts';
import { planMessage } from '../context/prompt.ts';
import { countComplexTurn } from '../guard/complexity.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import { callUsage, type UsageLike } from '../models/usage.ts';
import { type Asking, createPermissionGate, noAsking } from '../permissions/permission-gate.ts';
import { delegateToolName, type Worker, withWorkerTypes } from '../workers/worker-types.ts';
import type { PermissionPolicy } from '../workspace/permission.ts';
import { createControl, firstOf, type HumanControl, onAbort } from './control.ts';

export const ownAgentName = 'run';

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
  readonly acceptClaims: boolean;
  readonly random?: () => number;
}

/** An event before it has its id, time and session. */
export type Draft<Kind> = Kind extends unknown ? Omit<Kind, 'id' | 'sessionId' | 'at'> : never;

/** Background jobs of the workspace; the listener gets a sentence for the model, the returned function ends it. */
export interface JobWatch {
  running(): readonly Job[];
  onEnd(listener: (note: string) => void): () => void;
}

export type RunParts = ReturnType<typeof openParts>;

function openParts(options: AgentRunOptions) {
  const { store, clock, identifiers, sessionId, checker, workers = [], asking = noAsking } = options;
  const policy = withWorkerTypes(options.policy, workers);
  const parts = { store, clock, identifiers, hash: sha256, policy: () => policy };
  const engine = createRuntime(checker === undefined ? parts : { ...parts, checker });
  const state = (): Promise<State | null> => store.state(sessionId);
  const base = (of = sessionId) => ({ id: identifiers.next(), sessionId: of, at: clock.now() });
  return {
    ...{ ...options, workers, asking, engine, state, base, control: createControl(state, clock) },
    settings: settingsForAgent(policy.settings, ownAgentName),
    /** Puts an event on the record, of this session unless another one is named. */
    record: (event: Draft<Event>, of = sessionId): Promise<Handled> =>
      engine.handle({ ...base(of), ...event } as Event),
    tell: ({ type, ...body }: Draft<AgentEvent>, of = sessionId, emit = options.emit): void =>
      emit({ type, at: clock.now(), sessionId: of, ...body } as AgentEvent),
  };
}

export type Run = ReturnType<typeof openRun>;

export function openRun(options: AgentRunOptions) {
  const parts = openParts(options);
  return {
    ...parts,
    gate: createPermissionGate(parts),
    startedAt: options.clock.now(),
    iterations: createIterationBudget(parts.settings.iterations),
    steps: 0,
    toolCalls: 0,
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: null } as UsageView,
    continuations: new Map<TextKind, number>(),
    jobs: { running: () => [], onEnd: () => () => {} } as JobWatch,
    turnId: null as string | null,
    shownPlan: '',
    shownWords: new Set<string>(),
  };
}

/** `note`: for the model. `goOn`: the next step may start; else the stop attempt is to be decided again. */
type WaitEnd = { readonly note: string | null; readonly goOn: boolean };

/** A wait that names no end is looked at again after this time, so that a lost event cannot hold a run for ever. */
const longestWaitMs = 60_000;

/** A human's stop ends every wait; whoever speaks need not wait, only a failed call waits its time. */
export function waitInRun(
  { control, clock, jobs }: Run,
  reason: string,
  dueAt: number | null,
  ending: AbortSignal = control.signal,
): Promise<WaitEnd> {
  const over = { note: null, goOn: false };
  const nothing = () => () => {};
  return firstOf<WaitEnd>(
    (end) => onAbort(AbortSignal.any([ending, control.stopping]), () => end(over)),
    (end) => clock.wake(dueAt ?? clock.now() + longestWaitMs, () => end(over)),
    reason === 'background' ? (end) => jobs.onEnd((note) => end({ note, goOn: true })) : nothing,
    reason === 'retry'
      ? nothing
      : (end) => control.onLook(({ words = [] }) => words.length > 0 && end({ note: null, goOn: true })),
  );
}

/** Every call to a model counts, into the session that made it and into the budgets of the run (G8). */
export async function countUsage(
  run: Run,
  used: UsageLike,
  { price, contextLimit }: Pick<ResolvedModel, 'price' | 'contextLimit'>,
  /** Only an agent's own calls say how full its window is; a summary does not. */
  { by, fillsContext }: { readonly by: string; readonly fillsContext: boolean },
): Promise<UsageView> {
  const step = callUsage(used, price);
  const { inputTokens, outputTokens, cost } = step;
  const { usage } = run;
  run.usage = {
    inputTokens: usage.inputTokens + inputTokens,
    cachedTokens: usage.cachedTokens + step.cachedTokens,
    outputTokens: usage.outputTokens + outputTokens,
    cost: cost === null ? usage.cost : (usage.cost ?? 0) + cost,
  };
  for (const spender of new Set([by, run.sessionId])) {
    const contextTokens = fillsContext && spender === by ? inputTokens : null;
    const window = { contextTokens, contextLimit: spender === by ? contextLimit : null };
    await run.record({ type: 'usage-reported', inputTokens, outputTokens, cost, ...window }, spender);
  }
  run.tell({ type: 'usage', step, total: run.usage }, by);
  return step;
}

export async function isNow(
  run: Run,
  rule: (spent: { state: State; settings: Settings; at: number }) => boolean,
): Promise<boolean> {
  const state = await run.state();
  return state !== null && rule({ state, settings: run.settings, at: run.clock.now() });
}

export async function planNow(run: Run): Promise<string | null> {
  const plan = (await run.state())?.plan ?? [];
  const limit = run.settings.context.planTodos;
  const delegate = run.workers.length > 0 ? delegateToolName : null;
  return planMessage({ next: nextTodos(plan, limit), counts: countPlan(plan), limit, delegate });
}

/** Tells watchers, unless they know. */
export async function showPlan(run: Run): Promise<void> {
  const todos = todoViews((await run.state())?.plan ?? []);
  const plan = JSON.stringify(todos);
  if (plan === run.shownPlan) return;
  run.shownPlan = plan;
  const completed = todos.filter(({ status }) => status === 'completed').length;
  run.tell({ type: 'plan-changed', todos, completed, total: todos.length });
}

/** Events that are read at once; a session of days has many. */
const pageSize = 1000;

/** How many complex requests came before this turn without a plan (I6), in earlier runs of the session too. */
export async function complexTurnsBefore({ store, sessionId, turnId }: Run): Promise<number> {
  let turns = 0;
  for (let after = 0; ; ) {
    const page = await store.events({ sessionId, after, limit: pageSize });
    for (const { event } of page) {
      if (event.type !== 'human-spoke' || event.turnId === turnId) continue;
      const planned = await store.todos({ turnId: event.turnId });
      turns = countComplexTurn(turns, event.text ?? '', planned.length > 0);
    }
    if (page.length < pageSize) return turns;
    after = page.at(-1)?.applied ?? after;
  }
}

/** The end of the run in one event (S8, V8). `failure`: what the last failed call said; null: none failed. */
export async function summariseRun(run: Run, failure: string | null): Promise<RunEnded> {
  const { sessionId, steps, toolCalls, usage, store, clock } = run;
  const state = await run.state();
  const [stored] = await store.decisions(sessionId, 1);
  const last = stored?.decision ?? null;
  const { outcome, reason } = settlementOf(state, last);
  const decided = last?.sentence ?? 'The run ended without a decision.';
  const sentence = last?.observed ? `Only observed, not carried out: ${decided}` : decided;
  // Turn scope: what an earlier turn left open stays as it is and is named at the end (T3).
  const left = state?.leftOver ? await store.todos({ planId: state.leftOver.planId }) : [];
  const failed = Object.entries(state?.goal ?? {}).filter(([, { state }]) => state === 'failed');
  return {
    ...{ type: 'run-ended', at: clock.now(), sessionId, outcome, reason },
    sentence: outcome === 'failed' && failure !== null ? `${sentence} ${failure}` : sentence,
    exitCode: outcome === 'claimed' && run.acceptClaims ? 0 : exitCodes[outcome],
    todos: todoViews(state?.plan ?? []),
    failedChecks: failed.map(([check, { tail }]) => ({ check, tail })),
    leftOver: left.filter(isOpen).map(({ title }) => title),
    continuations: [...run.continuations].map(([textKind, count]) => ({ textKind, count })),
    ...{ steps, toolCalls, usage, milliseconds: clock.now() - run.startedAt },
    resumeCommand: `untildone run --resume ${sessionId}`,
  };
}

/** A skip settles nothing, and what is only observed neither: then the agent ended by itself, with or without todos. */
function settlementOf(state: State | null, last: Decision | null): { outcome: Outcome; reason: string } {
  if (state?.settled) return state.settled;
  if (state === null || last === null || (last.answer !== 'let-go' && !last.observed))
    return { outcome: 'failed', reason: 'failed' };
  const ended = openCount(countPlan(state.plan)) === 0 ? 'done' : 'paused';
  return { outcome: last.outcome ?? ended, reason: last.reason };
}

/**
 * How many steps with tool calls may follow each other before the system takes a look (S2): a base, which moves on with
 * the work while the plan has open todos, up to a cap. Counted from the last continuation.
 */
export function createIterationBudget({ base, extend, cap }: Settings['iterations']) {
  let iterations = 0;
  let limit = Math.min(base, cap);
  return {
    /** Counts a step; true: the next one must wait for a decision. */
    isSpentBy(openTodos: number): boolean {
      iterations += 1;
      // What is left of the extension stays when the plan is drained: the agent has an answer to give.
      if (openTodos > 0) limit = Math.max(limit, Math.min(cap, iterations + extend));
      return iterations >= limit;
    },
    renew(): void {
      iterations = 0;
      limit = Math.min(base, cap);
    },
  };
}
