// The plugin, `untildone/opencode`: hands what each hook is given to the driver, offers tools to the model, and answers commands
// that a human types from the record. An agent cannot type one.
import { allowedProposal } from '../../core/check-specs.ts';
import type { Decision } from '../../core/decision.ts';
import { oneLine } from '../../core/safe-text.ts';
import { settingsForAgent } from '../../core/settings.ts';
import { countPlan, nextTodos, openCount, planSize, type State } from '../../core/state.ts';
import { isOpen } from '../../core/todo.ts';
import type { Handled } from '../../engine/engine.ts';
import type { Clock, Identifiers } from '../../engine/host.ts';
import type { Environment } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { type Configuration, createConfiguration } from '../../open.ts';
import { openUserStore } from '../../store/sqlite/sqlite-store.ts';
import { type TodoTool, todoToolsFor } from '../../tools/todo-tools.ts';
import { findDrivenRun } from '../driven.ts';
import { describeFailure, isOff, openPlanText } from '../shared.ts';
import { createTold, waitStarted } from '../told.ts';
import { recordOf, textOf } from '../untrusted.ts';
import { follow, hear, leavesOnIdle } from './driver.ts';
import type { Plugin } from './host.ts';
import {
  changesTheHost,
  createHostCalls,
  createMemory,
  createVoice,
  hostId,
  messageOf,
  placeOf,
} from './host.ts';
import type { ConfigLike, HooksLike, PluginLike, ToolDefinitionLike } from './translate.ts';
import { hostTodoTool, isTodoToolOn, readMessage } from './translate.ts';

export type { ClientLike, HooksLike, PluginInputLike, PluginLike } from './translate.ts';

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
/** The plugin: export what it gives from a plugin file of OpenCode. */
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
    const openStore = options.openStore ?? (() => openUserStore(environment, { clock }));
    // Safe: without a store nothing is done at all.
    const run = await findDrivenRun(openStore, environment, 'opencode').catch(() => null);
    const told: Plugin['told'] = createTold({
      ...{ name: 'opencode', run, own: createMemory, clock, identifiers, environment, directory },
      adapter: ({ id }) => follow(plugin, id),
      // A new `run` does not take over what an earlier one left.
      instance: headless ? `opencode run ${identifiers.next()}` : `opencode ${directory}`,
      ...{ openStore: options.openStore, policy: () => configuration.current(), onError: voice.onError },
    });
    const plugin = { calls, voice, clock, directory, environment, headless, configuration, told };
    return createHooks(plugin);
  };
}

/** Then the host is left exactly as it is (C2). */
function isSwitchedOff(configuration: Configuration): boolean {
  const { settings } = configuration.current();
  const all = [null, ...Object.keys(settings.agents)];
  return configuration.problem() === null && all.every((agent) => isOff(settings, agent));
}

const claimed = Symbol.for('untildone.opencode.folders');
/** Loaded twice, we would count all twice. */
function claimedFolders(): Set<string> {
  const shared = globalThis as { [claimed]?: Set<string> };
  shared[claimed] ??= new Set();
  return shared[claimed];
}

