// The calls of a hook that have to be answered: a session that opens, a prompt, a completion, a stop. Each brings the
// record up to date, asks the engine and says its answer. Nothing is decided here: what is known becomes part of an event.
import type { Event, EventOf, SourceKind } from '../core/events.ts';
import { followHost, hostListChanges, type ListedTodo } from '../core/reconcile.ts';
import { endsInQuestion } from '../core/safe-text.ts';
import { createState, type State } from '../core/state.ts';
import { continuationMarker } from '../core/texts.ts';
import type { Todo } from '../core/todo.ts';
import type { Handled } from '../engine/engine.ts';
import { createRuntime, type Runtime } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { type Parts, partsOver } from '../open.ts';
import {
  type AskedHost,
  eventBase,
  type HookAnswer,
  type HookAsks,
  type HookCall,
  type HookProcess,
  hookTimeouts,
  type Speaker,
  type StopFacts,
  shortHash,
  todoIdOf,
} from './asked-call.ts';
import { compactionFailed, describeFailure, mayHaveMoved, openPlanText } from './shared.ts';
import { withinTime } from './untrusted.ts';

export { appendFailure } from './shared.ts';

type Services = Pick<Parts, 'store' | 'clock' | 'identifiers' | 'configuration' | 'fingerprint'>;

export interface HookContext extends Services {
  readonly host: AskedHost;
  readonly call: HookCall;
  readonly runtime: Runtime;
  readonly hook: Pick<HookProcess, 'environment' | 'bindReceipt'>;
  /** When this call has to be answered. */
  readonly deadlineAt: number;
}

export function answerCall(
  host: AskedHost,
  hook: HookProcess,
  call: HookCall,
  store: Store,
): Promise<HookAnswer> {
  const { environment } = hook;
  const parts = partsOver({ store, environment, directory: call.descriptor.directory });
  const deadlineAt = deadlineOf(call, hook.startedAt, hook.timeout);
  const context = { ...parts, host, call, hook, runtime: createRuntime(parts), deadlineAt };
  return Promise.race([performCall(context), whenBrokenOff(hook, context)]);
}

/** The answer has to be out before the host gives up: reading, deciding and starting a process took time as well. */
const marginMs = 2000;

/** @param seconds what the host's settings say instead of ours; null: ours */
export function deadlineOf({ timeout }: HookCall, startedAt: number, seconds: number | null = null): number {
  return startedAt + (seconds ?? hookTimeouts[timeout]) * 1000 - marginMs;
}

/** The host breaks a stop hook off in one case only before its deadline: a human interrupted (P19). */
async function whenBrokenOff(hook: HookProcess, context: HookContext): Promise<HookAnswer> {
  const { call, runtime, clock, deadlineAt } = context;
  await hook.whenTerminated();
  const at = clock.now();
  const aborted = { type: 'human-aborted', how: 'interrupted' } as const;
  if (call.asks.type === 'stop' && at < deadlineAt)
    await runtime.handle({ ...base(context, 'side', `aborted:${at}`), at, ...aborted });
  return { type: 'nothing' };
}

function base({ call, host }: HookContext, kind: SourceKind, detail: string) {
  return eventBase({ ...call, host: host.name }, kind, detail);
}

export async function performCall(context: HookContext): Promise<HookAnswer> {
  const { runtime, store, call } = context;
  const { asks, sessionId, at } = call;
  switch (asks.type) {
    case 'record':
    case 'fail': {
      const receipt = asks.type === 'record' ? asks.receipt : null;
      if (asks.type === 'record' && receipt === null) await store.append(asks.events);
      // Decided and not only added: what waits in the inbox must be in the plan that our tool's todos are compared with.
      else for (const event of asks.events) await runtime.handle(event);
      if (receipt !== null) await context.hook.bindReceipt(store, runtime, { receipt, sessionId, at });
      return { type: 'nothing' };
    }
    case 'open':
      return performOpen(context, asks);
    case 'prompt':
      return performPrompt(context, asks.text, asks.speaker);
    case 'complete':
      return performCompletion(context, asks.todoKey);
    case 'stop':
      return performStop(context, asks.stop);
  }
}

