import { allowedProposal } from '../../core/check-specs.ts';
import { settingsForAgent } from '../../core/settings.ts';
import { isOpen } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Clock, Identifiers } from '../../engine/host.ts';
import type { Environment } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { type Configuration, createConfiguration, partsOver } from '../../open.ts';
import { openUserStore } from '../../store/sqlite/sqlite-store.ts';
import type { TodoTool } from '../../tools/todo-tool.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import { describeFailure, openPlanText } from '../shared.ts';
import { createTold } from '../told.ts';
import { recordOf } from '../untrusted.ts';
import { addCommands, answerCommand, isOurCommand } from './commands.ts';
import { createDriver } from './driver.ts';
import {
  changesTheHost,
  createAdapter,
  createHostCalls,
  createVoice,
  type Plugin,
  type SessionMemory,
} from './host.ts';
import { leavesOnIdle } from './stop.ts';
import {
  type ConfigLike,
  type HooksLike,
  hostTodoTool,
  type PluginInputLike,
  type PluginLike,
  readMessage,
  type ToolDefinitionLike,
  translate,
} from './translate.ts';

export type { ClientLike, HooksLike, PluginInputLike, PluginLike } from './translate.ts';

export interface OpenCodePluginOptions {
  /** Default: that of this process. */
  readonly environment?: Environment;
  /** The host's command line, by which `opencode run` is known; default: that of this process. */
  readonly argv?: readonly string[];
  readonly clock?: Clock;
  readonly identifiers?: Identifiers;
  /** Default: the store of this user. */
  readonly openStore?: () => Promise<Store>;
}

export function createOpenCodePlugin(options: OpenCodePluginOptions = {}): PluginLike {
  return async (input) => start(input, options);
}

const loadedTwice =
  'the host loads the plugin twice for this folder; the second copy does nothing. `untildone doctor` says where they are.';

function start({ client, directory }: PluginInputLike, options: OpenCodePluginOptions): HooksLike {
  const { environment = process.env, clock = systemClock } = options;
  const configuration = createConfiguration({
    ...{ environment, directory },
    get store() {
      return told.store();
    },
  });
  if (isSwitchedOff(configuration)) return {};
  const headless = leavesOnIdle(options.argv ?? process.argv);
  const calls = createHostCalls(client, clock);
  const voice = createVoice(calls, clock, headless, environment);
  const release = claimFolder(directory);
  if (release === null) {
    setTimeout(() => voice.warnOnce(loadedTwice), 0);
    return {};
  }
  const place = { calls, voice, clock, directory, environment, headless, configuration };
  const identifiers = options.identifiers ?? createIdentifiers(clock);
  const told = createTold({
    ...{ name: 'opencode', adapter: createAdapter(place), clock, identifiers },
    // Whoever starts `run` anew has not come back to what an earlier one left: its name is never used again.
    instance: headless ? `opencode run ${identifiers.next()}` : `opencode ${directory}`,
    async openStore() {
      // An attach may ask the host about what an earlier process left, and a host that still starts cannot answer.
      await new Promise((resolve) => setTimeout(resolve, 0));
      return options.openStore?.() ?? openUserStore(environment, { clock });
    },
    closesStore: true,
    isAwaited: false,
    policy: () => configuration.current(),
    checker: (store) => partsOver({ store, environment, clock, identifiers }).checker,
    onError: voice.onError,
  });
  return createHooks({ ...place, told }, release);
}

/** Off for every agent: then the host is left exactly as it is without us (C2). */
function isSwitchedOff(configuration: Configuration): boolean {
  const { settings } = configuration.current();
  const isOff = (agent: string | null): boolean => {
    const { mode, enabled } = settingsForAgent(settings, agent);
    return mode === 'off' || !enabled;
  };
  return configuration.problem() === null && [null, ...Object.keys(settings.agents)].every(isOff);
}

const claimed = Symbol.for('untildone.opencode.folders');

/**
 * One plugin per folder in one process: a host that loads it twice, by a loader of its own and by the package's name,
 * would count everything twice. Kept where both copies find it, whatever file they come from. Null: the other has it.
 */
function claimFolder(directory: string): (() => void) | null {
  const shared = globalThis as { [claimed]?: Set<string> };
  shared[claimed] ??= new Set();
  const folders = shared[claimed];
  return folders.has(directory) ? null : folders.add(directory) && (() => folders.delete(directory));
}

