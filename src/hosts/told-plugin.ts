// What our plugins in hosts that tell us when they idle share: notices, the tools, and
// what a human's message and a stop bring along in a session that works in a folder.
import { freezeIgnoreRules } from '../checks/git.ts';
import { allowedProposal } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import type { EventOf } from '../core/events.ts';
import { oneLine } from '../core/safe-text.ts';
import { settingsForAgent } from '../core/settings.ts';
import { hasSpoken, type State, spokeAt, unknownHost } from '../core/state.ts';
import { canWrite, mayHaveMoved } from '../core/work.ts';
import { takeWaitingPlans, waitingPlans } from '../engine/hand-over.ts';
import type { Clock, Identifiers } from '../engine/host.ts';
import { type Environment, frozenPolicy } from '../engine/policy.ts';
import { checkPatienceMs } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { createIdentifiers, systemClock } from '../engine/system.ts';
import { type Configuration, createConfiguration } from '../open.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import type { TodoTool } from '../tools/todo-tools.ts';
import { findDrivenRun, isLeftToDriver } from './driven.ts';
import * as shared from './shared.ts';
import type { EventDraft, HostConnection, Notice, ToldAdapter } from './told.ts';
import { createTold, newsHold, stopHold } from './told.ts';

/** Replaces what a plugin takes from its process; mostly for tests. */
export type PluginOptions = Readonly<{
  environment?: Environment;
  clock?: Clock;
  identifiers?: Identifiers;
  openStore?: () => Promise<Store>;
}>;

/** What a plugin knows of its process, before we check whether untildone is on here. */
type PluginLocation = Readonly<{
  name: string;
  directory: string;
  /** The process exits when the agent stops (`opencode run`, `pi -p`). */
  headless: boolean;
}>;
type PluginParts<Own extends object> = Readonly<{
  told: HostConnection<Own>;
  configuration: Configuration;
}>;
/** A plugin with its connection to the store. */
export type ToldPlugin<Own extends object> = ReturnType<typeof createPluginHost> &
  PluginParts<Own>;

/**
 * How long a headless process waits for the store. Someone waits for it to exit, through
 * several writes; a process that holds the store for longer is broken.
 */
const headlessLockMs = 4000;

/**
 * Completes what is known of the process with defaults for what the options leave out.
 * `toast` shows a message in the UI of the host.
 */
export function createPluginHost(
  location: PluginLocation,
  options: PluginOptions,
  toast: (notice: Notice) => Promise<void>,
) {
  const { environment = process.env, clock = systemClock } = options;
  const { identifiers = createIdentifiers(clock) } = options;
  const patience = location.headless ? { busyTimeoutMs: headlessLockMs } : {};
  const { openStore = () => openUserStore(environment, { clock, ...patience }) } =
    options;
  const voice = createVoice(
    location.name,
    { clock, environment },
    location.headless ? null : toast,
  );
  return { ...location, environment, clock, identifiers, openStore, voice };
}

/**
 * Opens the plugin. Null: untildone is switched off for every agent, and the host is left
 * exactly as it is (C2).
 */
export async function createToldPlugin<
  Own extends object,
  Location extends ReturnType<typeof createPluginHost>,
>(
  location: Location,
  host: Readonly<{
    /**
     * Names this instance of the host: a process that stays takes over what an earlier
     * one with this id left.
     */
    id: string;
    createMemory: () => Own;
    adapter: (plugin: Location & PluginParts<Own>, id: string) => ToldAdapter;
  }>,
): Promise<(Location & PluginParts<Own>) | null> {
  const { name, environment, directory, clock, identifiers, openStore, headless, voice } =
    location;
  const configuration = createConfiguration({
    environment,
    directory,
    get store() {
      return plugin.told.store();
    },
  });
  const { settings } = configuration.current();
  const agents = [null, ...Object.keys(settings.agents)];
  if (
    configuration.problem() === null &&
    agents.every((agent) => shared.isOff(settings, agent))
  )
    return null;
  // Safe: without a store the plugin does nothing at all.
  const run = await findDrivenRun(openStore, environment, name).catch(() => null);
  const told: HostConnection<Own> = createTold<Own>({
    name,
    run,
    environment,
    directory,
    clock,
    identifiers,
    openStore,
    own: host.createMemory,
    onError: voice.onError,
    // Each headless process is an instance of its own: it takes over nothing of an
    // earlier one.
    instance: headless ? `${name} run ${identifiers.next()}` : `${name} ${host.id}`,
    adapter: ({ id }) => host.adapter(plugin, id),
    policy: () => configuration.current(),
  });
  const plugin = { ...location, configuration, told };
  return plugin;
}

