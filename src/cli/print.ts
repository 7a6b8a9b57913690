// The only ways in which commands write: lines of safe text, or one JSON document on one
// line. Every text of a todo, a host or a payload must pass through `shown` before it
// reaches a terminal. A failure is one sentence.
import { inspect, stripVTControlCharacters, styleText } from 'node:util';
import displayWidth from 'fast-string-width';
import { type ErrorCode, messageOf, UntildoneError } from '../core/error.ts';
import { escapeJsonLine, oneLine, stripTerminalControls } from '../core/safe-text.ts';
import type { Io } from './io.ts';

/** Wide enough for an honest title on a wide terminal. */
const longestText = 120;

/** Puts a foreign text on one line and removes its power to control a terminal. */
export function escapeForTerminal(text: string, maxLength: number = longestText): string {
  return oneLine(text, maxLength);
}

export function printLines(io: Io, lines: readonly string[]): void {
  io.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/**
 * Prints like `printLines`, but breaks lines between words if the terminal is too narrow.
 */
export function printWrapped(io: Io, lines: readonly string[]): void {
  const fitting = lines.flatMap((line) => wrapLine(line, terminalWidth(io)));
  printLines(io, fitting);
}

/** Null: there is no terminal, or it does not say its width (some say 0). */
export function terminalWidth({ isTTY }: Pick<Io, 'isTTY'>): number | null {
  return isTTY ? process.stdout.columns || null : null;
}

export function printJson(io: Io, value: unknown): void {
  io.stdout.write(`${escapeJsonLine(JSON.stringify(value))}\n`);
}

/** Warnings and failures go to standard error, so that output can be piped. */
export function printComplaint(
  io: Io,
  sentence: string,
  width: number | null = null,
): void {
  const lines = wrapLine(`untildone: ${stripTerminalControls(sentence)}`, width);
  io.stderr.write(`${lines.join('\n')}\n`);
}

/** Says why the command did not do what was asked; returns the exit code for that. */
export function printRefusal(io: Io, sentence: string): number {
  printComplaint(io, sentence, process.stderr.isTTY === true ? terminalWidth(io) : null);
  return 1;
}

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/**
 * No colour without a terminal, nor if NO_COLOR is set to anything
 * (https://no-color.org).
 */
export function hasColor({ isTTY, env }: Pick<Io, 'isTTY' | 'env'>): boolean {
  return isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

export type Paint = ReturnType<typeof createPaint>;

export function createPaint(where: Pick<Io, 'isTTY' | 'env'> | boolean) {
  const isColored = typeof where === 'boolean' ? where : hasColor(where);
  return (style: Style, text: string): string =>
    isColored && text !== '' ? styleText(style, text, { validateStream: false }) : text;
}

/** Lines with a padded left column, so that the right ones stand below each other. */
export function formatFields(
  rows: readonly (readonly [string, string] | null)[],
  indent = '  ',
): string[] {
  const present = rows.filter((row) => row !== null);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${indent}${name.padEnd(width)}  ${value}`);
}

/** `1 todo`, `2 todos`. */
export function formatCount(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/**
 * Prints a command's answer: a document for programs, or lines for people. Returns exit
 * code 0.
 */
export function printResult(
  io: Io,
  asJson: boolean,
  json: unknown,
  lines: () => readonly string[],
): number {
  if (asJson) printJson(io, json);
  else printWrapped(io, lines());
  return 0;
}

const margin = /^ *[│|] /u;
/** If there is less room than this to the right of a column, the column is ignored. */
const leastRoom = 24;

/**
 * Breaks a line between words if the terminal is too narrow for it. The following lines
 * stand below its column or behind its margin. Words are never broken: people copy ids
 * and paths. `width` null: there is no terminal, and the line stays as it is.
 */
export function wrapLine(line: string, width: number | null): string[] {
  if (width === null || displayWidth(line) <= width) return [line];
  const lead = leadOf(stripVTControlCharacters(line), width);
  const lines: string[] = [];
  let current = '';
  let isFresh = true;
  for (const [, gap = '', word = ''] of line.matchAll(/(\s*)(\S+)/gu)) {
    const next = `${current}${gap}${word}`;
    if (isFresh || displayWidth(next) <= width) current = next;
    else {
      lines.push(current);
      current = `${lead}${word}`;
    }
    // The margin and the first column alone do not make a line.
    isFresh = displayWidth(current) <= displayWidth(lead);
  }
  return [...lines, current];
}

/** Wraps a question and adds a blank for the answer. */
export function wrapPrompt(prompt: string, width: number | null): string {
  return `${wrapLine(prompt.trimEnd(), width === null ? null : width - 2).join('\n')} `;
}

function leadOf(plain: string, width: number): string {
  const [bar] = margin.exec(plain) ?? [];
  if (bar !== undefined) return bar;
  const columns = [...plain.matchAll(/\S {2,}(?=\S)/gu)]
    .map(({ index, 0: gap }) => displayWidth(plain.slice(0, index + gap.length)))
    .filter((column) => column <= width - leastRoom);
  const indent = plain.length - plain.trimStart().length;
  return ' '.repeat(columns.at(-1) ?? (indent === 0 ? 0 : indent + 2));
}

const usageCodes: readonly ErrorCode[] = ['usage', 'invalid-config'];

/**
 * Says what went wrong and returns the exit code: 2 for wrong usage or configuration,
 * otherwise 1.
 */
export function reportFailure(error: unknown, io: Io): number {
  const wantsStack = (io.env['UNTILDONE_DEBUG'] ?? '') !== '';
  const isOurs = error instanceof UntildoneError;
  const hint = wantsStack ? '' : ' (set UNTILDONE_DEBUG=1 for the stack)';
  const [first = ''] = messageOf(error).split('\n');
  printComplaint(
    io,
    isOurs ? error.message : `Something unexpected happened: ${first}${hint}`,
  );
  if (wantsStack) io.stderr.write(`${stripTerminalControls(inspect(error))}\n`);
  return isOurs && usageCodes.includes(error.code) ? 2 : 1;
}
