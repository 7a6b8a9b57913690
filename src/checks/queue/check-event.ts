// What a session is told of a finished check. The same run and asker always give the same event, so that it does not
// matter who tells it first: the runner, or the one who waited.
import type { CheckFinished } from '../../core/events.ts';
import type { CheckAsker, CheckRun, CheckVerdict } from '../../engine/check-queue.ts';

export function checkFinishedEvent(run: CheckRun, asker: CheckAsker, verdict: CheckVerdict): CheckFinished {
  const { sessionId, todoId, final, writes } = asker;
  const passed = verdict.result === 'passed';
  return {
    id: `${run.id} ${todoId ?? 'goal'} ${sessionId}`,
    sessionId,
    at: verdict.at,
    type: 'check-finished',
    todoId,
    check: run.spec.id,
    result: verdict.result,
    flaky: verdict.flaky,
    tail: passed ? null : `${verdict.sentence}\n${verdict.tail}`.trim(),
    fingerprint: provenState(verdict, final),
    final,
    writes,
  };
}

/**
 * While the agent has stopped, what differs afterwards was written by the check itself: its outputs do not void it.
 * Otherwise someone else may have written too, and only an unchanged workspace is known to be what the check saw.
 */
function provenState({ before, after }: CheckVerdict, final: boolean): string | null {
  return final || before === after ? after : null;
}
