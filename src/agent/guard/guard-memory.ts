// What the guard remembers between the steps of one turn: how firm the last reminder was, the plan at that moment,
// and the tool calls since. The caller owns it and describes the plan as a string; nothing here reads a plan.

/** The firmest reminder there are words for. */
const lastLevel = 3;

export interface GuardMemoryState {
  readonly reminderLevel: number;
  readonly planSnapshot: string | null;
  readonly toolCalls: number;
}

export class GuardMemory {
  #reminderLevel: number;
  #planSnapshot: string | null;
  #toolCalls: number;

  /** A run that goes on after a crash gives back the state it had saved. */
  constructor(state: GuardMemoryState = { reminderLevel: 0, planSnapshot: null, toolCalls: 0 }) {
    this.#reminderLevel = state.reminderLevel;
    this.#planSnapshot = state.planSnapshot;
    this.#toolCalls = state.toolCalls;
  }

  get state(): GuardMemoryState {
    return {
      reminderLevel: this.#reminderLevel,
      planSnapshot: this.#planSnapshot,
      toolCalls: this.#toolCalls,
    };
  }

  isUnchanged(plan: string): boolean {
    return this.#planSnapshot === plan;
  }

  /** I3: firmer only if the plan is as it was at the last reminder; the first reminder is always the mild one. */
  nextLevel(plan: string): number {
    if (this.#reminderLevel === 0) return 1;
    return this.isUnchanged(plan) ? Math.min(lastLevel, this.#reminderLevel + 1) : this.#reminderLevel;
  }

  reminded(level: number, plan: string): void {
    this.#reminderLevel = level;
    this.#planSnapshot = plan;
  }

  countToolCalls(calls: number): void {
    this.#toolCalls += calls;
  }

  /** I4: every exit. A plan that could not be read (null) equals no other, so that nothing escalates by mistake. */
  reset(latestPlan: string | null): void {
    this.#reminderLevel = 0;
    this.#toolCalls = 0;
    this.#planSnapshot = latestPlan;
  }
}
