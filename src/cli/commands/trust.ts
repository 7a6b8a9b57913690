// `untildone trust`: shows what this project's file asks for and takes a human's yes to
// it (V10). Accepting and revoking need a terminal and refuse an agent, which must not
// trust in the human's name. Showing and `list` need none.
import { realpathSync } from 'node:fs';
import { entriesOf, readTrust, revokeTrust } from '../../engine/trust.ts';
import { stateDirectory } from '../../store/state-directory.ts';
import { type Command, jsonOption } from '../command.ts';
import { formatTime } from '../describe-time.ts';
import type { Io } from '../io.ts';
import { readPolicyFor } from '../open-runtime.ts';
import {
  escapeForTerminal,
  printJson,
  printLines,
  printRefusal,
  printResult,
} from '../print.ts';
import {
  acceptProject,
  describeProject,
  entryLine,
  type Project,
  saysYes,
} from '../project-trust.ts';

/** Exit code if something still waits for a yes. */
const leftPending = 3;

export const trust: Command = {
  takes: '[list|revoke]',
  about: [
    'A project’s untildone.json is a stranger’s: its checks are commands that would run as you. Nothing in it is run or\nobeyed before you accept it. This shows every entry in full, and what changed since you last accepted, and asks.',
    'What you accepted stays in force when the file changes or vanishes, until you accept the change. All worktrees of a\nrepository share it. `trust list` shows every project, `trust revoke` takes this one back.',
    'An agent must not trust in your name: accepting and revoking need a terminal and are refused beneath an agent host\nor a session of untildone.',
    'Exit codes: 0 nothing is pending, or it was accepted, 3 left as it is, 2 wrong usage, 1 refused.',
  ],
  options: {
    yes: {
      summary: 'Accept what is shown without being asked; still only from a terminal.',
    },
    ...jsonOption,
  },
  async run(given, io) {
    const word = given.positional(0);
    if (word === 'list') return listTrusted(io, given.has('json'));
    const { project } = readPolicyFor(io, realpathSync(io.cwd));
    if (word === 'revoke') return revokeProject(io, project);
    if (given.has('json'))
      printJson(io, {
        key: project.key,
        folder: project.folder,
        pending: project.pending,
      });
    else printLines(io, describeProject(project));
    if (project.pending === null) return 0;
    if (project.pending.problems.length > 0) return 1;
    if (given.has('json') && !given.has('yes')) return leftPending;
    const refusal = await io.whyNoHuman();
    if (refusal !== null) return printRefusal(io, refusal);
    if (!given.has('yes') && !(await saysYes('Accept?'))) {
      printLines(io, ['Left as it is.']);
      return leftPending;
    }
    return acceptProject(io, project);
  },
};

function listTrusted(io: Io, asJson: boolean): number {
  const all = readTrust(stateDirectory(io.env));
  return printResult(io, asJson, { accepted: all }, () => [
    ...(all.length === 0 ? ['No project’s file is trusted.'] : []),
    ...all.flatMap(({ folder, at, config }) => {
      const entries = entriesOf(config);
      const amount = `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
      return [
        `${escapeForTerminal(folder, 300)}  (${amount}, ${formatTime(at)})`,
        ...entries.map(entryLine),
      ];
    }),
  ]);
}

async function revokeProject(io: Io, { key, folder }: Project): Promise<number> {
  const refusal = await io.whyNoHuman();
  if (refusal !== null) return printRefusal(io, refusal);
  if (
    key === null ||
    folder === null ||
    !revokeTrust(stateDirectory(io.env), { key, folder })
  )
    return printRefusal(io, 'Nothing of this project was accepted.');
  printLines(io, [
    `Nothing of ${escapeForTerminal(folder, 300)} is trusted any more, from your next message on.`,
  ]);
  return 0;
}
