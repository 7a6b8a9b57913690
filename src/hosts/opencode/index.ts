// The plugin, `untildone/opencode`: hands what each hook is given to the driver.
import { allowedProposal } from '../../core/check-specs.ts';
import { settingsForAgent } from '../../core/settings.ts';
import { isOpen } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Clock, Identifiers } from '../../engine/host.ts';
import type { Environment } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { type Configuration, createConfiguration } from '../../open.ts';
import { type TodoTool, todoToolsFor } from '../../tools/todo-tools.ts';
import { describeFailure, openPlanText } from '../shared.ts';
import { createTold, waitStarted } from '../told.ts';
import { recordOf } from '../untrusted.ts';
import { addCommands, answerCommand, isOurCommand } from './commands.ts';
import { createDriver, leavesOnIdle } from './driver.ts';
import { changesTheHost, createAdapter, createHostCalls, createVoice, type Plugin } from './host.ts';
import type { ConfigLike, HooksLike, PluginLike, ToolDefinitionLike } from './translate.ts';
import { hostTodoTool, readMessage } from './translate.ts';

export type { ClientLike, HooksLike, PluginInputLike, PluginLike } from './translate.ts';

export interface OpenCodePluginOptions {
  readonly environment?: Environment;
  readonly clock?: Clock;
  readonly identifiers?: Identifiers;
  readonly openStore?: () => Promise<Store>;
  readonly argv?: readonly string[];
}

const loadedTwice =
  'the host loads the plugin twice for this folder; the second copy does nothing. `untildone doctor` says where they are.';
export function createOpenCodePlugin(options: OpenCodePluginOptions = {}): PluginLike {
  return async ({ client, directory }) => {
    const { environment = process.env, clock = systemClock } = options;
    const { argv = process.argv, identifiers = createIdentifiers(clock) } = options;
    const configuration = createConfiguration({
      ...{ environment, directory },
      get store() {
        return told.store();
      },
    });
    if (isSwitchedOff(configuration)) return {};
    const headless = leavesOnIdle(argv);
    const calls = createHostCalls(client, clock);
    const voice = createVoice(calls, clock, headless, environment);
    const folders = claimedFolders();
    if (folders.has(directory)) {
      setTimeout(() => voice.warnOnce(loadedTwice), 0);
      return {};
    }
    folders.add(directory);
    const place = { calls, voice, clock, directory, environment, headless, configuration };
    const told = createTold({
      ...{ name: 'opencode', adapter: createAdapter(place), clock, identifiers, environment },
      // A new `run` does not take over what an earlier one left.
      instance: headless ? `opencode run ${identifiers.next()}` : `opencode ${directory}`,
      ...{ openStore: options.openStore, policy: () => configuration.current(), onError: voice.onError },
    });
    return createHooks({ ...place, told });
  };
}

/** Then the host is left exactly as it is (C2). */
function isSwitchedOff(configuration: Configuration): boolean {
  const { settings } = configuration.current();
  const all = [null, ...Object.keys(settings.agents)].map((agent) => settingsForAgent(settings, agent));
  return configuration.problem() === null && all.every(({ mode, enabled }) => mode === 'off' || !enabled);
}

const claimed = Symbol.for('untildone.opencode.folders');
/** Loaded twice, we would count all twice. */
function claimedFolders(): Set<string> {
  const shared = globalThis as { [claimed]?: Set<string> };
  shared[claimed] ??= new Set();
  return shared[claimed];
}

function createHooks(plugin: Plugin): HooksLike {
  const { told, voice, directory } = plugin;
  const driver = createDriver(plugin);
  const tool: NonNullable<HooksLike['tool']> = {};
  const offersTools = changesTheHost(plugin);

  function offer(config: ConfigLike | null) {
    if (offersTools) for (const one of offeredTools(config)) tool[one.name] ??= definePluginTool(plugin, one);
  }

  /** Safe for the host: what failed is told and logged. */
  function quietly<Given extends unknown[]>(hook: (...given: Given) => Promise<void> | void) {
    return async (...given: Given) => {
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
    event: quietly(({ event }) => driver.hear(event)),
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
    'experimental.chat.messages.transform': quietly((_input, { messages }) => driver.beforeStep(messages)),
    'experimental.session.compacting': quietly(async ({ sessionID }, { context }) => {
      await told.after(sessionID, async (memory) => {
        await told.tell(memory, waitStarted({ kind: 'compaction' }));
        const text = openPlanText(await told.record(memory));
        if (text !== null && changesTheHost(plugin)) context.push(text);
      });
    }),
    'experimental.text.complete': quietly(({ sessionID, messageID }, { text }) =>
      driver.textCompleted(sessionID, messageID, text),
    ),
    // The one error for the host: it keeps our command from the model.
    'command.execute.before': async ({ command, sessionID, arguments: words }) => {
      if (!isOurCommand(command)) return;
      await quietly(() => answerCommand(plugin, sessionID, command, words))();
      throw new Error(`untildone has answered /${command}; no model is asked.`);
    },
    dispose: quietly(() => {
      claimedFolders().delete(directory);
      return told.end();
    }),
  };
}

/** What was wrong with a list and, where the host leaves, which claims failed. */
async function describeWritten({ told, headless }: Plugin, written: Handled): Promise<string> {
  const { refused = [], notices = [], changed = [], created = [] } = written.reply ?? {};
  const lines = [...refused.map(({ sentence }) => sentence), ...notices];
  if (written.checks !== null && headless) {
    // Safe: a check that could not be reported is run again at the stop.
    await written.checks.catch(() => {});
    const claims = new Set([...changed, ...created].map(({ id }) => id));
    const { plan } = (await told.store().state(written.state.id)) ?? written.state;
    const failed = plan.filter((one) => claims.has(one.id) && isOpen(one) && one.verification === 'failed');
    // The rest is quoted by the next continuation.
    lines.push(...failed.slice(0, 5).map(describeFailure));
  }
  return lines.length === 0 ? '' : `\n\n${lines.map((line) => `untildone: ${line}`).join('\n')}`;
}

/** Those that continuations name; all where an agent that people talk to lacks the host's list (P17). */
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
  return {
    description: tool.description,
    args: tool.inputSchema.properties as never,
    async execute(input, { sessionID }) {
      const refusal = `${tool.name} could not be carried out and nothing changed.`;
      const opened = await told.after(sessionID, async (memory) => {
        if (memory.opened === null) await told.open(memory);
        return { ...memory, agent: (await told.record(memory))?.agent.name ?? null };
      });
      if (opened === null) return refusal;
      try {
        const settings = settingsForAgent(configuration.current().settings, opened.agent);
        // Outside the queue: an abort during checks must be heard.
        const result = await tool.call(input, {
          ...{ engine: told.runtime(), store: told.store(), sessionId: opened.stored, clock },
          ...{ identifiers: told.identifiers, actor: opened.info?.parentId == null ? 'agent' : 'worker' },
          resolveCheck: (proposal) => allowedProposal(settings, proposal),
        });
        return result.ok ? JSON.stringify(result.output) : result.error.message;
      } catch (error) {
        // Safe: a change is one transaction; the model is told.
        voice.onError(error);
        return refusal;
      }
    },
  };
}
