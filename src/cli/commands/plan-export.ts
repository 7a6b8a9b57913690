// `untildone plan export`: the plan of a session as a Markdown task list, on standard output or into a new file. In a
// file that exists it ticks and empties boxes and touches no other byte.
import { realpath, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UntildoneError } from '../../core/error.ts';
import { errorCode } from '../../engine/system.ts';
import { formatPlan } from '../../plan-file/line-text.ts';
import { type Command, jsonOption } from '../command.ts';
import { findSession, noSessionsYet } from '../find-session.ts';
import type { Io } from '../io.ts';
import { openPlanFileSync, openRuntime, withStore } from '../open-runtime.ts';
import { count, printJson, printLines, refuse, shown } from '../print.ts';

export const planExport: Command = {
  usage: 'plan export [session] [--file FILE] [--json]',
  about: [
    'Prints the plan as a task list that `plan import` reads back: boxes, priorities, checks and reasons. Cancelled\ntodos are left out.',
    'With --file a new file is written. If the file is there already, only the boxes of its todos are ticked or\nemptied; a box that somebody changed since the last import is left alone.',
  ],
  options: { file: { value: 'FILE', summary: 'Write into this file instead.' }, ...jsonOption },
  positionals: [0, 1],
  async run(given, io) {
    const file = given.text('file');
    const json = given.has('json');
    const exported = await withStore(io, async (store) => {
      const session = await findSession(store, given.positional(0), io);
      const todos = session.plan;
      const markdown = formatPlan(todos);
      if (file === null) return tellPlan(io, session.id, session.planId, markdown, json);
      const path = resolve(io.cwd, file);
      const problem = await writeNew(path, markdown);
      const written = todos.filter(({ status }) => status !== 'cancelled').length;
      if (problem === null) return tellWritten(io, file, session.id, written, json);
      if (problem !== 'EEXIST') return refuse(io, `${shown(file, 200)} cannot be written (${problem}).`);
      const realPath = await realpath(path).catch((error: unknown) => {
        throw new UntildoneError('usage', `${shown(file, 200)} cannot be opened (${errorCode(error)}).`);
      });
      const place = { realPath, sessionId: session.id, isAllowed: () => false };
      const sync = await openPlanFileSync(io, store, place);
      const report = await sync(openRuntime(io, store)).push();
      if (!report.ok) {
        const reasons = report.problems.map((problem) => shown(problem, 200)).join('; ');
        return refuse(io, `${shown(file, 200)}: ${reasons}. It was left as it is.`);
      }
      return tellBoxes(io, file, session.id, report, json);
    });
    if (exported === null) throw new UntildoneError('unknown-session', noSessionsYet);
    return exported;
  },
};

/** null: written. Exclusive: not even a link that points nowhere is followed. */
async function writeNew(path: string, text: string): Promise<string | null> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return null;
  } catch (error) {
    // Safe: nothing was written, and the caller tells why or takes the other way.
    return errorCode(error);
  }
}

function tellPlan(io: Io, session: string, plan: string, markdown: string, json: boolean): number {
  if (json) printJson(io, { session, plan, markdown });
  else io.stdout.write(markdown);
  return 0;
}

function tellWritten(io: Io, file: string, session: string, todos: number, json: boolean): number {
  if (json) printJson(io, { session, file, created: true, todos });
  else printLines(io, [`Wrote ${count(todos, 'todo')} to ${shown(file, 200)}.`]);
  return 0;
}

function tellBoxes(
  io: Io,
  file: string,
  session: string,
  { boxes, withoutLine, notices }: { boxes: number; withoutLine: number; notices: readonly string[] },
  json: boolean,
): number {
  if (json) printJson(io, { session, file, created: false, boxes, withoutLine, notices });
  else {
    const missing = `${count(withoutLine, 'todo')} of the plan ${withoutLine === 1 ? 'has' : 'have'} no line there.`;
    printLines(io, [
      `Wrote ${boxes} ${boxes === 1 ? 'box' : 'boxes'} in ${shown(file, 200)}; nothing else in it was touched.${withoutLine === 0 ? '' : ` ${missing}`}`,
      ...notices.map((notice) => `  note: ${shown(notice, 300)}`),
    ]);
  }
  return notices.length === 0 ? 0 : 1;
}
