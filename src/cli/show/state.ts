// Everything that is known of a run from its events: (state, event) → state. The one
// reducer: lines and view read the same state. Plain data, replaced and never mutated;
// bounded, however long a run is. It keeps texts as they came, because whoever draws them
// makes them safe.
import type { EventOf, TodoView, UsageView } from '../../agent/agent-event.ts';
import type { Outcome } from '../../core/decision.ts';
import type { ViewEventOf as Of, SessionStateSeen, ViewEvent } from './events.ts';

type Started = EventOf<'tool-started'>;
export type FileChange = EventOf<'file-changed'>;
export type CallView = Readonly<Pick<Started, 'callId' | 'tool' | 'input' | 'at'>> & {
  /** null: a call of the run's own agent. */
  readonly workerId: string | null;
  readonly changes: readonly FileChange[];
  /** null: it runs. */
  readonly ended: EventOf<'tool-ended'> | null;
};
export type WorkerView = EventOf<'worker-started'> & { readonly step: number };
/** The lines of all changes of a file together. */
export type FileView = Pick<FileChange, 'path' | 'isNew' | 'added' | 'removed'>;
/**
 * The line that the human writes; the cursor in UTF-16 units, at the boundary of a
 * character.
 */
export type InputView = Readonly<{ text: string; cursor: number }>;

export const emptyInput: InputView = { text: '', cursor: 0 };

const nothing = {
  /** Of the terminal. */
  columns: 80,
  rows: 24,
  sessionId: null as string | null,
  model: null as string | null,
  startedAt: null as number | null,
  step: 0,
  todos: [] as readonly TodoView[],
  /** The first todo shown; null: the view follows the current one. */
  scroll: null as number | null,
  /** The start of what the agent said last: what is refused, if it is. */
  said: '',
  /** Text that is held while the decision is out; its end, if it is long. */
  held: '',
  /** The last calls, oldest first. */
  calls: [] as readonly CallView[],
  isExpanded: false,
  /** Those that run. */
  checks: [] as readonly EventOf<'check-started'>[],
  /** How each check ended last. */
  results: new Map() as ReadonlyMap<string, EventOf<'check-ended'>>,
  /** By path, the first change first. */
  files: new Map() as ReadonlyMap<string, FileView>,
  workers: [] as readonly WorkerView[],
  wait: null as Pick<EventOf<'waiting'>, 'reason' | 'sentence' | 'until'> | null,
  /** What went wrong last with the model. */
  error: null as string | null,
  continuations: 0,
  /** Calls to the model. */
  counted: 0,
  usage: null as UsageView | null,
  permissions: [] as readonly EventOf<'permission-asked'>[],
  checkQuestion: null as string | null,
  input: emptyInput,
  /** Messages of the human that have not joined the turn yet. */
  queued: 0,
  stopping: 'no' as 'no' | 'after-step' | 'now',
  /** `attach`: how the session stands. */
  session: null as SessionStateSeen | null,
  outcome: null as Outcome | null,
};

export type ViewState = Readonly<typeof nothing> & {
  /**
   * `run`: this process runs the agent; `attach`: it looks at a session that runs
   * elsewhere.
   */
  readonly kind: 'run' | 'attach';
  readonly now: number;
};

export const createState = (kind: ViewState['kind'], now: number): ViewState => ({
  ...nothing,
  kind,
  now,
});

/** Enough to look back over a step or two; their outputs are cut already. */
const rememberedCalls = 20;
/** Of held text only the end is shown, in a few lines. */
const longestHeld = 4000;
/** Of what was said only the first words are quoted. */
const longestSaid = 400;
/** Files that are named at the end, and checks that are remembered. */
const mostKept = 500;

/** `workerId`: whose event it is; null: that of the run's own agent. */
type Change<Type extends ViewEvent['type']> = (
  state: ViewState,
  event: Of<Type>,
  workerId: string | null,
) => Partial<ViewState>;

