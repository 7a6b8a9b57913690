// Questions to the human at this terminal, and what their answers mean. A bare Enter, the end of the input and Ctrl-C
// leave a question open: a yes and a no are both said in so many letters.
import { createInterface } from 'node:readline/promises';
import type { PermissionChoice } from '../agent/agent-event.ts';
import type { HumanAnswer } from '../checks/checker.ts';
import { UntildoneError } from '../core/error.ts';
import { oneLine } from '../core/safe-text.ts';
import type { Io } from './io.ts';
import { wrapPrompt } from './print.ts';

export const approvalPrompt = 'Approve? [y: yes; n or a reason: no; Enter: leave it open] ';

/** The answers to a permission: the letter that gives it, and what it means. */
export const permissionAnswers = {
  once: ['y', 'once'],
  session: ['s', 'for this session'],
  always: ['a', 'always in this folder'],
  no: ['n', 'no'],
} as const satisfies Record<PermissionChoice, readonly [letter: string, means: string]>;
const offers = Object.values(permissionAnswers).map(([letter, means]) => `${letter}: ${means}`);
export const permissionPrompt = `Allow? [${offers.join('; ')}; Enter: leave it open] `;

/** Somebody sits here and may answer: a terminal for both ways, and no agent above. */
export async function canAnswerHere(io: Io): Promise<boolean> {
  return io.isTTY && process.stdin.isTTY === true && (await io.whyNoHuman()) === null;
}

/** null: it was left open. `flags` names what says the answer without a terminal. */
export async function askAtTerminal(prompt: string, flags: string): Promise<string | null> {
  if (process.stdin.isTTY !== true)
    throw new UntildoneError('usage', `The input is no terminal: say the answer with ${flags}.`);
  const ending = new AbortController();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  for (const end of ['SIGINT', 'close'] as const) terminal.on(end, () => ending.abort());
  try {
    const lines = wrapPrompt(prompt, process.stderr.columns ?? null).split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) process.stderr.write(`${line}\n`);
    return await terminal.question(last, { signal: ending.signal });
  } catch {
    // Safe: the terminal was closed in mid-question, so nobody answered and nothing is recorded.
    process.stderr.write('\n');
    return null;
  } finally {
    terminal.close();
  }
}

/** null: it was left open. */
export function readApproval(said: string): HumanAnswer | null {
  const words = said.trim();
  if (words === '') return null;
  if (/^y(es)?$/iu.test(words)) return { approved: true, reason: '' };
  if (/^no?$/iu.test(words)) return { approved: false, reason: '' };
  // "yep" is no reason to say no.
  return isNearAnswer(words) ? null : { approved: false, reason: words };
}

const nearAnswers = /^(?:[a-z?!.]{1,2}|yep|yeah|yup|okay|sure|allow|maybe|nope|nah|never|deny)$/iu;

/** No answer, but meant as one: such a word is told to nobody else. */
export function isNearAnswer(said: string): boolean {
  return nearAnswers.test(said.trim());
}

export const permissionLetters = 'y, s, a or n';

export function notUnderstood(said: string, answers = permissionLetters): string {
  return `"${oneLine(said, 40)}" was not understood; answer ${answers}.`;
}

/** A letter or a whole word; null: not an answer, so that it stays open. */
export function readPermission(said: string): PermissionChoice | null {
  const word = said.trim().toLowerCase();
  const isMeant = (choice: PermissionChoice): boolean =>
    word === choice || word === permissionAnswers[choice][0] || (choice === 'once' && word === 'yes');
  return (Object.keys(permissionAnswers) as PermissionChoice[]).find(isMeant) ?? null;
}
