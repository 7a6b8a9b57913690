// What a host's row has to say to be installed and examined: which files, and what in them. A row describes; reading,
// writing, backups, records and diffs are done once for all hosts.

import type { Finding } from './finding.ts';
import type { Scope } from './install-record.ts';
import type { ProgramName } from './program-files.ts';
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
  /** What it consists of, for people: "11 hooks". */
  readonly pieces: string;
}

/** A program of ours that the files of a host lead to. */
export type InstalledProgram =
  /** A copy on this machine. `node` null: the host runs it itself. */
  | {
      readonly kind: 'copied';
      readonly name: ProgramName;
      readonly node: string | null;
      readonly file: string;
      readonly version: string;
    }
  /** By the name of the package, which the host or `npx` fetches. */
  | { readonly kind: 'portable'; readonly version: string };

export interface HostInstaller {
  /** As people write it: `untildone init NAME`. */
  readonly name: string;
  readonly title: string;
  /** The program to look for on PATH. */
  readonly program: string;
  /** What has to be copied for it. */
  readonly programs: readonly ProgramName[];
  /** Before this version nothing of ours works; null: none is known to be too old. */
  readonly oldestVersion: string | null;
  /** Versions that our own tests ran against. */
  readonly knownVersions: readonly string[];
  /** A command that installs the host, for people. */
  readonly howToGet: string;
  /** What `doctor` calls its findings on our own pieces: complete, leading to a file, of this version. */
  readonly findingNames: { readonly installed: string; readonly file: string; readonly version: string };
  layout(request: InstallRequest): InstallLayout;
  /** What `init` put into the scope, of whatever version; empty: nothing. */
  findInstalled(request: InstallRequest): readonly InstalledProgram[];
  /**
   * What only this host knows: switches, trust, grants. Asked where something is installed.
   * @param installed by `init`; empty: only as a plugin
   */
  examine(request: InstallRequest, installed: readonly Scope[]): readonly Finding[];
  /** The file in which a plugin of ours is switched on, for hosts that have plugins; null: none is. */
  findPlugin(request: Omit<InstallRequest, 'scope'>): string | null;
  /** Does only one of two copies act? Then being installed twice is untidy; else everything would be done twice. */
  readonly actsOnce: boolean;
  /** A command that takes such a plugin away, for people. */
  readonly howToRemovePlugin: string;
  /** Said after a first install. */
  readonly afterInstall: string;
}