/** After a compaction or a resume the agent may have lost sight of its plan: it is given again (P23). */
async function performOpen(
  context: HookContext,
  { begins, events, givesPlan }: Extract<HookAsks, { type: 'open' }>,
): Promise<HookAnswer> {
  const { runtime, store, call } = context;
  const opening = openingEvent(context, begins ? 'open' : 'side');
  await store.append(givesPlan ? events : [...events, opening]);
  if (!givesPlan) return { type: 'nothing' };
  await runtime.handle(opening);
  const text = openPlanText(await store.state(call.sessionId));
  return text === null ? { type: 'nothing' } : { type: 'tell', text };
}

function openingEvent(context: HookContext, kind: SourceKind): Event {
  const { descriptor, agent } = context.call;
  return { ...base(context, kind, context.identifiers.next()), type: 'session-opened', descriptor, agent };
}

type Known = Awaited<ReturnType<typeof lookUp>>;

/** What the store says of the session before anything is decided about it. */
async function lookUp(context: HookContext) {
  const { call, store } = context;
  const { sessionId } = call;
  const state = (await store.state(sessionId)) ?? createState(sessionId, call.at);
  const pending = await pendingEvents(context);
  const [newest] = await store.decisions(sessionId, 1);
  // Where its turn stands and the list it has: with what was told since the last decision.
  const { trail, hostList = listOfPlan(state) } = pending.reduce(followHost, state);
  return {
    ...{ state, pending, trail, hostList },
    /** How many decisions there are: the same call after another decision is another one. */
    decisions: newest?.sequence ?? 0,
    mayStop: newest?.decision.answer !== 'continue',
    catchUp: catchUpEvents(context, state, pending),
  };
}

async function pendingEvents({ store, call: { sessionId } }: HookContext): Promise<readonly Event[]> {
  return (await store.events({ sessionId, waiting: true })).map(({ event }) => event);
}

/** A session that was recorded before its host's list was: what came from it carries the host's keys. */
function listOfPlan({ plan }: State): State['hostList'] {
  const listed = plan.flatMap(({ hostKey: key, title, status }) =>
    key === null ? [] : [{ key, title, status }],
  );
  return listed.length === 0 ? undefined : listed;
}

/** Where the host now says something else of directory, mode or agent, or works on after a compaction. Mostly nothing. */
function catchUpEvents(context: HookContext, state: State, pending: readonly Event[]): Event[] {
  const { call, identifiers } = context;
  const known = pending.findLast((event) => event.type === 'session-opened') ?? state;
  const said = ({ descriptor, agent }: Pick<EventOf<'session-opened'>, 'descriptor' | 'agent'>) =>
    JSON.stringify([descriptor, agent]);
  const opening = said(known) === said(call) ? [] : [openingEvent(context, 'side')];
  // The host works on although it never said that its compaction ended: it was broken off.
  const told = pending.findLast((event) => 'wait' in event && event.wait.kind === 'compaction');
  const compacting = told === undefined ? state.waits.compacting : told.type === 'wait-started';
  if (!compacting) return opening;
  return [...opening, { ...base(context, 'side', identifiers.next()), ...compactionFailed }];
}

/**
 * A human's message starts or joins a turn; a notice of the host, one of our commands and our own text shown back do not.
 * A prompt that finds a turn unfinished tells that a human broke it off (G4, P19).
 */
async function performPrompt(context: HookContext, text: string, speaker: Speaker): Promise<HookAnswer> {
  const { store, runtime, configuration } = context;
  const known = await lookUp(context);
  const isOurs = await isOurText(context, text);
  const speaks = speaker.type === 'human' && !isOurs;
  if (speaks) await configuration.renew();
  const problem = speaks ? configuration.problem() : null;
  await store.append(known.catchUp);
  const detail = `${shortHash(text)}:${known.decisions}`;
  const events = isOurs
    ? [{ ...base(context, 'side', detail), type: 'activity-seen' as const }]
    : promptEvents(context, text, speaker, known, detail);
  for (const event of events) await runtime.append(event);
  return problem === null
    ? { type: 'nothing' }
    : { type: 'let-go', message: `off for this message, because the configuration is broken: ${problem}` };
}

