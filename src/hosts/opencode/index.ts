// The plugin `untildone/opencode`: hands what each hook gets to `follow.ts`, offers tools
// to the model, and answers commands that a human types. It decides nothing.
import { agentSessionVariable } from '../../checks/process.ts';
import { isOpen } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Clock, Identifiers } from '../../engine/host.ts';
import type { Environment } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import { type TodoTool, todoToolsFor } from '../../tools/todo-tools.ts';
import { describeFailures } from '../shared.ts';
import { waitStarted } from '../told.ts';
import {
  answerCommand,
  type CommandName,
  commandNames,
  commands,
} from '../told-commands.ts';
import {
  changesTheHost,
  createPluginHost,
  createToldPlugin,
  pluginSession,
} from '../told-plugin.ts';
import { recordOf, textOf } from '../untrusted.ts';
import { handleHostEvent, leavesOnIdle, openCodeSession } from './follow.ts';
import type { Plugin } from './host.ts';
import {
  createHostCalls,
  createMemory,
  createMessageIds,
  hostId,
  messageOf,
} from './host.ts';
import type {
  ConfigLike,
  HooksLike,
  PluginLike,
  ToolDefinitionLike,
} from './translate.ts';
import { hostTodoTool, isTodoToolOn, readMessage } from './translate.ts';

export type { ClientLike, HooksLike, PluginInputLike, PluginLike } from './translate.ts';

// The fields are written out, because the type that plugins share names types of Node.
/** Replaces what the plugin takes from its process; mostly for tests. */
export type OpenCodePluginOptions = Readonly<{
  environment?: Environment;
  clock?: Clock;
  identifiers?: Identifiers;
  openStore?: () => Promise<Store>;
  argv?: readonly string[];
}>;

const loadedTwice =
  'the host loads the plugin twice for this folder; the second copy does nothing. `untildone doctor` says where they are.';
/** Creates the plugin; export it from a plugin file of OpenCode. */
export function createOpenCodePlugin(options: OpenCodePluginOptions = {}): PluginLike {
  return async ({ client, directory }) => {
    const headless = leavesOnIdle(options.argv ?? process.argv);
    const location = createPluginHost(
      { name: 'opencode', directory, headless },
      options,
      (toast) => calls.toast(toast),
    );
    const calls = createHostCalls(client, location.clock);
    const folders = claimedFolders();
    if (folders.has(directory)) {
      setTimeout(() => location.voice.warnOnce(loadedTwice), 0);
      return {};
    }
    const own = { id: directory, createMemory, adapter: openCodeSession };
    const plugin = await createToldPlugin({ ...location, calls }, own);
    if (plugin === null) return {};
    folders.add(directory);
    return createHooks(plugin);
  };
}

const claimed = Symbol.for('untildone.opencode.folders');
/**
 * The folders in which the plugin acts. If it acted twice in one, everything would count
 * twice.
 */
function claimedFolders(): Set<string> {
  const shared = globalThis as { [claimed]?: Set<string> };
  shared[claimed] ??= new Set();
  return shared[claimed];
}

