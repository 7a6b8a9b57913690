// `untildone plan show`, `plan log`, `ledger verify`: the plan of a session, its history,
// and whether that is intact (T1, T2, V4). They only read. `ledger verify` cannot find a
// chain that was rebuilt, nor missing last entries that changed no todo.
import { UntildoneError } from '../../core/error.ts';
import { pickFailedLines, readFailure } from '../../core/failed-lines.ts';
import type { LedgerChange, LedgerEntry, LedgerReport } from '../../core/ledger.ts';
import { countPlan, type State } from '../../core/state.ts';
import { isDropped, type Todo } from '../../core/todo.ts';
import { plansOf, verifyPlan } from '../../engine/session-record.ts';
import { type Command, jsonOption } from '../command.ts';
import {
  describePlan,
  nameSession,
  sessionFields,
  shortId,
  standingIn,
} from '../describe-session.ts';
import { formatTime } from '../describe-time.ts';
import { findSession, sessionCommand } from '../find-session.ts';
import type { Io } from '../io.ts';
import { withStore } from '../open-runtime.ts';
import { createPaint, escapeForTerminal, formatCount, printResult } from '../print.ts';
import { type Standing, standingNames, todoMarks } from '../show/words.ts';

/** Lines shown of a failed check's output. */
const mostFailedLines = 4;

export const planShow = sessionCommand({
  about: [
    'Marks: [ ] pending, [>] in progress, [x] completed, [-] cancelled, [!] blocked.',
  ],
  async answer({ io, session }) {
    const { planId, plan } = session;
    const standing = standingIn(session);
    const todos = plan.map((todo) => ({ ...todo, standing: standing(todo) }));
    const widest = String(todos.length).length;
    return {
      json: { plan: planId, counts: countPlan(plan), todos },
      lines: [
        `Plan of session ${nameSession(session)}: ${describePlan(session)}`,
        ...todos.flatMap((todo, index) =>
          todoLines(todo, String(index + 1).padStart(widest), io),
        ),
      ],
    };
  },
});

function todoLines(
  todo: Todo & { readonly standing: Standing },
  number: string,
  io: Io,
): string[] {
  const paint = createPaint(io);
  const [mark, style] = todoMarks[todo.status];
  const remarks = [
    todo.priority === 'medium' ? [] : todo.priority,
    describeProof(todo),
    isDropped(todo) ? 'dropped from the list' : [],
    todo.agentType === null ? [] : `for ${escapeForTerminal(todo.agentType, 30)}`,
    todo.attempts > 1 ? `${todo.attempts} attempts` : [],
  ].flat();
  const tail = remarks.length === 0 ? '' : `  ${paint('dim', `(${remarks.join(', ')})`)}`;
  const unexplained = todo.status === 'cancelled' ? 'no reason was given' : null;
  const below = [
    ['done when', todo.completionCriteria],
    ['because', todo.reason ?? unexplained],
    ['outcome', todo.outcome],
    ['failed with', todo.failureTail === null ? null : describeFailure(todo.failureTail)],
  ] as const;
  const indent = ' '.repeat(number.length + 8);
  return [
    `  ${number} ${paint(style, mark)} ${escapeForTerminal(todo.title, 200)}${tail}`,
    ...below.flatMap(([name, text]) =>
      text === null ? [] : [`${indent}${name}: ${escapeForTerminal(text, 200)}`],
    ),
  ];
}

/** What the system saw, and the lines of the output that say what failed. */
function describeFailure(tail: string): string {
  const { sentence, output } = readFailure(tail);
  return [sentence, ...pickFailedLines(output, mostFailedLines)].join(' ');
}

/** A completed todo is only a claim until its own check or a goal check has passed. */
function describeProof({
  verification,
  checks,
  standing,
}: Todo & { readonly standing: Standing }): string[] {
  const by =
    checks.length === 0
      ? ''
      : ` by ${checks.map((check) => escapeForTerminal(check, 40)).join(', ')}`;
  if (verification === 'failed') return [`check failed${by}`];
  if (verification === 'running') return [`check runs${by}`];
  if (standing === 'checked') return [`${standingNames.checked}${by}`];
  if (by !== '')
    return [`${standing === 'claimed' ? 'claimed, ' : ''}to be checked${by}`];
  return standing === 'claimed' || standing === 'covered'
    ? [standingNames[standing]]
    : [];
}

/** Words for the changes whose own name does not explain them. */
const changeWords: Partial<Record<LedgerChange, string>> = {
  created: 'added',
  dropped: 'dropped from the list',
  restored: 'put back on the list',
  'cancelled-unexplained': 'cancelled without a reason',
  toggled: 'set back and forth',
  'duplicate-write': 'wrote the same list again',
  moved: 'moved the plan',
  'checks-edited': 'edited the files that say what is checked',
  delegated: 'handed to a worker',
  'worker-ended': 'heard the end of the work on',
  'check-passed': 'saw the check pass for',
  'check-failed': 'saw the check fail for',
  refused: 'was refused',
};

