// `untildone plan import` and `plan export`: Markdown task lists in and out. Import never
// writes the file, and beneath an agent it takes no checks from it: only a human says
// what proves the work (V3). Export makes a new file; in one that exists it ticks and
// empties boxes and touches no other byte.
import { realpath, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UntildoneError } from '../../core/error.ts';
import { addChecks } from '../../core/policy.ts';
import { findCheck } from '../../core/same-checks.ts';
import { frozenPolicy } from '../../engine/policy.ts';
import type { Store } from '../../engine/store.ts';
import { errorCode } from '../../engine/system.ts';
import { formatPlan } from '../../plan-file/line-text.ts';
import { planChecks, readPlanFile } from '../../plan-file/plan-file.ts';
import { openOwnSession, ownSessionId } from '../../plan-file/taken-plan.ts';
import { type Command, jsonOption } from '../command.ts';
import { nameSession, shortId } from '../describe-session.ts';
import { findSession, sessionCommand, withSessions } from '../find-session.ts';
import type { Io } from '../io.ts';
import { openPlanFileSync, openRuntime, withStore } from '../open-runtime.ts';
import { complain, count, refuse, shown, tell } from '../print.ts';

export const planImport: Command = {
  takes: '<FILE>',
  about: [
    'Reads the task lists of a Markdown file (`- [ ] Write the parser !high`, `check: npm test` below it) into the plan\nof a session. Without --session the file gets a session of its own, which a second import finds again. No agent works\nin it: `untildone run --plan FILE` works through a file.',
    'Only what changed in the file since its last import changes the plan: a new line adds a todo, a tick claims it, a\ntick taken out reopens it, a line that is gone drops it. docs/plan-files.md has the whole grammar.',
  ],
  options: {
    session: { value: 'SESSION', summary: 'Import into this session.' },
    ...jsonOption,
  },
  async run(given, io) {
    const file = given.positional(0) ?? '';
    const name = shown(file, 200);
    const realPath = await realPathOf(io, file);
    // Looked at before a store or a session is made: a wrong file leaves no trace.
    const parsed = readPlanFile(realPath);
    if (!parsed.ok) return tellProblems(io, name, parsed.problems);
    // What the human has looked at by now; a check that is slipped into the file
    // meanwhile is not theirs.
    const isNamed = (await io.agentAbove()) === null;
    const { ids, specs } = planChecks(parsed.plan);
    const allowed = isNamed ? ids : [];
    const word = given.text('session');
    const isEmpty = parsed.plan.items.length === 0;
    const known = async () =>
      withStore(io, (store) => store.state(ownSessionId(realPath)));
    if (isEmpty && word === null && (await known()) === null) return tellEmpty(io, name);
    const work = async (store: Store): Promise<number> => {
      const named = specs
        .filter(({ id }) => allowed.includes(id))
        .map((spec) => [spec.id, spec]);
      const checks = Object.fromEntries(named);
      const runtime = openRuntime(io, store, (policy) =>
        addChecks(policy, { goalChecks: [], checks }),
      );
      const session =
        word === null
          ? await openOwnSession(
              runtime,
              store,
              { clock: io.clock, directory: io.cwd },
              realPath,
            )
          : await findSession(store, word, io);
      const frozen = await frozenPolicy(store, session);
      const allowedId = (check: string) =>
        allowed.includes(check) ? (findCheck(frozen?.checks, check)?.id ?? check) : null;
      const place = { realPath, sessionId: session.id, allowedId, isNamed };
      const report = await (await openPlanFileSync(io, store, place))(runtime).pull();
      if (!report.ok) return tellProblems(io, name, report.problems);
      // What the import set going must be on the record before the store is closed.
      await report.checks;
      const { plan, created, changed, dropped, notices } = report;
      const { title, goalChecks } = plan;
      // A list that was emptied drops its todos; a file that never had one is the wrong
      // file.
      if (isEmpty && dropped === 0) return tellEmpty(io, name);
      const counts = { todos: plan.items.length, created, changed, dropped };
      const json = { session: session.id, file, title, goalChecks, ...counts, notices };
      const onGoal = goalChecks.map((check) => shown(check, 60)).join(', ');
      const unused = `its goal checks (${onGoal}) apply to \`run --plan\` and \`verify --plan\`; for Claude Code or OpenCode write them into untildone.json.`;
      // Only a plain name is safe to copy as it is.
      const typed = /^[\w./-]+$/u.test(file) ? file : 'FILE';
      const next =
        word === null ? `run --plan ${typed}` : `plan show ${shortId(session.id)}`;
      return tell(io, given.has('json'), json, () => [
        `Imported ${count(counts.todos, 'todo')} of ${name} into session ${nameSession(session)}: ${created} added, ${changed} changed, ${dropped} dropped.`,
        ...notices.map((notice) => `  note: ${shown(notice, 300)}`),
        ...(onGoal === '' ? [] : [`  note: ${unused}`]),
        `next: untildone ${next}`,
      ]);
    };
    // A session of its own may be the first one of this user; a named one must be there
    // already.
    return withSessions(io, work, word === null);
  },
};

