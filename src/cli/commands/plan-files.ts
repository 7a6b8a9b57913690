// `untildone plan import` and `plan export`: read and write Markdown task lists. Import
// never writes the file and takes no checks from it if an agent calls it (V3). Export
// makes a new file; in an existing file it only ticks and empties boxes.
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
import {
  escapeForTerminal,
  formatCount,
  printComplaint,
  printRefusal,
  printResult,
} from '../print.ts';

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
    const name = escapeForTerminal(file, 200);
    const realPath = await realPathOf(io, file);
    // Read before a store or a session is made, so that a wrong file leaves no trace.
    const parsed = readPlanFile(realPath);
    if (!parsed.ok) return refuseProblems(io, name, parsed.problems);
    // Only the checks that a human has seen by now are taken; a check that is added to
    // the file from now on is not the human's.
    const isNamed = (await io.agentAbove()) === null;
    const { ids, specs } = planChecks(parsed.plan);
    const allowedIds = isNamed ? ids : [];
    const word = given.text('session');
    const isEmpty = parsed.plan.items.length === 0;
    const readOwnSession = async () =>
      withStore(io, (store) => store.state(ownSessionId(realPath)));
    if (isEmpty && word === null && (await readOwnSession()) === null)
      return refuseEmpty(io, name);
    const importPlan = async (store: Store): Promise<number> => {
      const allowedSpecs = specs
        .filter(({ id }) => allowedIds.includes(id))
        .map((spec) => [spec.id, spec]);
      const checks = Object.fromEntries(allowedSpecs);
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
        allowedIds.includes(check)
          ? (findCheck(frozen?.checks, check)?.id ?? check)
          : null;
      const syncTarget = { realPath, sessionId: session.id, allowedId, isNamed };
      const report = await (await openPlanFileSync(io, store, syncTarget))(
        runtime,
      ).pull();
      if (!report.ok) return refuseProblems(io, name, report.problems);
      // The checks that the import started must be recorded before the store closes.
      await report.checks;
      const { plan, created, changed, dropped, notices } = report;
      const { title, goalChecks } = plan;
      // An emptied list drops its todos; a file that never had a list is the wrong file.
      if (isEmpty && dropped === 0) return refuseEmpty(io, name);
      const counts = { todos: plan.items.length, created, changed, dropped };
      const json = { session: session.id, file, title, goalChecks, ...counts, notices };
      const onGoal = goalChecks.map((check) => escapeForTerminal(check, 60)).join(', ');
      const unused = `its goal checks (${onGoal}) apply to \`run --plan\` and \`verify --plan\`; for Claude Code or OpenCode write them into untildone.json.`;
      // Only a plain name is safe to copy into a shell.
      const fileWord = /^[\w./-]+$/u.test(file) ? file : 'FILE';
      const next =
        word === null ? `run --plan ${fileWord}` : `plan show ${shortId(session.id)}`;
      return printResult(io, given.has('json'), json, () => [
        `Imported ${formatCount(counts.todos, 'todo')} of ${name} into session ${nameSession(session)}: ${created} added, ${changed} changed, ${dropped} dropped.`,
        ...notices.map((notice) => `  note: ${escapeForTerminal(notice, 300)}`),
        ...(onGoal === '' ? [] : [`  note: ${unused}`]),
        `next: untildone ${next}`,
      ]);
    };
    // Without --session this may be the user's first session, so the store may be
    // created. A named session must already exist.
    return withSessions(io, importPlan, word === null);
  },
};

function refuseProblems(io: Io, name: string, problems: readonly string[]): number {
  for (const problem of problems)
    printComplaint(io, `${name}: ${escapeForTerminal(problem, 300)}.`);
  return printRefusal(io, 'Nothing was imported.');
}

function refuseEmpty(io: Io, name: string): number {
  const example = 'A line such as `- [ ] Write the parser` is one.';
  return printRefusal(io, `${name} has no todos, so nothing was imported. ${example}`);
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
      // Printed as it is: a file that is read back must not be broken at the width of a
      // terminal.
      if (!given.has('json')) io.stdout.write(markdown);
      return given.has('json') ? { json: { plan: planId, markdown }, lines: [] } : 0;
    }
    const name = escapeForTerminal(file, 200);
    const path = resolve(io.cwd, file);
    const problem = await writeNew(path, markdown);
    if (problem === null) {
      const todos = plan.filter(({ status }) => status !== 'cancelled').length;
      return {
        json: { file, created: true, todos },
        lines: [`Wrote ${formatCount(todos, 'todo')} to ${name}.`],
      };
    }
    if (problem !== 'EEXIST')
      return printRefusal(io, `${name} cannot be written (${problem}).`);
    const realPath = await realPathOf(io, file);
    const syncTarget = { realPath, sessionId, allowedId: () => null };
    const report = await (await openPlanFileSync(io, store, syncTarget))(
      openRuntime(io, store),
    ).push();
    if (!report.ok) {
      const reasons = report.problems
        .map((reason) => escapeForTerminal(reason, 200))
        .join('; ');
      return printRefusal(io, `${name}: ${reasons}. It was left as it is.`);
    }
    const { boxes, withoutLine, notices } = report;
    const missing = ` ${formatCount(withoutLine, 'todo')} of the plan ${withoutLine === 1 ? 'has' : 'have'} no line there.`;
    return {
      json: { file, created: false, boxes, withoutLine, notices },
      lines: [
        `Wrote ${boxes} ${boxes === 1 ? 'box' : 'boxes'} in ${name}; nothing else in it was touched.${withoutLine === 0 ? '' : missing}`,
        ...notices.map((notice) => `  note: ${escapeForTerminal(notice, 300)}`),
      ],
      code: notices.length === 0 ? 0 : 1,
    };
  },
});

function realPathOf(io: Io, file: string): Promise<string> {
  return realpath(resolve(io.cwd, file)).catch((error: unknown) => {
    throw new UntildoneError(
      'usage',
      `${escapeForTerminal(file, 200)} cannot be opened (${errorCode(error)}).`,
    );
  });
}

/**
 * Writes a new file. Null: it was written; otherwise the error's code. It never follows a
 * link, not even one that points nowhere.
 */
export async function writeNew(path: string, text: string): Promise<string | null> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return null;
  } catch (error) {
    // Safe: nothing was written, and the caller reports it or updates the existing file.
    return errorCode(error);
  }
}
