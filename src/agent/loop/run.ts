// One run as its parts see it, whoever the agent is. The human's hand on it (Ctrl-C,
// `untildone stop|pause|resume|say`) is on the record before it takes effect. Decides
// nothing.
import { EventEmitter, once } from 'node:events';
import type { CheckerOptions } from '../../checks/checker.ts';
import { commandEnvironment } from '../../checks/process.ts';
import { UntildoneError } from '../../core/error.ts';
import type { Draft } from '../../core/events.ts';
import type { Policy } from '../../core/policy.ts';
import { oneLine } from '../../core/safe-text.ts';
import type { Settings } from '../../core/settings.ts';
import type { State } from '../../core/state.ts';
import type { TextKind } from '../../core/texts.ts';
import type { Runtime } from '../../engine/runtime.ts';
import { onAbort } from '../../engine/system.ts';
import type { PlanFileSync } from '../../plan-file/plan-file-sync.ts';
import {
  type GoalSession,
  type GoalSessionOptions,
  openGoalSession,
  queuedWords,
} from '../../session/goal-session.ts';
import { type AgentEvent, type Emit, planView, type UsageView } from '../agent-event.ts';
import type { ResolvedModel } from '../models/resolve-model.ts';
import type { Worker } from '../workers/worker-types.ts';
import type { PermissionPolicy } from '../workspace/permission.ts';
import { openJobs } from '../workspace/shell.ts';
import { defaultLimits } from '../workspace/tool.ts';
import { type Asking, createPermissionGate, noAsking } from './tool-calls.ts';

export const ownAgentName = 'run';

/** What every run is given, also one in which another program is the agent. */
export type RunBasis = Pick<
  GoalSessionOptions,
  | 'store'
  | 'clock'
  | 'identifiers'
  | 'checker'
  | 'look'
  | 'sessionId'
  | 'directory'
  | 'environment'
> &
  Readonly<{
    /** null: a session goes on without a new message. */
    goal: string | null;
    resume: boolean;
    policy: Policy;
    /** The checks on the goal, where the human names others at a resume. */
    replacedChecks?: readonly string[] | undefined;
    permissions: Readonly<{ mode: string }>;
    emit: Emit;
    planFile?: (engine: Runtime) => PlanFileSync;
    /** The caller has the signals and keys. */
    onControl?: (control: HumanControl) => void;
    /** null: nobody is here. */
    askHuman?: CheckerOptions['askHuman'];
    acceptClaims: boolean;
    random?: () => number;
  }>;

export type AgentRunOptions = RunBasis &
  Readonly<{
    model: ResolvedModel;
    permissions: PermissionPolicy;
    /** Absent: nobody can be asked. */
    asking?: Asking;
    /** S4; none: there is no `delegate`. */
    workers?: readonly Worker[];
  }>;

/** For waits that the human's words end; null: nothing was said. */
export const hearWords = ({ words }: State) => (words.length > 0 ? true : null);

export type AnyRun = ReturnType<typeof openAnyRun>;

/** What is known only of our own agent. `agentTypes`: those that a todo may have (M1). */
type OwnAgent = Required<Pick<GoalSessionOptions, 'background'>> &
  Readonly<{ agentTypes: readonly string[] }>;

