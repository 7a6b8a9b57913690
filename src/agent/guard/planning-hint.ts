// The hint to plan that goes with a complex request on its first attempt, and the count that makes it firmer (I6).
// It quotes nothing of the message: its words are ours alone.
import { analyseComplexity, type ComplexityReason } from './complexity.ts';

const words: Readonly<Record<ComplexityReason, string>> = {
  'list-items': 'a list of points',
  'sequence-words': 'steps that follow each other',
  'several-actions': 'several things to do',
  files: 'several files',
  long: 'a long description',
  'code-block': 'code to work on',
};

/**
 * Null: nothing to say. `complexTurnsWithoutPlan` counts the turns before this one; `attempt` is that of the step,
 * and a retry has a reminder of its own.
 */
export function planningHint(message: string, complexTurnsWithoutPlan: number, attempt = 1): string | null {
  if (attempt > 1) return null;
  const { isComplex, reasons } = analyseComplexity(message);
  if (!isComplex) return null;
  const seen = `This request has ${reasons.map((reason) => words[reason]).join(', ')}.`;
  return `${seen} ${advice(complexTurnsWithoutPlan)}`;
}

function advice(turns: number): string {
  if (turns <= 0) {
    return 'Plan it with the todo tools first, then work through the todos and mark each one when it is finished.';
  }
  const before =
    turns === 1 ? 'The last complex request was' : `The last ${Math.min(turns, 99)} complex requests were`;
  return turns === 1
    ? `${before} worked on without a plan. Write the todos before the first other tool call this time, one for each part.`
    : `${before} worked on without a plan. Your first call must write the todos, one for each part; call no other tool before that.`;
}

/** A todo write resets; a simple turn in between neither raises nor resets the count. */
export function countComplexTurn(before: number, message: string, wroteTodos: boolean): number {
  if (wroteTodos) return 0;
  return analyseComplexity(message).isComplex ? before + 1 : before;
}