/** The agent moves: nothing is waited for, and nothing is held. */
const moves = { wait: null, held: '' };

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

/**
 * What each event changes; one that is not here changes nothing that is shown for longer
 * than a line.
 */
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
          ...moves,
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
    ...moves,
    said: (said + text.slice(0, longestSaid)).slice(0, longestSaid),
  }),
  'text-held': ({ held }, { text }) => ({
    wait: null,
    held: (held + text.slice(-longestHeld)).slice(-longestHeld),
  }),
  'text-held-back': (_, { text }) => ({ held: '', said: text.slice(0, longestSaid) }),
  'tool-started': (state, event, workerId) => ({
    ...(workerId === null ? moves : {}),
    calls: withCall(state, event, workerId),
  }),
  'tool-ended': (state, event, workerId) => ({ calls: withCall(state, event, workerId) }),
  'file-changed': (state, event, workerId) => ({
    ...withFile(state, event),
    calls: withCall(state, event, workerId),
  }),
  'plan-changed': (_, { todos }) => ({ todos }),
  continuation: (_, { number }) => ({ ...moves, said: '', continuations: number }),
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
    ...moves,
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
    ...moves,
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
  const known = calls.find(
    (call) => call.callId === callId && call.workerId === workerId,
  );
  const unknown = { callId, workerId, tool, input: null, at, changes: [], ended: null };
  const call = event.type === 'tool-started' ? unknown : (known ?? unknown);
  const next = followCall(call, event);
  return [...calls.filter((other) => other !== known), next].slice(-rememberedCalls);
}

function followCall(
  call: CallView,
  event: Started | Of<'tool-ended'> | FileChange,
): CallView {
  if (event.type === 'tool-started') return { ...call, input: event.input };
  if (event.type === 'tool-ended') return { ...call, ended: event };
  return { ...call, changes: [...call.changes, event] };
}

/**
 * What happens inside a worker is the worker's, never the run's own text; these the run
 * shows as well.
 */
const ofWorkers =
  /^(?:step-started|tool-.*|file-changed|usage|worker-ended|permission-(?:asked|answered)|waiting|error)$/u;

export function reduce(state: ViewState, event: ViewEvent): ViewState {
  const timed =
    'at' in event && event.at > state.now ? { ...state, now: event.at } : state;
  const sessionId = 'sessionId' in event ? event.sessionId : null;
  const workerId =
    timed.workers.find((worker) => worker.workerId === sessionId)?.workerId ?? null;
  if (workerId !== null && !ofWorkers.test(event.type)) return timed;
  // The table pairs each type with the change of exactly that type; the compiler cannot
  // follow the pairing.
  const change = changes[event.type] as Change<ViewEvent['type']> | undefined;
  return change === undefined ? timed : { ...timed, ...change(timed, event, workerId) };
}

/**
 * A third of the terminal is for the plan; on a tall one that is more than anyone
 * follows.
 */
const fewestRows = 2;
const mostRows = 16;

/**
 * Which todos are shown: from `first`, which can be scrolled to `last`; around the
 * current one unless scrolled.
 */
export function planWindow({ todos, scroll, rows }: ViewState) {
  const room = Math.min(mostRows, Math.max(fewestRows, Math.floor(rows / 3)));
  const shown = Math.min(room, todos.length);
  const last = todos.length - shown;
  const wanted = scroll ?? around(todos, shown);
  return { first: Math.min(last, Math.max(0, wanted)), shown, last };
}

/**
 * The current todo with what was done before it: two thirds of the window are for what
 * comes.
 */
function around(todos: ViewState['todos'], shown: number): number {
  const running = todos.findIndex(({ status }) => status === 'in_progress');
  const next =
    running === -1 ? todos.findIndex(({ status }) => status === 'pending') : running;
  return next === -1 ? todos.length - shown : next - Math.floor(shown / 3);
}
