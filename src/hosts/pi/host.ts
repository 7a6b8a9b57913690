// The extension that runs inside pi: it hands what pi reports to the engine and offers
// the todo tools, which pi lacks. A step without calls is a stop attempt. Headless pi
// exits after it, but waits for our handler and goes on if a message is queued by then.
// In a pi that stays, a countdown runs. It decides nothing.
import { setTimeout as sleep } from 'node:timers/promises';
import { agentSessionVariable } from '../../checks/process.ts';
import { ownVariables } from '../../core/own-variables.ts';
import { oneLine } from '../../core/safe-text.ts';
import { todoToolsFor } from '../../tools/todo-tools.ts';
import {
  type Notice,
  stopHold,
  type ToldAdapter,
  waitEnded,
  waitStarted,
} from '../told.ts';
import { answerCommand, commandNames, commands } from '../told-commands.ts';
import * as shared from '../told-plugin.ts';
import { recordOf, withinTime } from '../untrusted.ts';
import type { ContextLike, ExtensionLike, PiLike } from './translate.ts';
import * as read from './translate.ts';

function createMemory() {
  return {
    turn: null as ReturnType<typeof read.readTurn> | null,
    isStopTold: false,
    /** The continuation that was sent, until the model begins to answer it. */
    sent: null as { epoch: number; text: string; isShown: boolean } | null,
    /** The plan that the model gets again after a compaction. */
    reminder: null as string | null,
  };
}
type PiProcess = Readonly<{
  pi: PiLike;
  context: ContextLike;
  id: string;
  parentId: string | null;
}>;
type Plugin = shared.ToldPlugin<ReturnType<typeof createMemory>> & PiProcess;
type EventHandler = (event: unknown, context: ContextLike) => unknown;

/**
 * A queue or a message takes microseconds. A human who exits, and a host that waits, wait
 * no longer than this.
 */
const patienceMs = 1000;

/** Creates the extension. pi starts it anew for each session. */
export function createPiExtension(options: shared.PluginOptions = {}): ExtensionLike {
  function start(pi: PiLike, context: ContextLike) {
    const { hasUI, cwd: directory, ui } = context;
    const location = shared.createPluginHost(
      { name: 'pi', directory, headless: !hasUI },
      options,
      toast,
    );
    const { clock, environment, voice } = location;
    async function toast({ title, message, level, durationMs }: Notice) {
      const line = `${oneLine(title, 80)}: ${oneLine(message, 500)}`;
      if (durationMs === undefined) return ui.notify(line, level);
      // As notices, the seconds of a countdown would fill the conversation.
      ui.setStatus('untildone', line);
      clock.wake(clock.now() + durationMs, () => ui.setStatus('untildone', undefined));
    }
    return voice.quietly(async () => {
      // The extension may be loaded twice, alone and with a package: the first one acts.
      if (pi.getCommands().some(({ name }) => name === commandNames[0])) return;
      const id = context.sessionManager.getSessionId();
      const [pid, parent = null] = environment[ownVariables.parent]?.split(':') ?? [];
      const piProcess = {
        ...location,
        pi,
        context,
        id,
        parentId: pid === String(process.pid) ? null : parent,
      };
      const plugin = await shared.createToldPlugin(piProcess, {
        id,
        createMemory,
        adapter: createAdapter,
      });
      if (plugin === null) return;
      const { stored } = plugin.told.of(id);
      // Commands of the agent inherit these variables.
      Object.assign(environment as Record<string, string>, {
        [ownVariables.parent]: `${process.pid}:${id}`,
        [agentSessionVariable]: stored,
      });
      offerToolsAndCommands(plugin);
      for (const [name, handle] of Object.entries(createHandlers(plugin)))
        pi.on(name as never, voice.quietly(handle));
    })();
  }

  return (pi) =>
    void pi.on('session_start' as never, (_event, context) => start(pi, context));
}

/** Offers the todo tools to the model and the commands to the human. */
function offerToolsAndCommands(plugin: Plugin) {
  const { pi, id } = plugin;
  for (const tool of shared.changesTheHost(plugin) ? todoToolsFor('agent') : [])
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description,
      parameters: tool.inputSchema as never,
      // Calls of one step keep their order: the work comes before its todo (V4).
      executionMode: 'sequential',
      async execute(_callId, input) {
        const { ok, text } = await shared.pluginSession(plugin, id).callTool(tool, input);
        if (ok) return { content: [{ type: 'text', text }], details: undefined };
        // An error makes pi mark the result as failed.
        throw new Error(text);
      },
    });
  for (const name of commandNames)
    pi.registerCommand(name, {
      description: `${commands[name]} (no model is asked)`,
      async handler(words, { hasUI, ui }) {
        const message = await answerCommand(plugin.told, {
          id,
          name,
          words,
          now: plugin.clock.now(),
        });
        if (hasUI) ui.notify(message, 'info');
        else await plugin.voice.show({ level: 'info', title: `/${name}`, message });
      },
    });
}

