// A session with a goal, whoever its agent is: told its goal, looked at before the work,
// asked when the agent wants to stop, made to wait. `openSession`, our own run and a
// driven run stand on it. It decides nothing.
import { fingerprintMs } from '../checks/checker.ts';
import { freezeIgnoreRules } from '../checks/git.ts';
import { couldNotStart, runCheck } from '../checks/run-check.ts';
import { allowedProposal } from '../core/check-specs.ts';
import type { Draft, Event, EventBase, EventOf, Job } from '../core/events.ts';
import type { Policy } from '../core/policy.ts';
import { ownValue } from '../core/schema.ts';
import { settingsForAgent } from '../core/settings.ts';
import {
  createState,
  isTurnOver,
  type State,
  spokeAt,
  unknownHost,
} from '../core/state.ts';
import type { Handled } from '../engine/engine.ts';
import type { Checker } from '../engine/host.ts';
import { checkPatienceMs, createRuntime } from '../engine/runtime.ts';
import { onAbort } from '../engine/system.ts';
import { createParts, type OpenOptions, type Parts } from '../open.ts';
import { createTodoTools } from '../tools/todo-tools.ts';

/**
 * How long we wait for a cause that names no end. If its event is lost, the agent must
 * not hang for ever.
 */
const longestWaitMs = 60_000;

type SeenCheck = EventOf<'baseline-seen'>['checks'][number];

/** How a check stood before the work. */
export type BaselineResult = Pick<SeenCheck, 'result'> & Readonly<{ sentence: string }>;

export type GoalSessionOptions = OpenOptions &
  Required<Pick<OpenOptions, 'clock' | 'identifiers'>> &
  Readonly<{
    sessionId: string;
    directory: string;
    /** What a message of the human freezes. */
    policy: () => Policy;
    /** The agent whose settings hold; null: the session names none. */
    agentName: string | null;
    /** Takes the fingerprint of the workspace. Default: that of its files. */
    look?: Parts['checker']['look'];
    /** Ends the looks before the work. */
    signal: () => AbortSignal;
    onLooked?: (check: string, looked: BaselineResult) => void;
    onNotice: (sentence: string) => void;
    /** Jobs of the agent that go on by themselves; null: nobody says. */
    background?: () => readonly Job[] | null;
    /** What else happens before and after the engine is asked. */
    aroundAsk?: (ask: () => Promise<Handled>) => Promise<Handled>;
    /**
     * Waits until then, or until something may have ended the cause of the wait. False:
     * nobody asks again.
     */
    sitOut: (waiting: Handled, dueAt: number) => Promise<boolean>;
  }>;

/** What is known about the answer with which the agent wants to stop. */
type StopFacts = Pick<EventOf<'stop-attempted'>, 'end' | 'question' | 'toolError'>;

export type GoalSession = ReturnType<typeof openGoalSession>;

/** What a session with a goal can do; the caller owns it already. */
export function openGoalSession(options: GoalSessionOptions) {
  const { store, clock, identifiers, sessionId, directory, policy } = options;
  const { aroundAsk = (ask) => ask(), background = () => null } = options;
  const parts = createParts(options);
  const { look = parts.checker.look } = options;
  const checker: Checker = {
    async run(...asked) {
      await baseline.end();
      return parts.checker.run(...asked);
    },
  };
  const engine = createRuntime({ ...parts, policy, checker });
  const settings = () => settingsForAgent(policy().settings, options.agentName);
  const state = async (): Promise<State> =>
    (await store.state(sessionId)) ?? createState(sessionId, clock.now());
  const base = (of = sessionId) => ({
    id: identifiers.next(),
    sessionId: of,
    at: clock.now(),
  });
  const record = (event: Draft<Event>, of = sessionId) =>
    engine.handle({ ...base(of), ...event } as Event);

  /** null: nobody judges by it, or none could be taken. */
  async function fingerprint(): Promise<string | null> {
    if (settings().mode === 'off') return null;
    const frozen = freezeIgnoreRules(policy(), spokeAt(await state()));
    return look({ sessionId, directory }, frozen, { timeoutMs: fingerprintMs });
  }
  const baseline = createBaseline(options, { settings, state, record, fingerprint });

  /** The human's words; what holds now is what the work is judged by from here on (V2). */
  async function hear(text: string | null, messageId: string) {
    const seen = { policyHash: null, fingerprint: await fingerprint() };
    await record({ type: 'human-spoke', ...spokenWords(text, messageId), ...seen });
  }

  /** Before the agent is called again in a turn that had ended. */
  async function goOn() {
    const { latch, pause, ...now } = await state();
    // `human-resumed` would lift a stop or a pause of the human.
    if (isTurnOver(now) && latch === null && pause === null)
      await record({ type: 'human-resumed', policyHash: null, goesOn: true });
  }

  /** The agent wants to stop. */
  async function askToStop(facts: StopFacts): Promise<Handled> {
    await baseline.end();
    const seen = { fingerprint: await fingerprint(), background: background() };
    const event = { type: 'stop-attempted', ...facts, ...seen, ...base() } as const;
    return aroundAsk(() => engine.ask(event, clock.now() + checkPatienceMs));
  }

  /** Sits out what a rule waits for and asks again; null: nobody asks again. */
  async function awaitAnswer(first: Handled): Promise<Handled | null> {
    let handled = first;
    // A continuation without its words is asked for once more, too.
    while (handled.answer?.answer !== 'let-go' && handled.answer?.text === null) {
      const dueAt = handled.answer.dueAt ?? clock.now() + longestWaitMs;
      if (!(await options.sitOut(handled, dueAt))) return null;
      const end = handled.state.lastStop?.end ?? 'normal';
      handled = await askToStop({ end, question: false, toolError: null });
    }
    return handled;
  }

  /** For the agent, with what it may propose as a check. */
  const todoTools = () => {
    const resolveCheck = (proposal: string) => allowedProposal(settings(), proposal);
    return createTodoTools({ ...options, engine, actor: 'agent', resolveCheck });
  };

  return {
    configuration: parts.configuration,
    engine,
    settings,
    state,
    base,
    record,
    fingerprint,
    baseline,
    todoTools,
    hear,
    goOn,
    askToStop,
    awaitAnswer,
  };
}

