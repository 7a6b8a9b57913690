// The only ways in which commands write: lines of safe text, or one JSON document on one line.
// Whatever came from a todo, a host or a payload passes through `shown` before it meets a terminal.
import { styleText } from 'node:util';
import { escapeJsonLine, oneLine, stripTerminalControls } from '../core/safe-text.ts';
import type { Io } from './io.ts';
import { wrapLine } from './wrap-line.ts';

/** Wide enough for an honest title on a wide terminal. */
const longestText = 120;

/** A stranger's text on one line, without the power to act on a terminal. */
export function shown(text: string, maxLength: number = longestText): string {
  return oneLine(text, maxLength);
}

export function printLines(io: Io, lines: readonly string[]): void {
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** As `printLines`, but broken between words on a terminal that is too narrow. */
export function printWrapped(io: Io, lines: readonly string[]): void {
  const width = terminalWidth(io);
  printLines(
    io,
    lines.flatMap((line) => wrapLine(line, width)),
  );
}

/** Null: no terminal, or one that does not say: some say 0. */
export function terminalWidth({ isTTY }: Pick<Io, 'isTTY'>): number | null {
  return isTTY ? process.stdout.columns || null : null;
}

export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${escapeJsonLine(JSON.stringify(value))}\n`);
}

/** Warnings and failures go to standard error, so that output can be piped. */
export function complain(io: Io, sentence: string, width: number | null = null): void {
  const lines = wrapLine(`untildone: ${stripTerminalControls(sentence)}`, width);
  io.stderr.write(`${lines.join('\n')}\n`);
}

/** What was asked for is not done; returns the exit code that says so. */
export function refuse(io: Io, sentence: string): number {
  complain(io, sentence, process.stderr.isTTY === true ? terminalWidth(io) : null);
  return 1;
}

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

export type Paint = (style: Style, text: string) => string;

/** No colour without a terminal, nor where NO_COLOR is set to anything (https://no-color.org). */
export function createPaint({ isTTY, env }: Io): Paint {
  const wanted = isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return wanted ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}

/** Left column padded, so that the right ones stand below each other. */
export function fields(rows: readonly (readonly [string, string] | null)[], indent = '  '): string[] {
  const present = rows.filter((row) => row !== null);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${indent}${name.padEnd(width)}  ${value}`);
}

/** `1 todo`, `2 todos`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** The one way in which a command that looks answers: a document for programs, or lines for people. Exit code 0. */
export function tell(io: Io, asJson: boolean, json: unknown, lines: () => readonly string[]): number {
  if (asJson) printJson(io, json);
  else printWrapped(io, lines());
  return 0;
}
