// `untildone init`: does all that a host needs, or takes it away again. Everything is worked out before anything is
// written; what is written has a way back. It needs no network and runs no program of the host.
import { closestName } from '../../core/config/closest-name.ts';
import { UntildoneError } from '../../core/untildone-error.ts';
import { findProgram } from '../../hosts/install/find-program.ts';
import type { Scope } from '../../hosts/install/install-record.ts';
import type { HostInstaller, InstallRequest } from '../../hosts/install/installer.ts';
import { installerTable } from '../../hosts/install/installer-table.ts';
import { performChanges } from '../../hosts/install/perform-changes.ts';
import { planChanges, recordedInstalls } from '../../hosts/install/plan-changes.ts';
import {
  copyPrograms,
  removePrograms,
  shippedFolder,
  whyNotShipped,
} from '../../hosts/install/program-files.ts';
import { errorCode } from '../../hosts/install/settings-file.ts';
import type { Arguments, Command } from '../command.ts';
import {
  type PlannedHost,
  reportInstall,
  reportLeft,
  reportUninstall,
  showDifference,
} from '../describe-install.ts';
import { installBasis } from '../install-request.ts';
import type { Io } from '../io.ts';
import { complain, printLines, refuse, shown } from '../print.ts';

const knownHosts = installerTable.map(({ name }) => name).join(', ');

/** @param shipped the folder with the programs that hosts are to start */
export function createInit(shipped: () => string): Command {
  return {
    usage: 'init <host>|--all [--project|--user] [--shared] [--uninstall] [--dry-run]',
    about: [
      `Writes what a host needs: hooks, switches, grants, the MCP server, or a plugin. Known hosts: ${knownHosts}.`,
      'For this project, in files that are not committed, unless --shared or --user says otherwise. Programs are\ncopied into the state directory. A second run changes nothing; --uninstall puts every file back as it was, or, where\nsomebody edited it since, takes out only what is ours.',
    ],
    options: {
      all: { summary: 'Every known host that is on PATH.' },
      project: { summary: 'For this project, only for you (the default).' },
      user: { summary: 'For all your projects.' },
      shared: { summary: 'For this project, in files to commit, with a command that works on any machine.' },
      uninstall: { summary: 'Take it away again.' },
      'dry-run': { summary: 'Show the difference, and change nothing.' },
    },
    positionals: [0, 1],
    async run(given, io) {
      const request = { ...installBasis(io), scope: scopeOf(given) };
      const installers = installersOf(given, io);
      return given.has('uninstall')
        ? uninstall(installers, request, given, io)
        : install(installers, request, shipped(), given, io);
    },
  };
}

export const init = createInit(shippedFolder);

function scopeOf(given: Arguments): Scope {
  const wanted = ['project', 'user'].filter((name) => given.has(name));
  if (wanted.length > 1) throw new UntildoneError('usage', 'Say --project or --user, not both.');
  if (given.has('user') && given.has('shared')) {
    throw new UntildoneError('usage', '--shared writes files of a project; it does not go with --user.');
  }
  return given.has('shared') ? 'shared' : given.has('user') ? 'user' : 'project';
}

function installersOf(given: Arguments, { env }: Io): readonly HostInstaller[] {
  const name = given.positional(0);
  if (given.has('all')) {
    if (name !== null) throw new UntildoneError('usage', 'Name a host or say --all, not both.');
    const found = installerTable.filter(
      ({ program }) => given.has('uninstall') || findProgram(program, env) !== null,
    );
    if (found.length > 0) return found;
    throw new UntildoneError('usage', `No known host is on PATH. Name one all the same: ${knownHosts}.`);
  }
  if (name === null)
    throw new UntildoneError('usage', `Name a host, or say --all. Known hosts: ${knownHosts}.`);
  const installer = installerTable.find((one) => one.name === name);
  if (installer !== undefined) return [installer];
  const closest = closestName(
    name,
    installerTable.map((one) => one.name),
  );
  const hint = closest === null ? '' : ` Did you mean "${closest}"?`;
  throw new UntildoneError(
    'usage',
    `There is no host "${shown(name, 40)}".${hint} Known hosts: ${knownHosts}.`,
  );
}

type PlannedAll =
  | { readonly ok: true; readonly planned: readonly PlannedHost[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/** One problem in one file of one host, and nothing is written anywhere. */
function planAll(
  installers: readonly HostInstaller[],
  request: InstallRequest,
  action: 'install' | 'uninstall',
): PlannedAll {
  const planned: PlannedHost[] = [];
  const problems: string[] = [];
  for (const installer of installers) {
    const plan = planChanges(installer, request, action);
    if (!plan.ok) {
      problems.push(...plan.problems);
      continue;
    }
    const { layout, changes } = plan;
    const notes = [...layout.notes, ...changes.flatMap((change) => change.notes)];
    planned.push({ installer, project: layout.project, changes, notes });
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, planned };
}

function install(
  installers: readonly HostInstaller[],
  request: InstallRequest,
  shipped: string,
  given: Arguments,
  io: Io,
): number {
  const programs = [...new Set(installers.flatMap((installer) => installer.programs))];
  const incomplete = whyNotShipped(shipped, programs);
  if (incomplete !== null) return refuse(io, incomplete);
  const plan = planAll(installers, request, 'install');
  if (!plan.ok) return refuseAll(io, plan.problems);
  const { planned } = plan;
  if (given.has('dry-run')) {
    showDifference(planned, io);
    return 0;
  }
  const changes = planned.flatMap((one) => one.changes);
  try {
    copyPrograms(shipped, programs, request.stateDirectory, request.version);
  } catch (error) {
    // Safe: no file of a host was touched yet.
    return refuse(
      io,
      `The programs cannot be copied to ${request.stateDirectory} (${errorCode(error)}). Nothing was changed.`,
    );
  }
  const problem = performChanges(changes, request.stateDirectory);
  if (problem !== null) return refuse(io, problem);
  for (const one of planned) reportInstall(one, request, io);
  printLines(io, ['`untildone doctor` says whether it works.']);
  return 0;
}

function uninstall(
  installers: readonly HostInstaller[],
  request: InstallRequest,
  given: Arguments,
  io: Io,
): number {
  const plan = planAll(installers, request, 'uninstall');
  if (!plan.ok) return refuseAll(io, plan.problems);
  const { planned } = plan;
  if (given.has('dry-run')) {
    showDifference(planned, io);
    return 0;
  }
  const problem = performChanges(
    planned.flatMap(({ changes }) => changes),
    request.stateDirectory,
  );
  if (problem !== null) return refuse(io, problem);
  for (const one of planned) reportUninstall(one, request, io);
  const left = recordedInstalls(request.stateDirectory);
  if (left.length === 0) removePrograms(request.stateDirectory);
  else
    reportLeft(
      left,
      planned.map(({ project }) => project),
      io,
    );
  return 0;
}

function refuseAll(io: Io, problems: readonly string[]): number {
  for (const problem of problems) complain(io, shown(problem, 500));
  return refuse(io, 'Nothing was changed.');
}