/** By what the record says was sent; the marker only saves the look (E6). */
async function isOurText({ store, call: { sessionId } }: HookContext, text: string): Promise<boolean> {
  if (!text.includes(continuationMarker)) return false;
  const shown = text.trim();
  const sent = (await store.outbox({ sessionId })).map((row) => row.text.trim());
  return sent.some((ours) => shown === ours || shown.endsWith(`\n${ours}`));
}

function promptEvents(
  context: HookContext,
  text: string,
  speaker: Speaker,
  known: Known,
  detail: string,
): readonly Event[] {
  const prompt = base(context, 'prompt', detail);
  const { id } = prompt;
  if (speaker.type === 'human') {
    const { agent } = context.call;
    const spoken = { text, agent, messageId: id, turnId: id, fingerprint: null, policyHash: null };
    return [{ ...prompt, type: 'human-spoke', ...spoken }];
  }
  const aborted: Event[] = wasBrokenOff(known, context.call.promptId)
    ? [{ ...prompt, id: `${id}:aborted`, type: 'human-aborted', how: 'interrupted' }]
    : [];
  const jobIds = speaker.type === 'notice' ? speaker.jobIds : [];
  const ended = jobIds.map((jobId): Event => {
    return {
      ...prompt,
      id: `${id}:${shortHash(jobId)}`,
      type: 'wait-ended',
      wait: { kind: 'background', jobId },
    };
  });
  return [...aborted, ...ended, { ...prompt, type: 'activity-seen' }];
}

/**
 * The host says nothing when a human interrupts it. But it starts a new prompt only when nothing runs, and a turn that ran
 * ends with a stop that we let through or with a failure: anything else was broken off.
 */
function wasBrokenOff({ trail, mayStop }: Known, promptId: string | null): boolean {
  const { promptId: before = null, last = null } = trail ?? {};
  if (promptId === null || before === null || before === promptId) return false;
  return last === 'stop' ? !mayStop : last === 'work' || last === 'prompt';
}

/**
 * The gate: a todo that has checks is completed only when they pass (V1). A failure goes back to the agent as the reason
 * why it is refused; what is not finished in time is let through, and the stop waits for it instead.
 */
async function performCompletion(context: HookContext, todoKey: string): Promise<HookAnswer> {
  const { runtime, identifiers, deadlineAt } = context;
  const gate = () => base(context, 'gate', identifiers.next());
  // Todos that were created a moment ago may still wait in the inbox: they are folded first.
  if ((await pendingEvents(context)).length > 0) await runtime.handle({ ...gate(), type: 'activity-seen' });
  const todo = await findTodo(context, todoKey);
  if (todo === undefined || todo.checks.length === 0 || todo.verification === 'passed')
    return { type: 'nothing' };
  const changes = { status: 'completed' } as const;
  const claim: Event = { ...gate(), type: 'todo-updated', actor: 'agent', todoId: todoKey, changes };
  const { checks } = await runtime.handle(claim);
  const waited = await withinTime(context.clock, deadlineAt - context.clock.now(), () => checks);
  if (!waited.answered && !waited.late) throw waited.error;
  const after = await findTodo(context, todoKey);
  if (after?.verification !== 'failed' || after.status !== 'in_progress') return { type: 'nothing' };
  return { type: 'refuse', reason: describeFailure(after) };
}

async function findTodo({ store, call }: HookContext, todoKey: string): Promise<Todo | undefined> {
  const { plan = [] } = (await store.state(call.sessionId)) ?? {};
  return plan.find(({ id, hostKey }) => id === todoKey || hostKey === todoKey);
}

/** A stop waits for the look at the workspace; a folder that takes longer has none, and tool calls count instead. */
const fingerprintTimeoutMs = 5000;

