// The extension that runs inside pi: hands what pi tells to the engine and offers the todo tools, which pi lacks. A step
// without calls is a stop attempt. Headless pi leaves after it, but waits for our handler and goes on where a message is
// queued by then; elsewhere the countdown runs as in every host that is told.
import { setTimeout as sleep } from 'node:timers/promises';
import { oneLine } from '../../core/safe-text.ts';
import { canWrite } from '../../core/work.ts';
import type { Clock } from '../../engine/host.ts';
import { checkPatienceMs } from '../../engine/runtime.ts';
import { createIdentifiers, systemClock } from '../../engine/system.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import { compactionFailed, openPlanText } from '../shared.ts';
import { type Memory, type Notice, type ToldAdapter, waitEnded, waitStarted } from '../told.ts';
import { answerCommand, commandNames, commands } from '../told-commands.ts';
import type { PluginOptions, ToldPlugin } from '../told-plugin.ts';
import {
  changesTheHost,
  createPluginMemory,
  createToldPlugin,
  createVoice,
  followPlugin,
} from '../told-plugin.ts';
import { recordOf, withinTime } from '../untrusted.ts';
import type { ContextLike, ExtensionLike, PiLike } from './translate.ts';
import {
  describeTools,
  isEscape,
  readCall,
  readEntry,
  readInput,
  readMessage,
  readTurn,
  withPlan,
} from './translate.ts';

function createMemory() {
  return {
    ...createPluginMemory(),
    turn: null as ReturnType<typeof readTurn> | null,
    isStopTold: false,
    /** Until the model begins to answer it. */
    sent: null as { epoch: number; text: string; isShown: boolean } | null,
    /** What the model is reminded of after a compaction. */
    reminder: null as string | null,
    questions: 0,
  };
}
type OwnMemory = ReturnType<typeof createMemory>;
type Plugin = ToldPlugin<OwnMemory>;
type Hear = (event: unknown, context: ContextLike) => unknown;
type Place = Readonly<{
  pi: PiLike;
  context: ContextLike;
  toast: ReturnType<typeof createToast>;
  parentId: string | null;
}>;

/** Microseconds, unless another extension takes its time. */
const takenMs = 2000;
/** A human who wants to leave waits no longer. */
const interruptMs = 1000;
/** Lingers longer than from the last look at the record to the call (P19). */
const stopped = { why: 'the human stopped the agent', lingerMs: 1000 };
/** Whose commands a process was started by: `PID:SESSION`. A pi that an agent of pi starts is its subagent. */
const parentVariable = 'UNTILDONE_PI';
const eventNames = [
  ...['input', 'user_bash', 'before_agent_start', 'context', 'turn_start', 'turn_end', 'message_start'],
  ...['tool_execution_start', 'tool_execution_end', 'session_before_compact', 'session_compact'],
  ...['session_compact_failed', 'session_tree', 'ui_prompt_start', 'ui_prompt_end', 'agent_settled'],
];

/** What pi loads: one session at a time, from its start to its shutdown. */
export function createPiExtension(options: PluginOptions = {}): ExtensionLike {
  return (pi) => {
    let handlers: Readonly<Record<string, Hear>> = {};
    const on = (name: string, hear: Hear) => pi.on(name as never, hear);
    on('session_start', async (_event, context) => {
      handlers = (await open(pi, context, options)) ?? {};
    });
    for (const name of eventNames) on(name, (event, context) => handlers[name]?.(event, context));
    on('session_shutdown', async (event, context) => {
      const { session_shutdown: end } = handlers;
      handlers = {};
      await end?.(event, context);
    });
  };
}

function open(pi: PiLike, context: ContextLike, options: PluginOptions) {
  const { environment = process.env, clock = systemClock, openStore } = options;
  const { identifiers = createIdentifiers(clock) } = options;
  const headless = !context.hasUI;
  const toast = createToast(context, clock);
  const voice = createVoice('pi', { clock, environment }, headless ? null : toast.show);
  const start = voice.quietly((): Record<string, Hear> => {
    // Loaded twice, as an extension and with a package: the first one acts.
    if (pi.getCommands().some(({ name }) => name === commandNames[0])) return {};
    const id = context.sessionManager.getSessionId();
    const [pid, parentId = null] = environment[parentVariable]?.split(':') ?? [];
    const place = { pi, context, toast, parentId: pid === String(process.pid) ? null : parentId };
    const plugin = createToldPlugin<OwnMemory>({
      ...{ name: 'pi', own: createMemory, clock, identifiers, environment, directory: context.cwd },
      // A new run does not take over what an earlier one left.
      instance: headless ? `pi run ${identifiers.next()}` : `pi ${id}`,
      ...{ openStore, voice, headless },
      adapter: (own, memory) => createAdapter(own, memory, place),
    });
    if (plugin === null) return {};
    (environment as Record<string, string>)[parentVariable] = `${process.pid}:${id}`;
    offer(plugin, id, place);
    const heard = Object.entries(listen(plugin, id, place));
    return Object.fromEntries(heard.map(([name, hear]) => [name, voice.quietly(hear)]));
  });
  return start();
}

