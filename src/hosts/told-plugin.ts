// What our plugins inside told hosts share: the voice, the tools, and what a human's message and a stop bring along in a
// session that works in a folder.
import { frozenBy } from '../checks/git.ts';
import { allowedProposal } from '../core/check-specs.ts';
import { UntildoneError } from '../core/error.ts';
import { oneLine } from '../core/safe-text.ts';
import { settingsForAgent } from '../core/settings.ts';
import { type State, spokeAt, unknownHost } from '../core/state.ts';
import { mayHaveMoved } from '../core/work.ts';
import { takeWaitingPlans, waitingPlans } from '../engine/hand-over.ts';
import type { Clock, Identifiers } from '../engine/host.ts';
import { type Environment, frozenPolicy } from '../engine/policy.ts';
import { checkPatienceMs } from '../engine/runtime.ts';
import type { Store } from '../engine/store.ts';
import { type Configuration, createConfiguration } from '../open.ts';
import { openUserStore } from '../store/sqlite/sqlite-store.ts';
import type { TodoTool } from '../tools/todo-tools.ts';
import { findDrivenRun, isLeftToDriver } from './driven.ts';
import { appendFailure, compactionFailed, isOff, takenPlanMessage, takenPlanText } from './shared.ts';
import {
  createTold,
  type Happening,
  happened,
  type Memory,
  type Notice,
  type Told,
  type ToldAdapter,
} from './told.ts';

/** Replaces what a plugin takes from its process; mostly for tests. */
export type PluginOptions = Readonly<{
  environment?: Environment;
  clock?: Clock;
  identifiers?: Identifiers;
  openStore?: () => Promise<Store>;
}>;

export function createPluginMemory() {
  return {
    /** By a call that was heard of. */
    mayHaveWritten: false,
    /** The plan that the last message took up, for the model. */
    handed: null as string | null,
  };
}
type PluginMemory = ReturnType<typeof createPluginMemory>;

export type ToldPlugin<Own extends PluginMemory> = Readonly<{
  name: string;
  told: Told<Own>;
  clock: Clock;
  environment: Environment;
  voice: Voice;
  directory: string;
  /** It leaves when the agent stops. */
  headless: boolean;
  configuration: Configuration;
}>;

type Needed<Own extends PluginMemory> = Omit<ToldPlugin<Own>, 'told' | 'configuration'> &
  Readonly<{
    openStore: PluginOptions['openStore'] | undefined;
    instance: string;
    identifiers: Identifiers;
    own: () => Own;
    adapter: (plugin: ToldPlugin<Own>, memory: Memory<Own>) => ToldAdapter;
  }>;

/** Someone waits for the host to leave, through several writes. Who holds the store for longer is broken. */
const headlessLockMs = 4000;

/** Null: switched off for every agent, and the host is left exactly as it is (C2). */
export async function createToldPlugin<Own extends PluginMemory>(
  needed: Needed<Own>,
): Promise<ToldPlugin<Own> | null> {
  const { adapter, instance, identifiers, own, openStore: given, ...place } = needed;
  const { name, environment, directory, clock, voice, headless } = place;
  const patience = headless ? { busyTimeoutMs: headlessLockMs } : {};
  const openStore = given ?? (() => openUserStore(environment, { clock, ...patience }));
  const configuration = createConfiguration({
    ...{ environment, directory },
    get store() {
      return plugin.told.store();
    },
  });
  const { settings } = configuration.current();
  const all = [null, ...Object.keys(settings.agents)];
  if (configuration.problem() === null && all.every((agent) => isOff(settings, agent))) return null;
  // Safe: without a store nothing is done at all.
  const run = await findDrivenRun(openStore, environment, name).catch(() => null);
  const told: Told<Own> = createTold<Own>({
    ...{ name, run, instance, identifiers, own, clock, environment, directory, openStore },
    ...{ adapter: (memory) => adapter(plugin, memory), onError: voice.onError },
    policy: () => configuration.current(),
  });
  const plugin = { ...place, configuration, told };
  return plugin;
}

/** Not while we only observe (C2). */
export const changesTheHost = ({ configuration }: Readonly<{ configuration: Configuration }>): boolean =>
  configuration.current().settings.mode === 'enforce';

