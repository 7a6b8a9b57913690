// What `init` says of what it did or would do: one line per file, the difference on request, and what a person has to
// know besides. Paths pass through `shown`: a folder may be called anything.
import { diffTexts, type FileChange, type InstallIdentity } from '../hosts/install/changes.ts';
import { type HostInstaller, type InstallRequest, scopeFlags } from '../hosts/install/installer.ts';
import type { Io } from './io.ts';
import { complain, printLines, shown } from './print.ts';

/** What other scopes and projects still have, each with the command that takes it away. */
export function reportLeft(left: readonly InstallIdentity[], here: readonly (string | null)[], io: Io): void {
  printLines(io, [
    'Still installed:',
    ...left.flatMap(({ host, scope, project }) => [
      `  ${host} (${scope}) ${shown(project ?? '', 300)}`.trimEnd(),
      `    → ${project === null || here.includes(project) ? '' : 'there: '}untildone init ${host} --uninstall${scopeFlags[scope]}`,
    ]),
  ]);
}

/** A host with what changes for it. */
export interface PlannedHost {
  readonly installer: HostInstaller;
  readonly project: string | null;
  readonly changes: readonly FileChange[];
  readonly notes: readonly string[];
}

export function showDifference(planned: readonly PlannedHost[], io: Io): void {
  const lines = planned.flatMap(({ changes }) =>
    changes.flatMap(({ shownPath, before, after }) => diffTexts(shownPath, before, after)),
  );
  printLines(io, lines.length === 0 ? ['Nothing would change.'] : lines.map((line) => safeLine(line)));
  for (const note of planned.flatMap(({ notes }) => notes)) complain(io, shown(note, 500));
}

/** Blanks at the front of a line mean something here, so `shown` is not for it. */
function safeLine(line: string): string {
  const blanks = /^[ +-]?[ \t]*/.exec(line)?.[0] ?? '';
  return `${blanks}${shown(line.slice(blanks.length), 400)}`;
}

export function reportInstall(
  { installer, project, changes, notes }: PlannedHost,
  request: InstallRequest,
  io: Io,
): void {
  const changed = changes.filter(({ before, after }) => before !== after);
  const where = placeName(request, project);
  if (changed.length === 0)
    printLines(io, [`${installer.title} is installed ${where} already; nothing changed.`]);
  else {
    printLines(io, [
      `${installer.title} is installed ${where}:`,
      ...changed.map(describeChange),
      installer.afterInstall,
    ]);
  }
  if (request.scope === 'shared') printLines(io, sharedNeeds(request.version));
  for (const note of notes) complain(io, shown(note, 500));
}

/** Nobody else has our state directory: what is committed names the package, and the registry must have it. */
function sharedNeeds(version: string): string[] {
  const wanted = `untildone@${version}`;
  return [
    `Every machine fetches ${wanted} from its npm registry; \`npm view ${wanted}\` says whether it is there.`,
    'Where it is not, the host cannot load it; without --shared it runs from the state directory.',
  ];
}

export function reportUninstall(
  { installer, project, changes }: PlannedHost,
  request: InstallRequest,
  io: Io,
): void {
  const changed = changes.filter(({ before, after }) => before !== after);
  const where = placeName(request, project);
  const command = `untildone init ${installer.name}${scopeFlags[request.scope]}`;
  if (changed.length === 0)
    printLines(io, [`Nothing that \`${command}\` writes is in ${installer.title} ${where}.`]);
  else printLines(io, [`${installer.title} ${where} is free of untildone:`, ...changed.map(describeRemoval)]);
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
  const isWhole = after === null || after === recordBefore?.original;
  const how = after === null ? 'removed ' : isWhole ? 'restored' : 'cleaned ';
  return `  ${how} ${shown(shownPath, 300)}`;
}