function tellProblems(io: Io, name: string, problems: readonly string[]): number {
  for (const problem of problems) complain(io, `${name}: ${shown(problem, 300)}.`);
  return refuse(io, 'Nothing was imported.');
}

function tellEmpty(io: Io, name: string): number {
  const what = 'A line such as `- [ ] Write the parser` is one.';
  return refuse(io, `${name} has no todos, so nothing was imported. ${what}`);
}

export const planExport = sessionCommand({
  about: [
    'Prints the plan as a task list that `plan import` reads back: boxes, priorities, checks and reasons. Cancelled\ntodos are left out.',
    'With --file a new file is written. If the file is there already, only the boxes of its todos are ticked or\nemptied; a box that somebody changed since the last import is left alone.',
  ],
  options: { file: { value: 'FILE', summary: 'Write into this file instead.' } },
  async answer({ given, io, store, session: { id: sessionId, planId, plan } }) {
    const file = given.text('file');
    const markdown = formatPlan(plan);
    if (file === null) {
      // As it is: what is read back must not be broken at the width of a terminal.
      if (!given.has('json')) io.stdout.write(markdown);
      return given.has('json') ? { json: { plan: planId, markdown }, lines: [] } : 0;
    }
    const name = shown(file, 200);
    const path = resolve(io.cwd, file);
    const problem = await writeNew(path, markdown);
    if (problem === null) {
      const todos = plan.filter(({ status }) => status !== 'cancelled').length;
      return {
        json: { file, created: true, todos },
        lines: [`Wrote ${count(todos, 'todo')} to ${name}.`],
      };
    }
    if (problem !== 'EEXIST')
      return refuse(io, `${name} cannot be written (${problem}).`);
    const realPath = await realPathOf(io, file);
    const place = { realPath, sessionId, allowedId: () => null };
    const report = await (await openPlanFileSync(io, store, place))(
      openRuntime(io, store),
    ).push();
    if (!report.ok) {
      const reasons = report.problems.map((reason) => shown(reason, 200)).join('; ');
      return refuse(io, `${name}: ${reasons}. It was left as it is.`);
    }
    const { boxes, withoutLine, notices } = report;
    const missing = ` ${count(withoutLine, 'todo')} of the plan ${withoutLine === 1 ? 'has' : 'have'} no line there.`;
    return {
      json: { file, created: false, boxes, withoutLine, notices },
      lines: [
        `Wrote ${boxes} ${boxes === 1 ? 'box' : 'boxes'} in ${name}; nothing else in it was touched.${withoutLine === 0 ? '' : missing}`,
        ...notices.map((notice) => `  note: ${shown(notice, 300)}`),
      ],
      code: notices.length === 0 ? 0 : 1,
    };
  },
});

function realPathOf(io: Io, file: string): Promise<string> {
  return realpath(resolve(io.cwd, file)).catch((error: unknown) => {
    throw new UntildoneError(
      'usage',
      `${shown(file, 200)} cannot be opened (${errorCode(error)}).`,
    );
  });
}

/** null: written. Exclusive: not even a link that points nowhere is followed. */
export async function writeNew(path: string, text: string): Promise<string | null> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return null;
  } catch (error) {
    // Safe: nothing was written, and the caller tells why or takes the other way.
    return errorCode(error);
  }
}
