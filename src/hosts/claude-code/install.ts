// Claude Code in the table of hosts: which files an install touches in each scope. Facts of the real program that
// decide it: in a folder that nobody trusted yet grants of a project count only from an untracked local file, and MCP
// servers in settings are ignored.

import { isTracked } from '../install/git.ts';
import { hookFileName } from '../install/hook-command.ts';
import type { HostInstaller, InstalledProgram, InstallLayout, InstallRequest } from '../install/installer.ts';
import { findHookCommands } from '../install/json-hooks.ts';
import type { FileTarget } from '../install/target-text.ts';
import { claudeCodePrograms, hostName, serverEdit, settingsEdits } from './install-edits.ts';
import { examineClaudeCode, findClaudeCodePlugin, pluginName } from './install-examine.ts';
import { type Places, placesOf } from './install-places.ts';
import { claudeCodeHooks } from './translate.ts';

export const claudeCodeInstaller: HostInstaller = {
  name: hostName,
  title: 'Claude Code',
  program: 'claude',
  programs: claudeCodePrograms,
  oldestVersion: null,
  knownVersions: ['2.1.325'],
  howToGet: 'npm install --global @anthropic-ai/claude-code',
  afterInstall: 'Sessions of Claude Code that run already keep their old settings: start them anew.',
  findingNames: { installed: 'hooks', file: 'hook-file', version: 'hook-version' },
  layout,
  findInstalled,
  examine: examineClaudeCode,
  findPlugin: findClaudeCodePlugin,
  actsOnce: false,
  howToRemovePlugin: `claude plugin uninstall ${pluginName}`,
};

function layout(request: InstallRequest): InstallLayout {
  const places = placesOf(request);
  const isLocalTracked =
    request.scope === 'project' && isTracked(places.localSettings, places.project, request.env);
  const targets = targetsOf(request, places, request.scope !== 'shared' && !isLocalTracked);
  return {
    project: request.scope === 'user' ? null : places.project,
    targets,
    notes: isLocalTracked ? [trackedNote(places)] : [],
    pieces: `${claudeCodeHooks.length} hooks`,
  };
}

function findInstalled(request: InstallRequest): InstalledProgram[] {
  const { userSettings, sharedSettings, localSettings } = placesOf(request);
  const files = { user: userSettings, shared: sharedSettings, project: localSettings };
  const paths = claudeCodeHooks.map(({ hook }) => ['hooks', hook]);
  return findHookCommands(files[request.scope], paths, hostName).map((command) =>
    command.kind === 'portable' ? command : { ...command, name: hookFileName },
  );
}

function targetsOf(request: InstallRequest, places: Places, isGranted: boolean): FileTarget[] {
  const edits = settingsEdits(request, isGranted);
  const state = { path: places.stateFile, format: 'json', refusesComments: true, isPrivate: true } as const;
  const settings = (path: string): FileTarget => ({ path, format: 'json', refusesComments: true, edits });
  switch (request.scope) {
    case 'user':
      return [settings(places.userSettings), { ...state, edits: [serverEdit(request, ['mcpServers'])] }];
    case 'shared':
      return [
        settings(places.sharedSettings),
        { ...settings(places.sharedServers), edits: [serverEdit(request, ['mcpServers'])] },
      ];
    case 'project': {
      const server = serverEdit(request, ['projects', places.project, 'mcpServers']);
      const exclude: FileTarget[] =
        places.excludeFile === null
          ? []
          : [
              {
                path: places.excludeFile,
                format: 'lines',
                edits: [{ kind: 'line', text: '/.claude/settings.local.json' }],
              },
            ];
      return [settings(places.localSettings), { ...state, edits: [server] }, ...exclude];
    }
  }
}

function trackedNote({ localSettings }: Places): string {
  return `${localSettings} is tracked by git: in a folder that nobody trusted yet, Claude Code takes no grants from it, and it holds paths of this machine. Run: git rm --cached .claude/settings.local.json`;
}
