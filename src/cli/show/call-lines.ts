// Tool calls and checks in lines, folded to one each: what it was, whether it worked, how long it took. Of what went
// wrong it shows the line that says so; of a failed check the end of its output. Pure.
import type { EventOf } from '../../agent/agent-event.ts';
import { cleanLines, displayWidth, lastLines, type Page } from './page.ts';
import type { CallView, FileChange, ViewState } from './state.ts';
import { checkName, formatShort, tellingArgument, whyNotPassed } from './words.ts';

/** Calls of the plan's own tools show in the plan, and a worker's in the lines about it. */
export function isPlanTool(tool: string): boolean {
  return /^(?:(?:create|list|complete|update)_todo|todo_(?:write|read|pause|verify)|delegate)$/u.test(tool);
}

export function knownCall({ calls }: ViewState, { callId, tool, sessionId }: EventOf<'tool-ended'>) {
  const call = calls.findLast((each) => each.callId === callId && (each.workerId ?? sessionId) === sessionId);
  return call ?? { tool, input: null, changes: [] as readonly FileChange[] };
}

export const longestName = 40;
export const longestCheck = 80;
/** An argument in a log, where no width limits it. */
const longestArgument = 160;
/** Room for the result of a call: `✗ exit 127 · 59.9 s`; where that is too much, `✗ exit 127` or `✓ 59.9 s`. */
const resultWidth = { wide: 20, narrow: 12 };
const isNarrow = ({ width }: Page): boolean => width !== null && width < 60;

export function callLine(page: Page, { tool, input }: Pick<CallView, 'tool' | 'input'>): string {
  const { signs, width } = page;
  const name = page.clip(tool, longestName);
  const taken = displayWidth(`${signs.call} ${name} ${signs.failed}`) - 1;
  const result = isNarrow(page) ? resultWidth.narrow : resultWidth.wide;
  const room = width === null ? longestArgument : width - taken - result;
  const argument = page.clip(tellingArgument(tool, input), Math.max(8, room));
  return `${signs.call} ${page.paint('bold', name)} ${argument}`.trimEnd();
}

/** `+12 −3`, in colour. */
export function changeSize(
  { paint, signs }: Page,
  changes: readonly Omit<FileChange, 'diff' | 'path' | 'isNew'>[],
): string {
  const sum = (of: 'added' | 'removed'): number => changes.reduce((total, change) => total + change[of], 0);
  const parts = [sum('added') > 0 || sum('removed') === 0 ? paint('green', `+${sum('added')}`) : ''];
  if (sum('removed') > 0) parts.push(paint('red', `${signs.minus}${sum('removed')}`));
  return parts.filter((part) => part !== '').join(' ');
}

/** The result of a call: `✓ 12 ms`, `✓ +12 −3 · 6 ms`, `✗ exit 1 · 279 ms`; a failed command is a failed one. */
export function callResult(
  page: Page,
  { ok, output, milliseconds }: NonNullable<CallView['ended']>,
  changes: readonly FileChange[],
  isKnown = true,
): string {
  const { signs, paint } = page;
  const [, exit] = /^Exit code (\d+)\./u.exec(output) ?? [];
  const about =
    changes.length > 0 ? changeSize(page, changes) : ok || exit === undefined ? '' : `exit ${exit}`;
  // Of a call whose start nobody told it is not known how long it took.
  const took = isKnown || milliseconds > 0 ? paint('dim', formatShort(milliseconds)) : '';
  const parts = isNarrow(page) && about !== '' ? [about] : [about, took];
  const rest = parts.filter((part) => part !== '').join(` ${paint('dim', signs.separator)} `);
  return `${ok ? paint('green', signs.ok) : paint('red', signs.failed)} ${rest}`.trimEnd();
}

/** The first line of what went wrong; the exit code stands beside the call already. */
function complaintOf(output: string, page: Page): string {
  const lines = cleanLines(output.slice(0, 4000), page.unicode).split('\n');
  return (
    lines.find((line) => line.trim() !== '' && !/^Exit code \d+\.$|^\(no output\)$/u.test(line.trim())) ?? ''
  );
}

export function toolEndedLines(page: Page, state: ViewState, event: EventOf<'tool-ended'>): string[] {
  if (event.ok && isPlanTool(event.tool)) return [];
  const call = knownCall(state, event);
  const line = `${callLine(page, call)} ${callResult(page, event, call.changes, 'startedAt' in call)}`;
  const complaint = event.ok ? '' : complaintOf(event.output, page);
  if (complaint === '') return [line];
  return [line, ...page.entry({ mark: '', indent: 4, text: complaint, style: 'red', cut: true })];
}

/** Of a failed check the end of what it printed: it says what the agent is told too. */
const tailLines = 8;

export function checkLines(page: Page, event: EventOf<'check-ended'>): string[] {
  const { check, result, flaky, milliseconds, tail } = event;
  const { signs, unicode } = page;
  const said = { passed: 'passed', failed: 'failed', waiting: 'waits', 'cannot-start': 'cannot start' };
  const how = flaky ? 'passed only when run again (flaky)' : said[result];
  const took = result === 'waiting' ? '' : ` (${formatShort(milliseconds)})`;
  const odd = flaky || result === 'waiting' || result === 'cannot-start';
  const marks = {
    passed: signs.ok,
    failed: signs.failed,
    waiting: signs.waiting,
    'cannot-start': signs.failed,
  };
  const why = whyNotPassed(event);
  return [
    ...page.entry({
      // In ASCII the marks are words, and the words stand here already.
      mark: unicode ? marks[result] : signs.notice,
      markStyle: odd ? 'yellow' : result === 'passed' ? 'green' : 'red',
      text: `${checkName(page.clip(check, longestCheck))} ${how}${took}${why === '' ? '' : `: ${why}`}`,
    }),
    ...(result === 'failed' || result === 'cannot-start' ? tailOf(page, tail, tailLines) : []),
  ];
}

export function tailOf(page: Page, tail: string, most: number): string[] {
  return lastLines(tail, most, page.unicode).flatMap((text) =>
    page.entry({ mark: page.signs.margin, markStyle: 'red', indent: 2, text, style: 'dim', cut: true }),
  );
}
