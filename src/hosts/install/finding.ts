// One thing that `doctor` looked at: what it saw, and the command that mends it.

export interface Finding {
  /** Stable, for programs: `hooks`, `store`. */
  readonly name: string;
  /** `note`: works, and is worth knowing. `broken`: does not work, or not as promised. */
  readonly level: 'ok' | 'note' | 'broken';
  readonly sentence: string;
  /** A command or an instruction; null: there is nothing to do. */
  readonly mend: string | null;
}

export function ok(name: string, sentence: string): Finding {
  return { name, level: 'ok', sentence, mend: null };
}

export function note(name: string, sentence: string, mend: string | null = null): Finding {
  return { name, level: 'note', sentence, mend };
}

export function broken(name: string, sentence: string, mend: string): Finding {
  return { name, level: 'broken', sentence, mend };
}
