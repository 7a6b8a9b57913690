// The only reducer of a run's events: (state, event) → state; lines and view read the
// same state. Plain data, replaced and never mutated, bounded however long the run is.
// Texts are kept as they came: the code that draws them must clean them.
import type { EventOf, TodoView, UsageView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import type { ViewEventOf as Of, SessionStateSeen, ViewEvent } from './events.ts';

type Started = EventOf<'tool-started'>;
export type FileChange = EventOf<'file-changed'>;
export type CallView = Readonly<Pick<Started, 'callId' | 'tool' | 'input' | 'at'>> & {
  /** Null: a call of the run's own agent. */
  readonly workerId: string | null;
  readonly changes: readonly FileChange[];
  /** Null: the call is still running. */
  readonly ended: EventOf<'tool-ended'> | null;
};
export type WorkerView = EventOf<'worker-started'> & { readonly step: number };
/** The lines of all changes of a file together. */
export type FileView = Pick<FileChange, 'path' | 'isNew' | 'added' | 'removed'>;
/**
 * The line that the human writes. The cursor counts UTF-16 units and stands at the
 * boundary of a character.
 */
export type InputView = Readonly<{ text: string; cursor: number }>;

export const emptyInput: InputView = { text: '', cursor: 0 };

const initialState = {
  /** The terminal's size. */
  columns: 80,
  rows: 24,
  sessionId: null as string | null,
  model: null as string | null,
  startedAt: null as number | null,
  step: 0,
  todos: [] as readonly TodoView[],
  /** The first todo shown; null: the view follows the current one. */
  scroll: null as number | null,
  /** The start of the agent's last text; a refusal quotes it. */
  said: '',
  /** Text that is held until the decision; only its end if it is long. */
  held: '',
  /** The last calls, oldest first. */
  calls: [] as readonly CallView[],
  isExpanded: false,
  /** The running checks. */
  checks: [] as readonly EventOf<'check-started'>[],
  /** How each check ended last. */
  results: new Map() as ReadonlyMap<string, EventOf<'check-ended'>>,
  /** By path, the first change first. */
  files: new Map() as ReadonlyMap<string, FileView>,
  workers: [] as readonly WorkerView[],
  wait: null as Pick<EventOf<'waiting'>, 'reason' | 'sentence' | 'until'> | null,
  /** The model's last error. */
  error: null as string | null,
  continuations: 0,
  /** How many calls to the model have reported their usage. */
  counted: 0,
  usage: null as UsageView | null,
  permissions: [] as readonly EventOf<'permission-asked'>[],
  checkQuestion: null as string | null,
  input: emptyInput,
  /** Messages of the human that have not joined the turn yet. */
  queued: 0,
  stopping: 'no' as 'no' | 'after-step' | 'now',
  /** In `attach`: the state of the session. */
  session: null as SessionStateSeen | null,
  outcome: null as Outcome | null,
};

/** The state of a view: everything that lines and view draw from. */
export type ViewState = Readonly<typeof initialState> & {
  /**
   * `run`: this process runs the agent; `attach`: it looks at a session that runs
   * elsewhere.
   */
  readonly kind: 'run' | 'attach';
  readonly now: number;
};

export const createState = (kind: ViewState['kind'], now: number): ViewState => ({
  ...initialState,
  kind,
  now,
});

/** Enough to look back over a step or two. Their outputs are already cut. */
const rememberedCalls = 20;
/** Only the last few lines of held text are shown. */
const longestHeld = 4000;
/** Only the first words of the agent's text are quoted. */
const longestSaid = 400;
/** How many files are named at the end, and how many checks are remembered. */
const mostKept = 500;

/** `workerId`: the worker that the event belongs to; null: the run's own agent. */
type Change<Type extends ViewEvent['type']> = (
  state: ViewState,
  event: Of<Type>,
  workerId: string | null,
) => Partial<ViewState>;

/** The agent acts, so no wait and no held text is left. */
const agentActs = { wait: null, held: '' };

type Check = Pick<Of<'check-started'>, 'check' | 'todoId'>;
const withoutCheck = ({ checks }: ViewState, { check, todoId }: Check) => ({
  checks: checks.filter((other) => other.check !== check || other.todoId !== todoId),
});
const withoutQuestion = (
  { permissions }: ViewState,
  { requestId }: { readonly requestId: string },
) => ({
  permissions: permissions.filter((asked) => asked.requestId !== requestId),
});
const withFile = ({ files }: ViewState, { path, isNew, added, removed }: FileChange) => {
  const before = files.get(path);
  if (before === undefined && files.size >= mostKept) return {};
  const sum = {
    added: added + (before?.added ?? 0),
    removed: removed + (before?.removed ?? 0),
  };
  return {
    files: new Map(files).set(path, { path, isNew: before?.isNew ?? isNew, ...sum }),
  };
};

/** What each event changes. An event that is missing here leaves the state as it is. */
const changes: { readonly [Type in ViewEvent['type']]?: Change<Type> } = {
  'run-started': ({ startedAt }, { at, sessionId, model }) => ({
    sessionId,
    model,
    startedAt: startedAt ?? at,
    outcome: null,
    permissions: [],
    queued: 0,
  }),
  'step-started': ({ calls, workers }, { step }, workerId) =>
    workerId === null
      ? {
          ...agentActs,
          step,
          said: '',
          calls: calls.filter((call) => call.ended !== null || call.workerId !== null),
        }
      : {
          workers: workers.map((each) =>
            each.workerId === workerId ? { ...each, step } : each,
          ),
        },
  text: ({ said }, { text }) => ({
    ...agentActs,
    said: (said + text.slice(0, longestSaid)).slice(0, longestSaid),
  }),
  'text-held': ({ held }, { text }) => ({
    wait: null,
    held: (held + text.slice(-longestHeld)).slice(-longestHeld),
  }),
  'text-held-back': (_, { text }) => ({ held: '', said: text.slice(0, longestSaid) }),
  'tool-started': (state, event, workerId) => ({
    ...(workerId === null ? agentActs : {}),
    calls: withCall(state, event, workerId),
  }),
  'tool-ended': (state, event, workerId) => ({ calls: withCall(state, event, workerId) }),
  'file-changed': (state, event, workerId) => ({
    ...withFile(state, event),
    calls: withCall(state, event, workerId),
  }),
  'plan-changed': (_, { todos }) => ({ todos }),
  continuation: (_, { number }) => ({ ...agentActs, said: '', continuations: number }),
  waiting: (_, { reason, sentence, until }) => ({ wait: { reason, sentence, until } }),
  error: (_, { kind, sentence, retryAt }) => ({
    held: '',
    error: sentence,
    wait: retryAt === null ? null : { reason: kind, sentence, until: retryAt },
  }),
  'check-started': (state, event) => ({
    checks: [...withoutCheck(state, event).checks, event],
  }),
  'check-ended': (state, event) => {
    const results = new Map(state.results).set(event.check, event);
    return {
      ...withoutCheck(state, event),
      results: results.size > mostKept ? state.results : results,
    };
  },
  'check-cancelled': withoutCheck,
  usage: ({ counted }, { total }) => ({ usage: total, counted: counted + 1 }),
  'worker-started': ({ workers }, event) => ({
    ...agentActs,
    workers: [...workers, { ...event, step: 0 }],
  }),
  'worker-ended': ({ workers, calls }, { workerId }) => ({
    workers: workers.filter((worker) => worker.workerId !== workerId),
    calls: calls.filter((call) => call.workerId !== workerId || call.ended !== null),
  }),
  'permission-asked': (state, event) => ({
    permissions: [...withoutQuestion(state, event).permissions, event],
  }),
  'permission-answered': withoutQuestion,
  'permission-withdrawn': withoutQuestion,
  'human-message': ({ queued }, { state }) => ({
    queued: Math.max(0, queued + (state === 'queued' ? 1 : -1)),
  }),
  'run-ended': (_, { outcome, todos, usage }) => ({
    ...agentActs,
    outcome,
    todos,
    usage,
    calls: [],
    checks: [],
    workers: [],
    permissions: [],
    checkQuestion: null,
  }),
  'session-state': ({ calls }, event) => ({
    sessionId: event.sessionId,
    model: event.model,
    startedAt: event.turnSince,
    session: event,
    wait:
      event.until === null
        ? null
        : { reason: event.state, sentence: event.words, until: event.until },
    calls:
      event.state === 'running' ? calls : calls.filter(({ ended }) => ended !== null),
  }),
  tick: (_, { at }) => ({ now: at }),
  resized: (_, { columns, rows }) => ({ columns, rows }),
  'stop-asked': (_, { how }) => ({ stopping: how }),
  'check-question': (_, { question }) => ({ checkQuestion: question }),
};

function withCall(
  { calls }: ViewState,
  event: Started | Of<'tool-ended'> | FileChange,
  workerId: string | null,
): readonly CallView[] {
  const { callId, tool, at } = event;
  const knownCall = calls.find(
    (call) => call.callId === callId && call.workerId === workerId,
  );
  const unknown = { callId, workerId, tool, input: null, at, changes: [], ended: null };
  const call = event.type === 'tool-started' ? unknown : (knownCall ?? unknown);
  const next = updateCall(call, event);
  return [...calls.filter((other) => other !== knownCall), next].slice(-rememberedCalls);
}

function updateCall(
  call: CallView,
  event: Started | Of<'tool-ended'> | FileChange,
): CallView {
  if (event.type === 'tool-started') return { ...call, input: event.input };
  if (event.type === 'tool-ended') return { ...call, ended: event };
  return { ...call, changes: [...call.changes, event] };
}

/**
 * The events of a worker that the run shows. A worker's other events, its text above all,
 * are never shown as the run's own.
 */
const workerEventTypes =
  /^(?:step-started|tool-.*|file-changed|usage|worker-ended|permission-(?:asked|answered)|waiting|error)$/u;

/** The state after an event. A worker's events change only what belongs to the worker. */
export function reduceView(state: ViewState, event: ViewEvent): ViewState {
  const timed =
    'at' in event && event.at > state.now ? { ...state, now: event.at } : state;
  const sessionId = 'sessionId' in event ? event.sessionId : null;
  const workerId =
    timed.workers.find((worker) => worker.workerId === sessionId)?.workerId ?? null;
  if (workerId !== null && !workerEventTypes.test(event.type)) return timed;
  // The table pairs each type with the change of exactly that type; the compiler cannot
  // follow the pairing.
  const change = changes[event.type] as Change<ViewEvent['type']> | undefined;
  return change === undefined ? timed : { ...timed, ...change(timed, event, workerId) };
}

/** The plan gets a third of the terminal, but never more rows than a human can follow. */
const fewestRows = 2;
const mostRows = 16;

/**
 * Which todos are shown: `shown` of them from `first`; `last` is the highest `first`.
 * Unless the human scrolled, the window stands around the current todo.
 */
export function planWindow({ todos, scroll, rows }: ViewState) {
  const room = Math.min(mostRows, Math.max(fewestRows, Math.floor(rows / 3)));
  const shown = Math.min(room, todos.length);
  const last = todos.length - shown;
  const wantedFirst = scroll ?? currentWindowStart(todos, shown);
  return { first: Math.min(last, Math.max(0, wantedFirst)), shown, last };
}

/**
 * The first row of a window around the current todo: one third of it shows todos before
 * the current one.
 */
function currentWindowStart(todos: ViewState['todos'], shown: number): number {
  const running = todos.findIndex(({ status }) => status === 'in_progress');
  const next =
    running === -1 ? todos.findIndex(({ status }) => status === 'pending') : running;
  return next === -1 ? todos.length - shown : next - Math.floor(shown / 3);
}
