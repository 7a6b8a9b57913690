// What Qwen Code is given, and whether that is there and allowed. One settings file of the folder in which it is started holds
// all of it: hooks, our MCP server, its own todo tool switched on, its cap raised. It reads no file of a parent folder, and has
// none that is the person's alone in a project.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import type { Edit, FileTarget } from '../install/changes.ts';
import { hookCommandsIn, writeHookCommand } from '../install/files.ts';
import { hookProofs, movedVariables, offeredTools, serverCall, serverName } from '../install/hook-host.ts';
import * as installer from '../install/installer.ts';
import { broken, note, ok, readSources } from '../install/installer.ts';
import type { Json } from '../install/json-text.ts';
import { type Fields, listOf, recordOf } from '../untrusted.ts';
import { capVariable, hostName, qwenCodeLanguage, takenBlocks } from './translate.ts';

const hooks = hooksOf(qwenCodeLanguage);

export const qwenCodeInstaller: installer.HostInstaller = {
  name: hostName,
  title: 'Qwen Code',
  program: 'qwen',
  programs: ['hook.js', 'host-commands.js'],
  pieces: 'hooks',
  oldestVersion: null,
  knownVersions: ['0.24.4'],
  howToGet: 'npm install --global @qwen-code/qwen-code',
  afterInstall: 'Qwen Code sessions that are already running keep their old settings: restart them.',
  howToRemovePlugin: '',
  survey,
};

/** The highest that it takes; its own eight ends a turn as a success. */
const mostBlocks = 100;
/** Of its settings: without it the host rewrites the file at its next start, and it counts as edited. */
const format = 4;
const systemSettings = '/etc/qwen-code/settings.json';
/** The end of a turn in which nothing was done. */
const harmlessStop = {
  ...{ hook_event_name: 'Stop', session_id: 'untildone-doctor', prompt_id: 'untildone-doctor########0' },
  ...{ transcript_path: '/dev/null', permission_mode: 'default', stop_hook_active: false },
  ...{ last_assistant_message: '', background_tasks: [], crons: [] },
};

