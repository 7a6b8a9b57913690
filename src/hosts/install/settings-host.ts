// What installers share if their host keeps hooks and MCP servers in one settings.json:
// in the project and in the home of the user. The project's own file is either committed
// (`--shared`) or kept out of git; the host reads it only in the folder where it starts.
import { join } from 'node:path';
import type { Edit, FileTarget } from './changes.ts';
import { type HookPlace, serverName } from './hook-host.ts';
import type * as installer from './installer.ts';
import { brokenRow, noteRow, okRow, readSources } from './installer.ts';

type Settings = Readonly<{
  title: string;
  /** Such as `.gemini`. */
  folder: string;
  userFolder: string;
  /** The settings of an administrator, which win. */
  managed: string;
  /**
   * What else is written for the host.
   * @param path the settings file in which it is written
   */
  more(
    scope: installer.Scope,
    path: string,
  ): Readonly<{ edits?: readonly Edit[]; targets?: readonly FileTarget[] }>;
  /** Notes for `init`. */
  notes?(at: SettingsProject): readonly string[];
  /**
   * Examines what only this host knows.
   * @param mend the command that installs again
   */
  examine(at: SettingsProject, mend: string): installer.Examination;
}>;

/**
 * What was found for the host. `project`: the folder in which the host has to be started.
 * `sources`: the settings files that exist, the strongest first.
 */
export type SettingsProject = Readonly<{
  project: string;
  sources: readonly installer.Source[];
}>;

/** Completes what a host says of its settings.json with all that such hosts share. */
export function settingsPlace(found: installer.Project, settings: Settings): HookPlace {
  const { title, folder, userFolder, managed } = settings;
  const { root: project, mainRoot } = found;
  const file = join(folder, 'settings.json');
  const own = join(project, file);
  const user = join(userFolder, 'settings.json');
  const hookFiles = { project: own, shared: own, user };
  const serverIn = (path: string) => [path, 'mcpServers', serverName] as const;
  const look = (): SettingsProject => ({
    project,
    sources: readSources([managed, own, user]),
  });
  const isElsewhere = found.folder !== project;
  const elsewhere = `${title} reads ${file} only in the folder where it is started: start it in ${project}, or install with --user.`;
  return {
    project,
    hookFiles,
    servers: { project: serverIn(own), shared: serverIn(own), user: serverIn(user) },
    layout(scope, { hooks, server }) {
      const path = hookFiles[scope];
      const { edits = [], targets = [] } = settings.more(scope, path);
      const isCommitted = scope === 'project' && found.isTracked(join(mainRoot, file));
      const committed = `${own} is tracked by git, and now contains paths of this machine: install with --user or --shared instead.`;
      return {
        targets: [{ path, edits: [...hooks, server, ...edits] }, ...targets],
        local: isCommitted ? [] : [file],
        notes: [
          isCommitted && committed,
          scope !== 'user' && isElsewhere && elsewhere,
          ...(settings.notes?.(look()) ?? []),
        ],
      };
    },
    examine(scopes, mend, server) {
      const at = look();
      const wrong = at.sources.find(({ problem }) => problem !== null);
      const unreadable =
        wrong && `${title} does not start with ${wrong.path}: it ${wrong.problem}.`;
      return [
        [
          unreadable && brokenRow('settings', unreadable, `mend ${wrong.path}`),
          !scopes.includes('user') && isElsewhere && noteRow('settings', elsewhere),
          okRow('settings', 'The settings can be read.'),
        ],
        server,
        ...settings.examine(at, mend),
      ];
    },
  };
}
