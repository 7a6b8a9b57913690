// The host's hooks: each reads what it is given, hands it to the driver and gives back what the host waits for. None
// of them may throw, but for the one error that keeps a command of ours from the model.
import { todoToolsFor } from '../../tools/todo-tools.ts';
import { openPlanText } from '../hook/plan-text.ts';
import { answerCommand } from './answer-command.ts';
import { describeWritten } from './check-claims.ts';
import type { Driver } from './driver.ts';
import { finishText } from './finish-text.ts';
import { fillHeld, prepareHold, sessionOfMessages } from './hold-step.ts';
import { addCommands, findCommand } from './plugin-commands.ts';
import { type PluginContext, tell } from './plugin-context.ts';
import { definePluginTool, offeredTools } from './plugin-tools.ts';
import type { HooksLike } from './plugin-types.ts';
import type { SessionMemories } from './session-memory.ts';
import type { Speaker } from './speak.ts';
import type { StoppedSessions } from './stopped-sessions.ts';
import { hostTodoTool } from './tool-access.ts';
import { translate } from './translate.ts';
import { readMessage } from './translate-message.ts';

export interface HooksOptions {
  readonly ready: Promise<PluginContext | null>;
  readonly driver: Driver;
  readonly memories: SessionMemories;
  readonly stopped: StoppedSessions;
  readonly headless: boolean;
  readonly speaker: Speaker;
  /** Not while we only observe: what the model is offered stays as it is (C2). */
  readonly tools: boolean;
  /** Gives the folder up. */
  readonly release: () => void;
}

export function createHooks(options: HooksOptions): HooksLike {
  const { driver, memories, headless, speaker } = options;
  const tool: NonNullable<HooksLike['tool']> = {};

  function offer(config: Parameters<typeof offeredTools>[0]): void {
    if (!options.tools) return;
    for (const one of offeredTools(config)) tool[one.name] ??= definePluginTool(one, driver, speaker.onError);
  }

  /** Safe for the host: what failed is told and logged, and nothing of the host was changed. */
  function quietly<Given extends unknown[]>(hook: (...given: Given) => Promise<void> | void) {
    return async (...given: Given): Promise<void> => {
      try {
        await hook(...given);
      } catch (error) {
        speaker.onError(error);
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
      if (read === null || read.text === null || memories.of(sessionID).sent.has(read.id)) return;
      driver.hearHuman(sessionID, read);
    }),
    'tool.definition': quietly(({ toolID }, output) => {
      const known = todoToolsFor('agent').find(({ name }) => name === toolID && Object.hasOwn(tool, name));
      if (known !== undefined) Object.assign(output, { jsonSchema: known.inputSchema });
    }),
    'tool.execute.after': quietly(({ tool: name, sessionID }, output) =>
      name === hostTodoTool ? answerTodoList(sessionID, output) : undefined,
    ),
    'experimental.chat.messages.transform': quietly((_input, { messages }) => fillMessages(messages)),
    'experimental.session.compacting': quietly(({ sessionID }, output) => givePlan(sessionID, output)),
    'experimental.text.complete': quietly(({ sessionID, messageID }, { text }) =>
      completeText(sessionID, messageID, text),
    ),
    'command.execute.before': async (given) => {
      if (findCommand(given.command) === null) return;
      await quietly(() => runCommand(given))();
      throw new Error(`untildone has answered /${given.command}; no model is asked.`);
    },
    dispose: quietly(async () => {
      options.release();
      driver.end();
      const context = await options.ready;
      await context?.runtime.dispose();
      await context?.store.close();
    }),
  };

  async function answerTodoList(sessionId: string, output: { output: string }): Promise<void> {
    const memory = memories.of(sessionId);
    await memory.queue;
    const { written } = memory;
    memory.written = null;
    const context = await options.ready;
    if (context === null || written === null || !context.policy.changesTheHost()) return;
    output.output += await describeWritten(context, written);
  }

  /** Before each step: what a continuation says must be there before the model is asked. */
  async function fillMessages(messages: readonly unknown[]): Promise<void> {
    const sessionId = headless ? sessionOfMessages(messages) : null;
    if (sessionId === null) return;
    await driver.after(sessionId, async (context, memory) => {
      fillHeld(messages, memory);
      await prepareHold(context, memory);
    });
  }

  async function givePlan(
    sessionId: string,
    { context: lines }: { readonly context: string[] },
  ): Promise<void> {
    memories.of(sessionId).compacting = true;
    await driver.after(sessionId, async (context, memory) => {
      await tell(context, memory, `compacting/${context.identifiers.next()}`, { type: 'compaction-started' });
      const text = await context.store.read((reader) => openPlanText(reader, sessionId));
      if (text !== null && context.policy.changesTheHost()) lines.push(text);
    });
  }

  async function completeText(sessionId: string, messageId: string, text: string): Promise<void> {
    if (!headless) return;
    const spoken = memories.of(sessionId);
    spoken.lastText = { messageId, text };
    // What was prepared holds for a step without a word: from here on the words count.
    if (text.trim() !== '') spoken.prepared = null;
    const finished = await driver.after(sessionId, (context, memory) =>
      finishText(context, memory, messageId),
    );
    // Outside the queue: an abort in the meantime is heard, and looked at again before anything is sent.
    await finished?.checks;
  }

  async function runCommand(given: { command: string; sessionID: string; arguments: string }): Promise<void> {
    if (given.command === 'untildone-resume') options.stopped.lift(given.sessionID);
    await driver.after(given.sessionID, (context, memory) =>
      answerCommand(context, memory, given, speaker.notify),
    );
  }
}