function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home } = basis;
  const { folder, root, excludeFile, isTracked } = installer.findProject(basis);
  const own = env['QWEN_HOME'] || join(home, '.qwen');
  const committed = join(folder, '.qwen', 'settings.json');
  const pathOf = (scope: installer.Scope) => (scope === 'user' ? join(own, 'settings.json') : committed);
  const read = (path: string) => readSources([path])[0]?.value ?? {};
  const isHere = isTracked(committed);

  /** In one file: what names programs of this machine is the person's, what is fetched is everyone's. */
  function installed(scope: installer.Scope) {
    const found = hookCommandsIn(read(pathOf(scope))['hooks'], hostName);
    return found.filter(({ file }) => scope === 'user' || (file === undefined) === (scope === 'shared'));
  }

  function layout(scope: installer.Scope) {
    const request = { ...basis, scope };
    const path = pathOf(scope);
    const command = writeHookCommand(request, hostName, [`--tools=mcp__${serverName}__`]);
    const moved = movedVariables(request);
    const server = {
      ...serverCall(request, offeredTools),
      ...(scope === 'shared' ? {} : { env: moved }),
      // Without asking, and in the prompt from the start: nobody searches for an escape hatch.
      ...{ trust: true, alwaysLoadTools: true },
    };
    const written = existsSync(path) ? read(path)['$version'] : format;
    const edits: Edit[] = [
      ...Object.entries(moved).map(([name, value]) => member(['env', name], value)),
      member(['tools', 'todoWrite', 'enabled'], true),
      member(['stopHookBlockingCap'], mostBlocks),
      ...hooks.map(({ hook, timeout }): Edit => {
        const value = { hooks: [{ type: 'command', command, timeout: hookTimeouts[timeout] }] };
        return { kind: 'hook', path: ['hooks', hook], value };
      }),
      { ...member(['mcpServers', serverName], server), named: true },
      ...(written === format ? [member(['$version'], format)] : []),
    ];
    const targets: FileTarget[] = [{ path, edits }];
    const isTrackedHere = scope === 'project' && isHere;
    if (scope === 'project' && excludeFile !== null && !isHere)
      targets.push({ path: excludeFile, edits: [{ kind: 'line', text: `/${relative(root, committed)}` }] });
    const tracked = `${committed} is tracked by git, and now contains paths of this machine: do not commit it, or install with --user or --shared instead.`;
    return { targets, notes: isTrackedHere ? [tracked] : [], summary: `${hooks.length} hooks` };
  }

  function examine(scopes: readonly installer.Scope[]): installer.Examination {
    if (scopes[0] === undefined) return [];
    const mend = `untildone init ${hostName}${installer.scopeFlags[scopes[0]]}`;
    // Later ones win, as in the host.
    const sources = readSources([pathOf('user'), committed, systemSettings]);
    const inForce = <Value>(pick: (settings: Fields) => Value | undefined) =>
      sources.map(({ value }) => pick(value)).findLast((value) => value !== undefined);
    const wrong = sources.find(({ problem }) => problem !== null);
    const off = sources.findLast(({ value }) => 'disableAllHooks' in value);
    const isOff = off?.value['disableAllHooks'] === true;
    const guarded =
      inForce((value) => recordOf(recordOf(value['security'])['folderTrust'])['enabled']) === true;
    const isTrusted = recordOf(read(join(own, 'trustedFolders.json')))[folder] === 'TRUST_FOLDER';
    const isTodoOn = inForce((value) => recordOf(recordOf(value['tools'])['todoWrite'])['enabled']) === true;
    const said = env[capVariable]?.trim();
    const taken = takenBlocks(said ? Number(said) : inForce((value) => value['stopHookBlockingCap']));
    const cap = `Qwen Code ends a turn after ${taken} continuations (${said ? capVariable : 'stopHookBlockingCap'}).`;
    const server = inForce((value) => recordOf(value['mcpServers'])[serverName]);
    const program = listOf(recordOf(server)['args'])[0];
    const isGone = typeof program === 'string' && program.startsWith('/') && !existsSync(program);
    const unseen = 'The MCP server is not registered, so the model cannot pause.';
    return [
      [
        wrong && broken('trust', `${wrong.path} ${wrong.problem}.`, `mend ${wrong.path}`),
        isOff &&
          broken(
            'trust',
            `Hooks are switched off in ${off.path}.`,
            `take "disableAllHooks" out of ${off.path}`,
          ),
        guarded &&
          !isTrusted &&
          !scopes.includes('user') &&
          note(
            'trust',
            'Folder trust is on: settings of this folder count once you trust it.',
            'qwen, then /trust',
          ),
        ok('trust', 'Settings can be read, and hooks are allowed.'),
      ],
      [
        !isTodoOn && broken('todo-tools', 'The todo tool is off (tools.todoWrite.enabled).', mend),
        ok('todo-tools', 'The todo tool is on.'),
      ],
      [taken < mostBlocks - 1 && note('cap', cap, mend), ok('cap', cap)],
      [
        !server && broken('server', unseen, mend),
        isGone && broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend),
        ok('server', 'The MCP server is registered.'),
      ],
    ];
  }

  function proofs(scopes: readonly installer.Scope[]) {
    const isServerOfProject = !scopes.includes('user');
    const { mcpServers } = read(isServerOfProject ? committed : pathOf('user'));
    return hookProofs(basis, {
      ...{ host: hostName, title: 'Qwen Code', harmlessStop, scopes, isServerOfProject },
      hooksIn: (scope) => read(pathOf(scope))['hooks'],
      server: recordOf(mcpServers)[serverName],
    });
  }

  return { project: folder, proofs, plugin: null, layout, installed, examine };
}

const member = (path: string[], value: Json): Extract<Edit, { kind: 'member' }> => ({
  kind: 'member',
  path,
  value,
});
