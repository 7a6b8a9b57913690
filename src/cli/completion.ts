// Completion by Tab: prints the script for a shell, and completes the words that this
// script sends at each press (`untildone complete -- WORDS`). It loads only the command
// that is being typed.
import { type Command, type Option, settingOptions } from './command.ts';
import type { CommandTable } from './command-table.ts';
import { printLines } from './print.ts';

/**
 * The script asks a function of the package bash-completion for the words, but not every
 * machine has that package.
 */
const withoutBashCompletion = `type _get_comp_words_by_ref >/dev/null 2>&1 || _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${words[cword]}; }`;

export const completion: Command = {
  takes: '<bash|zsh|fish|powershell>',
  about: [
    'Prints a script that completes commands, options and settings when you press Tab. Put it where your shell reads it, and open a new shell:',
    'bash: untildone completion bash >> ~/.bashrc',
    'zsh: untildone completion zsh >> ~/.zshrc',
    'fish: untildone completion fish > ~/.config/fish/completions/untildone.fish',
    'PowerShell: untildone completion powershell >> $PROFILE',
  ],
  options: {},
  async run(given, io) {
    const shell = given.positional(0) ?? '';
    const { script } = await import('@bomb.sh/tab');
    const scriptLines: string[] = [];
    const { log } = console;
    console.log = (text: string) => scriptLines.push(text);
    try {
      script(shell, 'untildone', 'untildone');
    } finally {
      console.log = log;
    }
    // ~/.bashrc may be read twice in one shell, and a `readonly` variable cannot be set
    // again.
    const repeatable = scriptLines.join('\n').replaceAll(/^readonly /gmu, '');
    const bash = [
      withoutBashCompletion,
      repeatable,
      'complete -o default -F __untildone_complete untildone',
    ];
    printLines(io, shell === 'bash' ? bash : scriptLines);
    return 0;
  },
};

/**
 * Prints the completions of a line.
 * @param words the words after the program's name; the last one is not finished
 */
export async function complete(
  words: readonly string[],
  table: CommandTable,
): Promise<number> {
  const { default: tab } = await import('@bomb.sh/tab');
  for (const [name, summary] of Object.entries(table.groups)) tab.command(name, summary);
  tab.command('help', 'Explains a command').argument('command', (add) => {
    for (const { name, summary, hidden } of table.rows) if (!hidden) add(name, summary);
  });
  for (const row of table.rows.filter(({ hidden }) => !hidden)) {
    const completedCommand = tab.command(row.name, row.summary);
    const isTyped = row.name.split(' ').every((word, index) => words[index] === word);
    if (!isTyped) continue;
    const command = await row.load();
    const options: Record<string, Option> = {
      ...command.options,
      ...settingOptions(command),
      help: { summary: 'Show this.' },
    };
    const lastOption = words.at(-2)?.replace(/^--/u, '') ?? '';
    // The shell completes file names better than we would.
    const takesFile =
      command.takes === '<FILE>' && words.at(-1)?.startsWith('-') === false;
    if (takesFile || /FILE/u.test(command.options[lastOption]?.value ?? '')) {
      process.stdout.write(':0\n');
      return 0;
    }
    for (const [name, { value, summary }] of Object.entries(options)) {
      if (value === undefined) completedCommand.option(name, summary);
      else completedCommand.option(name, summary, (add) => addChoices(value, add));
    }
    for (const argument of (command.takes ?? 'word').split(' '))
      completedCommand.argument(argument, (add) => addChoices(argument, add));
  }
  tab.parse([...words]);
  return 0;
}

/** `once|session|always`, `[list|revoke]`, `<run|FILE>`. */
function addChoices(
  value: string,
  add: (word: string, description: string) => void,
): void {
  const words = value.includes('|') ? value.replace(/[[\]<>]/gu, '').split('|') : [];
  for (const word of words) if (word !== 'FILE') add(word, '');
}
