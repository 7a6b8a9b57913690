// The commands as commander knows them: it reads arguments and lays out help; the
// sentences are ours. All arguments are read before a command runs: a wrong one ends with
// one sentence, and nothing has happened yet.
import {
  Command as Commander,
  CommanderError,
  Option as CommanderOption,
  type ErrorOptions,
  Help,
} from 'commander';
import { type FlagsResult, parseFlags } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import { closestName } from '../core/problem.ts';
import { type Arguments, type Command, type Option, settingOptions } from './command.ts';
import type { CommandTable } from './command-table.ts';
import type { Io } from './io.ts';
import {
  createPaint,
  escapeForTerminal,
  type Paint,
  printLines,
  terminalWidth,
} from './print.ts';

/**
 * A longer option stands on a line of its own, so that its description keeps its room.
 */
const widestTerm = 28;

function helpLayout(paint: Paint): Partial<Help> {
  const { commandUsage, padWidth, formatItem } = Help.prototype;
  return {
    minWidthToWrap: 20,
    styleTitle: (title) => paint('bold', title),
    subcommandTerm: (command) => command.name(),
    commandUsage(this: Help, command) {
      const usage = this.boxWrap(
        commandUsage.call(this, command),
        (this.helpWidth ?? 80) - 'Usage: '.length,
      );
      return usage.replaceAll('\n', `\n${' '.repeat('Usage: '.length)}`);
    },
    padWidth(this: Help, command, helper) {
      return Math.min(widestTerm, padWidth.call(this, command, helper));
    },
    formatItem(this: Help, term, width, description, helper) {
      const isWide = this.displayWidth(term) > width;
      const item = formatItem.call(this, isWide ? '' : term, width, description, helper);
      return isWide ? `  ${term}\n${item}` : item;
    },
  };
}

class Program extends Commander {
  takesSettings = false;
  passesOnWith: readonly string[] = [];
  passedOn: readonly string[] = [];
  settings: FlagsResult = { ok: true, config: {}, rest: [] };

  /** The words that call it, such as `untildone plan show`. */
  get title(): string {
    return this.parent instanceof Program
      ? `${this.parent.title} ${this.name()}`
      : this.name();
  }

  override createCommand(name?: string): Program {
    return new Program(name).helpCommand(false);
  }

  /** The table of settings reads the settings; commander never sees them. */
  override parseOptions(argv: string[]) {
    if (!this.takesSettings) return super.parseOptions(argv);
    this.settings = parseFlags(this.withoutPassedOn(argv));
    return super.parseOptions([...this.settings.rest]);
  }

  /**
   * Takes the words behind `--` away if they are for another program; otherwise they are
   * ours, even if they look like options.
   */
  private withoutPassedOn(argv: string[]) {
    const end = argv.indexOf('--');
    const ownWords = end === -1 ? argv : argv.slice(0, end);
    const isPassedOn = ownWords.some((word) =>
      this.passesOnWith.some((name) => word.split('=')[0] === `--${name}`),
    );
    if (!isPassedOn || end === -1) return argv;
    this.passedOn = argv.slice(end + 1);
    return ownWords;
  }

  /** Turns an error of commander into our sentence, with a guess at what was meant. */
  override error(message: string, { code = '' }: ErrorOptions = {}): never {
    const { title, args, parent } = this;
    const [argument] = this.registeredArguments;
    const help = this.createHelp();
    const isOption = code === 'commander.unknownOption';
    const flags = help.visibleOptions(this).map(({ long }) => long ?? '');
    const names = help.visibleCommands(this).map((command) => command.name());
    const written = (isOption ? /'([^'=]*)/u.exec(message)?.[1] : args[0]) ?? '';
    const closestWord = closestKnown(
      written,
      isOption ? flags : [...names, ...(argument?.argChoices ?? [])],
    );
    const isProse =
      ['goal', 'TEXT'].includes(argument?.name() ?? '') &&
      code === 'commander.excessArguments';
    const goal = wordsBeforeOptions(args);
    const isGoal = parent === null && /\S\s+\S/u.test(goal);
    const quotedCommand =
      isProse || isGoal ? `: ${title}${isGoal ? ' run' : ''} ${inQuotes(goal)}` : null;
    const guess = closestWord === null ? quotedCommand : ` ${closestWord}?`;
    const sentence = message
      .replace(/^error: (?:command-argument value )?(.)/su, (_all, first: string) =>
        first.toUpperCase(),
      )
      .replace(/ is invalid for argument .*?\./u, ' is not known here.')
      .replace(/\.?$/u, '.');
    const hint = guess === null ? `See ${title} --help.` : `Did you mean${guess}`;
    throw new UntildoneError('usage', `${escapeForTerminal(sentence, 200)} ${hint}`);
  }
}

/**
 * The known name that was probably meant; the beginning of a name counts as the name.
 * Null: no guess, since a wrong one is worse than none.
 */
function closestKnown(written: string, known: readonly string[]): string | null {
  if (known.includes(written)) return null;
  const begun =
    written.length > 2 ? known.find((name) => name.startsWith(written)) : undefined;
  // Finds claude-code for `cluade`.
  const isNear = (name: string) =>
    closestName(written, [name.slice(0, written.length)]) !== null;
  return (
    begun ??
    closestName(written, known) ??
    (written.length > 4 ? known.find(isNear) : null) ??
    null
  );
}

/** The words before the first option. */
function wordsBeforeOptions(args: readonly string[]): string {
  const end = args.findIndex((word) => word.startsWith('-'));
  return escapeForTerminal(args.slice(0, end === -1 ? args.length : end).join(' '), 200);
}

