// A human's yes to what this project's file asks for (V10): what is shown, and how it is accepted. `trust`, `run` and
// `init` ask alike. Nothing is accepted without a terminal but by `run --trust`.
import { realpathSync } from 'node:fs';
import { UntildoneError } from '../core/error.ts';
import { visibleLine } from '../core/safe-text.ts';
import { type PolicyResult, policyProblemSentence } from '../engine/policy.ts';
import { acceptWishes, type Entry, entriesOf, pendingSentence } from '../engine/trust.ts';
import { stateDirectory } from '../store/state-directory.ts';
import { askAtTerminal, canAnswerHere, readApproval } from './ask-at-terminal.ts';
import type { Io } from './io.ts';
import { readPolicyFor } from './open-runtime.ts';
import { complain, printLines, refuse, shown } from './print.ts';

export type Project = PolicyResult['project'];

export async function isAccepted(): Promise<boolean> {
  const said = await askAtTerminal('Accept? [y: yes; Enter: leave it as it is] ', '--yes');
  return readApproval(said ?? '')?.approved === true;
}

/** Exactly what was shown: a file that changed meanwhile is not accepted. */
export function acceptProject(io: Io, shownProject: Project, isQuiet = false): number {
  const { project } = readPolicyFor(io, realpathSync(io.cwd));
  const { key, folder, asked } = project;
  if (key === null || folder === null || JSON.stringify(asked) !== JSON.stringify(shownProject.asked))
    return refuse(io, 'The file changed while you were looking at it, so nothing was accepted. Look again.');
  acceptWishes(stateDirectory(io.env), { key, folder, at: io.clock.now(), config: asked });
  if (!isQuiet) printLines(io, ['Accepted. It holds from your next message on.']);
  return 0;
}

export function describeProject({ folder, asked, pending, warnings }: Project): string[] {
  const refused = warnings.map((warning) => `! ${policyProblemSentence({ ...warning, file: null })}`);
  if (pending === null) {
    if (folder === null) return ['No project file asks for anything here.'];
    return [
      `All that the project file in ${shown(folder, 300)} asks for is accepted:`,
      ...entriesOf(asked).map(entryLine),
      ...refused,
    ];
  }
  const { added, removed, problems, file } = pending;
  if (problems.length > 0)
    return [
      `${shown(file, 300)} cannot be used, so nothing in it can be accepted:`,
      ...problems.map((problem) => `  ${policyProblemSentence({ ...problem, file: null })}`),
    ];
  const paths = new Set(added.map((entry) => JSON.stringify(entry)));
  const known = entriesOf(asked).filter((entry) => !paths.has(JSON.stringify(entry)));
  return [
    `${shown(file, 300)} asks for:`,
    ...known.map((entry) => `  ${entryLine(entry).trimStart()}  (accepted)`),
    ...added.map((entry) => `+ ${entryLine(entry).trimStart()}`),
    ...removed.map((entry) => `- ${entryLine(entry).trimStart()}  (accepted, and not in the file any more)`),
    ...refused,
    'Entries with + are neither run nor obeyed before you accept them; those with - stay in force until then.',
  ];
}

/** Whole, whatever its length: a yes must not cover what was cut off. Control characters are written out. */
export function entryLine({ path, value }: Entry): string {
  return `  ${visibleLine(path)}: ${visibleLine(JSON.stringify(value))}`;
}

/** Before a command goes by the project's file. `says`: it was called with --trust. */
export async function settleTrust(io: Io, says = false): Promise<void> {
  const { project } = readPolicyFor(io, realpathSync(io.cwd));
  const { pending } = project;
  // A broken file is told by whoever reads it next; nothing in it can be accepted.
  if (pending === null || pending.problems.length > 0) return;
  // Standard output belongs to the command.
  const show = () =>
    io.stderr.write(
      describeProject(project)
        .map((line) => `${line}\n`)
        .join(''),
    );
  if (says) {
    const above = await io.agentAbove();
    if (above !== null)
      throw new UntildoneError(
        'usage',
        `Only a human may trust a project, and this was said beneath ${above}.`,
      );
    show();
  } else if (!(await canAnswerHere(io))) {
    complain(io, `warning: ${pendingSentence(pending)}`);
    return;
  } else {
    show();
    if (!(await isAccepted())) return;
  }
  acceptProject(io, project, true);
}
