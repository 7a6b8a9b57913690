// What happens right now: held text, running calls, checks, workers; and the last calls in full, when they are
// unfolded.
import { stripTerminalControls } from '../../core/safe-text.ts';
import { formatShort } from '../run-output/describe-amounts.ts';
import type { Page } from '../run-output/page.ts';
import { tellingArgument } from '../run-output/telling-argument.ts';
import { spinnerAt } from './spinner.ts';
import { type Piece, styledLine } from './styled-line.ts';
import type { CallView, ViewState, WorkerView } from './view-state.ts';

const heldLines = 3;
const unfoldedCalls = 3;
const unfoldedLines = 4;

/** The end of what is held, dimmed: it is not known yet whether it is an answer (I1). */
export function drawHeld(page: Page, { held }: ViewState): string[] {
  if (held.trim() === '') return [];
  const lines = stripTerminalControls(held)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const wrapped = lines.flatMap((line) => page.entry({ mark: page.signs.margin, text: line, style: 'dim' }));
  return wrapped.slice(-heldLines).map((line) => line.replace(/^ /u, page.signs.margin));
}

export function drawCalls(page: Page, state: ViewState): string[] {
  const running = state.calls.filter(({ ended }) => ended === null);
  if (state.isExpanded) return unfolded(page, state);
  return running.map((call) => runningCall(page, state, call));
}

function runningCall(page: Page, state: ViewState, call: CallView): string {
  const worker = state.workers.find(({ workerId }) => workerId === call.workerId);
  return styledLine(page, [
    spinnerAt(page, state.now),
    ...(worker === undefined ? [] : [[worker.agentType, 'dim'] as const]),
    [call.tool, 'bold'],
    [formatShort(Math.max(0, state.now - call.startedAt)), 'dim'],
    tellingArgument(call.tool, call.input),
  ]);
}

function unfolded(page: Page, state: ViewState): string[] {
  const last = state.calls.slice(-unfoldedCalls);
  if (last.length === 0) return [styledLine(page, [['no tool calls yet', 'dim']])];
  return last.flatMap((call) => [callHead(page, state, call), ...callBody(page, call)]);
}

function callHead(page: Page, state: ViewState, call: CallView): string {
  const { ended } = call;
  if (ended === null) return runningCall(page, state, call);
  const sign: Piece = ended.ok ? [page.signs.ok, 'green'] : [page.signs.failed, 'red'];
  const took: Piece = [formatShort(ended.milliseconds), 'dim'];
  return styledLine(page, [sign, [call.tool, 'bold'], took, tellingArgument(call.tool, call.input)]);
}

/** What went in and what came out, a few lines of it. */
function callBody(page: Page, { input, ended }: CallView): string[] {
  const given = input === null || input === undefined ? [] : [`in: ${JSON.stringify(input).slice(0, 2000)}`];
  const output = (ended?.output ?? '').slice(0, 4000).split(/[\r\n]+/u);
  const lines = [...given, ...output.filter((line) => line.trim() !== '')];
  const shown = lines.slice(0, unfoldedLines).map((line) => styledLine(page, [[line, 'dim']], 4));
  const more = lines.length - unfoldedLines;
  return more > 0 ? [...shown, styledLine(page, [[`and ${more} more lines`, 'dim']], 4)] : shown;
}

/** Those that run; what came of the others stands above. */
export function drawChecks(page: Page, { checks, now }: ViewState): string[] {
  return checks.map(({ check, startedAt }) => {
    const took = formatShort(Math.max(0, now - startedAt));
    return styledLine(page, [spinnerAt(page, now), 'check', [took, 'dim'], check]);
  });
}

export function drawWorkers(page: Page, { workers, now }: ViewState): string[] {
  return workers.map(({ agentType, title, startedAt, step }: WorkerView) =>
    styledLine(page, [
      spinnerAt(page, now),
      'worker',
      [agentType, 'bold'],
      [`step ${step}, ${formatShort(now - startedAt)}`, 'dim'],
      title,
    ]),
  );
}
