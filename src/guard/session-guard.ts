// Joins the guard to a session: the session decides about every stop, its checks
// included, and how often an answer is sent back (G1).
import { isOpen } from '../core/todo.ts';
import type { Session } from '../session/session.ts';
import { isDuplicateResult } from '../tools/todo-tools.ts';
import type { GuardTransformOptions, PartLike } from './guard-transform.ts';

/**
 * Lets a session decide about every stop: `toTransform({ ...sessionGuard(session), remind
 * })`.
 */
export function sessionGuard<Part extends PartLike>(
  session: Pick<Session, 'plan' | 'stop'>,
): Omit<GuardTransformOptions<Part>, 'remind'> {
  return {
    hasOpenTodos: () => session.plan.some(isOpen),
    asksAlways: true,
    maxAttempts: Number.POSITIVE_INFINITY,
    isDuplicate: (part) => isDuplicateResult((part as { output?: unknown }).output),
    async ask({ text: answerText, end }) {
      const { text } = await session.stop({ text: answerText, end });
      return text === null ? { answer: 'release' } : { answer: 'retry', reminder: text };
    },
  };
}
