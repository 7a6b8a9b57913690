// Begins a session of the library, or takes one up: owns it, freezes what it is judged
// by, hears the goal and looks how things stand before the work (V1, V2). It decides
// nothing and answers no stop.
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Decision, Outcome } from '../core/decision.ts';
import { messageOf, UntildoneError } from '../core/error.ts';
import type { Policy } from '../core/policy.ts';
import { excerpt } from '../core/problem.ts';
import { createState, isTurnOver, libraryHost, type State } from '../core/state.ts';
import { checkedTexts, namedTodos } from '../core/texts.ts';
import { isOpen, type Todo } from '../core/todo.ts';
import {
  frozenPolicy,
  takenUpChecks,
  takenUpPolicy,
  withShellChecks,
} from '../engine/policy.ts';
import { ownSession } from '../engine/session-owner.ts';
import { recordedEvents, settlementOf } from '../engine/session-record.ts';
import type { Store } from '../engine/store.ts';
import { sha256 } from '../engine/system.ts';
import type { Configuration } from '../open.ts';
import { stateDirectory } from '../store/state-directory.ts';
import {
  describePlace,
  type GoalSessionOptions,
  openGoalSession,
} from './goal-session.ts';
import type { OpenedOptions } from './session-options.ts';

export type BegunSession = Awaited<ReturnType<typeof beginSession>>;
type SitOut = GoalSessionOptions['sitOut'];

