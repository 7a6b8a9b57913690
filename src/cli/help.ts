// The help texts: all commands at a glance, and one command in full.
import { docsFolder } from '../hosts/install/files.ts';
import type { Command } from './command.ts';
import { type CommandRow, commandTable } from './command-table.ts';
import { fields } from './print.ts';

export function overview(): string[] {
  return [
    'untildone keeps AI agents working until their work is verifiably done.',
    '',
    'Usage: untildone COMMAND [session] [options]',
    '',
    ...fields(
      commandTable.filter(({ hidden }) => !hidden).map(({ name, summary }) => [name, summary] as const),
    ),
    '',
    'A session is named by the first letters of its id; without a name it is the most recent one of this directory.',
    'Every command knows --help. Exit codes: 0 fine, 1 failure, 2 wrong usage or configuration.',
  ];
}

const settingsRow = [
  '--SETTING VALUE',
  'Every setting is a flag, such as --tools-shell-allow "npm test"; see docs/configuration.md.',
] as const;

export function commandHelp({ summary }: CommandRow, command: Command): string[] {
  const options = Object.entries(command.options).map(
    ([name, { value, summary: meaning }]) =>
      [value === undefined ? `--${name}` : `--${name} ${value}`, meaning] as const,
  );
  const settings = command.takesSettings ? [settingsRow] : [];
  const about = command.about.flatMap((paragraph) => ['', paragraph]);
  const rows = fields([...options, ...settings, ['--help', 'Show this.']]);
  const namesDocs = [...command.about, ...rows].some((text) => text.includes('docs/'));
  return [
    `${summary}.`,
    '',
    `Usage: untildone ${command.usage}`,
    ...about,
    '',
    ...rows,
    ...(namesDocs ? ['', `docs/ is ${docsFolder()}`] : []),
  ];
}