/** Handlers for the events of pi, by their names. */
function createHandlers(plugin: Plugin): Record<string, EventHandler> {
  const { told, clock, headless, identifiers, context, id } = plugin;
  const followed = shared.pluginSession(plugin, id);
  const { memory, record, after, later, tell } = followed;
  /** What the model has to know beside the human's last words. */
  let extraText: Promise<string | null> | null = null;

  const humanSpoke = (text: string | null) =>
    followed.humanSpoke({ id: identifiers.next(), text });
  const aborted = (how: string) => void followed.aborted(how);

  /**
   * Handles Escape while nothing runs, for which pi has no event: someone stops a
   * countdown.
   */
  async function stopWhileIdle() {
    const session = await record();
    if (session?.latch || (!session?.parked && !session?.timer)) memory.holds.clear();
    else await tell({ type: 'human-aborted', how: 'stopped while idle' });
  }
  /** Handles Ctrl-C of headless pi, which dies of it: the record comes first. */
  async function interrupted() {
    aborted('interrupted');
    await withinTime(clock, patienceMs, () => memory.queue);
    process.kill(process.pid, 'SIGINT');
  }
  if (headless) process.once('SIGINT', interrupted);
  else
    context.ui.onTerminalInput((data) => {
      if (read.isEscape(data) && !memory.busy) after(stopWhileIdle, stopHold);
      return undefined;
    });

  const reportCall = (isOver: boolean) => (event: unknown) => {
    const report = read.readCall(event);
    if (report !== null) followed.callSeen({ ...report, isOver });
  };

  async function attemptStop({ end, question }: ReturnType<typeof read.readTurn>) {
    Object.assign(memory, { busy: false, isStopTold: true });
    const { toolError } = memory;
    const prepared = after(async () => {
      const fingerprint = await followed.prepareStop();
      // The human wrote a message meanwhile.
      if (memory.busy) return null;
      await followed.closeCompaction();
      const facts = { end, question, toolError, fingerprint, background: [] };
      const attempt = { type: 'stop-attempted', ...facts } as const;
      if (!headless) await tell(attempt);
      return headless ? attempt : null;
    });
    const attempt = headless ? await prepared : null;
    if (attempt !== null) await followed.askStop(attempt);
  }

  return {
    input(event) {
      const text = read.readInput(event);
      if (text !== null) extraText = humanSpoke(text);
    },
    // A shell command that the human typed concerns no plan (E2).
    user_bash: () => void humanSpoke(null),
    async before_agent_start() {
      const content = await extraText;
      extraText = null;
      return content === null
        ? undefined
        : { message: { customType: 'untildone', content, display: true } };
    },
    context(event) {
      const { messages } = recordOf(event);
      return memory.reminder === null
        ? undefined
        : read.withPlan(messages, memory.reminder, clock.now());
    },
    turn_start: () => void Object.assign(memory, { busy: true, isStopTold: false }),
    message_start(event) {
      const message = read.readMessage(recordOf(event)['message']);
      const { sent } = memory;
      if (message?.role === 'user' && message.text === sent?.text) sent.isShown = true;
      if (message?.role !== 'assistant') return;
      if (sent?.isShown) {
        // Only now is it certain that the model got the continuation (V5).
        after(() => followed.observed(sent.epoch));
        memory.sent = null;
      }
      later({ type: 'activity-seen' });
    },
    tool_execution_start: reportCall(false),
    tool_execution_end: reportCall(true),
    async turn_end(event, context) {
      const turn = read.readTurn(event, clock.now());
      memory.turn = turn;
      later(turn.usage);
      if (turn.end === 'cancelled') aborted('interrupted');
      // The agent goes on with calls, or with what the human wrote meanwhile; after an
      // error pi may try again.
      else if (turn.goesOn || turn.error !== null || context.hasPendingMessages()) return;
      await attemptStop(turn);
      // The continuation passes through every extension that handles input, and must be
      // queued before pi looks.
      const until = Date.now() + patienceMs;
      while (
        headless &&
        memory.sent !== null &&
        !context.hasPendingMessages() &&
        Date.now() < until
      )
        await sleep(5);
    },
    // Reports what was not reported as a stop: pi stopped retrying, or a tool ended the
    // turn.
    async agent_settled() {
      const { turn, isStopTold } = memory;
      if (turn === null || isStopTold) return;
      if (turn.error !== null) later(turn.error);
      await attemptStop(turn);
    },
    session_before_compact: () => void later(waitStarted({ kind: 'compaction' })),
    async session_compact() {
      await later(waitEnded({ kind: 'compaction', shrunk: true }));
      memory.reminder = await followed.planReminder();
    },
    session_compact_failed: () => void after(() => followed.closeCompaction()),
    // The human took messages back: nothing is sent into that.
    session_tree: () => aborted('undone'),
    ui_prompt_start: () =>
      void later(waitStarted({ kind: 'question', requestId: 'prompt' })),
    ui_prompt_end: () =>
      void later(waitEnded({ kind: 'question', requestId: 'prompt', rejected: false })),
    session_shutdown() {
      process.off('SIGINT', interrupted);
      return told.end();
    },
  };
}

function createAdapter(plugin: Plugin): ToldAdapter {
  const { told, directory, headless, voice, pi, context, id, parentId } = plugin;
  return {
    async describe() {
      const { tools, canWrite } = read.describeTools(pi.getActiveTools());
      const kind = parentId === null ? 'main' : 'subagent';
      const model = context.model
        ? `${context.model.provider}/${context.model.id}`
        : null;
      const agent = { name: null, canWrite, model, variant: null };
      return [{ kind, parentId, directory, headless, immediate: headless, tools }, agent];
    },
    // Only we keep the plan.
    todos: async () => null,
    async inject({ epoch, text }) {
      told.of(id).sent = { epoch, text, isShown: false };
      pi.sendUserMessage(text, { deliverAs: 'followUp' });
      return null;
    },
    async find({ text, session }) {
      const since = session.injection?.at ?? session.updatedAt;
      if (read.isAnswered(context.sessionManager.getBranch(), text, since))
        return 'present';
      // Queued texts are recorded nowhere. If nothing runs, no model will get one.
      return context.isIdle() && !context.hasPendingMessages() ? 'absent' : 'unknown';
    },
    isIdle: async () => context.isIdle(),
    show: voice.show,
  };
}