/** Whether the plugin may change the host: not while we only observe (C2). */
export const changesTheHost = ({
  configuration,
}: Readonly<{ configuration: Configuration }>): boolean =>
  configuration.current().settings.mode === 'enforce';

/**
 * Shows messages to the human and logs errors. `toast` shows a message in the UI of the
 * host; null: messages go to stderr, because the host exits.
 */
export function createVoice(
  host: string,
  { clock, environment }: Readonly<{ clock: Clock; environment: Environment }>,
  toast: ((notice: Notice) => Promise<void>) | null,
) {
  const shown = new Set<string>();

  async function show(notice: Notice) {
    const { title, message, durationMs } = notice;
    if (toast !== null) return toast(notice);
    if (durationMs === undefined)
      process.stderr.write(`${oneLine(title, 80)}: ${oneLine(message, 500)}\n`);
  }

  function warnOnce(message: string) {
    if (shown.has(message)) return;
    shown.add(message);
    // Safe: the failure stands in the log.
    show({ level: 'warning', title: 'untildone', message }).catch(() => {});
  }

  function onError(error: unknown) {
    const message = error instanceof Error ? error.message : String(error);
    shared.appendFailure(environment, error, {
      at: clock.now(),
      host,
      hook: 'plugin',
      sessionId: null,
    });
    // A list with words that we do not know is taken over all the same.
    const isOddList = error instanceof UntildoneError && error.code === 'invalid-event';
    const result = isOddList
      ? ''
      : 'could not follow what happened, so the agent is left alone. ';
    warnOnce(`${result}${oneLine(message, 300)}`);
  }

  /** Wraps a hook so that it never throws into the host: an error is shown and logged. */
  const quietly =
    <Given extends unknown[], Result>(
      hook: (...given: Given) => Promise<Result> | Result,
    ) =>
    async (...given: Given): Promise<Result | undefined> => {
      try {
        return await hook(...given);
      } catch (error) {
        onError(error);
        return undefined;
      }
    };

  return { show, warnOnce, onError, quietly };
}

type Call = Pick<EventOf<'tool-started'>, 'tool' | 'access'>;
/** Time limit for a fingerprint. Beyond it, tool calls count as work instead. */
const fingerprintMs = 5000;

/**
 * The functions of one session in a plugin, on top of those of `told.ts`. May be called
 * often.
 */