function createHooks(plugin: Plugin): HooksLike {
  const { told, voice, directory, headless } = plugin;
  const { quietly } = voice;
  const tool: NonNullable<HooksLike['tool']> = {};
  const offersTools = changesTheHost(plugin);

  function offer(config: ConfigLike | null) {
    if (offersTools)
      for (const one of offeredTools(config))
        tool[one.name] ??= definePluginTool(plugin, one);
  }

  offer(null);
  return {
    tool,
    config: quietly((config) => {
      config.command ??= {};
      // A command of the human's own with the same name stays theirs.
      for (const [name, description] of Object.entries(commands))
        config.command[name] ??= {
          template: `/${name}`,
          description: `${description} (no model is asked)`,
        };
      offer(config);
    }),
    event: quietly(({ event }) => handleHostEvent(plugin, event)),
    'chat.message': quietly(async ({ sessionID }, { message, parts }) => {
      const read = readMessage(message, parts);
      // Messages without a text of a human are skipped at once: the host waits for us
      // with our own messages too.
      if (read === null || read.text === null) return;
      const text = await openCodeSession(plugin, sessionID).hearHuman(read);
      if (text === null) return;
      const id = hostId('prt', `handed ${read.id}`, plugin.clock.now());
      parts.push({
        id,
        sessionID,
        messageID: read.id,
        type: 'text',
        text,
        synthetic: true,
      });
    }),
    'tool.definition': quietly(({ toolID }, output) => {
      const known = todoToolsFor('agent').find(
        ({ name }) => name === toolID && Object.hasOwn(tool, name),
      );
      if (known !== undefined) Object.assign(output, { jsonSchema: known.inputSchema });
    }),
    // A shell without a session is a terminal of the human.
    'shell.env': quietly(({ sessionID }, { env }) => {
      if (sessionID !== undefined) env[agentSessionVariable] = told.of(sessionID).stored;
    }),
    'tool.execute.after': quietly(async ({ tool: name, sessionID }, output) => {
      if (name !== hostTodoTool) return;
      const memory = told.of(sessionID);
      await memory.queue;
      const { written } = memory;
      memory.written = null;
      if (written !== null && changesTheHost(plugin))
        output.output += await describeWritten(plugin, written);
    }),
    'experimental.chat.messages.transform': quietly(async (_input, { messages }) => {
      const all = messages.map(recordOf);
      const id = textOf(recordOf(all[0]?.['info'])['sessionID']);
      if (id !== null && headless) await openCodeSession(plugin, id).beforeStep(all);
    }),
    'experimental.session.compacting': quietly(async ({ sessionID }, { context }) => {
      const { later, planReminder } = pluginSession(plugin, sessionID);
      later(waitStarted({ kind: 'compaction' }));
      const text = await planReminder();
      if (text !== null) context.push(text);
    }),
    'experimental.text.complete': quietly(async ({ sessionID, messageID }, { text }) => {
      if (headless)
        await openCodeSession(plugin, sessionID).textCompleted(messageID, text);
    }),
    // The host knows no command that is only answered: this error keeps the command from
    // the model. The terminal of the host shows nothing of it.
    'command.execute.before': async ({ command, sessionID, arguments: words }) => {
      const name = commandNames.find((one) => one === command);
      if (name === undefined) return;
      await quietly(() => showAnswer(plugin, sessionID, name, words))();
      throw new Error(`untildone has answered /${command}; no model is asked.`);
    },
    dispose: quietly(() => {
      claimedFolders().delete(directory);
      return told.end();
    }),
  };
}

/**
 * What was wrong with a list that the model wrote and, if the host exits on idle, which
 * claims failed.
 */
async function describeWritten(
  { told, headless }: Plugin,
  written: Handled,
): Promise<string> {
  const { refused = [], notices = [], changed = [], created = [] } = written.reply ?? {};
  const lines = [...refused.map(({ sentence }) => sentence), ...notices];
  if (written.checks !== null && headless) {
    // Safe: a check that could not be reported runs again at the stop.
    await written.checks.catch(() => {});
    const claims = new Set([...changed, ...created].map(({ id }) => id));
    const state = (await told.store().state(written.state.id)) ?? written.state;
    const failed = state.plan.filter(
      (todo) => claims.has(todo.id) && isOpen(todo) && todo.verification === 'failed',
    );
    // The next continuation quotes the rest.
    lines.push(...describeFailures(state, failed));
  }
  return lines.length === 0
    ? ''
    : `\n\n${lines.map((line) => `untildone: ${line}`).join('\n')}`;
}

/**
 * The tools that continuations name; all of them if an agent that people talk to lacks
 * the host's own list (P17).
 */
function offeredTools(config: ConfigLike | null): readonly TodoTool[] {
  const settings = recordOf(config);
  const agents = Object.values(recordOf(settings['agent'])).map(recordOf);
  const people = [settings, ...agents.filter(({ mode }) => mode !== 'subagent')];
  const lacksList = people.some((one) => isTodoToolOn(one) === false);
  return todoToolsFor('agent').filter(
    ({ name }) => lacksList || /^todo_(pause|verify)$/.test(name),
  );
}

function definePluginTool(plugin: Plugin, tool: TodoTool): ToolDefinitionLike {
  return {
    description: tool.description,
    args: tool.inputSchema.properties as never,
    async execute(input, { sessionID }) {
      const { memory, callTool } = pluginSession(plugin, sessionID);
      return (
        await callTool(tool, input, memory.info?.parentId == null ? 'agent' : 'worker')
      ).text;
    },
  };
}

/**
 * Shows an answer to the human. While the agent works, the model would answer a message,
 * so a toast shows it then.
 */
async function showAnswer(plugin: Plugin, id: string, name: CommandName, words: string) {
  const { told, calls, clock, headless, voice } = plugin;
  const text = await answerCommand(told, { id, name, words, now: clock.now() });
  const { memory, record } = told.follow(id);
  const session = headless || memory.busy ? null : await record();
  if (session !== null) {
    const part = { text, ignored: true, metadata: { untildone: { notice: true } } };
    const ids = createMessageIds(told.identifiers.next(), clock.now());
    if ((await calls.show(id, messageOf(ids, session, part))) === null) return;
  }
  await voice.show({ level: 'info', title: `/${name}`, message: text });
}
