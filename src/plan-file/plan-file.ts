// What a plan file says, once it is read: todos with the places of their boxes, and the checks of the goal.
// Values only; nothing here reads Markdown or touches a file.
import type { Priority } from '../core/todo.ts';

export interface PlanItem {
  /** As written in the file, Markdown included, on one line. */
  readonly title: string;
  /** A `context:` line, else the titles of the list items above it, outermost first; null: there is neither. */
  readonly context: string | null;
  /** A `done when:` line. */
  readonly completionCriteria: string | null;
  /** null: the file does not say. */
  readonly priority: Priority | null;
  readonly checked: boolean;
  /** A `blocked:` line. */
  readonly blocked: string | null;
  /** Ids of the checks of its `check:` lines, see check-line.ts. */
  readonly checks: readonly string[];
  /** Where the one character between the brackets stands, in UTF-16 units from the start of the text. */
  readonly boxOffset: number;
  /** 1-based. */
  readonly line: number;
}

export interface PlanFile {
  readonly title: string | null;
  /** Ids of the checks of the goal, from the front matter. */
  readonly goalChecks: readonly string[];
  /** In the order of the document. */
  readonly items: readonly PlanItem[];
  /** What was probably meant otherwise; the file is used all the same. */
  readonly warnings: readonly PlanFileProblem[];
}

export interface PlanFileProblem {
  /** 1-based; null: the file as a whole. */
  readonly line: number | null;
  readonly sentence: string;
}

export type ParsedPlanFile =
  | { readonly ok: true; readonly plan: PlanFile }
  | { readonly ok: false; readonly problems: readonly PlanFileProblem[] };

/** `line 12: …`, or the bare sentence. */
export function problemText({ line, sentence }: PlanFileProblem): string {
  return line === null ? sentence : `line ${line}: ${sentence}`;
}
