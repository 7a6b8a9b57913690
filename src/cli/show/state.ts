// Everything that is known of a run from its events: (state, event) → state. The one reducer: lines and view read the
// same state. Plain data, replaced and never mutated; bounded, however long a run is. It keeps texts as they came,
// because whoever draws them makes them safe.
import type { EventOf, PermissionChoice, TodoView, UsageView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import type { StateName } from '../describe-session.ts';
import type { ViewEvent } from './events.ts';

export type FileChange = Pick<EventOf<'file-changed'>, 'path' | 'isNew' | 'added' | 'removed' | 'diff'>;

export interface CallView {
  readonly callId: string;
  /** null: a call of the run's own agent. */
  readonly workerId: string | null;
  readonly tool: string;
  readonly input: unknown;
  readonly startedAt: number;
  readonly changes: readonly FileChange[];
  /** null: it runs. */
  readonly ended: Pick<EventOf<'tool-ended'>, 'ok' | 'output' | 'milliseconds'> | null;
}

/** A check that runs. */
export type CheckView = Pick<EventOf<'check-started'>, 'check' | 'todoId'> & { readonly startedAt: number };
export type WorkerView = Pick<EventOf<'worker-started'>, 'workerId' | 'agentType' | 'title'> & {
  readonly startedAt: number;
  readonly step: number;
};
export type PermissionView = Pick<
  EventOf<'permission-asked'>,
  'requestId' | 'tool' | 'subject' | 'pattern'
> & {
  readonly choices: readonly PermissionChoice[];
  readonly askedAt: number;
};
export type WaitView = Pick<EventOf<'waiting'>, 'reason' | 'sentence' | 'until'>;

/** The line that the human writes. */
export interface InputView {
  readonly text: string;
  /** In UTF-16 units, at the boundary of a character. */
  readonly cursor: number;
  readonly typedAt: number;
}

export interface ViewState {
  /** `run`: this process runs the agent; `attach`: it looks at a session that runs elsewhere. */
  readonly kind: 'run' | 'attach';
  readonly now: number;
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly host: string | null;
  /** What the human asked for, in its first words. */
  readonly title: string | null;
  readonly startedAt: number | null;
  readonly step: number;
  readonly todos: readonly TodoView[];
  /** The first todo shown; null: the view follows the current one. */
  readonly scroll: number | null;
  /** The start of what the agent said last: what is refused, if it is. */
  readonly said: string;
  /** Text that is held while the decision is out; its end, if it is long. */
  readonly held: string;
  /** The last calls, oldest first. */
  readonly calls: readonly CallView[];
  readonly isExpanded: boolean;
  readonly checks: readonly CheckView[];
  /** How each check ended last. */
  readonly results: ReadonlyMap<string, EventOf<'check-ended'>>;
  /** By path, the first change first; the lines of all its changes together. */
  readonly files: ReadonlyMap<string, Omit<FileChange, 'diff'>>;
  readonly workers: readonly WorkerView[];
  readonly wait: WaitView | null;
  /** What went wrong last with the model. */
  readonly error: string | null;
  readonly continuations: number;
  /** Calls to the model. */
  readonly counted: number;
  readonly usage: UsageView | null;
  readonly permissions: readonly PermissionView[];
  readonly checkQuestion: string | null;
  readonly input: InputView;
  /** Messages of the human that have not joined the turn yet. */
  readonly queued: number;
  readonly stopping: 'no' | 'after-step' | 'now';
  /** `attach`: how the session stands. */
  readonly session: {
    readonly state: StateName;
    readonly words: string;
    readonly waits: readonly string[];
  } | null;
  readonly outcome: Outcome | null;
}

export const emptyInput: InputView = { text: '', cursor: 0, typedAt: 0 };

export function createState(kind: ViewState['kind'], now: number): ViewState {
  return {
    ...{
      kind,
      now,
      columns: 80,
      rows: 24,
      sessionId: null,
      model: null,
      host: null,
      title: null,
      startedAt: null,
      step: 0,
    },
    ...{ todos: [], scroll: null, said: '', held: '', calls: [], isExpanded: false, checks: [] },
    ...{
      results: new Map(),
      files: new Map(),
      workers: [],
      wait: null,
      error: null,
      continuations: 0,
      counted: 0,
    },
    ...{ usage: null, permissions: [], checkQuestion: null, input: emptyInput, queued: 0, stopping: 'no' },
    ...{ session: null, outcome: null },
  };
}

/** Enough to look back over a step or two; their outputs are cut already. */
const rememberedCalls = 20;
/** Of held text only the end is shown, in a few lines. */
const longestHeld = 4000;
/** Of what was said only the first words are quoted. */
const longestSaid = 400;
/** Files that are named at the end, and checks that are remembered. */
const mostKept = 500;

type Of<Type extends ViewEvent['type']> = Extract<ViewEvent, { type: Type }>;
type Reducers = { readonly [Type in ViewEvent['type']]: (state: ViewState, event: Of<Type>) => ViewState };

/** The agent moves: nothing is waited for, and nothing is held. */
function moving(state: ViewState): ViewState {
  return { ...state, wait: null, held: '' };
}

const same = (state: ViewState): ViewState => state;
const withoutCheck = (
  state: ViewState,
  { check, todoId }: Pick<CheckView, 'check' | 'todoId'>,
): ViewState => ({
  ...state,
  checks: state.checks.filter((other) => other.check !== check || other.todoId !== todoId),
});
const withoutQuestion = (state: ViewState, { requestId }: { readonly requestId: string }): ViewState => ({
  ...state,
  permissions: state.permissions.filter((asked) => asked.requestId !== requestId),
});
const withFile = (state: ViewState, change: Of<'file-changed'>): ViewState => {
  const before = state.files.get(change.path);
  if (before === undefined && state.files.size >= mostKept) return state;
  const { path, isNew, added, removed } = change;
  const sum = { added: added + (before?.added ?? 0), removed: removed + (before?.removed ?? 0) };
  const files = new Map(state.files).set(path, { path, isNew: before?.isNew ?? isNew, ...sum });
  return { ...state, files };
};

const reducers: Reducers = {
  'run-started': (state, { at, sessionId, model, goal }) => ({
    ...state,
    ...{
      sessionId,
      model,
      title: goal ?? state.title,
      startedAt: state.startedAt ?? at,
      outcome: null,
      permissions: [],
      queued: 0,
    },
  }),
  'step-started': (state, { step }) => ({
    ...moving(state),
    ...{ step, said: '', calls: state.calls.filter((call) => call.ended !== null || call.workerId !== null) },
  }),
  text: (state, { text }) => ({
    ...moving(state),
    said: (state.said + text.slice(0, longestSaid)).slice(0, longestSaid),
  }),
  'text-held': (state, { text }) => ({
    ...state,
    wait: null,
    held: (state.held + text.slice(-longestHeld)).slice(-longestHeld),
  }),
  'text-held-back': (state, { text }) => ({ ...state, held: '', said: text.slice(0, longestSaid) }),
  'tool-started': (state, event) => ({ ...moving(state), calls: withCall(state, event, null) }),
  'tool-ended': (state, event) => ({ ...state, calls: withCall(state, event, null) }),
  'file-changed': (state, event) => ({ ...withFile(state, event), calls: withCall(state, event, null) }),
  'plan-changed': (state, { todos }) => ({ ...state, todos }),
  continuation: (state, { number }) => ({ ...moving(state), said: '', continuations: number }),
  waiting: (state, { reason, sentence, until }) => ({ ...state, wait: { reason, sentence, until } }),
  error: (state, { kind, sentence, retryAt }) => ({
    ...state,
    held: '',
    error: sentence,
    wait: retryAt === null ? null : { reason: kind, sentence, until: retryAt },
  }),
  notice: same,
  baseline: same,
  compacted: same,
  'check-started': (state, { at, check, todoId }) => {
    const others = withoutCheck(state, { check, todoId });
    return { ...others, checks: [...others.checks, { check, todoId, startedAt: at }] };
  },
  'check-ended': (state, event) => {
    const results = new Map(state.results).set(event.check, event);
    return { ...withoutCheck(state, event), results: results.size > mostKept ? state.results : results };
  },
  'check-cancelled': withoutCheck,
  usage: (state, { total }) => ({ ...state, usage: total, counted: state.counted + 1 }),
  'worker-started': (state, { at, workerId, agentType, title }) => ({
    ...moving(state),
    workers: [...state.workers, { workerId, agentType, title, startedAt: at, step: 0 }],
  }),
  'worker-ended': (state, { workerId }) => ({
    ...state,
    workers: state.workers.filter((worker) => worker.workerId !== workerId),
    calls: state.calls.filter((call) => call.workerId !== workerId || call.ended !== null),
  }),
  'permission-asked': (state, { at, requestId, tool, subject, pattern, choices }) => {
    const others = withoutQuestion(state, { requestId }).permissions;
    return {
      ...state,
      permissions: [...others, { requestId, tool, subject, pattern, choices, askedAt: at }],
    };
  },
  'permission-answered': withoutQuestion,
  'permission-withdrawn': withoutQuestion,
  'human-message': (state, event) => ({
    ...state,
    queued: Math.max(0, state.queued + (event.state === 'queued' ? 1 : -1)),
  }),
  'run-ended': (state, { outcome, todos, usage }) => ({
    ...moving(state),
    ...{ outcome, todos, usage, calls: [], checks: [], workers: [], permissions: [], checkQuestion: null },
  }),
  'session-state': (state, event) => ({
    ...state,
    ...{ sessionId: event.sessionId, host: event.host, model: event.model, title: event.title },
    startedAt: event.turnSince,
    session: { state: event.state, words: event.words, waits: event.waits },
    wait: event.until === null ? null : { reason: event.state, sentence: event.words, until: event.until },
    calls: event.state === 'running' ? state.calls : state.calls.filter(({ ended }) => ended !== null),
  }),
  tick: (state, { at }) => ({ ...state, now: at }),
  resized: (state, { columns, rows }) => ({ ...state, columns, rows }),
  'stop-asked': (state, { how }) => ({ ...state, stopping: how }),
  'check-question': (state, { question }) => ({ ...state, checkQuestion: question }),
};

function withCall(
  { calls }: ViewState,
  event: Of<'tool-started'> | Of<'tool-ended'> | Of<'file-changed'>,
  workerId: string | null,
): readonly CallView[] {
  const { callId, tool, at } = event;
  const known = calls.find((call) => call.callId === callId && call.workerId === workerId);
  const call = known ?? { callId, workerId, tool, input: null, startedAt: at, changes: [], ended: null };
  const others = calls.filter((other) => other !== known);
  const next = ((): CallView => {
    if (event.type === 'tool-started')
      return { ...call, input: event.input, startedAt: at, changes: [], ended: null };
    if (event.type === 'file-changed') return { ...call, changes: [...call.changes, event] };
    const { ok, output, milliseconds } = event;
    const startedAt = known?.startedAt ?? at - milliseconds;
    return { ...call, startedAt, ended: { ok, output, milliseconds } };
  })();
  return [...others, next].slice(-rememberedCalls);
}

export function reduce(state: ViewState, event: ViewEvent): ViewState {
  const timed = 'at' in event && event.at > state.now ? { ...state, now: event.at } : state;
  const workerId = 'sessionId' in event ? event.sessionId : null;
  if (workerId !== null && timed.workers.some((worker) => worker.workerId === workerId))
    return reduceWorker(timed, event, workerId);
  // The table pairs each type with the reducer of exactly that type; the compiler cannot follow the pairing.
  return (reducers[event.type] as (state: ViewState, event: ViewEvent) => ViewState)(timed, event);
}

/** What of a worker's is the run's as well. */
const shared: readonly ViewEvent['type'][] = [
  ...(['usage', 'worker-ended', 'permission-asked', 'permission-answered', 'waiting', 'error'] as const),
];

/** What happens inside a worker is the worker's: its steps and calls, never the run's own text. */
function reduceWorker(state: ViewState, event: ViewEvent, workerId: string): ViewState {
  if (event.type === 'step-started') {
    const workers = state.workers.map((worker) =>
      worker.workerId === workerId ? { ...worker, step: event.step } : worker,
    );
    return { ...state, workers };
  }
  if (event.type === 'tool-started' || event.type === 'tool-ended')
    return { ...state, calls: withCall(state, event, workerId) };
  if (event.type === 'file-changed')
    return { ...withFile(state, event), calls: withCall(state, event, workerId) };
  if (!shared.includes(event.type)) return state;
  return (reducers[event.type] as (state: ViewState, event: ViewEvent) => ViewState)(state, event);
}

/** Which todos are shown: a window around the current one, or where the human scrolled to. */
export interface PlanWindow {
  /** Index of the first todo shown. */
  readonly first: number;
  readonly shown: number;
  /** The furthest that the first one can be scrolled to. */
  readonly last: number;
}

/** A third of the terminal is for the plan; on a tall one that is more than anyone follows. */
const fewestRows = 2;
const mostRows = 16;

export function planWindow({ todos, scroll, rows }: ViewState): PlanWindow {
  const room = Math.min(mostRows, Math.max(fewestRows, Math.floor(rows / 3)));
  const shown = Math.min(room, todos.length);
  const last = todos.length - shown;
  const wanted = scroll ?? around(todos, shown);
  return { first: Math.min(last, Math.max(0, wanted)), shown, last };
}

/** The current todo with what was done before it: two thirds of the window are for what comes. */
function around(todos: ViewState['todos'], shown: number): number {
  const running = todos.findIndex(({ status }) => status === 'in_progress');
  const next = running === -1 ? todos.findIndex(({ status }) => status === 'pending') : running;
  return next === -1 ? todos.length - shown : next - Math.floor(shown / 3);
}
