// Where OpenCode keeps its settings and plugins, as the real program does: the user's folder, then every folder from the
// one it was started in up to the root of the working tree. It reads nothing but what git says of the place.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findRepository } from '../install/git.ts';
import type { InstallRequest } from '../install/installer.ts';

export interface Places {
  /** Root of the working tree at hand, or the folder itself. */
  readonly project: string;
  /** Loads our plugin. In the user's folder: in a project it would make the host install 63 MB beside it. */
  readonly loader: string;
  /** Where the plugin is wanted: one folder per line. */
  readonly watchedFolders: string;
  /** The file of the project that is committed and gets our package. */
  readonly sharedSettings: string;
  /** Of the project, to be committed; weakest first. */
  readonly projectSettings: readonly string[];
  /** All that the host reads, weakest first; they need not exist. */
  readonly settings: readonly string[];
  /** Folders with settings of plugins, weakest first. */
  readonly folders: readonly string[];
}

type Asked = Pick<InstallRequest, 'env' | 'cwd' | 'home' | 'stateDirectory'>;

export function placesOf({ env, cwd, home, stateDirectory }: Asked): Places {
  const folder = realpathSync(cwd);
  const project = findRepository(cwd, env)?.root ?? folder;
  const own = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode');
  // The nearest folder is read last.
  const upwards = foldersBetween(project, folder);
  const hidden = upwards.map((one) => join(one, '.opencode'));
  const more = [join(home, '.opencode'), env['OPENCODE_CONFIG_DIR'] || null].filter((one) => one !== null);
  const projectSettings = [...settingsIn(project), ...settingsIn(join(project, '.opencode'))];
  return {
    project,
    loader: join(own, 'plugin', 'untildone.js'),
    watchedFolders: join(stateDirectory, 'opencode-folders'),
    sharedSettings: projectSettings.find((file) => existsSync(file)) ?? join(project, 'opencode.json'),
    projectSettings,
    settings: [
      join(own, 'config.json'),
      ...settingsIn(own),
      ...(env['OPENCODE_CONFIG'] ? [env['OPENCODE_CONFIG']] : []),
      ...upwards.flatMap(settingsIn),
      ...[...hidden, ...more].flatMap(settingsIn),
    ],
    folders: [own, ...hidden, ...more],
  };
}

function settingsIn(folder: string): string[] {
  return [join(folder, 'opencode.json'), join(folder, 'opencode.jsonc')];
}

/** Outermost first, both included. */
function foldersBetween(root: string, folder: string): string[] {
  const folders = [folder];
  for (let one = folder; one !== root && dirname(one) !== one; ) {
    one = dirname(one);
    folders.unshift(one);
  }
  return folders;
}
