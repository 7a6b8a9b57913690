// The file that OpenCode loads: it asks whether the folder at hand is watched and only then loads the plugin itself, from
// a copy that no cache can prune. One file for all projects of a user, so that nothing is ever loaded twice by it.
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { InstalledProgram, InstallRequest } from '../install/installer.ts';
import { programPath } from '../install/program-files.ts';
import { readSettingsFile } from '../install/settings-file.ts';
import { wholeFileMark } from '../install/whole-edits.ts';
import type { Places } from './install-places.ts';

/** In the list of watched folders. */
export const everywhere = JSON.stringify('*');

export function loaderText({ env, stateDirectory, version }: InstallRequest, places: Places): string {
  const program = pathToFileURL(programPath(stateDirectory, version, 'server.js')).href;
  // Where the person moved the state directory, the plugin must find it as well.
  const home = env['UNTILDONE_HOME']
    ? `    process.env.UNTILDONE_HOME ??= ${JSON.stringify(stateDirectory)};\n`
    : '';
  return `${wholeFileMark} (untildone init opencode); untildone init opencode --uninstall takes it away.
// It loads the plugin in the folders that the list names, and does nothing elsewhere.
import { readFileSync, realpathSync } from 'node:fs';

const program = ${JSON.stringify(program)};
const list = ${JSON.stringify(places.watchedFolders)};

function isWatched(directory) {
  try {
    const here = realpathSync(directory);
    const folders = readFileSync(list, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
    return folders.some((folder) => folder === '*' || here === folder || here.startsWith(folder + '/'));
  } catch {
    // Safe: without a list nothing is watched, and OpenCode is as it is without us.
    return false;
  }
}

export default {
  id: 'untildone',
  async server(input, options) {
    if (!isWatched(input.directory)) return {};
${home}    const { default: plugin } = await import(program);
    return plugin.server(input, options);
  },
};
`;
}

/** What the loader of this user leads to; itself, where it is gone or not ours. */
export function readLoader(path: string): InstalledProgram {
  const text = textOf(path);
  try {
    const url: unknown = JSON.parse(/^const program = (".*");$/m.exec(text)?.[1] ?? 'null');
    const file = typeof url === 'string' ? fileURLToPath(url) : path;
    const version = /[\\/]bin[\\/]([^\\/]+)[\\/]server\.js$/.exec(file)?.[1] ?? 'unknown';
    return { kind: 'copied', name: 'server.js', node: null, file, version };
  } catch {
    // Safe: somebody edited it, and a file that cannot be found is what is told.
    return { kind: 'copied', name: 'server.js', node: null, file: path, version: 'unknown' };
  }
}

export function isWatched(places: Places, folder: string): boolean {
  return textOf(places.watchedFolders).split('\n').includes(JSON.stringify(folder));
}

function textOf(path: string): string {
  const file = readSettingsFile(path);
  return file.ok ? (file.text ?? '') : '';
}
