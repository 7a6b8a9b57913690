// Turns what went wrong into one sentence and an exit code: 2 for wrong usage or configuration, else 1.

import { type ErrorCode, UntildoneError } from '../core/error.ts';
import { stripTerminalControls } from '../core/safe-text.ts';
import type { Io } from './io.ts';
import { complain } from './print.ts';

const usageCodes: readonly ErrorCode[] = ['usage', 'invalid-config'];

export function reportFailure(error: unknown, io: Io): number {
  const wantsStack = (io.env['UNTILDONE_DEBUG'] ?? '') !== '';
  const isOurs = error instanceof UntildoneError;
  const hint = wantsStack ? '' : ' (set UNTILDONE_DEBUG=1 for the stack)';
  complain(io, isOurs ? error.message : `Something unexpected happened: ${firstLine(error)}${hint}`);
  if (wantsStack) io.stderr.write(`${stripTerminalControls(stackOf(error))}\n`);
  return isOurs && usageCodes.includes(error.code) ? 2 : 1;
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? '';
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}