async function performStop(context: HookContext, facts: StopFacts): Promise<HookAnswer> {
  const { call, host, store, hook, configuration } = context;
  const { state, pending, trail, hostList, decisions, catchUp } = await lookUp(context);
  const { directory } = call.descriptor;
  const listed = host.readList(call, hook.environment);
  const differences = listed === null ? [] : listEvents(context, hostList, listed, decisions);
  await store.append([...catchUp, ...differences]);
  const isPlanning = ({ type }: Event) => type === 'todos-created' || type === 'plan-written';
  const hasPlan = differences.length > 0 || pending.some(isPlanning) || state.plan.length > 0;
  const isMeasured = hasPlan || configuration.current().goalChecks.length > 0;
  // Calls that still wait in the inbox may have written as well.
  const mayWrite = (event: Event) => 'access' in event && !['read', 'todo'].includes(event.access);
  const looks = isMeasured && directory !== null && (mayHaveMoved(state.work) || pending.some(mayWrite));
  const stop: EventOf<'stop-attempted'> = {
    // Two hooks that are asked about the same stop see the same number of decisions: they are one stop.
    ...base(context, 'stop', String(decisions)),
    at: Math.max(call.at, context.clock.now()),
    type: 'stop-attempted',
    end: facts.end,
    question: endsInQuestion(facts.lastText),
    fingerprint: looks ? await context.fingerprint(directory, fingerprintTimeoutMs) : null,
    background: facts.background,
    toolError: trail?.toolError ?? null,
  };
  return say(context, facts, trail?.stops ?? 0, await ask(context, stop));
}

/** What the host's own list says otherwise than when we last heard of it (G5), as events. */
function listEvents(
  context: HookContext,
  known: State['hostList'],
  listed: readonly ListedTodo[],
  decisions: number,
): Event[] {
  const changes = hostListChanges(known, listed, (key) => todoIdOf(context.call.sessionId, key));
  return changes.map((change) => {
    const made = base(context, 'list', shortHash(JSON.stringify([change, decisions])));
    return { ...made, ...change, actor: 'agent' } as Event;
  });
}

/** A shorter wait is slept here; a longer one would hold the host for nothing. */
const sleptWaitMs = 2000;

async function ask(
  { runtime, clock: time, deadlineAt }: HookContext,
  stop: EventOf<'stop-attempted'>,
): Promise<Handled> {
  const first = await runtime.ask(stop, deadlineAt);
  const dueAt = first.answer?.answer === 'wait' ? first.answer.dueAt : null;
  if (dueAt === null || dueAt - time.now() > sleptWaitMs || dueAt > deadlineAt) return first;
  await new Promise<void>((resolve) => time.wake(dueAt, resolve));
  return runtime.ask({ ...stop, id: `${stop.id}:again`, at: time.now() }, deadlineAt);
}

const lastBlockMessage =
  'the agent is continued once more; unless it calls a tool, the host then ends the turn by itself, and its report of success says nothing about the todos.';

/** @param stops attempts before this one since the agent last called a tool */
async function say(
  { runtime, clock: time }: HookContext,
  { blockCap }: StopFacts,
  stops: number,
  handled: Handled,
): Promise<HookAnswer> {
  const { answer, decision } = handled;
  // Known already: another hook was asked about the same stop and answers it.
  if (answer === null) return { type: 'nothing' };
  if (answer.answer === 'continue' && answer.text !== null) {
    if (blockCap === null || stops < blockCap)
      return {
        type: 'continue',
        text: answer.text,
        message: stops + 1 === blockCap ? lastBlockMessage : null,
      };
    // The host would ignore the answer and report success: what became of the turn is decided and put on the record.
    const { id: sessionId, epoch } = handled.state;
    const id = `${sessionId}:host-cap:${epoch}`;
    const reached = { type: 'host-cap-reached', id, sessionId, at: time.now(), cap: blockCap } as const;
    return { type: 'let-go', message: messageOf(await runtime.handle(reached)) };
  }
  // The host says by itself when background work ends, and wakes the agent.
  return { type: 'let-go', message: decision?.reason === 'background' ? null : messageOf(handled) };
}

function messageOf({ answer, decision }: Handled): string | null {
  const message = answer?.message ?? null;
  const outcome = decision?.outcome ?? null;
  return message === null || outcome === null ? message : `${outcome}. ${message}`;
}