export async function beginSession(options: OpenedOptions, whole: Store, sitOut: SitOut) {
  const { id, clock } = options;
  const known = await whole.state(id);
  if (known !== null && known.descriptor.host !== libraryHost) throw notOurs(known);
  const owned = await ownSession({ store: whole, clock }, id);
  if (!owned.ok) {
    const sentence = `The session ${excerpt(id)} is open in ${owned.process}.`;
    throw new UntildoneError('session-taken', sentence);
  }
  const { store, release } = owned;
  try {
    return { ...(await beginOwned(options, store, known, sitOut)), release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function beginOwned(
  options: OpenedOptions,
  store: Store,
  known: State | null,
  sitOut: SitOut,
) {
  const { id: sessionId, identifiers, directory, goal, checks, signal } = options;
  const view = createView(options, known);
  const session = openGoalSession({
    ...options,
    ...view.seen,
    store,
    sessionId,
    flags: options.settings,
    isPrivate: options.store !== undefined,
    checker: options.checker ?? { signal: () => signal },
    agentName: null,
    policy: () => policy,
    signal: () => signal,
    sitOut,
  });
  const { record, baseline } = session;
  const frozen = known === null ? null : await frozenPolicy(store, known);
  /** What the session was begun with stays, unless the program names other checks. */
  async function presentPolicy(): Promise<Policy> {
    const { policy: given = await readFiles(options, session.configuration) } = options;
    const present = withShellChecks(withoutStore(given, options), checks);
    if (frozen === null || checks.length > 0) return present;
    return { ...present, ...takenUpChecks(frozen, present, false) };
  }
  let policy = await presentPolicy();

  async function takeBaseline() {
    await baseline.take();
    // Nobody knows when the agent begins to write: a check that takes too long is not
    // waited for.
    await baseline.end();
  }

  async function hear(text: string | null, messageId: string) {
    await session.hear(text, messageId);
    if (view.latest().baseline === null) await takeBaseline();
  }

  /** As it was begun with, whatever the files say now. */
  async function takeUp(frozen: Policy) {
    policy = takenUpPolicy(frozen, policy, { checks: checks.length > 0, plan: false });
    await record({ type: 'human-resumed', policyHash: null });
    // What the agent wrote before it was killed is its work, also where checks are looked
    // at anew.
    const now = await session.fingerprint();
    if (now !== null) await record({ type: 'workspace-seen', fingerprint: now });
    if (!hasSameChecks(policy, frozen)) {
      await record({ type: 'checks-replaced', checks: policy.goalChecks });
      view.forget();
    }
    await takeBaseline();
    return withNote(goal ?? (await lastWords(store, sessionId)), view.latest().plan);
  }

  async function open(): Promise<readonly string[]> {
    await record({ ...describeSession(directory, false), resumed: known !== null });
    const goalId = `goal:${sha256(goal ?? '').slice(0, 32)}`;
    const wasSaid = known?.humanMessageIds.includes(goalId) === true;
    const goesOn =
      goal === undefined ||
      (wasSaid && (known.settled === null || stillHolds(known, goalId)));
    if (goesOn && frozen !== null) return takeUp(frozen);
    // Without a goal the work begins here.
    if (goal === undefined) await takeBaseline();
    if (goal === undefined) return [];
    await hear(goal, wasSaid ? `${goalId}:${identifiers.next()}` : goalId);
    const { plan } = view.latest();
    return withNote(goal, plan.some(isOpen) ? plan : []);
  }

  /**
   * Said anew, a goal that is reached would find its checks passed before the agent
   * began, and `done` become `claimed`.
   */
  function stillHolds({ settled, humanMessageIds }: State, goalId: string): boolean {
    const isReached = settled?.outcome === 'done' || settled?.outcome === 'claimed';
    const isLast = humanMessageIds.at(-1)?.startsWith(goalId) === true;
    return isReached && isLast && frozen !== null && hasSameChecks(policy, frozen);
  }

  /** What the agent is to be told first. */
  const words = await open();
  view.begin();
  return {
    ...session,
    store,
    words,
    latest: view.latest,
    outcome: view.outcome,
    /** Before the agent is called again, also if its turn had not ended. */
    async goOn() {
      await session.goOn();
      view.forget();
    },
    /** A later message of the human. */
    async hear(text: string | null, messageId: string) {
      policy = await presentPolicy();
      await hear(text, messageId);
    },
    /** Calls of all its tools are told from now on. */
    seeTools: () => describeSession(directory, true),
  };
}

/** What the program sees between two calls, without a look into the store. */
function createView(options: OpenedOptions, known: State | null) {
  const { id, clock, signal, onNotice, texts } = options;
  let state = known ?? createState(id, clock.now());
  /**
   * Since the human spoke or resumed, or the agent was held; undefined: what was settled
   * before it was opened still holds.
   */
  let last: Decision | null | undefined;
  let isOpening = true;
  /** Remarks on texts, which are made within a transaction: told when it is over. */
  const notices: string[] = [];
  const watch: GoalSessionOptions['watch'] = (now, events, decisions) => {
    state = now;
    const isNews = events.some(
      ({ type }) => type === 'human-spoke' || type === 'human-resumed',
    );
    if (isNews && !isOpening) last = null;
    last = decisions.at(-1) ?? last;
    for (const decision of decisions) void tellDecision(options, decision);
    for (const sentence of notices.splice(0)) onNotice(sentence);
  };
  const checked = texts && checkedTexts(texts, (sentence) => notices.push(sentence));
  return {
    seen: { watch, ...(checked && { texts: checked }) },
    latest: () => state,
    begin() {
      isOpening = false;
    },
    /** How the turn ended before says nothing about what the agent does now. */
    forget() {
      last = null;
    },
    outcome(): Outcome | null {
      if (state.latch !== null || signal.aborted) {
        // The event of the abort may still be on its way. An abort after the end of a
        // turn changes nothing.
        if (!isTurnOver(state)) return 'aborted';
        if (state.settled !== null) return state.settled.outcome;
      }
      if (last === undefined) return state.settled?.outcome ?? null;
      const isOver = last !== null && (last.answer === 'let-go' || last.observed);
      return isOver ? settlementOf(state, last).outcome : null;
    },
  };
}

const hasSameChecks = ({ goalChecks }: Policy, before: Policy) =>
  String(goalChecks.toSorted()) === String(before.goalChecks.toSorted());

function notOurs({ id, descriptor: { host } }: State) {
  const sentence = `The session ${excerpt(id)} belongs to ${excerpt(host)}; only one that openSession began can be taken up.`;
  return new UntildoneError('usage', sentence);
}

/**
 * A configuration that is broken or switched off would hold nobody, and say so nowhere:
 * it is told here.
 */
async function readFiles(options: OpenedOptions, configuration: Configuration) {
  await configuration.renew();
  const problem = configuration.problem();
  if (problem !== null) throw new UntildoneError('invalid-config', problem);
  const current = configuration.current();
  for (const notice of [configuration.pending(), looseSentence(current, options)])
    if (notice !== null) options.onNotice(notice);
  return current;
}

/** Not where the program itself says so. */
function looseSentence(
  { settings: { mode, enabled } }: Policy,
  { settings }: OpenedOptions,
) {
  if ((mode === 'enforce' && enabled) || !settings.ok) return null;
  if (settings.config.mode !== undefined || settings.config.enabled !== undefined)
    return null;
  const how = mode === 'observe' && enabled ? 'only observes' : 'is switched off';
  return `untildone ${how} here, so that no agent is held; \`untildone config\` shows where that is set.`;
}

const besideStore = ['', '-wal', '-shm', '-journal', '-marks', '-spool'];

/** It may lie in the workspace, and what we write there is nobody's work. */
function withoutStore(
  policy: Policy,
  { store, directory, environment }: OpenedOptions,
): Policy {
  if (typeof store === 'object' || store === ':memory:') return policy;
  const path = store === undefined ? stateDirectory(environment) : resolve(store);
  const place = relative(directory, join(realpathSync(dirname(path)), basename(path)));
  if (place === '' || place.startsWith('..')) return policy;
  return {
    ...policy,
    exclude: [...(policy.exclude ?? []), ...besideStore.map((end) => place + end)],
  };
}

async function tellDecision({ onDecision, onNotice }: OpenedOptions, decision: Decision) {
  try {
    await onDecision?.(decision);
  } catch (error) {
    // Safe: the decision stands and is on the record; what the program makes of it is its
    // own.
    onNotice(`onDecision: ${messageOf(error)}`);
  }
}

/**
 * What is not known of the agent is what a plain one has: it may write, and nobody sees
 * its tools.
 */
function describeSession(directory: string, seesTools: boolean) {
  const facts = {
    kind: 'main',
    everyAgentWrites: true,
    judgesGoal: true,
    seesTools,
  } as const;
  const tools = { pause: 'todo_pause', verify: 'todo_verify' };
  const agent = { name: null, canWrite: 'yes', model: null, variant: null } as const;
  return {
    type: 'session-opened',
    descriptor: { ...describePlace(libraryHost, directory), ...facts, tools },
    agent,
  } as const;
}

/**
 * The conversation begins anew: without the note the agent would know nothing of its
 * plan.
 */
function withNote(words: string | null, plan: readonly Todo[]): string[] {
  const open = plan.filter(isOpen);
  const named =
    open.length === 0 ? 'Nothing of it is open' : `Still open: ${namedTodos(open)}`;
  const note = `[resumed] Go on with the plan; ${plan.length - open.length} of ${plan.length} todos are settled. ${named}. list_todo shows it whole.`;
  return [...(words === null ? [] : [words]), ...(plan.length === 0 ? [] : [note])];
}

async function lastWords(store: Store, sessionId: string): Promise<string | null> {
  let words: string | null = null;
  for await (const event of recordedEvents(store, sessionId))
    if (event.type === 'human-spoke') words = event.text ?? words;
  return words;
}
