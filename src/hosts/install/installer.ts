// What a host's row has to say to be installed and examined: which files, and what in them. A row describes; reading,
// writing, backups, records and diffs are done once for all hosts.

import type { Finding } from './finding.ts';
import type { Scope } from './install-record.ts';
import type { FileTarget } from './target-text.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface InstallRequest {
  readonly scope: Scope;
  readonly env: Environment;
  readonly cwd: string;
  /** The user's home directory. */
  readonly home: string;
  readonly stateDirectory: string;
  readonly version: string;
  /** The Node that hosts are to start programs with. */
  readonly node: string;
}

export interface InstallLayout {
  /** Real path of the project that the scope means; null: the user's own. */
  readonly project: string | null;
  readonly targets: readonly FileTarget[];
  /** Sentences for people: what was found that stands in the way, and what remains to do by hand. */
  readonly notes: readonly string[];
  /** Where hooks are, for those who look for them. */
  readonly hooks: readonly { readonly file: string; readonly path: readonly string[] }[];
}

export interface HostInstaller {
  /** As people write it: `untildone init NAME`. */
  readonly name: string;
  readonly title: string;
  /** The program to look for on PATH. */
  readonly program: string;
  /** Versions that our own tests ran against. */
  readonly knownVersions: readonly string[];
  /** A command that installs the host, for people. */
  readonly howToGet: string;
  layout(request: InstallRequest): InstallLayout;
  /** What only this host knows: switches, trust, grants. Asked where something is installed by `init`. */
  examine(request: InstallRequest, installed: readonly Scope[]): readonly Finding[];
  /** The file in which a plugin of ours is switched on, for hosts that have plugins; null: none is. */
  findPlugin(request: Omit<InstallRequest, 'scope'>): string | null;
  /** A command that takes such a plugin away, for people. */
  readonly howToRemovePlugin: string;
  /** Said after a first install. */
  readonly afterInstall: string;
}
