// OpenCode in the table of hosts: which files an install touches in each scope. Facts of the real program that decide it:
// it installs 63 MB into every `.opencode` folder that it finds, and adds "$schema" to settings that have none.
import type { JsonEdit } from '../install/edit.ts';
import type { HostInstaller, InstalledProgram, InstallLayout, InstallRequest } from '../install/installer.ts';
import type { FileTarget } from '../install/target-text.ts';
import { examineOpencode, findOpencodePlugin, pinnedVersion } from './install-examine.ts';
import { everywhere, isWatched, loaderText, readLoader } from './install-loader.ts';
import { type Places, placesOf } from './install-places.ts';
import { packageName, readSources } from './install-settings.ts';

const schema = 'https://opencode.ai/config.json';

export const opencodeInstaller: HostInstaller = {
  name: 'opencode',
  title: 'OpenCode',
  program: 'opencode',
  // It runs the checks as well.
  programs: ['server.js'],
  // Earlier ones do not look for a plugin under "./server" of a package.
  oldestVersion: '1.3.4',
  knownVersions: ['1.18.33'],
  howToGet: 'npm install --global opencode-ai@latest',
  afterInstall: 'OpenCode loads plugins when it starts: start it anew where it runs already.',
  findingNames: { installed: 'plugin', file: 'plugin-file', version: 'plugin-version' },
  layout,
  findInstalled,
  examine: examineOpencode,
  findPlugin: findOpencodePlugin,
  actsOnce: true,
  howToRemovePlugin: `take "${packageName}" out of "plugin" in that file`,
};

function layout(request: InstallRequest): InstallLayout {
  const places = placesOf(request);
  const { scope } = request;
  return {
    project: scope === 'user' ? null : places.project,
    targets: scope === 'shared' ? [sharedTarget(request, places)] : loaderTargets(request, places),
    notes: [],
    pieces: scope === 'shared' ? `"${packageName}" among the plugins` : 'the plugin and its loader',
  };
}

function loaderTargets(request: InstallRequest, places: Places): FileTarget[] {
  const place = request.scope === 'user' ? everywhere : JSON.stringify(places.project);
  return [
    {
      ...{ path: places.watchedFolders, format: 'lines', isOurs: true, isPrivate: true },
      edits: [{ kind: 'line', text: place }],
    },
    {
      ...{ path: places.loader, format: 'whole', isOurs: true },
      edits: [{ kind: 'whole', text: loaderText(request, places) }],
    },
  ];
}

function sharedTarget({ version }: InstallRequest, { sharedSettings }: Places): FileTarget {
  const own = readSources([sharedSettings])[0]?.value['$schema'];
  // The host would write it by itself, and the file would no longer be the one that was written.
  const schemaEdits: JsonEdit[] =
    own === undefined || own === schema ? [{ kind: 'member', path: ['$schema'], value: schema }] : [];
  return {
    ...{ path: sharedSettings, format: 'json' },
    edits: [...schemaEdits, { kind: 'package', path: ['plugin'], name: packageName, version }],
  };
}

function findInstalled(request: InstallRequest): InstalledProgram[] {
  const places = placesOf(request);
  if (request.scope === 'shared') {
    const versions = readSources(places.projectSettings).flatMap((source) => pinnedVersion(source) ?? []);
    return versions.map((version) => ({ kind: 'portable', version }));
  }
  const place = request.scope === 'user' ? '*' : places.project;
  return isWatched(places, place) ? [readLoader(places.loader)] : [];
}
