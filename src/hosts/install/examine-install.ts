// What `doctor` can say of every host alike: is the program there, is anything installed and where, is it complete,
// and do its commands lead to files that exist and are of this version. It reads and changes nothing.
import { existsSync } from 'node:fs';
import { findNodeAtLocation } from 'jsonc-parser';
import type { Edit } from './edit.ts';
import { findProgram, isExecutable, versionOfProgram } from './find-program.ts';
import { broken, type Finding, note, ok } from './finding.ts';
import { type HookCommand, hookFileName, readHookCommand } from './hook-command.ts';
import type { Scope } from './install-record.ts';
import type { HostInstaller, InstallLayout, InstallRequest } from './installer.ts';
import { parseDocument, withoutMark } from './json-document.ts';
import { hookCommandsIn } from './json-hooks.ts';
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

const scopeFlags: Readonly<Record<Scope, string>> = { project: '', shared: ' --shared', user: ' --user' };

/** @param shipped the folder with the programs of this package */
export function examineHost(
  installer: HostInstaller,
  base: Omit<InstallRequest, 'scope'>,
  shipped: string,
): HostReport {
  const program = findProgram(installer.program, base.env);
  const hostVersion = program === null ? null : versionOfProgram(program, base.env);
  const looks = (['project', 'shared', 'user'] as const).map((scope) =>
    lookAt(installer, { ...base, scope }),
  );
  const installed = looks.filter(({ commands }) => commands.length > 0);
  const scopes = installed.map(({ request }) => request.scope);
  const plugin = installer.findPlugin(base);
  const isInstalled = scopes.length > 0 || plugin !== null;
  const findings = [
    ...examineProgram(installer, program, hostVersion, isInstalled),
    ...(isInstalled ? [] : [missing(installer)]),
    ...examinePlugin(installer, plugin, scopes),
    ...installed.flatMap((look) => examineScope(installer, look, shipped)),
    ...(scopes.length > 0 ? installer.examine({ ...base, scope: scopes[0] ?? 'project' }, scopes) : []),
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
  readonly layout: InstallLayout;
  /** Commands of ours that stand in the host's files, each once. */
  readonly commands: readonly string[];
}

function lookAt(installer: HostInstaller, request: InstallRequest): Look {
  const layout = installer.layout(request);
  const commands = layout.hooks.flatMap(({ file, path }) => {
    const settings = readSettingsFile(file);
    if (!settings.ok || settings.text === null) return [];
    const document = parseDocument(withoutMark(settings.text).plain);
    const list = document.ok ? findNodeAtLocation(document.root, [...path]) : undefined;
    return list === undefined ? [] : hookCommandsIn(list, installer.name);
  });
  return { request, layout, commands: [...new Set(commands)] };
}

function examineProgram(
  { title, program, knownVersions, howToGet }: HostInstaller,
  path: string | null,
  version: string | null,
  isInUse: boolean,
): Finding[] {
  if (path === null) {
    const sentence = `${title} was not found on PATH (no program "${program}").`;
    return [isInUse ? broken('host', sentence, howToGet) : note('host', sentence, howToGet)];
  }
  if (version === null) return [note('host', `${title} is at ${path}, but does not say its version.`)];
  if (knownVersions.includes(version)) return [ok('host', `${title} ${version} at ${path}, known to work.`)];
  const known = knownVersions.join(', ');
  return [note('host', `${title} ${version} at ${path}; tested with ${known}, so watch the first runs.`)];
}

/** Both would run every hook twice: a stop attempt would be counted twice. */
function examinePlugin(
  { title, howToRemovePlugin }: HostInstaller,
  file: string | null,
  scopes: readonly Scope[],
): Finding[] {
  if (file === null) return [];
  return scopes.length === 0
    ? [ok('plugin', `Installed as a plugin of ${title} (${file}).`)]
    : [broken('plugin', `Installed twice: by init, and as a plugin (${file}).`, howToRemovePlugin)];
}

function missing({ title, name }: HostInstaller): Finding {
  return note('hooks', `Nothing is installed in ${title} here.`, `untildone init ${name}`);
}

function examineScope(
  installer: HostInstaller,
  { request, layout, commands }: Look,
  shipped: string,
): Finding[] {
  const where = scopeNames[request.scope];
  const mend = `untildone init ${installer.name}${scopeFlags[request.scope]}`;
  const versions = commands
    .map((command) => readHookCommand(command, installer.name))
    .filter((one) => one !== null);
  const dead = versions.flatMap((command) => whyDead(command, request, shipped));
  const [problem] = dead;
  if (problem !== undefined) return [broken('hook-file', `Installed ${where}, but ${problem}`, mend)];
  const other = versions.find(({ version }) => version !== request.version);
  if (other !== undefined) {
    const sentence = `Installed ${where} by untildone ${other.version}; this is ${request.version}.`;
    return [note('hook-version', sentence, mend)];
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
  if (lacking.length === 0)
    return [ok('hooks', `Installed ${where}: ${layout.hooks.length} hooks, complete.`)];
  const [first] = lacking;
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`;
  return [broken('hooks', `Installed ${where}, but not complete: ${first}${more} is missing.`, mend)];
}

function whyDead(command: HookCommand, request: InstallRequest, shipped: string): string[] {
  if (command.kind === 'portable') return [];
  const { node, file, version } = command;
  if (!isExecutable(node)) return [`the Node that runs the hook is gone: ${node}`];
  if (!existsSync(file)) return [`the hook itself is gone: ${file}`];
  const isDamaged = version === request.version && !isCopied(shipped, file, hookFileName);
  return isDamaged ? [`the hook is not the one of this version: ${file}`] : [];
}

function nameOf(edit: Edit): string {
  if (edit.kind === 'line') return `"${edit.text}"`;
  return edit.kind === 'entry' ? `"${edit.value}"` : `"${edit.path.join('.')}"`;
}
