// What `verify` runs, whoever named it: distinct checks, each with what it is for. Values only; nothing is run here.
import type { Frozen } from '../../checks/git.ts';
import type { CheckSpec } from '../../core/check-specs.ts';
import type { Session } from '../../core/state.ts';

interface CheckedTodo {
  /** null: a todo of a file has none. */
  readonly id: string | null;
  readonly title: string;
}

export interface WantedCheck {
  readonly id: string;
  /** null: the policy knows nothing under this name. */
  readonly spec: CheckSpec | null;
  readonly forGoal: boolean;
  readonly todos: readonly CheckedTodo[];
}

export interface VerifyTarget {
  readonly source: 'session' | 'plan-file' | 'configuration';
  /** null: no session, and so no store either. */
  readonly session: Session | null;
  /** The plan file as it was named. */
  readonly file: string | null;
  readonly directory: string;
  readonly wanted: readonly WantedCheck[];
  /** What its files are looked at by. */
  readonly frozen: Partial<Frozen>;
  /** Todos that neither a check of their own nor one on the goal covers. */
  readonly uncovered: number;
  /** Files that say what is checked, changed since the human's message. */
  readonly edited: readonly string[];
  /** Files that are ignored since the human's message. */
  readonly hidden: readonly string[];
}

interface NamedChecks {
  readonly goalChecks: readonly string[];
  readonly todos: readonly (CheckedTodo & { readonly checks: readonly string[] })[];
  readonly specOf: (id: string) => CheckSpec | undefined;
}

/** Each check once: those on the goal first, then those of todos, in the order of the plan. */
export function collectChecks({
  goalChecks,
  todos,
  specOf,
}: NamedChecks): Pick<VerifyTarget, 'wanted' | 'uncovered'> {
  const byCheck = new Map<string, CheckedTodo[]>(goalChecks.map((check) => [check, []]));
  for (const { id, title, checks } of todos) {
    for (const check of new Set(checks)) {
      const known = byCheck.get(check);
      if (known === undefined) byCheck.set(check, [{ id, title }]);
      else known.push({ id, title });
    }
  }
  const wanted = [...byCheck].map(([id, covered]) => ({
    id,
    spec: specOf(id) ?? null,
    forGoal: goalChecks.includes(id),
    todos: covered,
  }));
  const uncovered = goalChecks.length > 0 ? 0 : todos.filter(({ checks }) => checks.length === 0).length;
  return { wanted, uncovered };
}