export function pluginSession<Own extends object>(plugin: ToldPlugin<Own>, id: string) {
  const { name, told, clock, configuration, voice, directory, environment, identifiers } =
    plugin;
  const followed = told.follow(id);
  const { memory, record, after, later, tell, takeList, isNews } = followed;

  /**
   * Records a human's message. Gives what else the model has to know, and waits for that
   * only if there is something.
   */
  async function humanSpoke(
    message: Readonly<{ id: string; text: string | null }>,
  ): Promise<string | null> {
    memory.holds.clear();
    if (message.text !== null) memory.toolError = null;
    // The message does not join a turn of an earlier process that died (P19).
    const turnIsOver = !memory.busy;
    // The driver of this host heard the human, with the policy of that moment.
    if (told.isDriven(memory)) {
      later({ type: 'activity-seen' }, `prompt/${message.id}`);
      return null;
    }
    const descriptor = { ...unknownHost, host: name, directory, kind: 'main' } as const;
    // Looked for before the message is recorded, because recording takes the plan.
    const waiting = told.ready
      .then((isOpen) => (isOpen ? waitingPlans(told.store(), descriptor) : []))
      // Safe: recording the message reports a store that is closed or broken.
      .catch(() => []);
    const recorded = after(async () => {
      await configuration.renew();
      const problem = configuration.problem();
      if (problem !== null)
        voice.warnOnce(`off, because the configuration is broken: ${problem}`);
      const before = await record();
      const isFirst = before === null || !hasSpoken(before);
      await followed.humanSpoke({ ...message, turnIsOver }, message.id);
      const taken = await takePlans();
      if (isFirst) await recordFingerprint();
      return taken;
    }, newsHold);
    return (await waiting).length > 0 ? recorded : null;
  }

  /**
   * Takes plans that were moved here, after the message whose turn takes them up (V7).
   */
  async function takePlans(): Promise<string | null> {
    const session = await record();
    const { settings } = configuration.current();
    if (
      session === null ||
      !changesTheHost(plugin) ||
      shared.isOff(settings, session.agent.name)
    )
      return null;
    const { runtime: engine, store } = told.opened();
    const handOver = {
      store,
      clock,
      identifiers,
      policy: () => configuration.current(),
      engine,
    };
    const taken = await takeWaitingPlans(handOver, memory.stored, session.descriptor);
    if (taken !== null)
      await voice.show({
        level: 'info',
        title: 'untildone',
        message: shared.takenPlanMessage(taken),
      });
    return shared.takenPlanText(taken);
  }

  /**
   * Takes a fingerprint at the first message: without it, a single command would pass for
   * work (V4).
   */
  async function recordFingerprint() {
    const session = await record();
    const { settings } = configuration.current();
    if (
      session === null ||
      session.descriptor.kind === 'subagent' ||
      shared.isOff(settings, session.agent.name)
    )
      return;
    const fingerprint = await takeFingerprint(session);
    // The agent did not wait for the fingerprint, which may show what it has written
    // since.
    if (fingerprint !== null && !memory.mayHaveWritten)
      await tell({ type: 'workspace-seen', fingerprint });
  }

  async function takeFingerprint(session: State) {
    const limits = { timeoutMs: fingerprintMs, environment };
    const { checker, store } = told.opened();
    const frozen = freezeIgnoreRules(
      (await frozenPolicy(store, session)) ?? {},
      spokeAt(session),
    );
    return checker.look({ sessionId: memory.stored, directory }, frozen, limits);
  }

  /**
   * Records a tool call. The host may report a call several times, and for the first time
   * when it is over.
   */
  function callSeen(
    report: Readonly<{
      callId: string;
      call: Call;
      isOver: boolean;
      error: string | null;
    }>,
  ) {
    const { callId, call, isOver, error } = report;
    if (canWrite(call)) memory.mayHaveWritten = true;
    if (isOver) memory.toolError = call.access === 'todo' ? null : error;
    if (isNews(`${callId} begun`))
      later({ type: 'tool-started', ...call }, `call/${callId}/start`);
    if (isOver && isNews(`${callId} over`))
      later({ type: 'tool-ended', ...call, error }, `call/${callId}/end`);
  }

  const aborted = (how: string, detail?: string) =>
    later({ type: 'human-aborted', how }, detail, stopHold);

  /**
   * Reads the host's list before a stop (G5), and gives a fingerprint of the workspace if
   * one is needed.
   */
  async function prepareStop(): Promise<string | null> {
    await takeList();
    const session = await record();
    const isMeasured =
      session?.plan.length ||
      session?.descriptor.judgesGoal ||
      configuration.current().goalChecks.length > 0;
    return session !== null && isMeasured && mayHaveMoved(session.work)
      ? takeFingerprint(session)
      : null;
  }

  /** A compaction whose end the host never reported has failed. */
  async function closeCompaction(detail?: string) {
    if ((await record())?.waits.compacting) await tell(shared.compactionFailed, detail);
  }

  /**
   * Asks about a stop of a host that waits for us and the checks. Runs outside the queue,
   * because checks take their time.
   */
  async function askStop(stop: Extract<EventDraft, { type: 'stop-attempted' }>) {
    if (told.isDriven(memory) && isLeftToDriver(stop)) return;
    const deadline = clock.now() + checkPatienceMs;
    followed.stopAnswered(
      await told.opened().runtime.ask(followed.event(stop), deadline),
    );
  }

  /** The open plan, for a model whose conversation was replaced by a summary (P23). */
  const planReminder = () =>
    after(async () =>
      changesTheHost(plugin) ? shared.openPlanText(await record()) : null,
    );

  /**
   * Carries out a call of one of our tools. The host says for which session, not the
   * model (M7).
   */
  async function callTool(
    tool: TodoTool,
    input: unknown,
    actor: 'agent' | 'worker' = 'agent',
  ) {
    const refused = {
      ok: false,
      text: `${tool.name} could not be carried out and nothing changed.`,
    };
    const session = await after(async () => {
      if (memory.opened === null) await followed.open();
      return record();
    });
    if (session === null) return refused;
    try {
      const settings = settingsForAgent(
        configuration.current().settings,
        session.agent.name,
      );
      // Outside the queue, so that an abort during the checks is heard.
      const result = await tool.call(input, {
        engine: told.opened().runtime,
        store: told.store(),
        sessionId: session.id,
        clock,
        actor,
        identifiers,
        resolveCheck: (proposal) => allowedProposal(settings, proposal),
      });
      return {
        ok: result.ok,
        text: result.ok ? JSON.stringify(result.output) : result.error.message,
      };
    } catch (error) {
      // Safe: a change is one transaction, and the model learns that nothing changed.
      voice.onError(error);
      return refused;
    }
  }

  return {
    ...followed,
    humanSpoke,
    callSeen,
    aborted,
    prepareStop,
    closeCompaction,
    askStop,
    planReminder,
    callTool,
  };
}