/** @param own null: another program is the agent */
export function openAnyRun(options: RunBasis, own: OwnAgent | null) {
  const { clock, sessionId } = options;
  const types = own?.agentTypes.length ? { agentTypes: own.agentTypes } : {};
  const policy = {
    ...options.policy,
    settings: { ...options.policy.settings, ...types },
  };
  const noticed = (sentence: string) => tell({ type: 'notice', sentence });
  const tell = (
    { type, ...body }: Draft<AgentEvent>,
    of = sessionId,
    emit = options.emit,
  ) => emit({ type, at: clock.now(), sessionId: of, ...body } as AgentEvent);
  // What a driven program does is shown from the record, which its hooks write too.
  const shownChecks: Partial<CheckerOptions> = {
    onStarted: (check, todoId) => tell({ type: 'check-started', check, todoId }),
    onResult({ check, result, flaky, sentence: why, milliseconds, tail }, todoId) {
      const sentence = result === 'passed' ? '' : why;
      const seen = { result, flaky, sentence, milliseconds, tail };
      tell({ type: 'check-ended', check, todoId, ...seen });
    },
  };
  const session = openGoalSession({
    ...options,
    ...(own && { background: own.background }),
    checker: options.checker ?? {
      ...(own && shownChecks),
      signal: () => control.ending,
      askHuman: options.askHuman,
      onEdited(paths) {
        const files = paths.map((path) => oneLine(path, 200)).join(', ');
        noticed(
          `${files} was changed since your message; what it says about checks counts once you accept it.`,
        );
      },
    },
    policy: () => policy,
    agentName: ownAgentName,
    signal: () => AbortSignal.any([control.signal, control.stopping]),
    onLooked: (check, { result, sentence }) =>
      tell({
        type: 'baseline',
        check,
        result,
        sentence: result === 'passed' ? '' : sentence,
      }),
    onNotice: noticed,
    aroundAsk: (ask) => planFile.around(ask),
    async sitOut({ answer, decision }, dueAt) {
      const { reason = '', sentence = '' } = decision ?? {};
      tell({ type: 'waiting', reason, sentence, until: answer?.dueAt ?? null });
      if (await control.wait(dueAt, hearWords)) return false;
      await control.whilePaused();
      return true;
    },
  });
  const { engine, state } = session;
  const settings = session.settings();
  const control = createControl(session, clock, tell);
  const planFile = followPlanFile({ ...options, engine, tell });
  let shownPlan = '';
  return {
    ...options,
    ...session,
    policy,
    settings,
    tell,
    control,
    isNow: async (
      rule: (now: { state: State; settings: Settings; at: number }) => boolean,
    ) => rule({ state: await state(), settings, at: clock.now() }),
    async showPlan() {
      const view = planView((await state()).plan);
      const shown = JSON.stringify(view);
      if (shown !== shownPlan) tell({ type: 'plan-changed', ...view });
      shownPlan = shown;
    },
    planFile,
    startedAt: clock.now(),
    /** How earlier runs of the session left it. */
    before: { decisions: 0, isSettled: false },
    steps: 0,
    toolCalls: 0,
    usage: { inputTokens: 0, cachedTokens: 0, outputTokens: 0, cost: null } as UsageView,
    continuations: [] as TextKind[],
    turnId: null as string | null,
    shownWords: new Set<string>(),
  };
}

export type Run = ReturnType<typeof openRun>;

export function openRun(options: AgentRunOptions) {
  const { workers = [], asking = noAsking, model, permissions, sessionId } = options;
  const run = openAnyRun(options, {
    agentTypes: workers.map(({ name }) => name),
    background: () => workspace.jobs.running(),
  });
  const place = {
    root: options.directory,
    limits: {
      ...defaultLimits,
      commandMs: run.settings.tools.shellTimeoutSeconds * 1000,
    },
    environment: commandEnvironment(options.environment, sessionId),
  };
  const workspace = { ...place, jobs: openJobs(place) };
  return {
    ...run,
    workers,
    asking,
    model,
    permissions,
    workspace,
    gate: createPermissionGate(run, asking),
    iterations: createIterationBudget(run.settings.iterations),
    /** What was said about settings that a model does not take. */
    untaken: new Set<string>(),
  };
}

export function addUsage(before: UsageView, step: UsageView): UsageView {
  return {
    inputTokens: before.inputTokens + step.inputTokens,
    cachedTokens: before.cachedTokens + step.cachedTokens,
    outputTokens: before.outputTokens + step.outputTokens,
    cost: step.cost === null ? before.cost : (before.cost ?? 0) + step.cost,
  };
}

/** Commands from another terminal take effect within a second. */
const pollMs = 400;

