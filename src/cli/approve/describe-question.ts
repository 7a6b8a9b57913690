// A question for a human and its answer, in words and as JSON. Pure; strangers' text has no power over the terminal.
import type { HumanAnswer } from '../../checks/checker.ts';
import type { HumanCheck } from '../../core/check-specs.ts';
import { visibleLines } from '../../core/safe-text.ts';
import { countPlan, type State } from '../../core/state.ts';
import { describePlan, describeState } from '../describe-session.ts';
import { fields, shown } from '../print.ts';
import { nameSession, shortId } from '../session-name.ts';
import { describePurpose } from '../verify/describe-results.ts';
import type { HumanQuestion } from './human-questions.ts';

export function questionText({ spec }: HumanQuestion): string {
  return spec === null ? 'no longer in the configuration' : shown(visibleLines(spec.question).join(' '), 500);
}

/** What a human has to know before the answer. */
export function questionLines(session: State, question: HumanQuestion, now: number): string[] {
  const { descriptor } = session;
  const counts = countPlan(session.plan);
  const purpose = describePurpose(question);
  return [
    `Session ${nameSession(session)} (${shown(descriptor.host, 30)})`,
    ...fields([
      ['directory', shown(descriptor.directory ?? 'unknown', 200)],
      ['state', shown(describeState(session, now).words)],
      ['plan', describePlan(counts)],
      ['check', `${shown(question.check, 60)}${purpose === '' ? '' : ` for ${purpose}`}`],
      ['question', questionText(question)],
    ]),
  ];
}

/** `human`: null where the question could only be closed. */
export function describeRecorded({ check, spec, waits }: HumanQuestion, human: HumanAnswer | null): string {
  const name = shown(check, 60);
  if (human === null) return `The configuration has no check ${name} any more; its question is closed.`;
  if (!human.approved)
    return `Recorded a no to ${name}${human.reason === '' ? '.' : `: ${shown(human.reason, 200)}`}`;
  const ahead = waits ? '' : ', ahead of the question';
  return `Approved ${name}${ahead}. It holds until ${describeFiles(spec)} changes.`;
}

function describeFiles(spec: HumanCheck | null): string {
  const files = spec?.files ?? [];
  if (files.length === 0) return 'a file of the workspace';
  return `a file that matches ${shown(files.join(', '), 120)}`;
}

/** Our own agent ends when a question waits; hosts ask again at the next stop attempt. */
export function howItGoesOn({ id, descriptor }: State): string {
  return descriptor.host === 'untildone'
    ? `\`untildone run --resume ${shortId(id)}\` goes on.`
    : 'The next stop attempt of the agent takes it into account.';
}

export function viewQuestion({ check, spec, waits, forGoal, todos }: HumanQuestion) {
  return {
    ...{ check, question: spec?.question ?? null, waits, goal: forGoal },
    todos: todos.map(({ id, title }) => ({ id, title })),
  };
}
