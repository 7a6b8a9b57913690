// Answers the hook calls that need more than a line in the record: it brings the record
// up to date, asks the engine, and words the answer for the host. It decides nothing.
import { freezeIgnoreRules } from '../checks/git.ts';
import { hasLimitMark, sessionVariable } from '../checks/process.ts';
import { ancestorsOf } from '../checks/process-ancestors.ts';
import { type Moment, momentToTell, waitsForAnswerSentence } from '../core/decision.ts';
import { UntildoneError } from '../core/error.ts';
import type { Event, EventOf, SourceKind, StopQuestion } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import {
  hostListChanges,
  isSameList,
  updateHostTrail,
  writtenItems,
} from '../core/reconcile.ts';
import { endsInQuestion } from '../core/safe-text.ts';
import { settingsForAgent } from '../core/settings.ts';
import {
  createState,
  type HostTodo,
  hasSpoken,
  type State,
  spokeAt,
} from '../core/state.ts';
import { continuationMarker } from '../core/texts.ts';
import { isOpen, normaliseTitle, statusFromWord } from '../core/todo.ts';
import { canWrite, mayHaveMoved } from '../core/work.ts';
import { type Handled, lossSentence } from '../engine/engine.ts';
import { takeWaitingPlans } from '../engine/hand-over.ts';
import { frozenPolicy } from '../engine/policy.ts';
import { createRuntime, type Runtime } from '../engine/runtime.ts';
import { createParts, type Parts } from '../open.ts';
import type { AsksOf, HookAnswer, Question } from './asked-call.ts';
import { deadlineOf, eventBase, shortHash, todoIdOf } from './asked-call.ts';
import { sendHumanNotice, type Watched } from './notify.ts';
import { ignoredSentence, isReadByUs } from './project-variables.ts';
import {
  appendFailure,
  compactionFailed,
  describeFailures,
  failedStops,
  isOff,
  openPlanText,
  takenPlanMessage,
  takenPlanText,
} from './shared.ts';
import { withinTime } from './untrusted.ts';

export { appendFailure };

type Context = Question & Omit<Parts, 'host'> & { readonly runtime: Runtime };

/**
 * Answers one hook call. Once `terminated` resolves, it records the interruption instead.
 * The answer waits until the notices to the human are on their way.
 */
export function answerCall(
  question: Question,
  terminated: Promise<unknown>,
): Promise<HookAnswer> {
  const { hook, store } = question;
  const { descriptor } = question.call;
  const notices: Promise<void>[] = [];
  const told = new Map<string, string>();
  const watch: Parts['watch'] = (state, events, decisions) => {
    // In a driven host, the driver tells the human.
    if (descriptor.driven !== undefined) return;
    const moment = momentToTell(state, events, decisions);
    if (moment !== null) notices.push(notifyHuman({ ...question, told }, state, moment));
  };
  const { directory } = descriptor;
  const parts = createParts({ store, environment: hook.environment, directory, watch });
  const answers = createAnswers({ ...parts, ...question, runtime: createRuntime(parts) });
  const answer = Promise.race([answers.perform(), terminated.then(answers.breakOff)]);
  return answer.finally(() => Promise.all(notices));
}

/**
 * Sends a notice that the host shows its human a question, if the human asked for
 * notices.
 */
export function tellAsked(
  question: Question,
  session: Pick<Watched, 'title' | 'policyHash'>,
): Promise<void> {
  const { sessionId: id, at: updatedAt, descriptor } = question.call;
  const moment = { outcome: null, sentence: waitsForAnswerSentence };
  return notifyHuman(question, { id, descriptor, updatedAt, ...session }, moment);
}

/**
 * The command for notices gets no variable that the project's own settings of the host
 * set. Variables that we read ourselves were taken out of the environment before (V10).
 */
function notifyHuman(
  question: Question & { told?: Map<string, string> },
  session: Watched,
  moment: Moment,
) {
  const { store, hook, call, told } = question;
  const { environment, strangers } = hook;
  const isOwn = (name: string) => isReadByUs(name) || strangers?.includes(name) === false;
  const safe = Object.fromEntries(
    Object.entries(environment).filter(([name]) => isOwn(name)),
  );
  return sendHumanNotice({ store, told, environment: safe }, session, moment).catch(
    (error) => {
      // Safe: the failure stands in the log, and the answer to the host does not depend on
      // it.
      const { sessionId, descriptor, at } = call;
      appendFailure(environment, error, {
        at,
        host: descriptor.host,
        hook: call.hook,
        sessionId,
      });
    },
  );
}

