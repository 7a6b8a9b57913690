// `untildone plan log`: the ledger of a plan in words: who did what and when (V4). It only reads; whether the chain
// is intact is told by `ledger verify`.

import { UntildoneError } from '../../core/error.ts';
import type { LedgerChange, LedgerEntry } from '../../core/ledger.ts';
import type { Todo } from '../../core/todo.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatTime } from '../describe-time.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import { withStore } from '../open-runtime.ts';
import { count, printJson, printLines, shown } from '../print.ts';
import { nameSession, sessionFields } from '../session-name.ts';

const words: Readonly<Record<LedgerChange, string>> = {
  created: 'added',
  started: 'started',
  completed: 'completed',
  cancelled: 'cancelled',
  blocked: 'blocked',
  reopened: 'reopened',
  reworded: 'reworded',
  edited: 'edited',
  dropped: 'dropped from the list',
  restored: 'put back on the list',
  'cancelled-unexplained': 'cancelled without a reason',
  toggled: 'set back and forth',
  'duplicate-write': 'wrote the same list again',
  'checks-edited': 'the files that say what is checked were edited',
  delegated: 'handed to a worker',
  'worker-ended': 'heard the end of the work on',
  'check-passed': 'saw the check pass for',
  'check-failed': 'saw the check fail for',
  refused: 'was refused',
};

export const planLog: Command = {
  usage: 'plan log [session] [--json]',
  about: ['Every change of the plan, oldest first. `untildone ledger verify` checks that none was altered.'],
  options: jsonOption,
  positionals: [0, 1],
  async run(given, io) {
    const found = await withStore(io, async (store) => {
      const session = await findSession(store, given.positional(0), io);
      const todos = await store.todos({ planId: session.planId });
      return { session, todos, entries: await store.ledger(session.planId) };
    });
    if (found === null) throw new UntildoneError('unknown-session', noSessionsYet);
    const { session, todos, entries } = found;
    if (given.has('json')) {
      printJson(io, { ...sessionFields(session), plan: session.planId, entries });
      return 0;
    }
    const byId = new Map(todos.map((todo) => [todo.id, todo]));
    const head = `Ledger of session ${nameSession(session)}: ${count(entries.length, 'change')}`;
    printLines(io, [head, ...entries.map((entry) => line(entry, byId))]);
    return 0;
  },
};

function line(entry: LedgerEntry, todos: ReadonlyMap<string, Todo>): string {
  const who = `${entry.actor} (${shown(entry.host, 30)})`;
  const what = words[entry.change] ?? shown(entry.change, 40);
  const title = titleOf(entry, todos);
  const detail = detailOf(entry);
  return [
    `  ${String(entry.sequence).padStart(4)}  ${formatTime(entry.at)}  ${who} ${what}`,
    title === null ? '' : ` “${shown(title, 100)}”`,
    detail === '' ? '' : `: ${detail}`,
  ].join('');
}

/** The title as it was then, where the entry tells it; a todo may have been reworded since. */
function titleOf({ detail, todoId }: LedgerEntry, todos: ReadonlyMap<string, Todo>): string | null {
  const then = detail['title'] ?? detail['from'];
  if (typeof then === 'string') return then;
  return todoId === null ? null : (todos.get(todoId)?.title ?? todoId);
}

/** Shown elsewhere in the line, or for machines only. */
const unlisted = new Set(['title', 'from', 'state', 'was']);

function detailOf({ detail }: LedgerEntry): string {
  const named = Object.entries(detail).filter(([name]) => !unlisted.has(name));
  return named.map(([name, value]) => `${shown(name, 30)} ${shown(String(value), 120)}`).join(', ');
}
