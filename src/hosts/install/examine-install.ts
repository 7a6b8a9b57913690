// What `doctor` can say of every host alike: is the program there, is anything installed and where, is it complete,
// and do its commands lead to files that exist and are of this version. It reads and changes nothing.
import { existsSync } from 'node:fs';
import type { Edit } from './edit.ts';
import { findProgram, isExecutable, isOlder, versionOfProgram } from './find-program.ts';
import { broken, type Finding, note, ok } from './finding.ts';
import type { Scope } from './install-record.ts';
import type { HostInstaller, InstalledProgram, InstallRequest } from './installer.ts';
import { isCopied } from './program-files.ts';
import { readSettingsFile } from './settings-file.ts';
import { applyEdits } from './target-text.ts';

export interface HostReport {
  readonly host: string;
  readonly title: string;
  /** The program on PATH; null: not found. */
  readonly program: string | null;
  readonly hostVersion: string | null;
  readonly scopes: readonly Scope[];
  /** By `init` or as a plugin. */
  readonly isInstalled: boolean;
  readonly findings: readonly Finding[];
}

const scopeNames: Readonly<Record<Scope, string>> = {
  project: 'for this project',
  shared: 'for everyone in this project',
  user: 'for this user',
};

/** What follows `init HOST` for each scope. */
export const scopeFlags: Readonly<Record<Scope, string>> = {
  project: '',
  shared: ' --shared',
  user: ' --user',
};

/** @param shipped the folder with the programs of this package */
export function examineHost(
  installer: HostInstaller,
  base: Omit<InstallRequest, 'scope'>,
  shipped: string,
): HostReport {
  const program = findProgram(installer.program, base.env);
  const hostVersion = program === null ? null : versionOfProgram(program, base.env);
  const looks = (['project', 'shared', 'user'] as const).map((scope): Look => {
    const request = { ...base, scope };
    return { request, programs: installer.findInstalled(request) };
  });
  const installed = looks.filter(({ programs }) => programs.length > 0);
  const scopes = installed.map(({ request }) => request.scope);
  const plugin = installer.findPlugin(base);
  const isInstalled = scopes.length > 0 || plugin !== null;
  const findings = [
    ...examineProgram(installer, program, hostVersion, isInstalled),
    ...(isInstalled ? [] : [missing(installer)]),
    ...examinePlugin(installer, plugin, scopes),
    ...installed.flatMap((look) => examineScope(installer, look, shipped)),
    ...(isInstalled ? installer.examine({ ...base, scope: scopes[0] ?? 'project' }, scopes) : []),
  ];
  return {
    host: installer.name,
    title: installer.title,
    program,
    hostVersion,
    scopes,
    isInstalled,
    findings,
  };
}

interface Look {
  readonly request: InstallRequest;
  /** Programs of ours that the host's files lead to. */
  readonly programs: readonly InstalledProgram[];
}

function examineProgram(
  { title, program, knownVersions, oldestVersion, howToGet }: HostInstaller,
  path: string | null,
  version: string | null,
  isInUse: boolean,
): Finding[] {
  if (path === null) {
    const sentence = `${title} was not found on PATH (no program "${program}").`;
    return [isInUse ? broken('host', sentence, howToGet) : note('host', sentence, howToGet)];
  }
  if (version === null) return [note('host', `${title} is at ${path}, but does not say its version.`)];
  if (oldestVersion !== null && isOlder(version, oldestVersion)) {
    const sentence = `${title} ${version} at ${path} is too old: untildone needs ${oldestVersion} or newer.`;
    return [isInUse ? broken('host', sentence, howToGet) : note('host', sentence, howToGet)];
  }
  if (knownVersions.includes(version)) return [ok('host', `${title} ${version} at ${path}, known to work.`)];
  const known = knownVersions.join(', ');
  return [note('host', `${title} ${version} at ${path}; tested with ${known}, so watch the first runs.`)];
}

/** Where both act, every hook runs twice: a stop attempt would be counted twice. */
function examinePlugin(
  { title, howToRemovePlugin, actsOnce }: HostInstaller,
  file: string | null,
  scopes: readonly Scope[],
): Finding[] {
  if (file === null) return [];
  if (scopes.length === 0) return [ok('plugin', `Installed as a plugin of ${title} (${file}).`)];
  const twice = actsOnce ? note : broken;
  return [twice('plugin', `Installed twice: by init, and as a plugin (${file}).`, howToRemovePlugin)];
}

function missing({ title, name, findingNames }: HostInstaller): Finding {
  return note(findingNames.installed, `Nothing is installed in ${title} here.`, `untildone init ${name}`);
}

function examineScope(installer: HostInstaller, { request, programs }: Look, shipped: string): Finding[] {
  const layout = installer.layout(request);
  const names = installer.findingNames;
  const where = scopeNames[request.scope];
  const mend = `untildone init ${installer.name}${scopeFlags[request.scope]}`;
  const [problem] = programs.flatMap((program) => whyDead(program, request, shipped));
  if (problem !== undefined) return [broken(names.file, `Installed ${where}, but ${problem}`, mend)];
  const other = programs.find(({ version }) => version !== request.version);
  if (other !== undefined) {
    const sentence = `Installed ${where} by untildone ${other.version}; this is ${request.version}.`;
    return [note(names.version, sentence, mend)];
  }
  const lacking = layout.targets.flatMap((target) => {
    const file = readSettingsFile(target.path);
    if (!file.ok) return [`${target.path} ${file.sentence}`];
    return target.edits.flatMap((edit) => {
      const applied = applyEdits(file.text ?? '', [edit], target, installer.name);
      if (!applied.ok) return [`${target.path} ${applied.sentence}`];
      return applied.text === (file.text ?? '') ? [] : [`${nameOf(edit)} in ${target.path}`];
    });
  });
  if (lacking.length === 0) return [ok(names.installed, `Installed ${where}: ${layout.pieces}, complete.`)];
  const [first] = lacking;
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  return [broken(names.installed, `Installed ${where}, but not complete: ${first}${more} is missing.`, mend)];
}

function whyDead(program: InstalledProgram, request: InstallRequest, shipped: string): string[] {
  if (program.kind === 'portable') return [];
  const { name, node, file, version } = program;
  const what = name === 'server.js' ? 'plugin' : 'hook';
  if (node !== null && !isExecutable(node)) return [`the Node that runs the ${what} is gone: ${node}`];
  if (!existsSync(file)) return [`the ${what} itself is gone: ${file}`];
  const isDamaged = version === request.version && !isCopied(shipped, file, name);
  return isDamaged ? [`the ${what} is not the one of this version: ${file}`] : [];
}

function nameOf(edit: Edit): string {
  if (edit.kind === 'line') return `"${edit.text}"`;
  if (edit.kind === 'whole') return 'its own text';
  return edit.kind === 'entry' ? `"${edit.value}"` : `"${edit.path.join('.')}"`;
}