export type Voice = ReturnType<typeof createVoice>;
/** `toast`: where someone looks. Null: a line on the error output, because the host leaves. */
export function createVoice(
  host: string,
  { clock, environment }: Readonly<{ clock: Clock; environment: Environment }>,
  toast: ((notice: Notice) => Promise<void>) | null,
) {
  const told = new Set<string>();

  async function show(notice: Notice) {
    const { title, message, durationMs } = notice;
    if (toast !== null) return toast(notice);
    if (durationMs === undefined) process.stderr.write(`${oneLine(title, 80)}: ${oneLine(message, 500)}\n`);
  }

  function warnOnce(message: string) {
    if (told.has(message)) return;
    told.add(message);
    // Safe: what happened stands in the log.
    show({ level: 'warning', title: 'untildone', message }).catch(() => {});
  }

  function onError(error: unknown) {
    const message = error instanceof Error ? error.message : String(error);
    appendFailure(environment, error, { at: clock.now(), host, hook: 'plugin', sessionId: null });
    // A list with words that we do not know is followed all the same.
    const isOddList = error instanceof UntildoneError && error.code === 'invalid-event';
    const result = isOddList ? '' : 'could not follow what happened, so the agent is left alone. ';
    warnOnce(`${result}${oneLine(message, 300)}`);
  }

  /** Safe for the host: what failed is told and logged. */
  const quietly =
    <Given extends unknown[], Result>(hook: (...given: Given) => Promise<Result> | Result) =>
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

/** Beyond that tool calls count instead. */
const fingerprintMs = 5000;

export function followPlugin<Own extends PluginMemory>(plugin: ToldPlugin<Own>, id: string) {
  const { name, told, clock, configuration, voice, directory, environment } = plugin;
  const followed = told.follow(id);
  const { memory, record, after, later, tell, takeList } = followed;

  function humanSpoke(said: Readonly<{ id: string; text: string | null }>) {
    memory.holds.clear();
    // A turn of an earlier process, which died, is not joined (P19).
    const turnIsOver = !memory.busy;
    // Whoever drives the host heard the human, with the policy of that moment.
    if (told.isDriven(memory)) {
      later({ type: 'activity-seen' }, `prompt/${said.id}`);
      return { handed: async () => null };
    }
    const place = { ...unknownHost, host: name, directory, kind: 'main' } as const;
    // Looked for first: the message takes it.
    const waiting = told.ready
      .then((isOpen) => (isOpen ? waitingPlans(told.store(), place) : []))
      // Safe: the message itself tells of a store that is closed or broken.
      .catch(() => []);
    const recorded = async () => {
      await configuration.renew();
      const problem = configuration.problem();
      if (problem !== null) voice.warnOnce(`off, because the configuration is broken: ${problem}`);
      const isFirst = (await record())?.spoken === undefined;
      await followed.humanSpoke({ ...said, turnIsOver }, said.id);
      await takePlans();
      const session = isFirst ? await record() : null;
      if (session !== null) await seeWorkspace(session);
    };
    after(recorded, happened);
    return {
      /** What the model has to know besides; the host waits only where there is something. */
      async handed() {
        if ((await waiting).length > 0) await memory.queue;
        const { handed } = memory;
        memory.handed = null;
        return handed;
      },
    };
  }

  /** What was moved here, behind the message whose turn takes it up (V7). */
  async function takePlans() {
    const session = await record();
    const { settings } = configuration.current();
    if (session === null || !changesTheHost(plugin) || isOff(settings, session.agent.name)) return;
    const { runtime: engine, store } = told.opened();
    const policy = () => configuration.current();
    const place = { store, clock, identifiers: told.identifiers, policy, engine };
    const taken = await takeWaitingPlans(place, memory.stored, session.descriptor);
    memory.handed = takenPlanText(taken);
    if (taken !== null)
      await voice.show({ level: 'info', title: 'untildone', message: takenPlanMessage(taken) });
  }

  /** At the first message: without it, one command would pass for work (V4). */
  async function seeWorkspace(session: State) {
    const { settings } = configuration.current();
    if (session.descriptor.kind === 'subagent' || isOff(settings, session.agent.name)) return;
    const fingerprint = await look(session);
    // The agent did not wait: what it has written since may be in it.
    if (fingerprint !== null && !memory.mayHaveWritten) await tell({ type: 'workspace-seen', fingerprint });
  }

  async function look(session: State) {
    const limits = { timeoutMs: fingerprintMs, environment };
    const { checker, store } = told.opened();
    const frozen = frozenBy((await frozenPolicy(store, session)) ?? {}, spokeAt(session));
    return checker.look({ sessionId: memory.stored, directory }, frozen, limits);
  }

  /** What only the host knows (G5), and the workspace. */
  async function prepareStop(): Promise<string | null> {
    await takeList();
    const session = await record();
    const isMeasured =
      session?.plan.length || session?.descriptor.judgesGoal || configuration.current().goalChecks.length > 0;
    return session !== null && isMeasured && mayHaveMoved(session.work) ? look(session) : null;
  }

  /** It never said that its compaction ended: it failed. */
  async function closeCompaction(detail?: string) {
    if ((await record())?.waits.compacting) await tell(compactionFailed, detail);
  }

  /** For a host that waits for us, with its checks; outside the queue, because they take their time. */
  async function askStop(stop: Extract<Happening, { type: 'stop-attempted' }>) {
    if (told.isDriven(memory) && isLeftToDriver(stop)) return;
    const deadline = clock.now() + checkPatienceMs;
    followed.stopAnswered(await told.opened().runtime.ask(followed.event(stop), deadline));
  }

  /** Which session is meant comes from the host (M7). */
  async function callTool(tool: TodoTool, input: unknown, actor: 'agent' | 'worker' = 'agent') {
    const refused = { ok: false, text: `${tool.name} could not be carried out and nothing changed.` };
    const session = await after(async () => {
      if (memory.opened === null) await followed.open();
      return record();
    });
    if (session === null) return refused;
    try {
      const settings = settingsForAgent(configuration.current().settings, session.agent.name);
      // Outside the queue: an abort during checks must be heard.
      const result = await tool.call(input, {
        ...{ engine: told.opened().runtime, store: told.store(), sessionId: session.id, clock, actor },
        identifiers: told.identifiers,
        resolveCheck: (proposal) => allowedProposal(settings, proposal),
      });
      return { ok: result.ok, text: result.ok ? JSON.stringify(result.output) : result.error.message };
    } catch (error) {
      // Safe: a change is one transaction; the model is told.
      voice.onError(error);
      return refused;
    }
  }

  return { ...followed, humanSpoke, prepareStop, closeCompaction, askStop, callTool };
}
