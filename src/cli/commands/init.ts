// `untildone init`: sets a host up or takes that back, and gives the project a check. It
// works everything out before it writes, and every change can be undone. It needs no
// network, and the only command that it runs is a check that the human has just accepted.

import { UntildoneError } from '../../core/error.ts';
import { hosts } from '../../hosts/hosts.ts';
import {
  type Action,
  changeHosts,
  type FileChange,
  type InstallIdentity,
  type PlannedHost,
} from '../../hosts/install/changes.ts';
import { shippedFolder } from '../../hosts/install/files.ts';
import {
  findProgram,
  type HostInstaller,
  type InstallRequest,
  installBasis,
  type Scope,
  scopeFlags,
} from '../../hosts/install/installer.ts';
import { canAnswerHere } from '../ask-at-terminal.ts';
import type { Arguments, Command, Option } from '../command.ts';
import { type Io, programVersion } from '../io.ts';
import { offerToMoveStore } from '../move-store.ts';
import {
  createPaint,
  escapeForTerminal,
  printComplaint,
  printRefusal,
  printWrapped,
} from '../print.ts';
import {
  askWhich,
  settleTrustAndTry,
  setUpChecks,
  whyNoChecks,
} from '../project-trust.ts';
import { diffTexts, shownLine, withoutRepeats } from '../text-diff.ts';

const hostNames = hosts.map(({ name }) => name);
const knownHosts = hostNames.join(', ');

/** `config init` has these options too. */
export const checkOptions: Readonly<Record<'check' | 'no-try', Option>> = {
  check: {
    value: 'CMD',
    summary:
      'A command that must pass before an agent may stop; may be given more than once.',
  },
  'no-try': { summary: 'Do not run the checks now.' },
};

/** @param shipped the folder with the programs that hosts start */
export function createInit(shipped: () => string): Command {
  return {
    takes: `[${hostNames.join('|')}]`,
    about: [
      `Writes what a host needs: hooks, switches, grants, the MCP server, or a plugin. Known hosts: ${knownHosts}.\nWithout a name it offers those that are on PATH.`,
      'It also finds out how this project is tested, and asks whether that must pass before an agent may stop; --check names it\nwithout a question. The check is written into untildone.json, and stays there when the host is uninstalled. After\nyour yes it runs once, for at most a minute, and you see whether it passes.',
      'A store that an unpublished version made is moved away, with a name that says the day, if you say yes.',
      'For this project, in files that are not committed, unless --shared or --user says otherwise. Programs are\ncopied into the state directory. A second run changes nothing; --uninstall puts every file back as it was, or, where\nsomebody edited it since, takes out only what is ours.',
    ],
    options: {
      ...checkOptions,
      all: { summary: 'Every known host that is on PATH.' },
      project: { summary: 'For this project, only for you (the default).' },
      user: { summary: 'For all your projects.', excludes: ['project', 'shared'] },
      shared: {
        summary:
          'For this project, in files to commit, with a command that works on any machine.',
      },
      uninstall: { summary: 'Take it away again.', excludes: ['check'] },
      'dry-run': { summary: 'Show the difference, and change nothing.' },
    },
    async run(given, io) {
      const request = { ...installBasis(io, programVersion), scope: scopeOf(given) };
      const commands = checksOf(given);
      const isDry = given.has('dry-run');
      const action = given.has('uninstall') ? 'uninstall' : 'install';
      if (action === 'install') await offerToMoveStore(io, isDry);
      const installers = await installersOf(given, io);
      if (installers.length === 0) return 0;
      const unwritable = whyNoChecks(io, commands);
      if (unwritable !== null)
        return printRefusal(
          io,
          `${escapeForTerminal(unwritable, 500)} Nothing was changed.`,
        );
      const hostChanges = changeHosts(installers, request, action, { shipped, isDry });
      const { planned, problems, left, folder, programs } = hostChanges;
      for (const problem of problems) printComplaint(io, escapeForTerminal(problem, 500));
      const copiesRemark = `, except that programs were copied to ${escapeForTerminal(folder, 300)}`;
      if (problems.length > 0)
        return printRefusal(
          io,
          `Nothing was changed${hostChanges.keepsCopies ? copiesRemark : ''}.`,
        );
      const changes = planned.flatMap(changedFiles);
      const lines = isDry
        ? describeDifference(changes, io)
        : planned.flatMap((one) => hostReports[action](one, request));
      printWrapped(io, lines);
      if (isDry && action === 'install' && changes.length > 0)
        printWrapped(io, [
          `To be copied to ${escapeForTerminal(folder, 300)}: ${programs.join(', ')}`,
        ]);
      const notes = planned.flatMap((one) => one.notes);
      for (const note of notes)
        printComplaint(
          io,
          escapeForTerminal(isDry ? `An install would say: ${note}` : note, 500),
        );
      if (left.length > 0) printWrapped(io, describeLeft(left, planned));
      if (action === 'uninstall') return 0;
      // An install for all projects says nothing about how this project is tested.
      const isOfProject = request.scope !== 'user' || commands.length > 0;
      const command = `untildone init ${given.has('all') ? '--all' : installers[0]?.name}`;
      const checksCode = isOfProject
        ? await setUpChecks(io, {
            commands,
            command,
            isNew: false,
            isDry,
            isTried: !given.has('no-try'),
          })
        : 0;
      if (checksCode !== 0 || isDry) return checksCode;
      if (!isOfProject) await settleTrustAndTry(io, !given.has('no-try'));
      printWrapped(io, ['`untildone doctor` says whether it works.']);
      return 0;
    },
  };
}

