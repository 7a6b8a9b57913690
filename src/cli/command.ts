// The shape of a command, and how its arguments are read. A wrong argument is a sentence, and nothing has happened
// by then: arguments are read whole before a command runs.
import { parseArgs } from 'node:util';
import { type FlagsResult, flagName, parseFlags, settingPaths } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import { closestName } from '../core/problem.ts';
import type { Io } from './io.ts';
import { shown } from './print.ts';

export interface Option {
  /** What stands for the value in the help; absent: the option takes none. */
  readonly value?: string;
  /** The value may be left out: `--resume` and `--resume SESSION`. */
  readonly optional?: true;
  readonly summary: string;
}

export interface Command {
  readonly usage: string;
  /** Paragraphs for `--help`. */
  readonly about: readonly string[];
  readonly options: Readonly<Record<string, Option>>;
  /** How many positional arguments it takes at least and at most. */
  readonly positionals: readonly [least: number, most: number];
  /** Takes `--max-continuations=20` and the like. */
  readonly takesSettings?: true;
  /** Returns the exit code. */
  run(given: Arguments, io: Io): Promise<number>;
}

export interface Arguments {
  has(option: string): boolean;
  text(option: string): string | null;
  /** Every value of an option that was given more than once. */
  texts(option: string): readonly string[];
  positional(index: number): string | null;
  readonly settings: FlagsResult;
}

const noSettings: FlagsResult = { ok: true, config: {}, rest: [] };

export function readArguments(command: Command, argv: readonly string[]): Arguments {
  const settings = command.takesSettings ? parseFlags(argv) : noSettings;
  const rest = command.takesSettings ? settings.rest : argv;
  const { tokens, positionals } = parseArgs({
    args: withoutSwallowing(command, rest),
    options: optionTypes(command),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string>();
  const all = new Map<string, string[]>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const value = readOption(command, token);
    values.set(token.name, value);
    all.set(token.name, [...(all.get(token.name) ?? []), value]);
  }
  const [least, most] = command.positionals;
  if (positionals.length > most) throw usage(command, `"${shown(positionals[most] ?? '', 40)}" is too much`);
  if (positionals.length < least) throw usage(command, 'Something is missing');
  return {
    has: (option) => values.has(option),
    text: (option) => values.get(option) ?? null,
    texts: (option) => all.get(option) ?? [],
    positional: (index) => positionals[index] ?? null,
    settings,
  };
}

/** `--resume --json`: an option whose value is left out must not take the option behind it for one. */
function withoutSwallowing({ options }: Command, argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, index) => {
    const isOptional = word.startsWith('--') && options[word.slice(2)]?.optional === true;
    const isLeftOut = argv[index + 1]?.startsWith('-') === true;
    return isOptional && isLeftOut && (end === -1 || index < end) ? `${word}=` : word;
  });
}

function optionTypes({ options }: Command): Record<string, { type: 'string' | 'boolean' }> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string' },
    ]),
  );
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function readOption(command: Command, { name, rawName, value, inlineValue }: OptionToken): string {
  const option = Object.hasOwn(command.options, name) ? command.options[name] : undefined;
  if (option === undefined) {
    const settings = command.takesSettings ? settingPaths.map((path) => flagName(path).slice(2)) : [];
    const closest = closestName(name, [...Object.keys(command.options), 'help', ...settings]);
    const hint = closest === null ? '' : `; did you mean --${closest}?`;
    throw usage(command, `There is no option ${shown(rawName, 40)}${hint}`);
  }
  if (option.value === undefined) {
    if (value !== undefined) throw usage(command, `--${name} takes no value`);
    return '';
  }
  if (option.optional && (value === undefined || (!inlineValue && value.startsWith('-')))) return '';
  // `--reason --json` is a forgotten value; one that starts with a dash is written `--reason=-x`.
  const forgotten = value === undefined || (!inlineValue && value.startsWith('-'));
  if (forgotten) throw usage(command, `--${name} needs a value: --${name}=${option.value}`);
  return value;
}

function usage(command: Command, problem: string): UntildoneError {
  const stop = problem.endsWith('?') ? '' : '.';
  return new UntildoneError('usage', `${problem}${stop} Usage: untildone ${command.usage}`);
}

export const jsonOption = { json: { summary: 'Print one JSON document instead of text.' } } as const;

export const plainOption = { plain: { summary: 'Print lines instead of drawing the live view.' } } as const;
