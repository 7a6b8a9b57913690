// Everything that installing or uninstalling a host would change, worked out before anything is written: if one file
// cannot be changed, none is.
import { type FileChange, planInstall, planUninstall } from './file-change.ts';
import { readRecords, type Scope } from './install-record.ts';
import type { HostInstaller, InstallLayout, InstallRequest } from './installer.ts';

export type PlannedChanges =
  | { readonly ok: true; readonly layout: InstallLayout; readonly changes: readonly FileChange[] }
  | { readonly ok: false; readonly problems: readonly string[] };

export function planChanges(
  installer: HostInstaller,
  request: InstallRequest,
  action: 'install' | 'uninstall',
): PlannedChanges {
  const layout = installer.layout(request);
  const { scope, version, stateDirectory } = request;
  const identity = { host: installer.name, scope, project: layout.project, version };
  const plan = action === 'install' ? planInstall : planUninstall;
  const planned = layout.targets.map((target) => plan(target, identity, stateDirectory));
  const problems = planned.flatMap((one) => (one.ok ? [] : [one.problem]));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, layout, changes: planned.flatMap((one) => (one.ok ? [one.change] : [])) };
}

export interface RecordedInstall {
  readonly host: string;
  readonly scope: Scope;
  readonly project: string | null;
}

/** Every install on this machine that is on record, each once. */
export function recordedInstalls(stateDirectory: string): RecordedInstall[] {
  const all = readRecords(stateDirectory).flatMap(({ installs }) => installs);
  const byName = new Map(
    all.map(({ host, scope, project }) => [`${host}\0${scope}\0${project}`, { host, scope, project }]),
  );
  return [...byName.values()];
}
