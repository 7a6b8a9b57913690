// A message of the program: ours comes back as a sign of delivery, the human's as the human speaking, the assistant's
// as activity. A message that is known already is an echo and means nothing (E2).
import { type EnforcerContext, storedId, tell } from './enforcer-context.ts';
import type { EnforcerMessage } from './enforcer-options.ts';
import { agentOf, openSession } from './open-session.ts';
import { findOwn } from './own-message.ts';
import { remember, wake } from './session-memory.ts';

export async function performMessage(
  context: EnforcerContext,
  sessionId: string,
  message: EnforcerMessage,
): Promise<void> {
  if (message.role === 'assistant') await assistantSpoke(context, sessionId, message);
  else await userSpoke(context, sessionId, message);
}

export async function assistantSpoke(
  context: EnforcerContext,
  sessionId: string,
  { id }: EnforcerMessage,
): Promise<void> {
  const memory = context.memories.of(sessionId);
  // A message grows in many events, and late ones follow the idle: one of them says all there is to say.
  if (id === undefined ? memory.active : memory.assistantIds.has(id)) return;
  if (id !== undefined) remember(memory.assistantIds, id);
  memory.active = true;
  wake(memory);
  await tell(context, sessionId, { type: 'activity-seen' });
}

async function userSpoke(
  context: EnforcerContext,
  sessionId: string,
  message: EnforcerMessage,
): Promise<void> {
  const { id } = message;
  const memory = context.memories.of(sessionId);
  if (id !== undefined) memory.untold.delete(id);
  if (id !== undefined && (memory.humanIds.has(id) || memory.ourIds.has(id))) return;
  const bare = message.text === undefined && message.key === undefined;
  const whole = bare ? await lookUp(context, sessionId, message) : message;
  const stored = storedId(context, sessionId);
  const rows = await context.store.read(async (reader) => reader.outbox(stored));
  const epoch = findOwn(rows, whole);
  if (epoch === null) {
    await humanSpoke(context, sessionId, whole);
    return;
  }
  if (id !== undefined) remember(memory.ourIds, id);
  await tell(context, sessionId, { type: 'injection-observed', epoch }, `${stored}:${epoch}:observed`);
}

/** Some programs tell of a message before its text: stop words and our own texts are known only by it. */
async function lookUp(
  { program }: EnforcerContext,
  sessionId: string,
  message: EnforcerMessage,
): Promise<EnforcerMessage> {
  if (message.id === undefined) return message;
  const messages = await program.messages(sessionId);
  const found = messages?.findLast(({ id, role }) => id === message.id && role === 'user');
  if (found === undefined) return message;
  const { agent = found.agent, model = found.model, variant = found.variant } = message;
  return { ...found, agent, model, variant };
}

export async function humanSpoke(
  context: EnforcerContext,
  sessionId: string,
  message: EnforcerMessage,
): Promise<void> {
  const memory = context.memories.of(sessionId);
  if (message.id !== undefined) remember(memory.humanIds, message.id);
  memory.asked = message;
  wake(memory);
  const agent = await agentOf(context, sessionId);
  await openSession(context, sessionId, agent);
  await tell(context, sessionId, {
    type: 'human-spoke',
    messageId: message.id ?? null,
    text: message.text ?? null,
    turnId: context.identifiers.next(),
    agent,
    fingerprint: null,
    policyHash: null,
  });
}
