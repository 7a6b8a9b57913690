// Installs us in Copilot CLI and examines whether all is there and allowed. Facts of the
// real program: hooks and servers of a project count only in a folder that its human
// trusted; a file for this project alone can hold hooks but no servers; a tool of a
// server needs a grant, which a hook can give.
import { join } from 'node:path';
import { hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import {
  type HookHost,
  hookInstaller,
  offeredTools,
  serverName,
  switchedOff,
} from '../install/hook-host.ts';
import { brokenRow, okRow, readSource, readSources } from '../install/installer.ts';
import { entry, member } from '../install/json-text.ts';
import { listOf } from '../untrusted.ts';
import { copilotLanguage, hostName } from './host.ts';

const element: HookHost['element'] = (command, { timeout }, env) => {
  const variables = Object.keys(env).length === 0 ? {} : { env };
  return {
    type: 'command',
    bash: command,
    timeoutSec: hookTimeouts[timeout],
    ...variables,
  };
};
/** Allows our tools without asking, because they change only the plan. */
const grant = {
  matcher: `${serverName}/(${offeredTools.join('|')})`,
  type: 'command',
  bash: `echo '{"behavior":"allow"}'`,
  timeoutSec: hookTimeouts.other,
};
const localSettings = '.github/copilot/settings.local.json';

/** All our hooks for one run; the grant is a hook too. */
export function hookEntries(command: string) {
  const ours = hooksOf(copilotLanguage).map(
    (one) => [one.hook, [element(command, one, {})]] as const,
  );
  return [...ours, ['PermissionRequest', [grant]] as const];
}

export const copilotInstaller = hookInstaller({
  title: 'Copilot CLI',
  program: 'copilot',
  npmPackage: '@github/copilot',
  knownVersions: ['1.0.102'],
  howToRemovePlugin: 'copilot plugin uninstall untildone',
  afterInstall:
    'Copilot CLI sessions that are already running keep their old hooks: restart them.',
  language: copilotLanguage,
  toolPrefix: `${serverName}-`,
  element,
  server: ({ command, args, env = {} }) => ({
    type: 'local',
    command,
    args,
    env,
    tools: ['*'],
  }),
  serverRights: ', and its tools are allowed without asking',
  stop: { timestamp: '2026-11-18T00:00:00.000Z', stop_reason: 'end_turn' },
  look({ env, home }, { root: project }) {
    const own = env['COPILOT_HOME'] || join(home, '.copilot');
    const hookFiles = {
      project: join(project, localSettings),
      shared: join(project, '.github', 'hooks', 'untildone.json'),
      user: join(own, 'hooks', 'untildone.json'),
    };
    const ofUser = [join(own, 'mcp-config.json'), 'mcpServers', serverName] as const;
    const servers = {
      project: ofUser,
      user: ofUser,
      shared: [join(project, '.github', 'mcp.json'), 'mcpServers', serverName] as const,
    };
    const mendTrust = `start copilot in ${project} and trust the folder, or untildone init ${hostName} --user`;
    const untrusted = `Copilot CLI ignores hooks in ${project} until you trust the folder: ${mendTrust}.`;
    const isTrusted = () =>
      listOf(readSource(join(own, 'config.json'))['trustedFolders']).includes(project);
    return {
      project,
      hookFiles,
      servers,
      layout(scope, { hooks, server }) {
        const edits = [...hooks, entry(['hooks', 'PermissionRequest'], grant)];
        const path = hookFiles[scope];
        return {
          targets: [
            scope === 'project'
              ? { path, edits }
              : { path, isOurs: true, edits: [member(['version'], 1), ...edits] },
            { path: servers[scope][0], edits: [server] },
          ],
          local: [localSettings],
          notes: [scope !== 'user' && !isTrusted() && untrusted],
        };
      },
      examine(scopes, _mend, server) {
        const sources = readSources([
          join(own, 'settings.json'),
          ...Object.values(hookFiles),
        ]);
        const wrong = sources.find(({ problem }) => problem !== null);
        const off = sources.find(({ value }) => value['disableAllHooks'] === true)?.path;
        return [
          [
            wrong &&
              brokenRow(
                'trust',
                `Copilot CLI cannot read ${wrong.path}: it ${wrong.problem}.`,
                'mend it',
              ),
            off && switchedOff(off, 'disableAllHooks'),
            !scopes.includes('user') &&
              !isTrusted() &&
              brokenRow('trust', untrusted, mendTrust),
            okRow('trust', 'Settings can be read, and hooks are allowed.'),
          ],
          server,
        ];
      },
    };
  },
});
