// Shows the answer to a command: as a message of its own where the session sits idle, which no model is asked about; as
// a toast while it works, because a message would be taken for one to answer.
import { hostId } from './message-id.ts';
import { findCommand } from './plugin-commands.ts';
import { type PluginContext, readSessionRecord } from './plugin-context.ts';
import { rememberSent, type SessionMemory } from './session-memory.ts';
import type { Notice } from './speak.ts';
import { speakerOf } from './told-host.ts';

export async function answerCommand(
  context: PluginContext,
  memory: SessionMemory,
  given: { readonly command: string; readonly arguments: string },
  notify: (notice: Notice) => Promise<void>,
): Promise<void> {
  const text = await findCommand(given.command)?.answer(context, memory, given.arguments);
  if (text === undefined) return;
  const isShown = !context.headless && !memory.busy && (await show(context, memory, text));
  if (!isShown) await notify({ level: 'info', title: `/${given.command}`, message: text });
}

async function show(context: PluginContext, memory: SessionMemory, text: string): Promise<boolean> {
  const session = await readSessionRecord(context, memory.id);
  if (session === null) return false;
  const messageID = hostId('msg', context.identifiers.next(), context.clock.now());
  rememberSent(memory, messageID, null);
  const part = { type: 'text', text, ignored: true, metadata: { untildone: { notice: true } } } as const;
  return (await context.calls.show(memory.id, { messageID, ...speakerOf(session), parts: [part] })) === null;
}
