// The living part as lines: pure, at most as many as the terminal has, each at most as wide. What matters most stands
// lowest and is cut last.
import type { Page } from '../run-output/page.ts';
import { drawCalls, drawChecks, drawHeld, drawWorkers } from './draw-activity.ts';
import { drawCheckQuestion, drawDoing, drawInput, drawPermission, drawStatus } from './draw-footer.ts';
import { drawPlan } from './draw-plan.ts';
import { lineWidth } from './styled-line.ts';
import type { ViewState } from './view-state.ts';

/**
 * @param openLine the line of the output that has not ended yet, drawn as the output draws it
 */
export function drawFrame(page: Page, state: ViewState, openLine: string): string[] {
  // A frame as tall as the terminal makes it scroll with every change.
  const room = Math.max(1, state.rows - 1);
  const question = [...drawPermission(page, state), ...drawCheckQuestion(page, state)];
  const footer = [
    ...drawDoing(page, state),
    ...question,
    ...drawInput(page, state),
    ...drawStatus(page, state),
  ];
  const plan = drawPlan(page, state);
  const activity = [
    ...(openLine === '' ? [] : [openLine]),
    ...drawHeld(page, state),
    ...drawWorkers(page, state),
    ...drawCalls(page, state),
    ...drawChecks(page, state),
  ];
  const rule = page.paint('dim', (page.unicode ? '─' : '-').repeat(lineWidth(page)));
  const foot = footer.slice(-room);
  const middle = [...(room > 8 ? [rule] : []), ...plan].slice(0, Math.max(0, room - foot.length));
  const rest = room - foot.length - middle.length;
  return [...(rest === 0 ? [] : activity.slice(-rest)), ...middle, ...foot];
}
