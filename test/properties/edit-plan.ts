// One change of a plan that a test made up, without the rest of a life: what the tools
// get back and what became of it.
import type { PlanReply } from '../../src/core/decision.ts';
import type { EventOf } from '../../src/core/events.ts';
import { editPlan } from '../../src/core/plan-edit.ts';
import { defaultSettings, type Settings } from '../../src/core/settings.ts';
import type { State } from '../../src/core/state.ts';
import type { Todo } from '../../src/core/todo.ts';
import { aSession } from '../support/builders.ts';

type PlanEvent = EventOf<
  'todos-created' | 'plan-written' | 'todo-updated' | 'todo-completed'
>;
type Change = PlanEvent extends infer E
  ? E extends PlanEvent
    ? Omit<E, 'id' | 'sessionId' | 'at'>
    : never
  : never;

export const editedAt = 5000;

export function edit(
  plan: readonly Todo[],
  change: Change,
  settings: Settings = defaultSettings,
  session: Partial<State> = {},
) {
  const event = {
    ...change,
    id: 'turn-1',
    sessionId: 'session-1',
    at: editedAt,
  } as PlanEvent;
  const { state, commands, ledger } = editPlan(
    { ...aSession(), ...session, plan },
    event,
    {
      settings,
      goalChecks: [],
    },
  );
  const reply = commands.find((command) => command.type === 'reply')?.reply as PlanReply;
  return { state, reply, ledger };
}