function createControl(
  { state: read, record, base, engine }: GoalSession,
  clock: RunBasis['clock'],
  tell: (event: Draft<AgentEvent>) => void,
) {
  const stopped = new AbortController();
  const hurried = new AbortController();
  const looks = new EventEmitter<{ look: [State] }>().setMaxListeners(0);
  let step = new AbortController();
  let cancel = () => {};
  let isFinishing = false;
  let isClosed = false;
  const control = {
    watch() {
      if (isClosed) return;
      // Safe: what cannot be read now is read at the next tick.
      cancel = clock.wake(clock.now() + pollMs, () =>
        control.look().then(control.watch, control.watch),
      );
    },
    async look() {
      const state = await read();
      if ((state.latch !== null || state.pause?.by === 'human') && !isFinishing)
        step.abort();
      looks.emit('look', state);
    },
    onLook(listener: (state: State) => void) {
      looks.on('look', listener);
      return () => looks.off('look', listener);
    },
    /**
     * Until no pause of a human holds. Unless it was stopped, the next step can be
     * aborted anew.
     */
    async whilePaused() {
      for (let isTold = false; ; isTold = true) {
        const state = await read();
        if (state.latch !== null) return state;
        if (state.pause?.by !== 'human') {
          if (step.signal.aborted) step = new AbortController();
          return state;
        }
        const sentence =
          'Paused by you. Run `untildone resume` in another terminal to go on; Ctrl-C ends the run.';
        if (!isTold)
          tell({ type: 'waiting', reason: 'paused-by-human', sentence, until: null });
        await once(looks, 'look');
      }
    },
    /** Waits until `find` returns something; null: time is over, or the human ended it. */
    wait<Found>(
      dueAt: number | null,
      find: (state: State) => Found | null | undefined,
      signal = step.signal,
    ): Promise<Found | null> {
      return new Promise((resolve) => {
        const end = (found: Found | null) => {
          for (const stop of stops) stop();
          resolve(found);
        };
        const look = (state: State) => {
          const found = find(state);
          if (found != null) end(found);
        };
        const stops: (() => unknown)[] = [control.onLook(look)];
        if (dueAt !== null) stops.push(clock.wake(dueAt, () => end(null)));
        // Last, because it may end at once.
        stops.push(onAbort(AbortSignal.any([signal, stopped.signal]), () => end(null)));
      });
    },
    /** The human wants the running step to end. */
    get signal() {
      return step.signal;
    },
    /** The stop is on the record: a wait is no step that could finish. */
    stopping: stopped.signal,
    /** Nobody waits for a check any more. */
    ending: AbortSignal.any([stopped.signal, hurried.signal]),
    abortStep: () => step.abort(),
    stopNow() {
      hurried.abort();
      step.abort();
    },
    /** The running step may finish; waits end when the stop is on the record. */
    async stopAfterStep() {
      isFinishing = true;
      await record({ type: 'human-aborted', how: 'Ctrl-C' });
      stopped.abort();
    },
    /** Joins between two steps; just a stop word sets the latch (P20). */
    async say(text: string) {
      if (text.trim() === '') return;
      await engine.handle(queuedWords(text, base(), null));
      await control.look();
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
  return control;
}

/** What a human at the run's own terminal can do. `answer`: to a question for permission. */
export type HumanControl = Pick<
  AnyRun['control'],
  'stopAfterStep' | 'stopNow' | 'say'
> & {
  answer(...said: Parameters<Run['gate']['answer']>): Promise<void>;
};

type PlanFileParts = Pick<RunBasis, 'goal' | 'permissions' | 'planFile'> &
  Readonly<{ engine: Runtime; tell(event: Draft<AgentEvent>): void }>;

/** V1. A file that cannot be used holds no run up. */
export function followPlanFile(run: PlanFileParts) {
  const file = run.planFile?.(run.engine);
  const writes = run.permissions.mode !== 'read-only';
  const told = new Set<string>();
  const tell = (sentence: string) => {
    // A file that stays wrong is looked at after every step.
    if (!told.has(sentence))
      run.tell({ type: 'notice', sentence: `Plan file: ${oneLine(sentence, 300)}` });
    told.add(sentence);
  };
  const sync = async (direction: 'sync' | 'settle' | 'push') => {
    if (file === undefined || (!writes && direction === 'push')) return null;
    const synced = await file[writes ? direction : 'pull']();
    if (synced.ok) synced.notices.forEach(tell);
    else
      tell(
        `${synced.problems.join('; ')}. Until that is fixed, the plan stays as it was.`,
      );
    return synced;
  };
  return {
    /** Throws if the plan did not take the whole file of a human's message. */
    async begin() {
      const synced = await sync('sync');
      if (run.goal === null || synced === null || (synced.ok && synced.refused === 0))
        return;
      // Without its todos the run would end as done.
      const sentence =
        'The plan file could not be taken over as a whole; nothing was done.';
      throw new UntildoneError('usage', sentence);
    },
    follow: () => sync('sync'),
    async around<Answer>(ask: () => Promise<Answer>) {
      await sync('settle');
      const answer = await ask();
      await sync('push');
      return answer;
    },
    // Nothing is read into a settled plan. Safe: the next run writes the boxes.
    close: () => sync('push').catch(() => tell('its boxes are not up to date.')),
  };
}

/**
 * S2: steps before a decision: a base that moves on while todos are open, up to a cap.
 */
export function createIterationBudget({ base, extend, cap }: Settings['iterations']) {
  let iterations = 0;
  let limit = Math.min(base, cap);
  return {
    /** True: the next step must wait for a decision. */
    isSpentBy(isPlanOpen: boolean) {
      iterations += 1;
      // What is left stays for the agent's answer.
      if (isPlanOpen) limit = Math.max(limit, Math.min(cap, iterations + extend));
      return iterations >= limit;
    },
    renew() {
      iterations = 0;
      limit = Math.min(base, cap);
    },
  };
}
