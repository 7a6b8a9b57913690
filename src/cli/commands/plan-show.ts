// `untildone plan show`: the plan of a session as a list that people read (T1, T2). It only reads.

import { UntildoneError } from '../../core/error.ts';
import { countPlan, type State } from '../../core/state.ts';
import { isDropped, type Todo } from '../../core/todo.ts';
import { type Command, jsonOption } from '../command.ts';
import { describePlan } from '../describe-session.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { createPaint, printJson, printLines, type Style, shown } from '../print.ts';
import { nameSession, sessionFields } from '../session-name.ts';

const marks: Readonly<Record<Todo['status'], readonly [mark: string, style: Style]>> = {
  pending: ['[ ]', 'bold'],
  in_progress: ['[>]', 'yellow'],
  completed: ['[x]', 'green'],
  cancelled: ['[-]', 'dim'],
  blocked: ['[!]', 'red'],
};

export const planShow: Command = {
  usage: 'plan show [session] [--json]',
  about: ['Marks: [ ] pending, [>] in progress, [x] completed, [-] cancelled, [!] blocked.'],
  options: jsonOption,
  positionals: [0, 1],
  async run(given, io) {
    const found = await withStore(io, async (store) => {
      const session = await findSession(store, given.positional(0), io);
      return { session, todos: await store.todos({ planId: session.planId }) };
    });
    if (found === null) throw new UntildoneError('unknown-session', noSessionsYet);
    const { session, todos } = found;
    if (given.has('json'))
      printJson(io, {
        ...sessionFields(session),
        plan: session.planId,
        counts: countPlan(session.plan),
        todos,
      });
    else printLines(io, lines(session, todos, io));
    return 0;
  },
};

function lines(session: State, todos: readonly Todo[], io: Io): string[] {
  const head = `Plan of session ${nameSession(session)}: ${describePlan(countPlan(session.plan))}`;
  const width = String(todos.length).length;
  return [head, ...todos.flatMap((todo, index) => todoLines(todo, String(index + 1).padStart(width), io))];
}

function todoLines(todo: Todo, number: string, io: Io): string[] {
  const paint = createPaint(io);
  const [mark, style] = marks[todo.status];
  const remarks = [
    todo.priority === 'medium' ? null : todo.priority,
    verification(todo),
    isDropped(todo) ? 'dropped from the list' : null,
    todo.agentType === null ? null : `for ${shown(todo.agentType, 30)}`,
    todo.attempts > 1 ? `${todo.attempts} attempts` : null,
  ].filter((remark) => remark !== null);
  const tail = remarks.length === 0 ? '' : `  ${paint('dim', `(${remarks.join(', ')})`)}`;
  const below = [
    todo.completionCriteria === null ? null : `done when: ${shown(todo.completionCriteria, 200)}`,
    todo.reason === null ? unexplained(todo) : `because: ${shown(todo.reason, 200)}`,
    todo.outcome === null ? null : `outcome: ${shown(todo.outcome, 200)}`,
    todo.failureTail === null ? null : `failed with: ${shown(todo.failureTail, 200)}`,
  ].filter((line) => line !== null);
  const indent = ' '.repeat(number.length + 8);
  return [
    `  ${number} ${paint(style, mark)} ${shown(todo.title, 200)}${tail}`,
    ...below.map((line) => `${indent}${line}`),
  ];
}

function unexplained({ status }: Todo): string | null {
  return status === 'cancelled' ? 'cancelled without a reason' : null;
}

/** A completed todo is a claim until its own check passed. */
function verification({ status, verification: state, checks }: Todo): string | null {
  const which = checks.length === 0 ? '' : ` by ${checks.map((check) => shown(check, 40)).join(', ')}`;
  if (state === 'passed') return `verified${which}`;
  if (state === 'failed') return `check failed${which}`;
  if (state === 'running') return `check runs${which}`;
  if (status === 'completed')
    return checks.length === 0 ? 'claimed, has no check' : `claimed, to be checked${which}`;
  return checks.length === 0 ? null : `to be checked${which}`;
}
