// `untildone init`: does all that a host needs, or takes it away again. Everything is worked out before anything is
// written; what is written has a way back. It needs no network and runs no program of the host.

import { UntildoneError } from '../../core/error.ts';
import { closestName } from '../../core/problem.ts';
import { errorCode } from '../../engine/system.ts';
import { hostOf, hosts } from '../../hosts/hosts.ts';
import { performChanges, planChanges, recordedInstalls } from '../../hosts/install/changes.ts';
import {
  copyPrograms,
  programsFolder,
  removePrograms,
  shippedFolder,
  whyNotShipped,
} from '../../hosts/install/files.ts';
import {
  findProgram,
  type HostInstaller,
  type InstallRequest,
  type Scope,
} from '../../hosts/install/installer.ts';
import { whyNotPrivate } from '../../store/state-directory.ts';
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
import { settleTrust } from '../project-trust.ts';

const knownHosts = hosts.map(({ name }) => name).join(', ');

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
      const installers = await installersOf(given, io);
      if (given.has('uninstall')) return uninstall(installers, request, given, io);
      const code = install(installers, request, shipped(), given, io);
      if (code === 0 && !given.has('dry-run')) await settleTrust(io);
      return code;
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

async function installersOf(given: Arguments, { env }: Io): Promise<readonly HostInstaller[]> {
  const name = given.positional(0);
  if (given.has('all')) {
    if (name !== null) throw new UntildoneError('usage', 'Name a host or say --all, not both.');
    const all = await Promise.all(hosts.map((host) => host.installer()));
    const found = all.filter(({ program }) => given.has('uninstall') || findProgram(program, env) !== null);
    if (found.length > 0) return found;
    throw new UntildoneError('usage', `No known host is on PATH. Name one all the same: ${knownHosts}.`);
  }
  if (name === null)
    throw new UntildoneError('usage', `Name a host, or say --all. Known hosts: ${knownHosts}.`);
  const host = hostOf(name);
  if (host !== undefined) return [await host.installer()];
  const closest = closestName(
    name,
    hosts.map((one) => one.name),
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
    planned.push({ installer, ...plan });
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
  const open = whyNotPrivate(request.stateDirectory);
  if (open !== null) return refuse(io, open);
  const plan = planAll(installers, request, 'install');
  if (!plan.ok) return refuseAll(io, plan.problems);
  const { planned } = plan;
  if (given.has('dry-run')) {
    showDifference(planned, io);
    return 0;
  }
  const changes = planned.flatMap((one) => one.changes);
  try {
    copyPrograms(shipped, programs, programsFolder(request.stateDirectory, request.version));
  } catch (error) {
    // Safe: no file of a host was touched yet.
    return refuse(
      io,
      `The programs cannot be copied to ${request.stateDirectory} (${errorCode(error)}). Nothing was changed.`,
    );
  }
  const problem = performChanges(changes);
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
  const problem = performChanges(planned.flatMap(({ changes }) => changes));
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
