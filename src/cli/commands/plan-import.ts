// `untildone plan import`: a plan file becomes the plan of a session, and later changes of the file its changes. It
// never writes the file. Beneath an agent it takes no checks from it: only a human says what proves the work (V3).
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UntildoneError } from '../../core/error.ts';
import type { Session } from '../../core/state.ts';
import type { Store } from '../../engine/store.ts';
import { errorCode } from '../../engine/system.ts';
import { planChecks, readPlanFile } from '../../plan-file/plan-file.ts';
import type { SyncReport } from '../../plan-file/plan-file-sync.ts';
import { openOwnSession } from '../../plan-file/taken-plan.ts';
import { openUserStore } from '../../store/sqlite/sqlite-store.ts';
import { type Command, jsonOption } from '../command.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { openPlanFileSync, openRuntime, withStore } from '../open-runtime.ts';
import { complain, count, printJson, printLines, shown } from '../print.ts';
import { nameSession } from '../session-name.ts';

export const planImport: Command = {
  usage: 'plan import FILE [--session SESSION] [--json]',
  about: [
    'Reads the task lists of a Markdown file (`- [ ] Write the parser !high`, `check: npm test` below it) into the plan\nof a session. Without --session the file gets a session of its own, which a second import finds again.',
    'Only what changed in the file since its last import changes the plan: a new line adds a todo, a tick claims it, a\ntick taken out reopens it, a line that is gone drops it. docs/plan-files.md has the whole grammar.',
  ],
  options: {
    session: { value: 'SESSION', summary: 'Import into this session.' },
    ...jsonOption,
  },
  positionals: [1, 1],
  async run(given, io) {
    const file = given.positional(0) ?? '';
    const realPath = await realpath(resolve(io.cwd, file)).catch((error: unknown) => {
      throw new UntildoneError(
        'usage',
        `The file ${shown(file, 200)} cannot be found (${errorCode(error)}).`,
      );
    });
    // Looked at before a store or a session is made: a wrong file leaves no trace.
    const parsed = readPlanFile(realPath);
    if (!parsed.ok) return tellProblems(io, file, parsed.problems);
    // What the human has looked at by now; a check that is slipped into the file meanwhile is not theirs.
    const isNamed = (await io.agentAbove()) === null;
    const allowed = isNamed ? planChecks(parsed.plan).ids : [];
    const word = given.text('session');
    const imported = await withPlanStore(io, word, async (store) => {
      const specs = planChecks(parsed.plan).specs.filter(({ id }) => allowed.includes(id));
      const runtime = openRuntime(io, store, (policy) => ({
        ...policy,
        checks: { ...policy.checks, ...Object.fromEntries(specs.map((spec) => [spec.id, spec])) },
      }));
      const session =
        word === null
          ? await openOwnSession(runtime, store, { clock: io.clock, directory: io.cwd }, realPath)
          : await findSession(store, word, io);
      const isAllowed = (check: string): boolean => allowed.includes(check);
      const place = { realPath, sessionId: session.id, isAllowed, isNamed };
      const sync = await openPlanFileSync(io, store, place);
      const report = await sync(runtime).pull();
      // What the import set going must be on the record before the store is closed.
      if (report.ok) await report.checks;
      return { session, report };
    });
    return tell(io, file, imported, given.has('json'));
  },
};

/** An own session may be the first one of this user; a named one must be there already. */
async function withPlanStore<T>(io: Io, word: string | null, work: (store: Store) => Promise<T>): Promise<T> {
  if (word !== null) {
    const result = await withStore(io, async (store) => ({ value: await work(store) }));
    if (result === null) throw new UntildoneError('unknown-session', noSessionsYet);
    return result.value;
  }
  const store = await openUserStore(io.env, { clock: io.clock });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function tellProblems(io: Io, file: string, problems: readonly string[]): number {
  for (const problem of problems) complain(io, `${shown(file, 200)}: ${shown(problem, 300)}.`);
  complain(io, 'Nothing was imported.');
  return 1;
}

function tell(
  io: Io,
  file: string,
  { session, report }: { session: Session; report: SyncReport },
  json: boolean,
): number {
  if (!report.ok) return tellProblems(io, file, report.problems);
  const { plan, created, changed, dropped, notices } = report;
  if (json) {
    const { title, goalChecks } = plan;
    const counts = { todos: plan.items.length, created, changed, dropped };
    printJson(io, { session: session.id, file, title, goalChecks, ...counts, notices });
    return 0;
  }
  const done = `${created} added, ${changed} changed, ${dropped} dropped`;
  printLines(io, [
    `Imported ${count(plan.items.length, 'todo')} of ${shown(file, 200)} into session ${nameSession(session)}: ${done}.`,
    ...notices.map((notice) => `  note: ${shown(notice, 300)}`),
    ...(plan.goalChecks.length === 0
      ? []
      : [
          `  note: its goal checks (${plan.goalChecks.map((check) => shown(check, 60)).join(', ')}) hold for \`run --plan\` and \`verify --plan\`; for a host they belong into untildone.json.`,
        ]),
  ]);
  return 0;
}