/** Where a session of ours is; nothing else is known of it. */
export const describePlace = (host: string, directory: string) => ({
  ...unknownHost,
  host,
  instance: `${host}:${directory}`,
  directory,
});

const spokenWords = (text: string | null, messageId: string) => ({
  text,
  messageId,
  turnId: messageId,
  agent: null,
});

/**
 * Words that the agent reads after its running step. `policyHash` null: what holds where
 * they are said becomes the snapshot (V2).
 */
export function queuedWords(text: string, base: EventBase, policyHash: string | null) {
  const words = spokenWords(text, `said:${base.id}`);
  const seen = { policyHash, fingerprint: null };
  return { type: 'human-spoke', ...base, ...words, ...seen, queued: true } as const;
}

/** A human who waits longer wants to know what for. */
const slowMs = 1500;

type Baseline = Readonly<{
  take(): Promise<void>;
  /**
   * Ends a check that still runs. Call it before anything that the check could disturb, or
   * that could disturb the check.
   */
  end(): Promise<void>;
}>;

/**
 * How things stood before the first model call (V1): each check is run once, and the
 * files are looked at.
 */
function createBaseline(
  options: GoalSessionOptions,
  session: Pick<GoalSession, 'settings' | 'state' | 'record' | 'fingerprint'>,
): Baseline {
  const { clock, directory, environment, sessionId, policy } = options;
  /** null: no look goes on beside the agent. */
  let endLook: (() => Promise<void>) | null = null;

  /** null: it was interrupted, or only a human could answer it. */
  async function runOnce(
    check: string,
    signal: AbortSignal,
  ): Promise<BaselineResult | null> {
    const spec = ownValue(policy().checks ?? {}, check);
    if (spec === undefined || spec.kind === 'human' || spec.kind === 'protected')
      return null;
    // Not the mark of the agent, whose processes end when it is resumed.
    const session = `check of ${sessionId}`;
    const context = { directory, environment, session, now: clock.now, signal };
    const seen = await runCheck(spec, context);
    const result = couldNotStart(seen) ? 'cannot-start' : seen.result;
    return signal.aborted ? null : { result, sentence: seen.sentence };
  }

  /**
   * Takes what is not known yet. The checks have `baselineSeconds` together: then none is
   * begun, and the one that runs goes on beside the agent until `end`.
   */
  async function take(): Promise<void> {
    const { mode, baselineSeconds: seconds } = session.settings();
    if (mode !== 'enforce') return;
    const { baseline: known, plan, work } = await session.state();
    const given = [...policy().goalChecks, ...plan.flatMap(({ checks }) => checks)];
    const unknown = [...new Set(given)].filter(
      (check) => !Object.hasOwn(known?.checks ?? {}, check),
    );
    const closed = new AbortController();
    const signal = AbortSignal.any([options.signal(), closed.signal]);
    const seen: SeenCheck[] = [];
    let isTimeUp = false;
    let isLooking = true;
    async function look() {
      // One after the other: they may use the same files.
      for (const check of unknown) {
        const looked = isTimeUp || signal.aborted ? null : await runOnce(check, signal);
        if (looked === null) continue;
        options.onLooked?.(check, looked);
        seen.push({ check, result: looked.result });
      }
    }
    const sentence = `Before the agent begins, each check is run once; at most ${seconds} s are spent on that.`;
    const cancelSlow = clock.wake(clock.now() + slowMs, () => options.onNotice(sentence));
    // Safe: a check that could not be looked at is not in the baseline, and then only the
    // files can show a change.
    const looked = look()
      .catch(() => {})
      .then(() => {
        isLooking = false;
      });
    await unlessOver(looked, clock, seconds * 1000, signal);
    cancelSlow();
    isTimeUp = true;
    const isLate = isLooking;
    // Files that the checks wrote are no work of the agent.
    const record = async (fingerprint: string | null) => {
      const checks = seen.splice(0);
      await session.record({ type: 'baseline-seen', fingerprint, checks });
    };
    if (known === null || seen.length > 0)
      await record(seen.length === 0 ? work.fingerprint : await session.fingerprint());
    if (!isLate) return;
    const stop = async () => {
      closed.abort();
      await looked;
      await record(await session.fingerprint());
    };
    let ending: Promise<void> | null = null;
    endLook = () => (ending ??= stop());
  }

  return { take, end: async () => endLook?.() };
}

function unlessOver(
  work: Promise<void>,
  clock: GoalSessionOptions['clock'],
  milliseconds: number,
  signal: AbortSignal,
) {
  return new Promise<void>((resolve) => {
    const cancel = clock.wake(clock.now() + milliseconds, resolve);
    const stop = onAbort(signal, resolve);
    work.then(resolve).finally(() => {
      cancel();
      stop();
    });
  });
}
