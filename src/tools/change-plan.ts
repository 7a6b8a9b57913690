// Sends one plan change through the engine and turns the plan's refusals into words for the model.
import type { PlanReply, Refusal } from '../core/commands.ts';
import type { PlanWritten, TodoCompleted, TodosCreated, TodoUpdated } from '../core/events.ts';
import type { Session } from '../core/session.ts';
import { UntildoneError } from '../core/untildone-error.ts';
import type { Handled } from '../engine/engine.ts';
import { failed, type ToolCallContext, type ToolResult } from './todo-tool.ts';

type PlanEvent = TodosCreated | PlanWritten | TodoUpdated | TodoCompleted;
/** A plan event without what the context knows. */
export type PlanChange = PlanEvent extends infer E
  ? E extends PlanEvent
    ? Omit<E, 'id' | 'sessionId' | 'at' | 'actor'>
    : never
  : never;

export interface ChangedPlan {
  readonly reply: PlanReply;
  /** As it was saved with the change. */
  readonly session: Session;
  readonly at: number;
  /** Of what this change claimed; null: it needs none. */
  readonly checks: Handled['checks'];
}

export async function changePlan(context: ToolCallContext, change: PlanChange): Promise<ChangedPlan> {
  const { engine, sessionId, actor, clock, identifiers } = context;
  const at = clock.now();
  const { reply, session, checks } = await engine.handle({
    ...change,
    id: identifiers.next(),
    sessionId,
    at,
    actor,
  });
  // Safe to go on without them: a check that was not reported is run again at the next stop attempt.
  checks?.catch(() => null);
  if (reply === null)
    throw new UntildoneError('invalid-event', 'The engine gave no reply to a change of the plan.');
  return { reply, session, at, checks };
}

/** Refused as a whole: nothing was applied and the last plan stays (T6). */
export function wholeRefusal(reply: PlanReply): ToolResult | null {
  const whole = reply.refused.find(({ index }) => index === null);
  return whole === undefined ? null : failed(whole.code, capitalised(whole.sentence));
}

export interface RefusedItem {
  /** 1-based, as people count. */
  readonly item: number;
  readonly code: string;
  readonly message: string;
}

/** Refusals that one result lists; a model that made more mistakes than these makes them all alike. */
const mostRefusals = 20;

/** Item by item, `own` first: what the tool saw itself says more than what the plan made of it. */
export function refusedItems(
  refused: readonly Refusal[],
  own: ReadonlyMap<number, string>,
): { readonly refused: readonly RefusedItem[]; readonly notices: readonly string[] } {
  const items = refused.flatMap(({ index, code, sentence }) => {
    if (index === null) return [];
    const better = own.get(index);
    return better === undefined
      ? [{ item: index + 1, code, message: capitalised(sentence) }]
      : [{ item: index + 1, code: 'invalid-item', message: capitalised(better) }];
  });
  const more = items.length - mostRefusals;
  return {
    refused: items.slice(0, mostRefusals),
    notices: more > 0 ? [`${more} more items were refused.`] : [],
  };
}

function capitalised(sentence: string): string {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
}