/** Quotes a text for a shell, so that copying it is safe. */
function inQuotes(text: string): string {
  return /^[\w .,:;/@%+=-]*$/u.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Tells commander about a command. Returns the arguments, which are empty until commander
 * has read them.
 */
function defineCommand(program: Program, command: Command): Arguments {
  const values = new Map<string, string[]>();
  program.takesSettings = command.takesSettings !== undefined;
  program.passesOnWith = command.passesOnWith ?? [];
  if (command.takes !== undefined) program.arguments(command.takes);
  for (const argument of program.registeredArguments) {
    const choices = argument.name().split('|');
    // `run|FILE` takes any file, so it is not limited to choices.
    if (choices.length > 1 && !choices.includes('FILE')) argument.choices(choices);
  }
  for (const [name, option] of Object.entries(command.options)) {
    program.addOption(commanderOption(name, option));
    program.on(`option:${name}`, (value: string | null | undefined) => {
      // `--reason --json` means that the value was forgotten; a value that begins with a
      // dash is written `--reason=-x`.
      if (value === null && option.optional !== true)
        throw new UntildoneError(
          'usage',
          `--${name} needs a value: --${name}=${option.value}.`,
        );
      values.set(name, [...(values.get(name) ?? []), value ?? '']);
    });
  }
  for (const [name, option] of Object.entries(settingOptions(command)))
    program.addOption(
      commanderOption(name, option, true).helpGroup(
        'Settings (docs/configuration.md has all of them):',
      ),
    );
  // The command itself runs only after all arguments are read.
  program.action(() => {});
  return {
    has: (option) => values.has(option),
    text: (option) => values.get(option)?.at(-1) ?? null,
    texts: (option) => values.get(option) ?? [],
    positional: (index) => program.args[index] ?? null,
    get passedOn() {
      return program.passedOn;
    },
    get settings() {
      return program.settings;
    },
  };
}

/**
 * An option for commander. Every value is optional there: commander would otherwise take
 * the next option for a missing value.
 */
function commanderOption(
  name: string,
  { value, optional, summary, excludes = [] }: Option,
  isSetting = false,
): CommanderOption {
  const option = new CommanderOption(
    value === undefined ? `--${name}` : `--${name} [value]`,
    summary,
  );
  if (value !== undefined) option.flags = `--${name} ${optional ? `[${value}]` : value}`;
  // A setting can be switched on or off.
  else if (option.negate && isSetting)
    option.flags = `--[no-]${name.slice('no-'.length)}`;
  return option.conflicts([...excludes]);
}

/** Reads the arguments of one command, without the command's own name. */
export function readArguments(
  command: Command,
  argv: readonly string[],
  name = 'COMMAND',
): Arguments {
  const program = new Program('untildone').command(name) as Program;
  const given = defineCommand(program, command);
  program.parse([...argv], { from: 'user' });
  return given;
}

const overview = [
  'Keeps AI agents working until their work is verifiably done.',
  'New here? `untildone demo` shows it in a minute; `untildone init claude-code` sets up your own agent.',
];
const helpEnd = [
  'A session is named by the last or the first letters of its id. Without a name the most recent one of this directory is meant.',
  'Every command explains itself and shows an example: untildone COMMAND --help. Exit codes: 0 fine, 1 failure, 2 wrong usage or configuration; `run` has one for each outcome.',
];

/** Runs the command that the words name, or prints the help that they ask for. */
export async function runProgram(
  argv: readonly string[],
  io: Io,
  table: CommandTable,
): Promise<number> {
  let run = async (): Promise<number> => 0;
  const width = terminalWidth(io) ?? (Number(io.env['COLUMNS']) || 80);
  const root = new Program('untildone');
  root.configureHelp(helpLayout(createPaint(io)));
  root
    .exitOverride()
    .enablePositionalOptions()
    .helpCommand(false)
    .showSuggestionAfterError(false);
  root.helpOption('-h, --help', 'Show this.');
  root.configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
    getOutHelpWidth: () => width,
    getErrHelpWidth: () => width,
    getOutHasColors: () => true,
    getErrHasColors: () => true,
  });
  root.description(overview.join('\n\n'));
  root.addHelpText('after', () =>
    helpEnd.map((line) => `\n${root.createHelp().boxWrap(line, width)}`).join('\n'),
  );
  // Only the command that is named is loaded, and with it only its own file.
  const namedRows = table.rows.filter(({ name }) => name.split(' ')[0] === argv[0]);
  const calledRow = [argv.slice(0, 2).join(' '), argv[0]]
    .map((words) => namedRows.find(({ name }) => name === words))
    .find((row) => row !== undefined);
  for (const row of namedRows.length > 0 ? namedRows : table.rows) {
    const { group, summary, example, hidden } = row;
    const [name = '', subcommandName] = row.name.split(' ');
    const existingGroup = root.commands.find((one) => one.name() === name);
    const addGroup = () =>
      root.command(name).helpGroup(`${group}:`).description(`${table.groups[name]}.`);
    const parent: Commander =
      subcommandName === undefined ? root : (existingGroup ?? addGroup());
    const subcommand = parent
      .command(subcommandName ?? name, { hidden })
      .summary(summary)
      .helpGroup(`${group}:`);
    if (row !== calledRow) continue;
    const command = await row.load();
    const about = command.about.map((paragraph) => paragraph.replaceAll('\n', ' '));
    subcommand.description(
      [`${summary}.`, `For example:\n  ${example}`, ...about].join('\n\n'),
    );
    const given = defineCommand(subcommand as Program, command);
    run = () => command.run(given, io);
  }
  try {
    root.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // `untildone plan` alone: commander has printed its help to standard error.
    if (error.exitCode !== 0) return 2;
    const { packageFolder } = await import('../hosts/install/files.ts');
    printLines(io, ['', `Docs: ${packageFolder('docs')}`]);
    return 0;
  }
  return run();
}
