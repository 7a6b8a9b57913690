// Keeps what the store knows of a session in step with what the program says: kind, agent, and who runs it now.
import type { AgentDescriptor, SessionDescriptor } from '../../core/events.ts';
import type { Session } from '../../core/session.ts';
import { type EnforcerContext, storedId, tell } from './enforcer-context.ts';

/** Written only when it differs; always when this process hears of the session for the first time. */
export async function openSession(
  context: EnforcerContext,
  sessionId: string,
  agent: AgentDescriptor | null,
): Promise<void> {
  const memory = context.memories.of(sessionId);
  const descriptor = await describe(context, sessionId);
  const text = JSON.stringify([descriptor, agent]);
  if (memory.opened === text) return;
  if (memory.opened === null) await endOldWaits(context, sessionId);
  await tell(context, sessionId, { type: 'session-opened', descriptor, agent });
  memory.opened = text;
}

/**
 * A process that died while it recovered or compacted does neither any more. The stop that waited for it goes with it:
 * the first word of the program may be the human's, who must not be talked over.
 */
async function endOldWaits(context: EnforcerContext, sessionId: string): Promise<void> {
  const { recovering = false, compacting = false } = (await stored(context, sessionId))?.waits ?? {};
  if (recovering || compacting) await tell(context, sessionId, { type: 'session-closed' });
  if (recovering) await tell(context, sessionId, { type: 'recovery-ended' });
  if (compacting) await tell(context, sessionId, { type: 'compaction-ended', shrunk: false });
}

/** Agent, model and variant of the human's last message; before one is known, as the store has them. null: as it was. */
export async function agentOf(context: EnforcerContext, sessionId: string): Promise<AgentDescriptor | null> {
  const { options, program, memories } = context;
  const { asked } = memories.of(sessionId);
  const known = asked === null ? (await stored(context, sessionId))?.agent : undefined;
  const {
    agent = known?.name ?? null,
    model = known?.model ?? null,
    variant = known?.variant ?? null,
  } = asked ?? {};
  if (options.agentInfo === undefined)
    return asked === null || (agent === null && model === null)
      ? null
      : { name: agent, canWrite: 'unknown', model, variant };
  const info = await program.agentInfo(sessionId, agent);
  return { name: agent ?? info.name, canWrite: info.canWrite, model, variant };
}

async function stored(context: EnforcerContext, sessionId: string): Promise<Session | null> {
  return context.store.read(async (reader) => reader.session(storedId(context, sessionId)));
}

async function describe(context: EnforcerContext, sessionId: string): Promise<SessionDescriptor> {
  const { options, program } = context;
  return {
    host: context.name,
    instance: context.instance(),
    mode: 'told',
    kind: await program.kind(sessionId),
    parentId: null,
    directory: options.directory ?? null,
    headless: options.headless ?? false,
    immediate: false,
    everyAgentWrites: options.agentInfo === undefined,
    seesTools: options.seesTools ?? true,
    tools: { pause: options.tools?.pause ?? null, verify: options.tools?.verify ?? null },
  };
}
