// A permission that is asked for, in lines that hide nothing of what is to be allowed. Pure.
import { wrapAnsi } from 'fast-wrap-ansi';
import type { EventOf } from '../../agent/agent-event.ts';
import { asciiOnly, hasHidden, visibleLine } from '../../core/safe-text.ts';
import type { Page } from './page.ts';

type Wanted = Pick<EventOf<'permission-asked'>, 'tool' | 'subject' | 'pattern'>;

/** Nobody is asked about more than this; whatever else comes here is not worth a screen. */
const longestSubject = 2000;
const mostLines = 40;

/** `most`: lines of the subject, where all of it was printed before. */
export function wantedLines(
  page: Page,
  { tool, subject, pattern }: Wanted,
  most = Number.POSITIVE_INFINITY,
): string[] {
  const lines = subject.slice(0, longestSubject).split('\n', mostLines);
  const left = subject.length - lines.join('\n').length;
  const shown = lines.flatMap((line) => wholeLines(page, `  ${page.signs.margin} `, line));
  const notes = [
    ...(shown.length > most ? ['This is only part of it; all of it is above.'] : []),
    ...(shown.length <= most && left > 0 ? [`[and ${left} more characters]`] : []),
    ...(hasHidden(subject.slice(0, longestSubject)) ? [hiddenNote] : []),
  ];
  const covers = describeCover(subject, pattern.slice(0, longestSubject));
  const asked = { mark: page.signs.waiting, markStyle: 'yellow', style: 'bold' } as const;
  return [
    ...page.entry({ ...asked, text: `permission asked: ${tool}` }),
    ...shown.slice(0, most),
    ...notes.flatMap((text) => page.entry({ indent: 2, text, style: 'red' })),
    ...wholeLines(page, '  ', `a yes for longer would also allow: ${covers}`),
  ];
}

/** Every character of it, blanks too: what is to be allowed is neither cut nor tidied up. */
function wholeLines(page: Page, lead: string, text: string): string[] {
  const room = page.width === null ? null : page.width - lead.length;
  const visible = seen(page, text);
  const lines = room === null ? [visible] : wrapAnsi(visible, room, { hard: true, trim: false }).split('\n');
  return lines.map((line) => `${lead}${line}`.trimEnd());
}

/** A text that is to be allowed: nothing in it is hidden, stripped or replaced by what it only resembles. */
export function seen({ unicode }: Pick<Page, 'unicode'>, text: string): string {
  const visible = visibleLine(text);
  return unicode ? visible : asciiOnly(visible);
}

export const hiddenNote =
  'It holds characters that a terminal does not show; here they are written as \\x1b, \\u202e and so on.';

/** Whether what is asked for can be shown whole on a line or two. */
export function isShort(subject: string): boolean {
  return (
    subject.length <= shortLength && !subject.includes('\n') && visibleLine(subject).length <= shortLength
  );
}

const shortLength = 100;

/** "= …" marks a command that is meant as it stands. */
export function describePattern(pattern: string): string {
  return visibleLine(pattern.startsWith('= ') ? `exactly ${pattern.slice(2)}` : pattern);
}

/** What a lasting answer covers, where the subject is shown beside it: a long one is not said a second time. */
export function describeCover(subject: string, pattern: string): string {
  const isWhole = pattern.startsWith('= ') && !isShort(subject);
  return isWhole ? 'exactly this command' : describePattern(pattern);
}