/** Each hook reads what it is given, hands it to the driver and gives back what the host waits for. */
function createHooks(plugin: Plugin, release: () => void): HooksLike {
  const { told, voice, headless } = plugin;
  const driver = createDriver(plugin);
  const tool: NonNullable<HooksLike['tool']> = {};
  const offersTools = changesTheHost(plugin);

  function offer(config: ConfigLike | null): void {
    if (offersTools) for (const one of offeredTools(config)) tool[one.name] ??= definePluginTool(plugin, one);
  }

  /** Safe for the host: what failed is told and logged, and nothing of the host was changed. */
  function quietly<Given extends unknown[]>(hook: (...given: Given) => Promise<void> | void) {
    return async (...given: Given): Promise<void> => {
      try {
        await hook(...given);
      } catch (error) {
        voice.onError(error);
      }
    };
  }

  offer(null);
  return {
    tool,
    config: quietly((config) => {
      addCommands(config);
      offer(config);
    }),
    event: quietly(({ event }) => {
      const signal = translate(event);
      if (signal !== null) driver.hear(signal);
    }),
    'chat.message': quietly(({ sessionID }, { message, parts }) => {
      const read = readMessage(message, parts);
      if (read !== null) driver.hearHuman(sessionID, read);
    }),
    'tool.definition': quietly(({ toolID }, output) => {
      const known = todoToolsFor('agent').find(({ name }) => name === toolID && Object.hasOwn(tool, name));
      if (known !== undefined) Object.assign(output, { jsonSchema: known.inputSchema });
    }),
    'tool.execute.after': quietly(async ({ tool: name, sessionID }, output) => {
      if (name !== hostTodoTool) return;
      const memory = told.of(sessionID);
      await memory.queue;
      const { written } = memory;
      memory.written = null;
      if (written !== null && changesTheHost(plugin)) output.output += await describeWritten(plugin, written);
    }),
    'experimental.chat.messages.transform': quietly((_input, { messages }) =>
      headless ? driver.stops.beforeStep(messages) : undefined,
    ),
    'experimental.session.compacting': quietly(async ({ sessionID }, { context }) => {
      await told.after(sessionID, async (memory) => {
        await told.tell(memory, { type: 'wait-started', wait: { kind: 'compaction' } });
        const text = openPlanText(await told.record(memory));
        if (text !== null && changesTheHost(plugin)) context.push(text);
      });
    }),
    'experimental.text.complete': quietly(({ sessionID, messageID }, { text }) =>
      headless ? driver.stops.textCompleted(sessionID, messageID, text) : undefined,
    ),
    // The one error that is thrown at the host: it keeps a command of ours from the model.
    'command.execute.before': async ({ command, sessionID, arguments: words }) => {
      if (!isOurCommand(command)) return;
      await quietly(() => answerCommand(plugin, sessionID, command, words))();
      throw new Error(`untildone has answered /${command}; no model is asked.`);
    },
    dispose: quietly(async () => {
      release();
      await told.end();
    }),
  };
}

/** Failures that one answer tells; the rest is quoted by the next continuation. */
const mostTold = 5;

/**
 * Added behind the host's answer to the agent's own list: what was wrong with it, and, where the host leaves with its
 * idle, which of its claims did not pass their checks. Empty: nothing to add.
 */
async function describeWritten({ told, headless }: Plugin, written: Handled): Promise<string> {
  const { refused = [], notices = [], changed = [], created = [] } = written.reply ?? {};
  const lines = [...refused.map(({ sentence }) => sentence), ...notices];
  if (written.checks !== null && headless) {
    // The host waits as long as the checks take. One that could not be reported is run again at the stop.
    await written.checks.catch(() => {});
    const claims = new Set([...changed, ...created].map(({ id }) => id));
    const { plan } = (await told.store().state(written.state.id)) ?? written.state;
    const failed = plan.filter(
      (todo) => claims.has(todo.id) && isOpen(todo) && todo.verification === 'failed',
    );
    lines.push(...failed.slice(0, mostTold).map(describeFailure));
  }
  return lines.length === 0 ? '' : `\n\n${lines.map((line) => `untildone: ${line}`).join('\n')}`;
}

/**
 * The way out and the waiting for checks always, because continuations name them; all todo tools where the host's own
 * list is taken away (P17): by a switch under `tools`, or a permission, for all agents or for one that people talk to.
 */
function offeredTools(config: ConfigLike | null): readonly TodoTool[] {
  const settings = recordOf(config);
  const agents = Object.values(recordOf(settings['agent'])).map(recordOf);
  const lacksList = [settings, ...agents.filter(({ mode }) => mode !== 'subagent')].some((one) => {
    const rule = recordOf(one['permission'])[hostTodoTool];
    const isDenied = rule === 'deny' || recordOf(rule)['*'] === 'deny';
    return isDenied || recordOf(one['tools'])[hostTodoTool] === false;
  });
  return todoToolsFor('agent').filter(({ name }) => lacksList || /^todo_(pause|verify)$/.test(name));
}

/** Which session is meant comes from the host (M7). */
function definePluginTool({ told, voice, clock, configuration }: Plugin, tool: TodoTool): ToolDefinitionLike {
  const refusal = `${tool.name} could not be carried out and nothing changed.`;

  async function call({ stored: sessionId, info }: SessionMemory, input: unknown, agent: string | null) {
    const settings = settingsForAgent(configuration.current().settings, agent);
    const [engine, store, identifiers] = [told.runtime(), told.store(), told.identifiers];
    const result = await tool.call(input, {
      ...{ engine, store, sessionId, clock, identifiers, actor: info?.parentId == null ? 'agent' : 'worker' },
      resolveCheck: (proposal) => allowedProposal(settings, proposal),
    });
    return result.ok ? JSON.stringify(result.output) : result.error.message;
  }

  return {
    description: tool.description,
    args: tool.inputSchema.properties,
    async execute(input, { sessionID }) {
      const opened = await told.after(sessionID, async (memory) => {
        if (memory.opened === null) await told.open(memory);
        return { memory, session: await told.record(memory) };
      });
      if (opened === null) return refusal;
      try {
        // Outside the queue: a call may wait for checks, and what happens meanwhile, an abort for one, must be heard.
        return await call(opened.memory, input, opened.session?.agent.name ?? null);
      } catch (error) {
        // Safe: a change of the plan is one transaction, so that nothing was applied; the model is told.
        voice.onError(error);
        return refusal;
      }
    },
  };
}
