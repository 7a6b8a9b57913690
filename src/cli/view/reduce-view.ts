// What the live view knows after an event: (state, event) → state. Pure; it keeps texts as they came, because whoever
// draws them makes them safe, and it keeps few of them.
import { reduceCall } from './reduce-calls.ts';
import type { ViewEvent } from './view-event.ts';
import type { CheckView, ViewState } from './view-state.ts';

type EventOf<Type extends ViewEvent['type']> = Extract<ViewEvent, { type: Type }>;
type Reducers = {
  readonly [Type in ViewEvent['type']]: (state: ViewState, event: EventOf<Type>) => ViewState;
};

/** Of held text only the end is shown, in a few lines. */
const longestHeld = 4000;

/** The agent moves: nothing is waited for, and nothing is held. */
function moving(state: ViewState): ViewState {
  return { ...state, wait: null, held: '' };
}

const reducers: Reducers = {
  'run-started': (state, { at, sessionId, model }) => ({
    ...state,
    sessionId,
    model,
    startedAt: state.startedAt ?? at,
  }),
  'step-started': (state, { step }) => ({ ...moving(state), step }),
  text: (state) => moving(state),
  'text-held': (state, { text }) => ({
    ...state,
    wait: null,
    held: (state.held + text.slice(-longestHeld)).slice(-longestHeld),
  }),
  'text-held-back': (state) => ({ ...state, held: '' }),
  'tool-started': (state, event) => ({ ...moving(state), calls: reduceCall(state.calls, event, null) }),
  'tool-ended': (state, event) => ({ ...state, calls: reduceCall(state.calls, event, null) }),
  'plan-changed': (state, { todos, completed }) => ({ ...state, todos, completed }),
  continuation: (state, { number }) => ({ ...moving(state), continuations: number }),
  waiting: (state, { reason, sentence, until }) => ({ ...state, wait: { reason, sentence, until } }),
  error: (state, { kind, sentence, retryAt }) => ({
    ...state,
    held: '',
    wait: retryAt === null ? null : { reason: kind, sentence, until: retryAt },
  }),
  notice: (state) => state,
  baseline: (state) => state,
  'check-started': (state, { at, check, todoId }) => ({
    ...state,
    checks: [...withoutCheck(state, check, todoId), { check, todoId, startedAt: at }],
  }),
  'check-ended': (state, { check, todoId }) => ({ ...state, checks: withoutCheck(state, check, todoId) }),
  'check-cancelled': (state, { check, todoId }) => ({
    ...state,
    checks: withoutCheck(state, check, todoId),
  }),
  usage: (state, { total }) => ({ ...state, usage: total }),
  compacted: (state) => state,
  'worker-started': (state, { at, workerId, agentType, title }) => ({
    ...moving(state),
    workers: [...state.workers, { workerId, agentType, title, startedAt: at, step: 0 }],
  }),
  'worker-ended': (state, { workerId }) => ({
    ...state,
    workers: state.workers.filter((worker) => worker.workerId !== workerId),
    calls: state.calls.filter((call) => call.workerId !== workerId || call.ended !== null),
  }),
  'permission-asked': (state, { at, requestId, tool, subject, pattern, choices }) => ({
    ...state,
    permissions: [
      ...state.permissions.filter((asked) => asked.requestId !== requestId),
      { requestId, tool, subject, pattern, choices, askedAt: at },
    ],
  }),
  'permission-answered': (state, { requestId }) => ({
    ...state,
    permissions: state.permissions.filter((asked) => asked.requestId !== requestId),
  }),
  'permission-withdrawn': (state, { requestId }) => ({
    ...state,
    permissions: state.permissions.filter((asked) => asked.requestId !== requestId),
  }),
  'human-message': (state, event) => ({
    ...state,
    queued: Math.max(0, state.queued + (event.state === 'queued' ? 1 : -1)),
  }),
  'run-ended': (state, { outcome, todos, usage }) => ({
    ...moving(state),
    outcome,
    todos,
    usage,
    calls: [],
    checks: [],
    workers: [],
    permissions: [],
    checkQuestion: null,
  }),
  'session-state': (state, event) => ({
    ...state,
    sessionId: event.sessionId,
    host: event.host,
    model: event.model,
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

function withoutCheck({ checks }: ViewState, check: string, todoId: string | null): readonly CheckView[] {
  return checks.filter((other) => other.check !== check || other.todoId !== todoId);
}

export function reduceView(state: ViewState, event: ViewEvent): ViewState {
  const timed = 'at' in event && event.at > state.now ? { ...state, now: event.at } : state;
  const worker = 'sessionId' in event ? workerOf(timed, event.sessionId) : null;
  if (worker !== null) return reduceWorker(timed, event, worker);
  // The table pairs each type with the reducer of exactly that type; the compiler cannot follow the pairing.
  return (reducers[event.type] as (state: ViewState, event: ViewEvent) => ViewState)(timed, event);
}

function workerOf({ workers }: ViewState, sessionId: string): string | null {
  return workers.some(({ workerId }) => workerId === sessionId) ? sessionId : null;
}

/** What happens inside a worker is the worker's: its steps and calls, never the run's own text. */
function reduceWorker(state: ViewState, event: ViewEvent, workerId: string): ViewState {
  switch (event.type) {
    case 'step-started':
      return {
        ...state,
        workers: state.workers.map((worker) =>
          worker.workerId === workerId ? { ...worker, step: event.step } : worker,
        ),
      };
    case 'tool-started':
    case 'tool-ended':
      return { ...state, calls: reduceCall(state.calls, event, workerId) };
    case 'usage':
    case 'worker-ended':
    case 'permission-asked':
    case 'permission-answered':
    case 'waiting':
    case 'error':
      return (reducers[event.type] as (state: ViewState, event: ViewEvent) => ViewState)(state, event);
    default:
      return state;
  }
}
