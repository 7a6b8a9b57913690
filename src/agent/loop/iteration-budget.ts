// How many steps with tool calls may follow each other before the system takes a look (S2): a base, which moves on
// with the work while the plan has open todos, up to a cap. Counted from the last continuation.

export interface IterationLimits {
  readonly base: number;
  readonly extend: number;
  readonly cap: number;
}

export interface IterationBudget {
  /** Counts a step; true: the next one must wait for a decision. */
  isSpentBy(openTodos: number): boolean;
  /** A continuation was sent: the count starts anew. */
  renew(): void;
}

export function createIterationBudget({ base, extend, cap }: IterationLimits): IterationBudget {
  let iterations = 0;
  let limit = Math.min(base, cap);
  return {
    isSpentBy(openTodos) {
      iterations += 1;
      // What is left of the extension stays when the plan is drained: the agent has an answer to give.
      if (openTodos > 0) limit = Math.max(limit, Math.min(cap, iterations + extend));
      return iterations >= limit;
    },
    renew() {
      iterations = 0;
      limit = Math.min(base, cap);
    },
  };
}