function createHooks(plugin: Plugin): HooksLike {
  const { told, voice, directory, headless } = plugin;
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
      config.command ??= {};
      // One of the human's own with the same name stays theirs.
      for (const [name, does] of Object.entries(commands))
        config.command[name] ??= { template: `/${name}`, description: `${does} (no model is asked)` };
      offer(config);
    }),
    event: quietly(({ event }) => hear(plugin, event)),
    'chat.message': quietly(({ sessionID }, { message, parts }) => {
      const read = readMessage(message, parts);
      if (read === null) return;
      return follow(plugin, sessionID).hearHuman(read, (text) => {
        const id = hostId('prt', `handed ${read.id}`, plugin.clock.now());
        parts.push({ id, sessionID, messageID: read.id, type: 'text', text, synthetic: true });
      });
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
    'experimental.chat.messages.transform': quietly(async (_input, { messages }) => {
      const all = messages.map(recordOf);
      const id = textOf(recordOf(all[0]?.['info'])['sessionID']);
      if (id !== null && headless) await follow(plugin, id).beforeStep(all);
    }),
    'experimental.session.compacting': quietly(async ({ sessionID }, { context }) => {
      const { after, tell, record } = told.follow(sessionID);
      await after(async () => {
        await tell(waitStarted({ kind: 'compaction' }));
        const text = openPlanText(await record());
        if (text !== null && changesTheHost(plugin)) context.push(text);
      });
    }),
    'experimental.text.complete': quietly(async ({ sessionID, messageID }, { text }) => {
      if (headless) await follow(plugin, sessionID).textCompleted(messageID, text);
    }),
    // The host knows no command that is only answered: this error keeps it from the model. Its terminal shows nothing of it.
    'command.execute.before': async ({ command, sessionID, arguments: words }) => {
      const name = (Object.keys(commands) as (keyof typeof commands)[]).find((one) => one === command);
      if (name === undefined) return;
      await quietly(() => answerCommand(plugin, sessionID, name, words))();
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
  const people = [settings, ...agents.filter(({ mode }) => mode !== 'subagent')];
  const lacksList = people.some((one) => isTodoToolOn(one) === false);
  return todoToolsFor('agent').filter(({ name }) => lacksList || /^todo_(pause|verify)$/.test(name));
}

/** Which session is meant comes from the host (M7). */
function definePluginTool({ told, voice, clock, configuration }: Plugin, tool: TodoTool): ToolDefinitionLike {
  return {
    description: tool.description,
    args: tool.inputSchema.properties as never,
    async execute(input, { sessionID }) {
      const refusal = `${tool.name} could not be carried out and nothing changed.`;
      const { memory, after, open, record } = told.follow(sessionID);
      const session = await after(async () => {
        if (memory.opened === null) await open();
        return record();
      });
      if (session === null) return refusal;
      try {
        const settings = settingsForAgent(configuration.current().settings, session.agent.name);
        // Outside the queue: an abort during checks must be heard.
        const result = await tool.call(input, {
          ...{ engine: told.opened().runtime, store: told.store(), sessionId: session.id, clock },
          ...{ identifiers: told.identifiers, actor: memory.info?.parentId == null ? 'agent' : 'worker' },
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

const commands = {
  'untildone-status': 'Shows the plan, what untildone does or waits for, and its last decision',
  'untildone-why': 'Explains the last decision of untildone in this session',
  'untildone-pause': 'Tells the agent nothing in this session until untildone-resume',
  'untildone-resume': 'Ends a pause or a stop in this session',
};
const nothingYet = 'untildone has seen nothing of this session yet.';

/** While it works a message would be answered: then a toast. */
async function answerCommand(plugin: Plugin, id: string, name: keyof typeof commands, words: string) {
  const { told, calls, clock, headless, voice } = plugin;
  const { memory, after, record, tell } = told.follow(id);

  async function answer(): Promise<string> {
    const session = await record();
    const decision = (await told.store().decisions(memory.stored, 1))[0]?.decision;
    switch (name) {
      case 'untildone-status':
        return session === null ? nothingYet : describeStanding(session, decision, clock.now());
      case 'untildone-why':
        return decision === undefined ? nothingYet : describeDecision(decision);
      case 'untildone-pause':
        await tell({ type: 'human-paused', reason: oneLine(words, 300) || null });
        return 'Paused: untildone tells the agent nothing in this session until /untildone-resume.';
      case 'untildone-resume': {
        if (!session?.latch && !session?.pause)
          return 'This session is neither paused nor stopped; nothing was changed.';
        const resumed = await tell({ type: 'human-resumed' });
        return `Resumed. ${resumed.decision?.sentence ?? ''}`.trim();
      }
    }
  }

  if (name === 'untildone-resume') memory.holds.clear();
  await after(async () => {
    const text = await answer();
    const session = headless || memory.busy ? null : await record();
    if (session !== null) {
      const part = { text, ignored: true, metadata: { untildone: { notice: true } } };
      const place = placeOf(told.identifiers.next(), clock.now());
      if ((await calls.show(id, messageOf(place, session, part))) === null) return;
    }
    await voice.show({ level: 'info', title: `/${name}`, message: text });
  });
}

function describeStanding(session: State, last: Decision | undefined, now: number): string {
  const { plan, counters } = session;
  const counts = countPlan(plan);
  const blocked = counts.blocked > 0 ? `, ${counts.blocked} blocked` : '';
  return [
    `untildone: ${describeState(session, now)}`,
    `plan: ${planSize(counts)} todos, ${openCount(counts)} open${blocked}`,
    ...nextTodos(plan, 3).map(({ title }) => `next: ${oneLine(title, 120)}`),
    `continuations since your last message: ${counters.total}, ${counters.stagnant} of them without progress`,
    last && `last decision: ${oneLine(last.sentence, 300)}`,
  ]
    .filter(Boolean)
    .join('\n');
}

function describeState({ latch, pause, parked, timer, settled, turn }: State, now: number): string {
  if (latch !== null) return 'stopped by you; send a message or /untildone-resume to go on';
  if (pause?.by === 'human') return 'paused by you; /untildone-resume goes on';
  if (pause !== null) return `paused${pause.reason === null ? '' : `: ${oneLine(pause.reason, 200)}`}`;
  if (timer !== null && parked !== null)
    return `goes on in ${Math.max(0, Math.ceil((timer.dueAt - now) / 1000))} s`;
  if (parked !== null) return `waiting (${parked.cause})`;
  if (settled !== null) return `the last turn ended as ${settled.outcome}`;
  return turn === null || turn.ended ? 'idle' : 'watching the agent work';
}

const answers = {
  continue: 'the agent was sent on',
  wait: 'it waits',
  'let-go': 'the agent may stop',
} as const;

function describeDecision({ answer, reason, sentence, outcome, inputs, observed }: Decision): string {
  const looked = Object.entries(inputs).map(([name, value]) => `${name} ${oneLine(String(value), 80)}`);
  return [
    `untildone: ${observed ? 'only watching; else ' : ''}${answers[answer]} (${reason})`,
    oneLine(sentence, 300),
    outcome && `outcome: ${outcome}`,
    looked.length > 0 && `it looked at: ${oneLine(looked.join(', '), 500)}`,
    '`untildone why` in a terminal lists every rule.',
  ]
    .filter(Boolean)
    .join('\n');
}
