// The commands as commander knows them: it reads arguments and lays out help; the sentences are ours. Arguments are read
// whole before a command runs, so that a wrong one is a sentence and nothing has happened by then.
import {
  Command as Commander,
  CommanderError,
  Option as CommanderOption,
  type ErrorOptions,
  Help,
} from 'commander';
import { type FlagsResult, flagName, parseFlags, settingPaths } from '../core/config.ts';
import { UntildoneError } from '../core/error.ts';
import { closestName } from '../core/problem.ts';
import { type Arguments, type Command, type Option, settingOptions } from './command.ts';
import type { CommandRow, CommandTable } from './command-table.ts';
import type { Io } from './io.ts';
import { createPaint, type Paint, printLines, shown, terminalWidth } from './print.ts';

/** Longer names of options stand on a line of their own, so that what they mean keeps its room. */
const widestTerm = 28;

function helpLayout(paint: Paint): Partial<Help> {
  const { padWidth, formatItem, visibleOptions } = Help.prototype;
  return {
    minWidthToWrap: 20,
    styleTitle: (title) => paint('bold', title),
    subcommandTerm: (command) => command.name(),
    commandUsage(this: Help, command) {
      const usage = this.boxWrap(`untildone ${command.usage()}`, (this.helpWidth ?? 80) - 'Usage: '.length);
      return usage.replaceAll('\n', `\n${' '.repeat('Usage: '.length)}`);
    },
    /** What only holds commands has nothing to say about its one option. */
    visibleOptions(this: Help, command) {
      const options = visibleOptions.call(this, command);
      return command.commands.length > 0 && options.length === 1 ? [] : options;
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
  definition: Command | null = null;
  settings: FlagsResult = { ok: true, config: {}, rest: [] };

  /** `untildone plan show`. */
  get title(): string {
    return this.parent instanceof Program ? `${this.parent.title} ${this.name()}` : this.name();
  }

  override createCommand(name?: string): Program {
    return new Program(name).helpCommand(false);
  }

  /** Settings are read by the table of settings, and commander never sees them. */
  override parseOptions(argv: string[]) {
    if (this.definition?.takesSettings === undefined) return super.parseOptions(argv);
    this.settings = parseFlags(argv);
    return super.parseOptions([...this.settings.rest]);
  }

  /** All that commander finds wrong comes here. */
  override error(message: string, { code }: ErrorOptions = {}): never {
    const quoted = /'(.*)'/su.exec(message)?.[1] ?? '';
    const usage = `Usage: untildone ${this.usage()}`;
    const sentences: Readonly<Record<string, () => string>> = {
      'commander.unknownOption': () => unknownOption(this, quoted),
      'commander.unknownCommand': () => unknownCommand(this),
      'commander.excessArguments': () => tooManyArguments(this, usage),
      'commander.missingArgument': () => `${quoted} is missing. ${usage}`,
    };
    throw new UntildoneError('usage', sentences[code ?? '']?.() ?? message.replace(/^error: /u, ''));
  }
}

function unknownOption({ title, definition }: Program, written: string): string {
  const [flag = ''] = written.split('=');
  const name = flag.replace(/^-+/u, '');
  const own = [...Object.keys(definition?.options ?? {}), 'help'];
  if (own.includes(name) && flag.startsWith('--')) return `${flag} takes no value.`;
  const settings = definition?.takesSettings ? settingPaths.map((path) => flagName(path).slice(2)) : [];
  const closest = closestName(name, [...own, ...settings]);
  const there = `There is no option ${shown(flag, 40)}`;
  return closest === null ? `${there}. See ${title} --help.` : `${there}; did you mean --${closest}?`;
}

function unknownCommand({ title, args, commands }: Program): string {
  const [first = ''] = args;
  const path = title.split(' ').slice(1);
  const called = (name: string): string => `"${[...path, name].join(' ')}"`;
  const there = `There is no command ${called(shown(first, 40))}.`;
  const closest = closestName(first, namesOf(commands));
  if (closest !== null) return `${there} Did you mean ${called(closest)}?`;
  const goal = wordsIn(args);
  const isGoal = path.length === 0 && /\S\s+\S/u.test(goal);
  return isGoal
    ? `${there} To have it done, type: untildone run ${inQuotes(goal)}`
    : `${there} See ${title} --help.`;
}

function tooManyArguments({ title, args, commands, registeredArguments }: Program, usage: string): string {
  const most = registeredArguments.length;
  const extra = args[most] ?? '';
  const closest = closestName(extra, namesOf(commands));
  if (closest !== null) return `There is no "${shown(extra, 40)}" here; did you mean ${title} ${closest}?`;
  const isProse = ['goal', 'TEXT'].includes(registeredArguments[0]?.name() ?? '');
  if (isProse) return `Put the words in quotes: ${title} ${inQuotes(wordsIn(args))}`;
  return `"${shown(extra, 40)}" is one argument too many. ${usage}`;
}

/** Without what only programs start. */
const namesOf = (commands: readonly Commander[]): string[] =>
  commands.map((command) => command.name()).filter((name) => name !== 'check-runner');

/** What stands before the first option. */
function wordsIn(args: readonly string[]): string {
  const end = args.findIndex((word) => word.startsWith('-'));
  return shown(args.slice(0, end === -1 ? args.length : end).join(' '), 200);
}

/** To be copied into a shell: nothing in it may act there. */
function inQuotes(text: string): string {
  return /^[\w .,:;/@%+=-]*$/u.test(text) ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Lets commander know a command; `take` gets what was given. */
function define(program: Program, command: Command, take: (given: Arguments) => Promise<void> | void): void {
  const values = new Map<string, string[]>();
  program.definition = command;
  const takes = command.takes === undefined ? '' : `${command.takes.replace(/[<>]/gu, '')} `;
  program.usage(`${program.title.replace('untildone ', '')} ${takes}[options]`);
  if (command.takes !== undefined) program.arguments(command.takes);
  for (const [name, option] of Object.entries(command.options)) {
    program.addOption(commanderOption(name, option));
    program.on(`option:${name}`, (value: string | null | undefined) => {
      // `--reason --json` is a forgotten value; one that begins with a dash is written `--reason=-x`.
      if (value === null && option.optional !== true)
        throw new UntildoneError('usage', `--${name} needs a value: --${name}=${option.value}.`);
      values.set(name, [...(values.get(name) ?? []), value ?? '']);
    });
  }
  for (const [name, option] of Object.entries(settingOptions(command)))
    program.addOption(
      commanderOption(name, option).helpGroup('Settings (docs/configuration.md has all of them):'),
    );
  program.action(() =>
    take({
      has: (option) => values.has(option),
      text: (option) => values.get(option)?.at(-1) ?? null,
      texts: (option) => values.get(option) ?? [],
      positional: (index) => program.args[index] ?? null,
      settings: program.settings,
    }),
  );
}

/** For commander every value may be left out: it would take the option behind it for one otherwise. */
function commanderOption(name: string, { value, optional, summary }: Option): CommanderOption {
  const option = new CommanderOption(value === undefined ? `--${name}` : `--${name} [value]`, summary);
  if (value !== undefined) option.flags = `--${name} ${optional ? `[${value}]` : value}`;
  else if (option.negate) option.flags = `--[no-]${name.slice('no-'.length)}`;
  return option;
}

/** The arguments of one command, without its name. */
export function readArguments(command: Command, argv: readonly string[], name = 'COMMAND'): Arguments {
  const program = new Program('untildone').command(name) as Program;
  const read: Arguments[] = [];
  define(program, command, (given) => void read.push(given));
  program.parse([...argv], { from: 'user' });
  // Commander throws, ends the process after `--help`, or has called the action.
  return read[0] as Arguments;
}

const overview = [
  'Keeps AI agents working until their work is verifiably done.',
  'New here? `untildone demo` shows it in a minute; `untildone init claude-code` sets up your own agent.',
];
const closing = [
  'A session is named by the last or the first letters of its id. Without a name the most recent one of this directory is meant.',
  'Every command explains itself and shows an example: untildone COMMAND --help. Exit codes: 0 fine, 1 failure, 2 wrong usage or configuration.',
];

/** Runs the command that the words name, or prints the help that they ask for. */
export async function runProgram(argv: readonly string[], io: Io, table: CommandTable): Promise<number> {
  let exitCode = 0;
  const width = terminalWidth(io) ?? (Number(io.env['COLUMNS']) || 80);
  const root = new Program('untildone');
  root.configureHelp(helpLayout(createPaint(io)));
  root.exitOverride().enablePositionalOptions().helpCommand(false).helpOption('-h, --help', 'Show this.');
  root.configureOutput({
    writeOut: (text) => io.stdout.write(text),
    writeErr: (text) => io.stderr.write(text),
    getOutHelpWidth: () => width,
    getErrHelpWidth: () => width,
    getOutHasColors: () => true,
    getErrHasColors: () => true,
  });
  root.usage('COMMAND [options]').description(overview.join('\n\n'));
  root.addHelpText('after', () =>
    closing.map((line) => `\n${root.createHelp().boxWrap(line, width)}`).join('\n'),
  );
  const rows = new Map<Commander, CommandRow>();
  const load = async (_parent: Commander, child: Commander): Promise<void> => {
    const row = rows.get(child);
    if (row === undefined) return;
    const command = await row.load();
    const about = command.about.map((paragraph) => paragraph.replaceAll('\n', ' '));
    child.description([`${row.summary}.`, `For example:\n  ${row.example}`, ...about].join('\n\n'));
    define(child as Program, command, async (given) => {
      exitCode = await command.run(given, io);
    });
  };
  root.hook('preSubcommand', load);
  // A command that is named needs no other.
  const named = table.rows.filter(({ name }) => name.split(' ')[0] === argv[0]);
  for (const row of named.length > 0 ? named : table.rows) {
    const [name = '', below] = row.name.split(' ');
    const parent =
      below === undefined
        ? root
        : (root.commands.find((one) => one.name() === name) ?? addGroup(root, row, name));
    const made = parent.command(below ?? name, { hidden: row.hidden }).summary(row.summary);
    made.helpGroup(`${row.group}:`).hook('preSubcommand', load);
    rows.set(made, row);
  }
  try {
    await root.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // `untildone plan` alone: its help went to standard error.
    if (error.exitCode !== 0) return 2;
    const { docsFolder } = await import('../hosts/install/files.ts');
    printLines(io, ['', `Docs: ${docsFolder()}`]);
    return 0;
  }

  function addGroup(top: Program, { group }: CommandRow, name: string): Program {
    const summary = table.groups[name] ?? '';
    const made = top.command(name).summary(summary).description(`${summary}.`).helpGroup(`${group}:`);
    return made.usage(`${name} COMMAND [options]`).hook('preSubcommand', load);
  }
}
