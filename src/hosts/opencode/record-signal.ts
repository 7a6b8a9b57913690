// A signal of the host as events for the engine, one after another in the order of the session's queue. What has to be
// known at once, such as the human's abort, was noted before; see driver.ts.
import type { HumanSpoke } from '../../core/events.ts';
import { readHostError } from '../told/host-error.ts';
import { openSession, type PluginContext, tell } from './plugin-context.ts';
import type { SessionMemory } from './session-memory.ts';
import { toolAccess } from './tool-access.ts';
import type { Signal } from './translate.ts';
import type { HostMessage } from './translate-message.ts';

type SignalOf<Type extends Signal['type']> = Extract<Signal, { type: Type }>;

/** Each step is a sign of life. */
export async function recordStep(
  context: PluginContext,
  memory: SessionMemory,
  messageId: string,
): Promise<void> {
  await tell(context, memory, `step/${messageId}`, { type: 'activity-seen' });
}

/** Only now is it certain that the model got our continuation, should the host die (V5). */
export async function recordAnswer(
  context: PluginContext,
  memory: SessionMemory,
  messageId: string,
  epoch: number,
): Promise<void> {
  await tell(context, memory, `observed/${epoch}`, { type: 'injection-observed', epoch });
  await recordStep(context, memory, messageId);
}

export async function recordError(
  context: PluginContext,
  memory: SessionMemory,
  { error, eventId }: SignalOf<'error'>,
): Promise<void> {
  const read = readHostError(error, context.clock.now());
  if (read.aborted) {
    await recordAbort(context, memory, eventId, 'interrupted');
    return;
  }
  const { kind, signature, message, retryAt } = read;
  await tell(context, memory, `error/${eventId}`, {
    type: 'error-occurred',
    kind,
    signature,
    message,
    retryAt,
  });
}

export async function recordAbort(
  context: PluginContext,
  memory: SessionMemory,
  eventId: string,
  how: string,
): Promise<void> {
  await tell(context, memory, `aborted/${eventId}`, { type: 'human-aborted', how });
}

export async function recordTool(
  context: PluginContext,
  memory: SessionMemory,
  { callId, tool, state, error }: SignalOf<'tool'>,
): Promise<void> {
  const call = { tool, access: toolAccess(tool) };
  // The engine counts starts and ends against each other; a call that was over at once is told as both.
  await tell(context, memory, `call/${callId}/start`, { type: 'tool-started', ...call });
  if (state !== 'running')
    await tell(context, memory, `call/${callId}/end`, { type: 'tool-ended', ...call, error });
}

/** A list that equals the last one was still written by the agent: the engine counts that, and names it (P4). */
export async function recordTodos(
  context: PluginContext,
  memory: SessionMemory,
  { todos, eventId }: SignalOf<'todos'>,
): Promise<void> {
  const changed = await context.list.read(memory.id, todos);
  if (changed !== null) {
    await openSession(context, memory);
    memory.written = await context.runtime.handle(changed);
    return;
  }
  const items = todos.map((todo) => ({ ...todo, freshId: context.identifiers.next() }));
  memory.written = await tell(context, memory, `todos/${eventId}`, {
    type: 'plan-written',
    actor: 'agent',
    items,
  });
}

export async function recordUsage(
  context: PluginContext,
  memory: SessionMemory,
  { eventId, inputTokens, outputTokens, cost }: SignalOf<'step-ended'>,
): Promise<void> {
  // The host watches the context and compacts by itself; what counts here is what was spent.
  const unknown = { contextTokens: null, contextLimit: null };
  const spent = { inputTokens, outputTokens, cost, ...unknown };
  await tell(context, memory, `usage/${eventId}`, { type: 'usage-reported', ...spent });
}

export async function recordRequest(
  context: PluginContext,
  memory: SessionMemory,
  signal: SignalOf<'permission-asked' | 'question-asked' | 'permission-answered' | 'question-answered'>,
): Promise<void> {
  const { requestId } = signal;
  const detail = `${signal.type}/${requestId}`;
  switch (signal.type) {
    case 'permission-asked':
    case 'question-asked':
      await tell(context, memory, detail, { type: signal.type, requestId });
      return;
    case 'permission-answered':
      await tell(context, memory, detail, {
        type: 'permission-answered',
        requestId,
        granted: !signal.rejected,
      });
      return;
    case 'question-answered':
      await tell(context, memory, detail, {
        type: 'question-answered',
        requestId,
        rejected: signal.rejected,
      });
  }
}

/** The settings are read anew first: what the human wants from here on is what stands there now (V2). */
export async function recordHuman(
  context: PluginContext,
  memory: SessionMemory,
  { id, text, agent }: HostMessage,
): Promise<void> {
  await renewPolicy(context);
  const canWrite = await context.calls.canWrite(agent.name);
  await tell(context, memory, `human/${id}`, humanSpoke(id, text, { ...agent, canWrite }));
}

/** A command that the human ran in the chat is a word of theirs without a text. */
export async function recordShell(
  context: PluginContext,
  memory: SessionMemory,
  { messageId }: SignalOf<'shell'>,
): Promise<void> {
  await renewPolicy(context);
  await tell(context, memory, `human/${messageId}`, humanSpoke(messageId, null, null));
}

async function renewPolicy({ policy, warn }: PluginContext): Promise<void> {
  await policy.renew();
  const problem = policy.problem();
  if (problem !== null) warn(`off, because the configuration is broken: ${problem}`);
}

function humanSpoke(messageId: string, text: string | null, agent: HumanSpoke['agent']) {
  return {
    ...({ type: 'human-spoke', messageId, turnId: messageId, text, agent } as const),
    fingerprint: null,
    policyHash: null,
  };
}
