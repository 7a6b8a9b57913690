// Which text a continuation carries: a second ordered list, like the rules (design: "The rules, in order").
import type { TextKind } from '../decision.ts';
import { dueChallenge, goalFailed } from '../rules/plan-rules.ts';
import type { StopContext } from '../rules/rule.ts';
import { hasUnnamedJob } from '../rules/wait-rules.ts';
import { openCount } from '../session.ts';

interface TextChoice {
  readonly kind: TextKind;
  readonly applies: (context: StopContext) => boolean;
}

export const textChoices: readonly TextChoice[] = [
  { kind: 'output-limit', applies: ({ stop }) => stop.end === 'length' },
  { kind: 'iteration-budget', applies: ({ stop }) => stop.end === 'iteration-budget' },
  { kind: 'loop', applies: ({ session }) => session.loopAlarms > 0 && !session.loopTold },
  {
    kind: 'tool-error',
    applies: ({ stop, session }) => stop.toolError !== null && openCount(session.counts) > 0,
  },
  { kind: 'dropped-todos', applies: ({ session }) => session.counts.unnamedDrops > 0 },
  { kind: 'bulk-claim', applies: ({ session }) => dueChallenge(session) !== null },
  { kind: 'failed-check', applies: (context) => hasNewFailure(context) },
  {
    kind: 'checks-running',
    applies: ({ session }) => session.checksOverdue && openCount(session.counts) === 0,
  },
  { kind: 'text-question', applies: ({ stop }) => stop.question },
  {
    kind: 'empty-answer',
    applies: ({ stop, session }) => stop.end === 'empty' && session.emptyAnswers === 1,
  },
  { kind: 'background-job', applies: (context) => hasUnnamedJob(context) },
  { kind: 'after-compaction', applies: ({ session }) => session.compacted },
  { kind: 'standard', applies: () => true },
];

/** While todos are open a failure is quoted only once its todo comes up; a failed goal check is all that is left. */
function hasNewFailure(context: StopContext): boolean {
  const { counts } = context.session;
  return counts.failed > 0 || (openCount(counts) === 0 && goalFailed(context));
}

export function pickText(context: StopContext): TextKind {
  return textChoices.find(({ applies }) => applies(context))?.kind ?? 'standard';
}