export const init = createInit(shippedFolder);

function scopeOf(given: Arguments): Scope {
  if (given.has('shared')) return 'shared';
  return given.has('user') ? 'user' : 'project';
}

/**
 * The commands of `--check`. An empty one, such as a variable that was not set, is
 * refused: it would prove nothing.
 */
export function checksOf(given: Arguments): readonly string[] {
  const commands = given.texts('check').map((command) => command.trim());
  if (commands.includes(''))
    throw new UntildoneError(
      'usage',
      '--check is empty: name a command, such as "npm test".',
    );
  return [...new Set(commands)];
}

/**
 * The installers that the flags name or the human chose. Empty: the human was asked and
 * chose none.
 */
async function installersOf(given: Arguments, io: Io): Promise<readonly HostInstaller[]> {
  const name = given.positional(0);
  const isAll = given.has('all');
  const isRemoval = given.has('uninstall');
  if (isAll && name !== null)
    throw new UntildoneError('usage', 'Name a host or say --all, not both.');
  const all = await Promise.all(hosts.map((host) => host.installer()));
  if (name !== null) return all.filter((one) => one.name === name);
  const foundInstallers = all.filter(
    ({ program }) => findProgram(program, io.env) !== null,
  );
  if (isAll && isRemoval) return all;
  if (isAll && foundInstallers.length > 0) return foundInstallers;
  if (isRemoval || foundInstallers.length === 0 || !(await canAnswerHere(io))) {
    const names = foundInstallers.map((one) => one.name).join(', ') || 'none';
    throw new UntildoneError(
      'usage',
      `Name a host, or say --all. Known hosts: ${knownHosts}; on PATH: ${names}.`,
    );
  }
  printWrapped(io, ['On this machine:']);
  const rows = foundInstallers.map((one) => `${one.title}  (untildone init ${one.name})`);
  const question = `Set up untildone in ${foundInstallers.length === 1 ? 'it' : 'them'}?`;
  const chosen = await askWhich(io, rows, question, 'the name of a host');
  if (chosen.length === 0) printWrapped(io, ['Nothing was set up.']);
  return chosen.flatMap((index) => foundInstallers[index] ?? []);
}

/**
 * The difference as `diff -u` prints it, once for each file, even if several hosts change
 * it.
 */
