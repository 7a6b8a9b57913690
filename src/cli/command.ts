// The shape of a command, as data. program.ts makes from it what commander parses and
// explains, completion.ts what a shell completes.
import { type FlagsResult, flagsFor } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import type { Setting } from '../core/settings.ts';
import type { Io } from './io.ts';

export interface Option {
  /** The name of the value in the help. Absent: the option takes no value. */
  readonly value?: string;
  /** The value may be left out: `--resume` and `--resume SESSION`. */
  readonly optional?: true;
  /** Options that cannot be given together with it. */
  readonly excludes?: readonly string[];
  readonly summary: string;
}

export interface Command {
  /**
   * Its arguments, as commander writes them: `[session]`, `<FILE>`; choices have a bar
   * between them. Absent: it takes none.
   */
  readonly takes?: string;
  /** Paragraphs for `--help`, which breaks their lines itself. */
  readonly about: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** With one of these options, the words behind `--` are for another program. */
  readonly passesOnWith?: readonly string[];
  /** Takes `--max-continuations=20` and the like; its help lists those that act there. */
  readonly takesSettings?: SettingScope;
  /** Returns the exit code. */
  run(given: Arguments, io: Io): Promise<number>;
}

type SettingScope = Setting['actsIn'][number] | 'everywhere';

export interface Arguments {
  has(option: string): boolean;
  text(option: string): string | null;
  /** Every value of an option that was given more than once. */
  texts(option: string): readonly string[];
  positional(index: number): string | null;
  /** The words behind `--`, for another program. */
  readonly passedOn: readonly string[];
  readonly settings: FlagsResult;
}

/** For commands that print a stream of run events. */
export const eventsOption = {
  json: { summary: 'Print one JSON event a line (NDJSON); see docs/run-events.md.' },
} as const;
export const jsonOption = {
  json: { summary: 'Print one JSON document instead of text.' },
} as const;

export const plainOption = {
  plain: { summary: 'Print lines instead of drawing the live view.' },
} as const;

/** A whole number of at least 1; null: the option was not given. */
export function numberOf(given: Arguments, option: string): number | null {
  const text = given.text(option);
  if (text === null) return null;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UntildoneError('usage', `--${option} must be a whole number of at least 1.`);
}

/** The settings that its help lists. */
export function settingOptions({
  takesSettings,
  options,
}: Command): Readonly<Record<string, Option>> {
  if (takesSettings === undefined) return {};
  const flags = flagsFor(takesSettings).filter(
    ({ name }) => !Object.hasOwn(options, name),
  );
  return Object.fromEntries(flags.map(({ name, ...option }) => [name, option]));
}