/**
 * Time limit for a fingerprint. A folder that takes longer has none, and tool calls count
 * as work instead.
 */
const fingerprintTimeoutMs = 5000;
/**
 * A wait up to this length is slept inside the hook. A longer one would hold the host for
 * nothing: its stop goes through.
 */
const sleptWaitMs = 2000;

const lastBlockMessage = (capsTurn: boolean) =>
  `the agent is told to go on once more. ${capsTurn ? 'The' : 'Unless it calls a tool, the'} host then ends the turn by itself; that it reports success says nothing about the todos.`;

const pausedMessage =
  'this session is paused by you: the agent may stop whenever it likes, until `untildone resume`.';

const nothing: HookAnswer = {};

const isStoreBusy = (error: unknown): boolean =>
  error instanceof UntildoneError && error.code === 'store-busy';
const interrupted = { type: 'human-aborted', how: 'interrupted' } as const;

/**
 * The answers to one hook call; exported for tests. `breakOff` records that the host
 * ended the hook before it could answer.
 */
export function createAnswers(context: Context) {
  const { host, call, hook, store, runtime, clock, identifiers, configuration, checker } =
    context;
  const { sessionId, descriptor, agent } = call;
  const deadlineAt = deadlineOf(hook, call);
  const createBase = (kind: SourceKind, detail = identifiers.next()) =>
    eventBase(call, kind, detail);
  const isDriven = descriptor.driven !== undefined;

  async function perform(): Promise<HookAnswer> {
    const { asks } = call;
    if (asks.type === 'record') return recordEvents(asks);
    if (asks.type === 'open') return answerOpening(asks);
    if (asks.type === 'prompt') return answerPrompt(asks);
    return asks.type === 'complete' ? answerCompletion(asks.todos) : answerStop(asks);
  }

  /**
   * Before its deadline the host breaks a stop hook off only if a human interrupted
   * (P19). After the deadline the turn is over anyway, so only the lateness is recorded.
   */
  async function breakOff(): Promise<HookAnswer> {
    const at = clock.now();
    // A driver that ended its host knows why.
    if (call.asks.type !== 'stop' || isDriven) return nothing;
    if (at < deadlineAt)
      await runtime.handle({
        ...createBase('side', `aborted:${at}`),
        at,
        ...interrupted,
      });
    else
      await store.append([
        { ...createBase('failure', `late:${at}`), at, type: 'activity-seen' },
      ]);
    return nothing;
  }

  async function recordEvents({
    events,
    receipt,
    decided,
    listed,
  }: AsksOf<'record'>): Promise<HookAnswer> {
    try {
      const { current, decisionNumber } = listed
        ? await loadSession()
        : { current: null, decisionNumber: 0 };
      // Work and bulk claims differ in the call that changed the list, so the ids of the
      // changes name that call (V4).
      const differences = current
        ? await readListChanges(current, `${events[0]?.id ?? ''}:${decisionNumber}`)
        : [];
      if (!decided) await store.append([...events, ...differences]);
      // The plan must hold what waits in the inbox before a receipt is bound.
      else for (const event of [...events, ...differences]) await runtime.handle(event);
    } catch (error) {
      // Safe: while another process holds the store, the events wait in its spool.
      if (!isStoreBusy(error)) throw error;
      await store.append(events);
      return nothing;
    }
    if (receipt)
      await hook.bindReceipt(store, runtime, { receipt, sessionId, at: call.at });
    return nothing;
  }

  /**
   * After a compaction or a resume the agent may have lost sight of its plan, so it gets
   * the plan again (P23).
   */
  async function answerOpening({
    begins,
    events,
    givesPlan,
  }: AsksOf<'open'>): Promise<HookAnswer> {
    await takeIn([...events, openingEvent(begins ? 'open' : 'side')]);
    return givesPlan ? { text: openPlanText(await store.state(sessionId)) } : nothing;
  }

  /**
   * With them the session is on the record, where every command finds it (C3). While
   * another process holds the store they wait in its spool.
   */
  async function takeIn(told: readonly Event[]): Promise<void> {
    try {
      for (const event of told) await runtime.handle(event);
    } catch (error) {
      if (!isStoreBusy(error)) throw error;
      // Safe: one that was taken in before is not taken twice.
      await store.append(told);
    }
  }

  function openingEvent(kind: SourceKind): Event {
    return { ...createBase(kind), type: 'session-opened', descriptor, agent };
  }

  async function loadSession() {
    const state = (await store.state(sessionId)) ?? createState(sessionId, call.at);
    const pending = await pendingEvents();
    const [newest] = await store.decisions(sessionId, 1);
    return {
      state,
      pending,
      catchUp: catchUpEvents(state, pending),
      /** The state, plus what the host told since the last decision. */
      current: pending.reduce(updateHostTrail, state),
      /** Part of event ids: the same call after another decision is a new event. */
      decisionNumber: newest?.sequence ?? 0,
      mayStop: newest?.decision.answer !== 'continue',
    };
  }

  const pendingEvents = async () =>
    (await store.events({ sessionId, waiting: true })).map(({ event }) => event);

  /**
   * Events that the record still lacks: the host now describes itself otherwise, or works
   * on after a compaction that was broken off.
   */
  function catchUpEvents(state: State, pending: readonly Event[]): Event[] {
    const known = pending.findLast((event) => event.type === 'session-opened') ?? state;
    const isSame =
      JSON.stringify([known.descriptor, known.agent]) ===
      JSON.stringify([descriptor, agent]);
    const opening = isSame ? [] : [openingEvent('side')];
    const wait = pending.findLast(
      (event) => 'wait' in event && event.wait.kind === 'compaction',
    );
    const compacting =
      wait === undefined ? state.waits.compacting : wait.type === 'wait-started';
    return compacting
      ? [...opening, { ...createBase('side'), ...compactionFailed }]
      : opening;
  }

  /**
   * Only a human's message starts or joins a turn. A notice that finds a turn unfinished
   * shows that the turn was aborted (G4).
   */
  async function answerPrompt({ text, speaker }: AsksOf<'prompt'>): Promise<HookAnswer> {
    const { state, pending, current, mayStop, decisionNumber, catchUp } =
      await loadSession();
    const isOurs = await isOurText(text);
    const isHuman = speaker.type === 'human' && !isOurs;
    const pauses = speaker.type === 'command' && !isOurs ? speaker.pauses : undefined;
    const agentAbove = isHuman || pauses !== undefined ? findAgentAbove() : null;
    if (agentAbove !== null) {
      const sentence = `this message does not count as a human's: it came from ${agentAbove}.`;
      const refused = Object.assign(new Error(sentence), { code: 'not-human' });
      appendFailure(hook.environment, refused, {
        at: call.at,
        host: descriptor.host,
        hook: call.hook,
        sessionId,
      });
      return { message: sentence };
    }
    if (isHuman) await configuration.renew();
    await store.append(catchUp);
    const base = createBase(
      isOurs ? 'side' : 'prompt',
      `${shortHash(text)}:${decisionNumber}`,
    );
    const { id } = base;
    if (isHuman) {
      await runtime.append({
        ...base,
        type: 'human-spoke',
        messageId: id,
        turnId: id,
        turnIsOver: isTurnOver(current.trail),
        agent,
        text,
        fingerprint: null,
        policyHash: null,
      });
      const isFirst =
        !hasSpoken(state) && !pending.some(({ type }) => type === 'human-spoke');
      const { settings } = configuration.current();
      // Recorded after the words, which must not wait for it. Without a first
      // fingerprint, a single command would pass for work (V4).
      const fingerprint =
        isFirst && !isOff(settings, call.agent.name) ? await takeFingerprint() : null;
      if (fingerprint !== null)
        await store.append([
          { ...base, id: `${id}:look`, type: 'workspace-seen', fingerprint },
        ]);
      const problem = configuration.problem();
      const off = `off for this message, because the configuration is broken: ${problem}`;
      const ignored = isFirst ? ignoredVariables() : null;
      if (problem !== null) return messageForHuman(ignored, off);
      // Taken after the message, whose turn takes up the plan (V7).
      const takesPlans = settings.mode === 'enforce' && !isOff(settings, call.agent.name);
      const taken = takesPlans
        ? await takeWaitingPlans({ ...context, engine: runtime }, sessionId, descriptor)
        : null;
      if (taken === null) return messageForHuman(ignored);
      return {
        ...messageForHuman(ignored, takenPlanMessage(taken)),
        text: takenPlanText(taken),
      };
    }
    const isNotice = speaker.type === 'notice' && !isOurs;
    if (isNotice && !isDriven && wasInterrupted(current.trail, mayStop))
      await runtime.append({ ...base, id: `${id}:aborted`, ...interrupted });
    for (const jobId of isNotice ? speaker.jobIds : []) {
      const wait = { kind: 'background', jobId } as const;
      await runtime.append({
        ...base,
        id: `${id}:${shortHash(jobId)}`,
        type: 'wait-ended',
        wait,
      });
    }
    await runtime.append({
      ...base,
      type: 'activity-seen',
      ...(isNotice && { wakes: true }),
    });
    if (pauses === undefined) return nothing;
    await runtime.handle({
      ...base,
      id: `${id}:paused`,
      type: 'human-paused',
      ...pauses,
    });
    return messageForHuman(pausedMessage);
  }

  /** Takes a fingerprint of the workspace; null: it could not be taken in time. */
  async function takeFingerprint(
    policy: Partial<Policy> = configuration.current(),
    since = call.at,
  ) {
    const { directory } = descriptor;
    if (directory === null) return null;
    const timeoutMs = Math.max(
      0,
      Math.min(fingerprintTimeoutMs, deadlineAt - clock.now()),
    );
    const limits = { timeoutMs, environment: hook.environment };
    return checker.look(
      { sessionId, directory },
      freezeIgnoreRules(policy, since),
      limits,
    );
  }

  /**
   * The agent that typed this message, in words; null: nothing speaks against a human.
   * Not every agent shows: docs/permissions.md says where one does not.
   */
  function findAgentAbove(): string | null {
    const hostAgent = 'a command of an agent';
    if (hasLimitMark() || hook.environment[sessionVariable])
      return 'a session of untildone';
    const { given = hook.environment, ignored } = hook;
    if (host.agentCommandOf((name) => given[name], ignored) !== null) return hostAgent;
    // Another program's agent may have started this host, whose hooks then run beneath
    // both: only an agent of this very session counts. Only Linux shows the variables of
    // other processes.
    for (const { variables } of process.platform === 'linux'
      ? ancestorsOf(process.pid)
      : [])
      if (
        host.agentCommandOf((name) => variables.get(name), ignored)?.sessionId ===
        sessionId
      )
        return hostAgent;
    return null;
  }

  /**
   * A text is ours if the record says that we sent it. The marker only saves the lookup
   * (E6).
   */
  async function isOurText(text: string): Promise<boolean> {
    if (!text.includes(continuationMarker)) return false;
    const shown = text.trim();
    const sent = (await store.outbox({ sessionId })).map((row) => row.text.trim());
    return sent.some((ours) => shown === ours || shown.endsWith(`\n${ours}`));
  }

  /**
   * A host that was started again, or began another prompt, has ended what ran before,
   * however it ended (P19, T3).
   */
  function isTurnOver({ last, promptId: before }: State['trail']): boolean {
    if (last === 'open') return true;
    return (
      host.namesPrompts !== false && call.promptId !== null && call.promptId !== before
    );
  }

  /**
   * The host tells of no interrupt. A turn that has neither a failure nor a stop that we
   * let through was interrupted (P19).
   */
  function wasInterrupted(trail: State['trail'], mayStop: boolean): boolean {
    const { promptId: before, last } = trail;
    if (call.promptId === null || before === null || before === call.promptId)
      return false;
    const wasContinued = last === 'stop' && !mayStop;
    const wasAtWork = last === 'work' || last === 'prompt';
    // A stop hook that failed let the agent stop, and the store knows nothing of it.
    return (
      (wasContinued || wasAtWork) &&
      !failedStops(hook.environment, sessionId).some(({ stopOf }) => stopOf === before)
    );
  }

  /**
   * Refuses to complete a todo whose checks fail (V1). Checks that take too long let the
   * completion through: the stop waits for them.
   */
  async function answerCompletion(named: readonly string[]): Promise<HookAnswer> {
    const titles = named.map(normaliseTitle);
    const todosIn = (state: State | null) =>
      (state?.plan ?? []).filter(({ id, hostKey, title }) =>
        hostKey
          ? named.includes(hostKey)
          : named.includes(id) || titles.includes(normaliseTitle(title)),
      );
    // The todos may still wait in the inbox.
    if ((await pendingEvents()).length > 0)
      await runtime.handle({ ...createBase('gate'), type: 'activity-seen' });
    const runs: unknown[] = [];
    for (const { id: todoId, checks, verification } of todosIn(
      await store.state(sessionId),
    )) {
      if (checks.length === 0 || verification === 'passed') continue;
      const claim = { actor: 'agent', todoId, changes: { status: 'completed' } } as const;
      runs.push(
        (await runtime.handle({ ...createBase('gate'), type: 'todo-updated', ...claim }))
          .checks,
      );
    }
    if (runs.length === 0) return nothing;
    const waiting = await withinTime(clock, deadlineAt - clock.now(), () =>
      Promise.all(runs),
    );
    if (!waiting.answered && !waiting.late) throw waiting.error;
    const state = await store.state(sessionId);
    const failed = todosIn(state).filter(
      ({ verification, status }) => verification === 'failed' && status === 'in_progress',
    );
    if (state === null || failed.length === 0) return nothing;
    return { refusal: describeFailures(state, failed).join('\n') };
  }

  async function answerStop(asks: AsksOf<'stop'>) {
    const { end, lastText, isContinued, background, transcript } = asks;
    const { state, pending, current, decisionNumber, catchUp } = await loadSession();
    const differences = await readListChanges(current, decisionNumber);
    const humanMessage = pending.findLast((event) => event.type === 'human-spoke');
    const policy = await frozenPolicy(store, humanMessage ?? state);
    const since = humanMessage?.at ?? spokeAt(state);
    const { maxTokens } = settingsForAgent(
      (policy ?? configuration.current()).settings,
      agent.name,
    );
    // The transcript is read only for a token budget, because reading takes time.
    const usage =
      transcript === null || maxTokens === null ? [] : usageEvents(transcript, since);
    await store.append([...catchUp, ...differences, ...usage]);
    const isPlanning = ({ type }: Event) =>
      type === 'todos-created' || type === 'plan-written';
    const hasPlan =
      differences.length > 0 || pending.some(isPlanning) || state.plan.length > 0;
    const isMeasured =
      hasPlan || (policy ?? configuration.current()).goalChecks.length > 0;
    // Tool calls that still wait in the inbox may have written files as well.
    const canHaveWritten = (event: Event) => 'access' in event && canWrite(event);
    const needsFingerprint =
      isMeasured && (mayHaveMoved(state.work) || pending.some(canHaveWritten));
    const fingerprint = needsFingerprint
      ? await takeFingerprint(policy ?? {}, since)
      : null;
    const base = createBase('stop');
    const about = shortHash(`${isContinued}:${lastText}`);
    const asking = (): StopQuestion => ({
      by: base.id,
      about,
      since: hook.since,
      until: hook.steady(),
    });
    const handled = await askEngine({
      ...base,
      source: { ...base.source, asking: asking() },
      at: Math.max(call.at, clock.now()),
      type: 'stop-attempted',
      end,
      background,
      toolError: current.trail.toolError,
      question: endsInQuestion(lastText),
      fingerprint,
    });
    // Another hook was asked about the same stop and answers it.
    if (handled.decision === null) return nothing;
    const hookAnswer = await answerDecision(handled, asking, asks);
    // The human is told when the loss is found, because their next message forgives it.
    const loss = state.recordBroken === null ? handled.state.recordBroken : null;
    if (loss === null || hookAnswer.message?.includes(loss)) return hookAnswer;
    return {
      ...hookAnswer,
      message: [lossSentence(loss), hookAnswer.message].filter(Boolean).join(' '),
    };
  }

  /** Each call of the model is one event, however many hooks report it. */
  function usageEvents(path: string, since: number): Event[] {
    return (host.readUsage?.(path, since) ?? []).map(({ key, ...tokens }) => ({
      ...createBase('side'),
      id: `${sessionId}:usage:${shortHash(key)}`,
      type: 'usage-reported',
      ...tokens,
      cost: null,
      contextTokens: null,
      contextLimit: null,
    }));
  }

  /** The changes of the host's own list since it was last read (G5). */
  async function readListChanges(
    { plan, hostList }: State,
    idDetail: number | string,
  ): Promise<Event[]> {
    // A failed check opened these todos again. If the list still shows them as completed,
    // each stop takes that as a new claim (V1).
    const isStop = call.asks.type === 'stop';
    const opened = plan.filter(
      (todo) => isStop && isOpen(todo) && todo.verification === 'failed',
    );
    const isClaimed = ({ key, status }: HostTodo) =>
      statusFromWord(status) === 'completed' &&
      opened.some(({ hostKey }) => hostKey === key);
    const known = hostList.map((todo) =>
      isClaimed(todo) ? { ...todo, status: 'in_progress' } : todo,
    );
    const listed = (await host.readList?.(call, hook.environment)) ?? null;
    const baseOf = (change: unknown) =>
      createBase('list', shortHash(JSON.stringify([change, idDetail])));
    if (listed?.some(({ key }) => key === null)) {
      if (isSameList(hostList, listed)) return [];
      const items = writtenItems(listed).map((item) => ({
        ...item,
        freshId: identifiers.next(),
      }));
      return [{ ...baseOf(listed), type: 'plan-written', actor: 'agent', items }];
    }
    const changes =
      listed && hostListChanges(known, listed, (key) => todoIdOf(sessionId, key));
    return (changes ?? []).map(
      (change) => ({ ...baseOf(change), ...change, actor: 'agent' }) as Event,
    );
  }

  async function askEngine(attempt: EventOf<'stop-attempted'>): Promise<Handled> {
    const first = await runtime.ask(attempt, deadlineAt);
    const dueAt = first.answer?.answer === 'wait' ? first.answer.dueAt : null;
    if (dueAt === null || dueAt - clock.now() > sleptWaitMs || dueAt > deadlineAt)
      return first;
    await new Promise<void>((resolve) => clock.wake(dueAt, resolve));
    return runtime.ask(
      { ...attempt, id: `${attempt.id}:again`, at: clock.now() },
      deadlineAt,
    );
  }

  async function answerDecision(
    handled: Handled,
    asking: () => StopQuestion,
    { blockCap: cap, capsTurn = false }: AsksOf<'stop'>,
  ): Promise<HookAnswer> {
    const { answer, decision, state } = handled;
    if (answer === null) return nothing;
    if (answer.answer !== 'continue' || answer.text === null)
      // A message is not needed: the host wakes the agent itself when background work
      // ends.
      return messageForHuman(
        decision?.reason === 'subagent-at-work' ? null : answer.message,
      );
    // Counted with this one: since the human spoke, or since the agent last called a
    // tool.
    const continuations = capsTurn ? state.counters.total : state.trail.stops;
    const message = continuations === cap ? lastBlockMessage(capsTurn) : null;
    if (cap === null || continuations <= cap)
      return (await claimAnswer(answer.epoch, asking()))
        ? { text: answer.text, message }
        : nothing;
    // The host would ignore the answer and report success, so the record says how the
    // turn ended.
    const { answer: end } = await runtime.handle({
      type: 'host-cap-reached',
      id: `${sessionId}:host-cap:${state.epoch}`,
      sessionId,
      at: clock.now(),
      cap,
      goOn: host.goOn?.(sessionId),
    });
    return messageForHuman(end?.message ?? null);
  }

  /**
   * An answer with these messages for the human and no text for the model. It also shows
   * what the project's file asks for and nobody accepted: an agent may just have written
   * it (V10).
   */
  function messageForHuman(...messages: readonly (string | null)[]): HookAnswer {
    const message = [...messages, configuration.pending()]
      .filter((part) => part !== null)
      .join(' ');
    return { message: message === '' ? null : message };
  }

  /** Shown once, at the first message of a session; `doctor` shows it each time. */
  function ignoredVariables(): string | null {
    const { ignored, strangers = [] } = hook;
    return ignored.length === 0 ? null : ignoredSentence(ignored, strangers);
  }

  /**
   * Hooks that are asked about one stop may get the same answer. An event is taken once,
   * so only the first hook that records this one answers.
   */
  function claimAnswer(epoch: number, asking: StopQuestion): Promise<boolean> {
    return runtime.append({
      id: `${sessionId}:${epoch}:answered`,
      sessionId,
      at: clock.now(),
      source: { kind: 'stop', promptId: call.promptId, asking },
      type: 'delivery-reported',
      epoch,
      news: 'sent',
      error: null,
    });
  }

  return { perform, breakOff };
}
