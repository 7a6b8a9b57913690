// What `verify` saw, in words: the table, the ends of what failed, the remarks, the exit code. Pure. It is bounded
// however much there is to tell, and strangers' text has no power over the terminal.
import { hiddenSentence } from '../../core/stop.ts';
import { count, type Paint, type Style, shown } from '../print.ts';
import { cutToWidth, displayWidth } from '../show/page.ts';
import type { VerifiedCheck } from './run-wanted.ts';
import type { VerifyTarget, WantedCheck } from './verify-target.ts';

export type VerifyResult = VerifiedCheck['result'] | 'nothing' | 'interrupted';

/** One failed check outweighs what waits or wavers; 3 says: not failed, and not proved either. */
export const exitCodes: Readonly<Record<VerifyResult, number>> = {
  passed: 0,
  failed: 1,
  flaky: 3,
  waiting: 3,
  nothing: 3,
  interrupted: 130,
};

export function overallResult({ wanted }: VerifyTarget, results: readonly VerifiedCheck[]): VerifyResult {
  if (wanted.length === 0) return 'nothing';
  if (results.length < wanted.length) return 'interrupted';
  const worst = (['failed', 'waiting', 'flaky'] as const).find((bad) =>
    results.some(({ result }) => result === bad),
  );
  return worst ?? 'passed';
}

export const resultStyles: Readonly<Record<VerifiedCheck['result'], Style>> = {
  passed: 'green',
  failed: 'red',
  flaky: 'yellow',
  waiting: 'yellow',
};

export function formatSeconds(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Rows that anyone still reads; what has passed is left out first. */
const mostRows = 200;
/** Columns of the table: names, what they are for, and what was seen. */
const widths = { check: 40, about: 40, failure: 120 } as const;

export function resultTable(results: readonly VerifiedCheck[], paint: Paint): string[] {
  const rows = shownRows(results);
  const cells = rows.map((verified) => ({
    check: cutToWidth(shown(verified.wanted.id), widths.check, '…'),
    about: cutToWidth(describePurpose(verified.wanted), widths.about, '…'),
    result: verified.result,
    time: verified.result === 'waiting' ? '-' : formatSeconds(verified.milliseconds),
    failure: verified.result === 'passed' ? '' : shown(failureLine(verified), widths.failure),
  }));
  const head = { check: 'check', about: 'for', result: 'result', time: 'time', failure: '' };
  const widthOf = (column: 'check' | 'about' | 'time'): number =>
    Math.max(...[head, ...cells].map((cell) => displayWidth(cell[column])));
  const [check, about, time] = [widthOf('check'), widthOf('about'), widthOf('time')];
  const line = (cell: Record<keyof typeof head, string>, paintResult: (text: string) => string): string =>
    [
      pad(cell.check, check),
      pad(cell.about, about),
      paintResult(cell.result.padEnd(7)),
      pad(cell.time, time),
      cell.failure,
    ]
      .join('  ')
      .trimEnd();
  const left = results.length - rows.length;
  return [
    paint(
      'bold',
      line(head, (text) => text),
    ),
    ...cells.map((cell) => line(cell, (text) => paint(resultStyles[cell.result], text))),
    ...(left === 0 ? [] : [`and ${left} more`]),
  ];
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

function shownRows(results: readonly VerifiedCheck[]): readonly VerifiedCheck[] {
  if (results.length <= mostRows) return results;
  const bad = results.filter(({ result }) => result !== 'passed').slice(0, mostRows);
  const room = mostRows - bad.length;
  const kept = new Set([...bad, ...results.filter(({ result }) => result === 'passed').slice(0, room)]);
  return results.filter((verified) => kept.has(verified));
}

/** `goal`, `goal and 3 todos`, `3 todos`, or the title of the only todo. */
export function describePurpose({ forGoal, todos }: Pick<WantedCheck, 'forGoal' | 'todos'>): string {
  const [only] = todos;
  const named = todos.length === 1 && only !== undefined ? `“${shown(only.title, 60)}”` : null;
  const of = todos.length === 0 ? null : (named ?? count(todos.length, 'todo'));
  return [forGoal ? 'goal' : null, of].filter((part) => part !== null).join(' and ');
}

function failureLine({ result, sentence }: VerifiedCheck): string {
  return result === 'flaky' ? `failed first, passed when run again: ${sentence}` : sentence;
}

/** Failures whose output is shown, and lines of each. */
const mostTails = 10;
const tailLines = 20;

/** The end of what each failed check printed. */
export function failureTails(results: readonly VerifiedCheck[]): string[] {
  const failed = results.filter(({ result, tail }) => result === 'failed' && tail.trim() !== '');
  return failed.slice(0, mostTails).flatMap(({ wanted, tail }) => {
    const lines = tail.split('\n').filter((line) => line.trim() !== '');
    const cut = lines.length > tailLines ? ` (the last ${tailLines} lines)` : '';
    return [
      '',
      `Output of ${shown(wanted.id, 60)}${cut}:`,
      ...lines.slice(-tailLines).map((line) => `  ${shown(line, 200)}`),
    ];
  });
}

/** What the table does not say. */
export function remarks(target: VerifyTarget, results: readonly VerifiedCheck[]): string[] {
  const { uncovered, edited, hidden, session } = target;
  const waiting = results.filter(({ result }) => result === 'waiting').length;
  const flaky = results.filter(({ result }) => result === 'flaky').length;
  const how = session === null ? 'It is answered in a session.' : '`untildone approve` answers it.';
  return [
    uncovered === 0 ? null : describeUncovered(uncovered),
    waiting === 0 ? null : `${count(waiting, 'check')} for a human without an answer. ${how}`,
    flaky === 0 ? null : `${count(flaky, 'flaky check')}: a pass that comes and goes proves nothing.`,
    edited.length === 0
      ? null
      : `${edited.map((path) => shown(path, 200)).join(', ')} was changed since the human's message; what it says about checks counts from the next one.`,
    hidden.length === 0 ? null : hiddenSentence(hidden),
  ].filter((remark) => remark !== null);
}

function describeUncovered(uncovered: number): string {
  return uncovered === 1
    ? '1 todo has no check: nothing but a claim covers it.'
    : `${uncovered} todos have no check: nothing but a claim covers them.`;
}
