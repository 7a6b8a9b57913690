// For hosts that load files from a folder of the user: one file that loads our plugin in the folders that a list names, so
// that nothing of a project is written and nothing is loaded twice.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Edit, type FileTarget, wholeFileComment } from './changes.ts';
import { type InstalledProgram, type ProgramName, programsFolder, textNow, versionOfCopy } from './files.ts';
import type { InstallBasis, Scope } from './installer.ts';

type Loader = Readonly<{
  host: string;
  title: string;
  /** Where the host finds it. */
  path: string;
  program: ProgramName;
  project: string;
  /** The default export. `moved` is a statement that must come before the program is imported, or nothing. */
  exported(moved: string): string;
}>;

export function watchedLoader(basis: InstallBasis, loader: Loader) {
  const { host, path, program, project } = loader;
  const list = join(basis.stateDirectory, `${host}-folders`);
  const lineOf = (scope: Scope) => JSON.stringify(scope === 'user' ? '*' : project);
  return {
    targets(scope: Scope): FileTarget[] {
      const lines: Edit[] = [{ kind: 'line', text: lineOf(scope) }];
      return [
        { path: list, isOurs: true, isPrivate: true, edits: lines },
        { path, isOurs: true, edits: [{ kind: 'whole', text: textOf(basis, loader, list) }] },
      ];
    },
    installed(scope: Scope): readonly InstalledProgram[] {
      const isWatched = textNow(list)?.split('\n').includes(lineOf(scope));
      return isWatched ? [readLoader(path, program)] : [];
    },
  };
}

function textOf({ env, stateDirectory, version }: InstallBasis, loader: Loader, list: string): string {
  const { host, title, exported } = loader;
  const program = pathToFileURL(join(programsFolder(stateDirectory, version), loader.program)).href;
  // The plugin must find a state directory that was moved.
  const moved = `    process.env.UNTILDONE_HOME ??= ${JSON.stringify(stateDirectory)};\n`;
  return `${wholeFileComment('//')} (untildone init ${host}); untildone init ${host} --uninstall takes it away.
// It loads the plugin in the folders that the list names, and does nothing elsewhere.
import { readFileSync, realpathSync } from 'node:fs';

const program = ${JSON.stringify(program)};
const list = ${JSON.stringify(list)};

function isWatched(directory) {
  try {
    const here = realpathSync(directory);
    const folders = readFileSync(list, 'utf8').split('\\n').filter(Boolean).map((line) => JSON.parse(line));
    return folders.some((folder) => folder === '*' || here === folder || here.startsWith(folder + '/'));
  } catch {
    // Safe: without a list nothing is watched, and ${title} is as it is without us.
    return false;
  }
}

${exported(env['UNTILDONE_HOME'] ? moved : '')}`;
}

/** The program it loads; itself, where it is gone or not ours. */
function readLoader(path: string, program: ProgramName): InstalledProgram {
  const url = /^const program = "(file:\/\/\/.*)";$/m.exec(textNow(path) ?? '')?.[1];
  const file = url === undefined ? path : fileURLToPath(url);
  return { file, version: versionOfCopy(file, program) ?? 'unknown' };
}