/** A countdown stands in the status line: as notices its seconds would fill the conversation. */
function createToast({ ui }: ContextLike, clock: Clock) {
  let ends = 0;
  function hide() {
    if (ends > 0) ui.setStatus('untildone', undefined);
    ends = 0;
  }
  async function show({ title, message, level, durationMs }: Notice) {
    const line = `${oneLine(title, 80)}: ${oneLine(message, 500)}`;
    if (durationMs === undefined) return ui.notify(line, level);
    ui.setStatus('untildone', line);
    ends = clock.now() + durationMs;
    clock.wake(ends, () => clock.now() >= ends && hide());
  }
  return { show, hide };
}

/** The todo tools for the model, and the commands for the human. */
function offer(plugin: Plugin, id: string, { pi }: Place) {
  const { told, clock, voice } = plugin;
  for (const tool of changesTheHost(plugin) ? todoToolsFor('agent') : [])
    pi.registerTool({
      ...{ name: tool.name, label: tool.name, description: tool.description },
      parameters: tool.inputSchema as never,
      // With the calls beside it in their order: work and then its todo (V4).
      executionMode: 'sequential',
      async execute(_callId, input) {
        const { ok, text } = await followPlugin(plugin, id).callTool(tool, input);
        if (ok) return { content: [{ type: 'text', text }], details: undefined };
        // So pi marks a result as failed.
        throw new Error(text);
      },
    });
  for (const name of commandNames)
    pi.registerCommand(name, {
      description: `${commands[name]} (no model is asked)`,
      async handler(words, { hasUI, ui }) {
        const message = await answerCommand(told, { id, name, words, now: clock.now() });
        if (hasUI) ui.notify(message, 'info');
        else await voice.show({ level: 'info', title: `/${name}`, message });
      },
    });
}

