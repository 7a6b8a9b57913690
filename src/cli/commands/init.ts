// `untildone init`: does all that a host needs, or takes it away again, and gives the project a check. Everything is worked
// out before anything is written; what is written has a way back. It needs no network and runs no program of the host.

import { UntildoneError } from '../../core/error.ts';
import { hosts } from '../../hosts/hosts.ts';
import {
  diffTexts,
  type FileChange,
  type InstallIdentity,
  installHosts,
  type PlannedHost,
  performChanges,
  planHosts,
  recordedInstalls,
  withoutRepeats,
} from '../../hosts/install/changes.ts';
import { removePrograms, shippedFolder } from '../../hosts/install/files.ts';
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
import type { Io } from '../io.ts';
import { programVersion } from '../io.ts';
import { complain, createPaint, printWrapped, refuse, shown } from '../print.ts';
import { askWhich, settleTrust, setUpChecks, shownLine } from '../project-trust.ts';

const hostNames = hosts.map(({ name }) => name);
const knownHosts = hostNames.join(', ');

/** For `config init` too. */
export const checkOption: Readonly<Record<'check', Option>> = {
  check: {
    value: 'CMD',
    summary: 'A command that must pass before an agent may stop; may be given more than once.',
  },
};

/** @param shipped the folder with the programs that hosts are to start */
export function createInit(shipped: () => string): Command {
  return {
    takes: `[${hostNames.join('|')}]`,
    about: [
      `Writes what a host needs: hooks, switches, grants, the MCP server, or a plugin. Known hosts: ${knownHosts}.\nWithout a name it offers those that are on PATH.`,
      'It also looks how this project is tested, and asks whether that must pass before an agent may stop; --check names it\nwithout a question. The check is written into untildone.json, and stays there when the host is uninstalled.',
      'For this project, in files that are not committed, unless --shared or --user says otherwise. Programs are\ncopied into the state directory. A second run changes nothing; --uninstall puts every file back as it was, or, where\nsomebody edited it since, takes out only what is ours.',
    ],
    options: {
      ...checkOption,
      all: { summary: 'Every known host that is on PATH.' },
      project: { summary: 'For this project, only for you (the default).' },
      user: { summary: 'For all your projects.' },
      shared: { summary: 'For this project, in files to commit, with a command that works on any machine.' },
      uninstall: { summary: 'Take it away again.' },
      'dry-run': { summary: 'Show the difference, and change nothing.' },
    },
    async run(given, io) {
      const request = { ...installBasis(io, programVersion), scope: scopeOf(given) };
      const commands = checksOf(given);
      const installers = await installersOf(given, io);
      if (installers.length === 0) return 0;
      const isDry = given.has('dry-run');
      const job = { installers, request, isDry, io };
      if (given.has('uninstall')) return uninstall(job);
      const code = install(job, shipped());
      if (code !== 0) return code;
      // What holds for all projects says nothing of how this one is tested.
      const isOfProject = request.scope !== 'user' || commands.length > 0;
      const command = `untildone init ${given.has('all') ? '--all' : installers[0]?.name}`;
      const added = isOfProject ? await setUpChecks(io, { commands, command, fresh: null, isDry }) : 0;
      if (added !== 0 || isDry) return added;
      if (!isOfProject) await settleTrust(io);
      printWrapped(io, ['`untildone doctor` says whether it works.']);
      return 0;
    },
  };
}

export const init = createInit(shippedFolder);

/** What `--check` said. An empty one is a variable that was not set, and would prove nothing. */
export function checksOf(given: Arguments): readonly string[] {
  const commands = given.texts('check').map((command) => command.trim());
  if (commands.includes(''))
    throw new UntildoneError('usage', '--check is empty: name a command, such as "npm test".');
  if (commands.length > 0 && given.has('uninstall'))
    throw new UntildoneError('usage', '--check does not go with --uninstall: take it out of untildone.json.');
  return [...new Set(commands)];
}

function scopeOf(given: Arguments): Scope {
  if (given.has('project') && given.has('user'))
    throw new UntildoneError('usage', 'Say --project or --user, not both.');
  if (given.has('user') && given.has('shared'))
    throw new UntildoneError('usage', '--shared writes files of a project; it does not go with --user.');
  return given.has('shared') ? 'shared' : given.has('user') ? 'user' : 'project';
}

/** Empty: the human was asked and chose none. */
async function installersOf(given: Arguments, io: Io): Promise<readonly HostInstaller[]> {
  const name = given.positional(0);
  const all = await Promise.all(hosts.map((host) => host.installer()));
  const there = all.filter(({ program }) => findProgram(program, io.env) !== null);
  if (given.has('all')) {
    if (name !== null) throw new UntildoneError('usage', 'Name a host or say --all, not both.');
    if (given.has('uninstall')) return all;
    if (there.length > 0) return there;
    throw new UntildoneError('usage', `No known host is on PATH. Name one all the same: ${knownHosts}.`);
  }
  if (name === null) {
    if (given.has('uninstall') || there.length === 0 || !(await canAnswerHere(io)))
      throw new UntildoneError('usage', `Name a host, or say --all. ${whichHosts(there)}`);
    printWrapped(io, ['On this machine:']);
    const rows = there.map((one) => `${one.title}  (untildone init ${one.name})`);
    const question = `Set up untildone in ${there.length === 1 ? 'it' : 'them'}?`;
    return (await askWhich(io, rows, question, 'the name of a host')).flatMap((index) => there[index] ?? []);
  }
  return all.filter((one) => one.name === name);
}

