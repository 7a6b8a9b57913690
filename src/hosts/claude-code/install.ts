// Claude Code in the table of hosts: which files an install touches in each scope. Facts of the real program that
// decide it: in a folder that nobody trusted yet grants of a project count only from an untracked local file, and MCP
// servers in settings are ignored.

import { isTracked } from '../install/git.ts';
import type { HostInstaller, InstallLayout, InstallRequest } from '../install/installer.ts';
import type { FileTarget } from '../install/target-text.ts';
import { hostName, serverEdit, settingsEdits } from './install-edits.ts';
import { examineClaudeCode, findClaudeCodePlugin, pluginName } from './install-examine.ts';
import { type Places, placesOf } from './install-places.ts';
import { claudeCodeHooks } from './translate.ts';

export const claudeCodeInstaller: HostInstaller = {
  name: hostName,
  title: 'Claude Code',
  program: 'claude',
  knownVersions: ['2.1.325'],
  howToGet: 'npm install --global @anthropic-ai/claude-code',
  afterInstall: 'Sessions of Claude Code that run already keep their old settings: start them anew.',
  layout,
  examine: examineClaudeCode,
  findPlugin: findClaudeCodePlugin,
  howToRemovePlugin: `claude plugin uninstall ${pluginName}`,
};

function layout(request: InstallRequest): InstallLayout {
  const places = placesOf(request);
  const isLocalTracked =
    request.scope === 'project' && isTracked(places.localSettings, places.project, request.env);
  const targets = targetsOf(request, places, request.scope !== 'shared' && !isLocalTracked);
  const [settings] = targets;
  return {
    project: request.scope === 'user' ? null : places.project,
    targets,
    notes: isLocalTracked ? [trackedNote(places)] : [],
    hooks: claudeCodeHooks.map(({ hook }) => ({ file: settings?.path ?? '', path: ['hooks', hook] })),
  };
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