function listen(plugin: Plugin, id: string, { context: { ui }, toast }: Place): Record<string, Hear> {
  const { told, clock, headless } = plugin;
  const followed = followPlugin(plugin, id);
  const { memory, record, after, later, tell, event, humanSpoke } = followed;
  let spoken: ReturnType<typeof humanSpoke> | null = null;

  function aborted(how: string) {
    later({ type: 'human-aborted', how }, undefined, stopped);
  }

  /** Nobody hears of the key otherwise while nothing runs: someone stops a countdown. */
  async function stopWhileIdle() {
    const session = await record();
    if (session?.latch || (!session?.parked && !session?.timer)) memory.holds.clear();
    else await tell({ type: 'human-aborted', how: 'stopped while idle' });
  }
  /** Headless pi hears no key and dies of Ctrl-C: the record comes first. */
  async function interrupted() {
    aborted('interrupted');
    await withinTime(clock, interruptMs, () => memory.queue);
    process.kill(process.pid, 'SIGINT');
  }
  if (headless) process.once('SIGINT', interrupted);
  else
    ui.onTerminalInput((data) => {
      if (isEscape(data) && !memory.busy) after(stopWhileIdle, stopped);
      return undefined;
    });

  /** @returns what headless pi has to wait for */
  function stop({ end, question }: NonNullable<OwnMemory['turn']>) {
    Object.assign(memory, { busy: false, isStopTold: true });
    const { toolError } = memory;
    const prepared = after(async () => {
      const fingerprint = await followed.prepareStop();
      // The human was quicker.
      if (memory.busy) return null;
      await followed.closeCompaction();
      const facts = { end, question, toolError, fingerprint, background: [] };
      if (headless) return event({ type: 'stop-attempted', ...facts });
      await tell({ type: 'stop-attempted', ...facts });
      return null;
    });
    // Outside the queue: checks take their time.
    const ask = async () => {
      const attempt = await prepared;
      if (attempt === null) return;
      const { runtime } = told.opened();
      followed.stopAnswered(await runtime.ask(attempt, clock.now() + checkPatienceMs));
    };
    return headless ? ask() : undefined;
  }

  return {
    input(given) {
      const text = readInput(given);
      if (text === null) return;
      memory.toolError = null;
      spoken = humanSpoke({ id: told.identifiers.next(), text });
    },
    // A command of the human's own: it concerns no plan (E2).
    user_bash: () => void humanSpoke({ id: told.identifiers.next(), text: null }),
    async before_agent_start() {
      const content = (await spoken?.handed()) ?? null;
      spoken = null;
      return content === null ? undefined : { message: { customType: 'untildone', content, display: true } };
    },
    context(given) {
      const { messages } = recordOf(given);
      if (memory.reminder === null || !Array.isArray(messages)) return undefined;
      const changed = withPlan(messages, memory.reminder, clock.now());
      return changed === null ? undefined : { messages: changed };
    },
    turn_start() {
      toast.hide();
      Object.assign(memory, { busy: true, isStopTold: false });
    },
    message_start(given) {
      const message = readMessage(recordOf(given)['message']);
      const { sent } = memory;
      if (message?.role === 'user' && message.text === sent?.text) sent.isShown = true;
      if (message?.role !== 'assistant') return;
      // Only now has the model got it for certain (V5).
      if (sent?.isShown) after(() => followed.observed(sent.epoch));
      if (sent?.isShown) memory.sent = null;
      later({ type: 'activity-seen' });
    },
    tool_execution_start(given) {
      const read = readCall(given);
      if (read === null) return;
      if (canWrite(read.call)) memory.mayHaveWritten = true;
      later({ type: 'tool-started', ...read.call }, `call/${read.callId}/start`);
    },
    tool_execution_end(given) {
      const read = readCall(given);
      if (read === null) return;
      memory.toolError = read.call.access === 'todo' ? null : read.error;
      later({ type: 'tool-ended', ...read.call, error: read.error }, `call/${read.callId}/end`);
    },
    async turn_end(given, context) {
      const turn = readTurn(given, clock.now());
      memory.turn = turn;
      later(turn.usage);
      if (turn.end === 'cancelled') aborted('interrupted');
      // It goes on with calls or with what the human wrote meanwhile; after an error it may try again.
      else if (turn.goesOn || turn.error !== null || context.hasPendingMessages()) return;
      await stop(turn);
      // It passes through every extension that hears input, and must be there before pi looks.
      const until = Date.now() + takenMs;
      while (headless && memory.sent !== null && !context.hasPendingMessages() && Date.now() < until)
        await sleep(5);
    },
    // All that was not told as a stop: retries have ended, or a tool ended the turn.
    async agent_settled() {
      const { turn, isStopTold } = memory;
      if (turn === null || isStopTold) return;
      if (turn.error !== null) later(turn.error);
      await stop(turn);
    },
    session_before_compact: () => void later(waitStarted({ kind: 'compaction' })),
    async session_compact() {
      await after(async () => {
        await tell(waitEnded({ kind: 'compaction', shrunk: true }));
        memory.reminder = changesTheHost(plugin) ? openPlanText(await record()) : null;
      });
    },
    session_compact_failed: () => void later(compactionFailed),
    // Messages were taken back: nothing is sent into that.
    session_tree: () => aborted('undone'),
    ui_prompt_start() {
      memory.questions += 1;
      later(waitStarted({ kind: 'question', requestId: `prompt-${memory.questions}` }));
    },
    ui_prompt_end() {
      const requestId = `prompt-${memory.questions}`;
      memory.questions -= 1;
      later(waitEnded({ kind: 'question', requestId, rejected: false }));
    },
    session_shutdown() {
      process.off('SIGINT', interrupted);
      return told.end();
    },
  };
}

function createAdapter(
  plugin: Plugin,
  memory: Memory<OwnMemory>,
  { pi, context, parentId }: Place,
): ToldAdapter {
  const { directory, headless, voice } = plugin;
  const none = { pause: null, verify: null };
  return {
    async describe() {
      const { tools, canWrite } = describeTools(pi.getActiveTools());
      const { model } = context;
      const named = changesTheHost(plugin) ? tools : none;
      const kind = parentId === null ? 'main' : 'subagent';
      const agent = {
        name: null,
        canWrite,
        model: model ? `${model.provider}/${model.id}` : null,
        variant: null,
      };
      return [{ kind, parentId, directory, headless, immediate: headless, tools: named }, agent];
    },
    // The plan is ours alone.
    todos: async () => null,
    async inject({ epoch, text }) {
      memory.sent = { epoch, text, isShown: false };
      pi.sendUserMessage(text, { deliverAs: 'followUp' });
      return null;
    },
    async find({ text, session }) {
      const since = session.injection?.at ?? session.updatedAt;
      const entries = context.sessionManager.getBranch().map(readEntry);
      const ours = entries.findLastIndex(
        (one) => one.role === 'user' && one.text === text && one.at >= since,
      );
      if (ours >= 0 && entries.slice(ours).some(({ role }) => role === 'assistant')) return 'present';
      // Queued texts stand nowhere; where nothing runs, no model will get it.
      return context.isIdle() && !context.hasPendingMessages() ? 'absent' : 'unknown';
    },
    isIdle: async () => context.isIdle(),
    show: voice.show,
  };
}