export const planLog = sessionCommand({
  about: [
    'Every change of the plan, oldest first, with the plans that earlier messages of yours began. `untildone ledger\nverify` checks that none was altered.',
  ],
  async answer({ store, session }) {
    const histories = [];
    for (const [plan, since] of await plansOf(store, session)) {
      const todos = await store.todos({ planId: plan });
      histories.push({ plan, since, entries: await store.ledger(plan), todos });
    }
    const isCurrentPlan = ({ plan }: { readonly plan: string }): boolean =>
      plan === session.planId;
    const earlier = histories.filter(
      (history) => !isCurrentPlan(history) && history.entries.length > 0,
    );
    const present = histories.filter(isCurrentPlan);
    const recent = earlier.length === 0 ? '' : ' since your last message';
    return {
      json: {
        plan: session.planId,
        entries: present.flatMap(({ entries }) => entries),
        earlier: earlier.map(({ plan, entries }) => ({ plan, entries })),
      },
      lines: [...earlier, ...present].flatMap((history) => {
        const { since, entries, todos } = history;
        const [owner, when] = isCurrentPlan(history)
          ? [`session ${nameSession(session)}`, recent]
          : [`your message of ${formatTime(since)}`, ''];
        const head = `Plan of ${owner}: ${formatCount(entries.length, 'change')}${when}`;
        return [head, ...entries.map((entry) => logLine(entry, todos))];
      }),
    };
  },
});

function logLine(entry: LedgerEntry, todos: readonly Todo[]): string {
  const { change, detail, todoId } = entry;
  // The title at that time if the entry holds it: the todo may have been reworded since.
  const titleThen =
    detail['title'] ??
    detail['from'] ??
    todos.find(({ id }) => id === todoId)?.title ??
    todoId;
  // The fields left out stand elsewhere in the line or are only for machines.
  const rest = Object.entries(detail).filter(
    ([name]) => !['title', 'from', 'state', 'was'].includes(name),
  );
  const details = rest
    .map(
      ([name, value]) =>
        `${escapeForTerminal(name, 30)} ${escapeForTerminal(String(value), 120)}`,
    )
    .join(', ');
  return [
    `  ${String(entry.sequence).padStart(4)}  ${formatTime(entry.at)}  ${entry.actor} (${escapeForTerminal(entry.host, 30)})`,
    ` ${changeWords[change] ?? escapeForTerminal(change.replaceAll('-', ' '), 40)}`,
    titleThen === null ? '' : ` “${escapeForTerminal(String(titleThen), 100)}”`,
    details === '' ? '' : `: ${details}`,
  ].join('');
}

export const ledgerVerify: Command = {
  takes: '[session]',
  about: [
    'Each change of a plan carries the hash of the one before it. This walks the chain from its start, compares the\ntodos and the session with it, and exits 1 where something does not fit. Someone who rebuilds the whole chain is not\nfound.',
  ],
  options: { all: { summary: 'The plans of every session.' }, ...jsonOption },
  async run(given, io) {
    const word = given.positional(0);
    if (given.has('all') && word !== null)
      throw new UntildoneError('usage', 'Name a session or say --all, not both.');
    const reports = await withStore(io, async (store) => {
      const sessions = given.has('all')
        ? await store.sessions({ limit: Number.MAX_SAFE_INTEGER })
        : [await findSession(store, word, io)];
      const reportsByPlan = new Map<string, PlanReport>();
      for (const { id } of sessions) {
        const session = await store.state(id);
        for (const [plan] of session === null ? [] : await plansOf(store, session))
          if (session !== null && !reportsByPlan.has(plan))
            reportsByPlan.set(plan, {
              session,
              plan,
              report: await verifyPlan(store, plan, session),
            });
      }
      return [...reportsByPlan.values()];
    });
    const broken = (reports ?? []).filter(({ report }) => !report.intact);
    const plans = (reports ?? []).map(({ session, plan, report }) => ({
      ...sessionFields(session),
      plan,
      ...report,
    }));
    printResult(io, given.has('json'), { intact: broken.length === 0, plans }, () =>
      reports === null ? ['no sessions yet'] : reportLines(reports, broken.length, io),
    );
    return broken.length === 0 ? 0 : 1;
  },
};

type PlanReport = Readonly<{ session: State; plan: string; report: LedgerReport }>;

function reportLines(all: readonly PlanReport[], broken: number, io: Io): string[] {
  const paint = createPaint(io);
  // If a message began a plan of its own, the session's first plan stayed empty.
  const reports =
    all.length === 1
      ? all
      : all.filter(({ report }) => !report.intact || report.length > 0);
  const plans = reports.length === 1 ? 'the plan' : `all ${reports.length} plans`;
  const head =
    broken === 0
      ? `${plans} is intact`
      : `${broken} of ${formatCount(reports.length, 'plan')} does not fit`;
  return [
    `The history of ${head}${broken === 0 ? '.' : ':'}`,
    ...reports.map(({ session, plan, report }) => {
      const name = `${nameSession(session)}${session.id === plan ? '' : `, plan ${shortId(plan)}`}`;
      if (!report.intact)
        return `  ${paint('red', 'BROKEN')}  ${name}: ${report.sentence}`;
      const hash = report.length === 0 ? '' : `, last hash ${report.head.slice(0, 16)}`;
      return `  ${paint('green', 'intact')}  ${name}: ${formatCount(report.length, 'change')}${hash}`;
    }),
  ];
}
