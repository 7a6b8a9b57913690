// Questions to the human: what they are shown, which hides nothing of what they allow,
// how they are asked at this terminal, and what their answers mean. Enter alone, the end
// of the input and Ctrl-C leave a question open: a yes or a no must be typed.
import { createInterface } from 'node:readline/promises';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { EventOf, PermissionChoice } from '../agent/agent-event.ts';
import type { HumanAnswer } from '../checks/checker.ts';
import { UntildoneError } from '../core/error.ts';
import { asciiOnly, hasHidden, oneLine, visibleLine } from '../core/safe-text.ts';
import type { Io } from './io.ts';
import { wrapPrompt } from './print.ts';
import type { Page } from './show/page.ts';

/** The question of a check that only a human can answer. */
export const approvalPrompt =
  'Approve? [y: yes; n or a reason: no; Enter: leave it open] ';

/** The answers to a permission: the letter that gives it, and what it means. */
export const permissionAnswers = {
  once: ['y', 'once'],
  session: ['s', 'for this session'],
  always: ['a', 'always in this folder'],
  no: ['n', 'no'],
} as const satisfies Record<PermissionChoice, readonly [letter: string, means: string]>;
const offers = Object.values(permissionAnswers).map(
  ([letter, means]) => `${letter}: ${means}`,
);
export const permissionPrompt = `Allow? [${offers.join('; ')}; Enter: leave it open] `;

/**
 * Whether a human can answer at this terminal: input and output are a terminal, and no
 * agent called us.
 */
export async function canAnswerHere(io: Io): Promise<boolean> {
  return io.isTTY && process.stdin.isTTY === true && (await io.whyNoHuman()) === null;
}

/**
 * Asks at this terminal. Null: the human left it open. `flags` names the options that
 * give the answer without a terminal.
 */
export async function askAtTerminal(
  prompt: string,
  flags: string,
): Promise<string | null> {
  if (process.stdin.isTTY !== true)
    throw new UntildoneError(
      'usage',
      `The input is no terminal: say the answer with ${flags}.`,
    );
  const ending = new AbortController();
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  for (const end of ['SIGINT', 'close'] as const) terminal.on(end, () => ending.abort());
  try {
    const lines = wrapPrompt(prompt, process.stderr.columns ?? null).split('\n');
    const question = lines.pop() ?? '';
    for (const line of lines) process.stderr.write(`${line}\n`);
    return await terminal.question(question, { signal: ending.signal });
  } catch {
    // Safe: the terminal was closed while it asked, so nobody answered and nothing is
    // recorded.
    process.stderr.write('\n');
    return null;
  } finally {
    terminal.close();
  }
}

/** Reads the answer to a check. Null: it stays open. */
export function readApproval(text: string): HumanAnswer | null {
  const words = text.trim();
  if (words === '') return null;
  if (/^y(es)?$/iu.test(words)) return { approved: true, reason: '' };
  if (/^no?$/iu.test(words)) return { approved: false, reason: '' };
  // "yep" is not a reason to say no.
  return isNearAnswer(words) ? null : { approved: false, reason: words };
}

const nearAnswers =
  /^(?:[a-z?!.]{1,2}|yep|yeah|yup|okay|sure|allow|maybe|nope|nah|never|deny)$/iu;

/**
 * Whether a text was meant as an answer, although it is none: it is passed on to nobody.
 */
export function isNearAnswer(text: string): boolean {
  return nearAnswers.test(text.trim());
}

export const permissionLetters = 'y, s, a or n';

export function notUnderstood(text: string, answers = permissionLetters): string {
  return `"${oneLine(text, 40)}" was not understood; answer ${answers}.`;
}

/** Reads a letter or a whole word. Null: it is no answer, and the question stays open. */
export function readPermission(text: string): PermissionChoice | null {
  const word = text.trim().toLowerCase();
  const isMeant = (choice: PermissionChoice): boolean =>
    word === choice ||
    word === permissionAnswers[choice][0] ||
    (choice === 'once' && word === 'yes');
  return (Object.keys(permissionAnswers) as PermissionChoice[]).find(isMeant) ?? null;
}

/** Longer subjects and more lines are not shown: nobody is asked about more than this. */
const longestSubject = 2000;
const mostLines = 40;

/**
 * The lines of a permission request. `most`: how many lines of the subject are shown, if
 * all of it was printed before.
 */
export function wantedLines(
  page: Page,
  {
    tool,
    subject,
    pattern,
  }: Pick<EventOf<'permission-asked'>, 'tool' | 'subject' | 'pattern'>,
  most = Number.POSITIVE_INFINITY,
): string[] {
  const lines = subject.slice(0, longestSubject).split('\n', mostLines);
  const hiddenLength = subject.length - lines.join('\n').length;
  const shown = lines.flatMap((line) =>
    wholeLines(page, `  ${page.signs.margin} `, line),
  );
  const notes = [
    ...(shown.length > most ? ['This is only part of it; all of it is above.'] : []),
    ...(shown.length <= most && hiddenLength > 0
      ? [`[and ${hiddenLength} more characters]`]
      : []),
    ...(hasHidden(subject.slice(0, longestSubject)) ? [hiddenNote] : []),
  ];
  const covers = describeCover(subject, pattern.slice(0, longestSubject));
  const entryStyle = {
    mark: page.signs.waiting,
    markStyle: 'yellow',
    style: 'bold',
  } as const;
  return [
    ...page.entry({ ...entryStyle, text: `permission asked: ${tool}` }),
    ...shown.slice(0, most),
    ...notes.flatMap((text) => page.entry({ indent: 2, text, style: 'red' })),
    ...wholeLines(page, '  ', `s or a would allow: ${covers}`),
  ];
}

/**
 * Every character of the text, blanks too: what a human allows is neither cut nor tidied
 * up.
 */
function wholeLines(page: Page, lead: string, text: string): string[] {
  const room = page.width === null ? null : page.width - lead.length;
  const visible = showControls(page, text);
  const lines =
    room === null
      ? [visible]
      : wrapAnsi(visible, room, { hard: true, trim: false }).split('\n');
  return lines.map((line) => `${lead}${line}`.trimEnd());
}

/**
 * A text that a human is asked to allow: nothing in it is hidden, removed or replaced by
 * something that only looks like it.
 */
export function showControls({ unicode }: Pick<Page, 'unicode'>, text: string): string {
  const visible = visibleLine(text);
  return unicode ? visible : asciiOnly(visible);
}

const hiddenNote =
  'It holds characters that a terminal does not show; here they are written as \\x1b, \\u202e and so on.';

/** Whether the subject can be shown in full on a line or two. */
export function isShort(subject: string): boolean {
  return (
    !subject.includes('\n') &&
    visibleLine(subject.slice(0, shortLength + 1)).length <= shortLength
  );
}

const shortLength = 100;

/** A pattern in words: "= …" stands for exactly this command. */
export function describePattern(pattern: string): string {
  return visibleLine(pattern.startsWith('= ') ? `exactly ${pattern.slice(2)}` : pattern);
}

/** What a lasting answer covers, beside the subject: a long subject is not repeated. */
function describeCover(subject: string, pattern: string): string {
  const isWhole = pattern.startsWith('= ') && !isShort(subject);
  return isWhole ? 'exactly this command' : describePattern(pattern);
}