function describeDifference(changes: readonly FileChange[], io: Io): string[] {
  const paint = createPaint(io);
  const colours = { '+': 'green', '-': 'red' } as const;
  const lines = changes.flatMap((change) => {
    const steps = changes.filter(({ path }) => path === change.path);
    const after = steps.at(-1)?.after ?? null;
    return change === steps[0]
      ? withoutRepeats(diffTexts(change.shownPath, change.before, after))
      : [];
  });
  if (lines.length === 0) return ['Nothing would change.'];
  return lines.map((line) => {
    const colour = colours[line[0] as keyof typeof colours];
    return colour === undefined ? shownLine(line) : paint(colour, shownLine(line));
  });
}

const hostReports: Readonly<
  Record<Action, (host: PlannedHost, request: InstallRequest) => string[]>
> = {
  install(host, request) {
    const { installer, project } = host;
    const { title, program, howToGet, afterInstall } = installer;
    const changeLines = changedFiles(host).map(describeChange);
    const next = changeLines.length === 0 ? [] : [afterInstall];
    const headline = `untildone is set up in ${title} ${placeName(request, project)}`;
    const isThere = findProgram(program, request.env) !== null;
    const missing = `${title} itself is not here: no program "${program}" is on PATH. → ${howToGet}`;
    return [
      ...(changeLines.length === 0
        ? [`${headline} already; nothing changed.`]
        : [`${headline}:`, ...changeLines]),
      ...(isThere ? next : [missing]),
      ...(request.scope === 'shared' ? sharedNeeds(request.version) : []),
    ];
  },
  uninstall(host, request) {
    const { installer, project } = host;
    const removalLines = changedFiles(host).map(describeRemoval);
    const where = `${installer.title} ${placeName(request, project)}`;
    const command = `untildone init ${installer.name}${scopeFlags[request.scope]}`;
    if (removalLines.length === 0)
      return [`Nothing that \`${command}\` writes is in ${where}.`];
    return [`untildone is taken out of ${where}:`, ...removalLines, staysBehind];
  },
};

const staysBehind =
  "The project's untildone.json, if there is one, and the records of its sessions stay.";

function changedFiles({ changes }: PlannedHost): readonly FileChange[] {
  return changes.filter(({ before, after }) => before !== after);
}

/**
 * Other machines do not have our state directory. A committed file therefore names the
 * package, and the registry must have it.
 */
function sharedNeeds(version: string): string[] {
  const packageName = `untildone@${version}`;
  return [
    `Every machine fetches ${packageName} from its npm registry; \`npm view ${packageName}\` says whether it is there.`,
    'Where it is not, the host cannot load it; without --shared it runs from the state directory.',
  ];
}

/**
 * Names the installs that another scope or project still has, each with the command that
 * removes it.
 */
function describeLeft(
  left: readonly InstallIdentity[],
  planned: readonly PlannedHost[],
): string[] {
  const rows = left.flatMap(({ host, scope, project }) => {
    const isHere = project === null || planned.some((one) => one.project === project);
    return [
      `  ${host} (${scope}) ${escapeForTerminal(project ?? '', 300)}`.trimEnd(),
      `    → ${isHere ? '' : 'there: '}untildone init ${host} --uninstall${scopeFlags[scope]}`,
    ];
  });
  return ['Still installed:', ...rows];
}

function placeName({ scope }: InstallRequest, project: string | null): string {
  return scope === 'user'
    ? 'for this user'
    : `for ${escapeForTerminal(project ?? 'this project', 300)}`;
}

function describeChange({
  shownPath,
  path,
  before,
  backup,
  recordAfter,
}: FileChange): string {
  // A link may lead out of the project, so the person sees which file was written.
  const place =
    path === shownPath
      ? escapeForTerminal(shownPath, 300)
      : `${escapeForTerminal(shownPath, 300)} → ${escapeForTerminal(path, 300)}`;
  if (before === null) return `  made     ${place}`;
  // A file that an earlier install made has no backup.
  const backupRemark =
    recordAfter?.original == null ? '' : ` (backup: ${escapeForTerminal(backup, 300)})`;
  return `  changed  ${place}${backupRemark}`;
}

function describeRemoval({ shownPath, after, recordBefore }: FileChange): string {
  const verb = after === recordBefore?.original ? 'restored' : 'cleaned ';
  return `  ${after === null ? 'removed ' : verb} ${escapeForTerminal(shownPath, 300)}`;
}
