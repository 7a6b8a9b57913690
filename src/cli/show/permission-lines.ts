// A permission that is asked for, in lines that hide nothing of what is to be allowed. Pure.
import type { EventOf } from '../../agent/agent-event.ts';
import { asciiOnly, hasHidden, visibleLine } from '../../core/safe-text.ts';
import type { Page } from './page.ts';

export function wantedLines(page: Page, { tool, subject, pattern }: EventOf<'permission-asked'>): string[] {
  const isHidden = hasHidden(subject.slice(0, longestSubject));
  const covers = seen(page, describeCover(subject, pattern.slice(0, longestSubject)));
  const asked = { mark: page.signs.waiting, markStyle: 'yellow' } as const;
  return [
    ...page.entry({ ...asked, text: `permission asked: ${tool}` }),
    ...subjectPieces(page, subject).flatMap((text) =>
      page.entry({ mark: page.signs.margin, indent: 2, text }),
    ),
    ...(isHidden ? page.entry({ indent: 2, text: hiddenNote, style: 'red' }) : []),
    ...page.entry({ indent: 2, text: `an answer for longer would cover: ${covers}` }),
  ];
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

/** An entry is cut when it is longer than any honest sentence; what is allowed must be shown whole. */
const pieceLength = 500;
/** Nobody is asked about more than this; whatever else comes here is not worth a screen. */
const longestSubject = 2000;
const mostLines = 40;

/** Line by line, and long lines in pieces. */
function subjectPieces(page: Page, subject: string): string[] {
  const lines = subject.slice(0, longestSubject).split('\n', mostLines);
  const whole = lines.join('\n').length;
  const pieces = lines.flatMap(
    (line) => seen(page, line).match(new RegExp(`.{1,${pieceLength}}`, 'gsu')) ?? [''],
  );
  return whole === subject.length ? pieces : [...pieces, `[and ${subject.length - whole} more characters]`];
}

/** "= …" marks a command that is meant as it stands. */
export function describePattern(pattern: string): string {
  return visibleLine(pattern.startsWith('= ') ? `exactly ${pattern.slice(2)}` : pattern);
}

/** What a lasting answer covers, where the subject is shown beside it: a long one is not said a second time. */
export function describeCover(subject: string, pattern: string): string {
  const isWhole = pattern.startsWith('= ') && !isShort(subject);
  return isWhole ? 'exactly this command' : describePattern(pattern);
}
