// A session appears. After a compaction or a resume the agent may have lost sight of its plan: it is given again (P23).
import type { HookContext } from './hook-context.ts';
import type { HookAnswer, HookAsks } from './hook-request.ts';
import { openingEvent } from './open-session.ts';
import { openPlanText } from './plan-text.ts';
import { addEvents } from './record-events.ts';

export async function performOpen(
  context: HookContext,
  { begins, events, givesPlan }: Extract<HookAsks, { type: 'open' }>,
): Promise<HookAnswer> {
  const { runtime, store, call } = context;
  const opening = openingEvent(context, begins ? 'open' : 'side');
  await addEvents(store, givesPlan ? events : [...events, opening]);
  if (!givesPlan) return { type: 'nothing' };
  await runtime.handle(opening);
  const text = await store.transact((reader) => openPlanText(reader, call.sessionId));
  return text === null ? { type: 'nothing' } : { type: 'tell', text };
}