function whichHosts(there: readonly HostInstaller[]): string {
  const names = there.map(({ name }) => name).join(', ');
  return `Known hosts: ${knownHosts}${names === '' ? '; none is on PATH' : `; on PATH: ${names}`}.`;
}

interface Job {
  readonly installers: readonly HostInstaller[];
  readonly request: InstallRequest;
  readonly isDry: boolean;
  readonly io: Io;
}

function install({ installers, request, isDry, io }: Job, shipped: string): number {
  const { planned, programs, folder, problems } = installHosts(installers, request, shipped, isDry);
  if (problems.length > 0) return refuseAll(io, problems);
  if (!isDry) for (const one of planned) reportInstall(one, request, io);
  else if (showDifference(planned, io))
    printWrapped(io, [`To be copied to ${shown(folder, 300)}: ${programs.join(', ')}`]);
  return 0;
}

function uninstall({ installers, request, isDry, io }: Job): number {
  const { planned, problems } = planHosts(installers, request, 'uninstall');
  if (problems.length > 0) return refuseAll(io, problems);
  if (isDry) {
    showDifference(planned, io);
    return 0;
  }
  const problem = performChanges(planned.flatMap(({ changes }) => changes));
  if (problem !== null) return refuseAll(io, [problem]);
  for (const { installer, project, changes } of planned) {
    const where = `${installer.title} ${placeName(request, project)}`;
    const command = `untildone init ${installer.name}${scopeFlags[request.scope]}`;
    const none = `Nothing that \`${command}\` writes is in ${where}.`;
    tellChanges(io, changes, none, `untildone is taken out of ${where}:`, describeRemoval);
  }
  const left = recordedInstalls(request.stateDirectory);
  const here = planned.map(({ project }) => project);
  if (left.length === 0) removePrograms(request.stateDirectory);
  else printWrapped(io, ['Still installed:', ...left.flatMap((one) => describeLeft(one, here))]);
  return 0;
}

function refuseAll(io: Io, problems: readonly string[]): number {
  for (const problem of problems) complain(io, shown(problem, 500));
  return refuse(io, 'Nothing was changed.');
}

/** False: nothing would change. */
function showDifference(planned: readonly PlannedHost[], io: Io): boolean {
  const paint = createPaint(io);
  const lines = planned.flatMap(({ changes }) =>
    changes.flatMap(({ shownPath, before, after }) => withoutRepeats(diffTexts(shownPath, before, after))),
  );
  const painted = (line: string) =>
    line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line;
  printWrapped(
    io,
    lines.length === 0 ? ['Nothing would change.'] : lines.map((line) => painted(shownLine(line))),
  );
  for (const note of planned.flatMap(({ notes }) => notes)) complain(io, shown(note, 500));
  return lines.length > 0;
}

function reportInstall(one: PlannedHost, request: InstallRequest, io: Io): void {
  const { title, program, howToGet, afterInstall } = one.installer;
  const done = `untildone is set up in ${title} ${placeName(request, one.project)}`;
  const none = `${done} already; nothing changed.`;
  const isChanged = tellChanges(io, one.changes, none, `${done}:`, describeChange);
  if (findProgram(program, request.env) === null)
    printWrapped(io, [`${title} itself is not here: no program "${program}" is on PATH. → ${howToGet}`]);
  else if (isChanged) printWrapped(io, [afterInstall]);
  if (request.scope === 'shared') printWrapped(io, sharedNeeds(request.version));
  for (const note of one.notes) complain(io, shown(note, 500));
}

/** False: there was none. */
function tellChanges(
  io: Io,
  changes: readonly FileChange[],
  none: string,
  some: string,
  describe: (change: FileChange) => string,
): boolean {
  const changed = changes.filter(({ before, after }) => before !== after);
  printWrapped(io, changed.length === 0 ? [none] : [some, ...changed.map(describe)]);
  return changed.length > 0;
}

/** Nobody else has our state directory: what is committed names the package, and the registry must have it. */
function sharedNeeds(version: string): string[] {
  const wanted = `untildone@${version}`;
  return [
    `Every machine fetches ${wanted} from its npm registry; \`npm view ${wanted}\` says whether it is there.`,
    'Where it is not, the host cannot load it; without --shared it runs from the state directory.',
  ];
}

/** What another scope or project still has, with the command that takes it away. */
function describeLeft({ host, scope, project }: InstallIdentity, here: readonly (string | null)[]): string[] {
  const there = project === null || here.includes(project) ? '' : 'there: ';
  return [
    `  ${host} (${scope}) ${shown(project ?? '', 300)}`.trimEnd(),
    `    → ${there}untildone init ${host} --uninstall${scopeFlags[scope]}`,
  ];
}

function placeName({ scope }: InstallRequest, project: string | null): string {
  return scope === 'user' ? 'for this user' : `for ${shown(project ?? 'this project', 300)}`;
}

function describeChange({ shownPath, path, before, backup }: FileChange): string {
  // A link may lead out of the project: the person sees where it was written.
  const place = path === shownPath ? shown(shownPath, 300) : `${shown(shownPath, 300)} → ${shown(path, 300)}`;
  return before === null ? `  made     ${place}` : `  changed  ${place} (backup: ${shown(backup, 300)})`;
}

function describeRemoval({ shownPath, after, recordBefore }: FileChange): string {
  const how = after === null ? 'removed ' : after === recordBefore?.original ? 'restored' : 'cleaned ';
  return `  ${how} ${shown(shownPath, 300)}`;
}
