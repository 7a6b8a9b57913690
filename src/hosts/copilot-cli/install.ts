// What Copilot CLI is given, and whether that is there and allowed. Facts of the real program: hooks and servers of a project
// count only in a folder that its human trusted; a file for this project alone has hooks but no servers; a tool of a server
// needs a grant, which a hook can give.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import type { Edit, FileTarget } from '../install/changes.ts';
import { hookCommandsIn, writeHookCommand } from '../install/files.ts';
import { hookProofs, movedVariables, offeredTools, serverCall, serverName } from '../install/hook-host.ts';
import * as installer from '../install/installer.ts';
import { broken, ok, readSources } from '../install/installer.ts';
import { listOf, recordOf } from '../untrusted.ts';
import { copilotLanguage, hostName } from './host.ts';

const hooks = hooksOf(copilotLanguage);

export const copilotInstaller: installer.HostInstaller = {
  name: hostName,
  title: 'Copilot CLI',
  program: 'copilot',
  programs: ['hook.js', 'host-commands.js'],
  pieces: 'hooks',
  oldestVersion: null,
  knownVersions: ['1.0.102'],
  howToGet: 'npm install --global @github/copilot',
  afterInstall: 'Copilot CLI sessions that are already running keep their old hooks: restart them.',
  howToRemovePlugin: 'copilot plugin uninstall untildone',
  survey,
};

/** The end of a turn in which nothing was done. */
const harmlessStop = {
  ...{ hook_event_name: 'Stop', session_id: 'untildone-doctor', timestamp: '2026-11-18T00:00:00.000Z' },
  ...{ transcript_path: '/dev/null', stop_reason: 'end_turn', stop_hook_active: false },
};
/** Nobody is asked about tools that change only the plan. */
const grant = {
  matcher: `${serverName}/(${offeredTools.join('|')})`,
  ...{ type: 'command', bash: `echo '{"behavior":"allow"}'`, timeoutSec: hookTimeouts.other },
};
const localSettings = '.github/copilot/settings.local.json';

/** With the grant, which is a hook too. */
export function hookEntries(command: string, env: Readonly<Record<string, string>> = {}) {
  const more = Object.keys(env).length === 0 ? {} : { env };
  const ours = hooks.map(({ hook, timeout }) => {
    const entry = { type: 'command', bash: command, timeoutSec: hookTimeouts[timeout], ...more };
    return [hook, [entry]] as const;
  });
  return [...ours, ['PermissionRequest', [grant]] as const];
}

function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home } = basis;
  const own = env['COPILOT_HOME'] || join(home, '.copilot');
  const { root: project, excludeFile } = installer.findProject(basis);
  const hookFiles = {
    project: join(project, localSettings),
    shared: join(project, '.github', 'hooks', 'untildone.json'),
    user: join(own, 'hooks', 'untildone.json'),
  };
  const serverFiles = {
    user: join(own, 'mcp-config.json'),
    shared: join(project, '.github', 'mcp.json'),
  };
  const read = (path: string) => readSources([path])[0]?.value ?? {};

  function layout(scope: installer.Scope) {
    const request = { ...basis, scope };
    const moved = movedVariables(request);
    const command = writeHookCommand(request, hostName, [`--tools=${serverName}-`]);
    const isWhole = scope !== 'project';
    const edits: Edit[] = [
      ...(isWhole ? [{ kind: 'member', path: ['version'], value: 1 } as const] : []),
      ...hookEntries(command, moved).map(([hook, [value]]) => {
        const kind = value === grant ? 'entry' : 'hook';
        return { kind, path: ['hooks', hook], value } as const;
      }),
    ];
    const server = { type: 'local', ...serverCall(request, offeredTools), env: moved, tools: ['*'] };
    const path = serverFiles[scope === 'shared' ? 'shared' : 'user'];
    const targets: FileTarget[] = [
      { path: hookFiles[scope], ...(isWhole && { isOurs: true }), edits },
      { path, edits: [{ kind: 'member', path: ['mcpServers', serverName], value: server, named: true }] },
    ];
    if (scope === 'project' && excludeFile !== null)
      targets.push({ path: excludeFile, edits: [{ kind: 'line', text: `/${localSettings}` }] });
    const isUntrusted = scope !== 'user' && !isTrusted();
    return { targets, notes: isUntrusted ? [untrusted] : [], summary: `${hooks.length} hooks` };
  }

  const mendTrust = `start copilot in ${project} and trust the folder, or untildone init ${hostName} --user`;
  const untrusted = `Copilot CLI ignores hooks in ${project} until you trust the folder: ${mendTrust}.`;
  const isTrusted = () => listOf(read(join(own, 'config.json'))['trustedFolders']).includes(project);

  function examine(scopes: readonly installer.Scope[]): installer.Examination {
    const mend = `untildone init ${hostName}${installer.scopeFlags[scopes[0] ?? 'project']}`;
    const settings = join(own, 'settings.json');
    const sources = readSources([settings, ...Object.values(hookFiles)]);
    const wrong = sources.find(({ problem }) => problem !== null);
    const off = sources.find(({ value }) => value['disableAllHooks'] === true)?.path;
    const servers = Object.values(serverFiles).map((path) => recordOf(read(path)['mcpServers'])[serverName]);
    const server = servers.find((one) => one !== undefined);
    const program = listOf(recordOf(server)['args'])[0];
    const isGone = server === servers[0] && typeof program === 'string' && !existsSync(program);
    return [
      [
        wrong && broken('trust', `Copilot CLI cannot read ${wrong.path}: it ${wrong.problem}.`, `mend it`),
        off && broken('trust', `Hooks are switched off in ${off}.`, `take "disableAllHooks" out of ${off}`),
        !scopes.includes('user') && !isTrusted() && broken('trust', untrusted, mendTrust),
        ok('trust', 'Settings can be read, and hooks are allowed.'),
      ],
      [
        !server && broken('server', 'The MCP server is not registered, so the model cannot pause.', mend),
        isGone && broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend),
        ok('server', 'The MCP server is registered, and its tools are allowed without asking.'),
      ],
    ];
  }

  return {
    project,
    plugin: null,
    layout,
    examine,
    installed: (scope) => hookCommandsIn(read(hookFiles[scope])['hooks'], hostName),
    proofs: (scopes) =>
      hookProofs(basis, {
        ...{ host: hostName, title: 'Copilot CLI', harmlessStop, scopes },
        hooksIn: (scope) => read(hookFiles[scope])['hooks'],
        server: recordOf(read(serverFiles.user)['mcpServers'])[serverName],
      }),
  };
}
