// What Codex is given, and whether that is there and trusted. Its own plan tool holds the plan once it is switched on; our MCP
// server adds what it lacks. Facts of the real program: a hook that nobody trusted is skipped without a word; in a worktree
// hooks come from the main working tree and settings from the one at hand.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sessionVariable } from '../../checks/process.ts';
import { sha256 } from '../../engine/system.ts';
import { hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import { applyEdit, type Edit, type FileTarget } from '../install/changes.ts';
import {
  askOr,
  hookCommandsIn,
  readSettingsFile,
  unlessRefused,
  writeHookCommand,
} from '../install/files.ts';
import { hookProofs, movedVariables, offeredTools, serverCall, serverName } from '../install/hook-host.ts';
import * as installer from '../install/installer.ts';
import { broken, note, ok } from '../install/installer.ts';
import { type Json, valueAt } from '../install/json-text.ts';
import { parseToml } from '../install/toml-text.ts';
import { type Fields, listOf, recordOf } from '../untrusted.ts';
import { codexLanguage, hostName, planTool } from './host.ts';

export const codexInstaller: installer.HostInstaller = {
  name: hostName,
  title: 'Codex',
  program: 'codex',
  programs: ['hook.js', 'host-commands.js'],
  pieces: 'hooks',
  oldestVersion: null,
  knownVersions: ['0.166.0'],
  howToGet: 'npm install --global @openai/codex',
  afterInstall: 'Codex sessions that are already running keep their old settings: restart them.',
  howToRemovePlugin: '',
  survey,
};

/** The end of a turn in which nothing was done. */
const harmlessStop = {
  ...{ hook_event_name: 'Stop', session_id: 'untildone-doctor', turn_id: 'untildone-doctor' },
  ...{ transcript_path: null, model: 'none', permission_mode: 'default', stop_hook_active: false },
  last_assistant_message: '',
};

export const toolPrefix = `mcp__${serverName}__`;
/** The host hands few variables on, and without a terminal refuses what nobody approved. */
export const serverRights = {
  env_vars: ['UNTILDONE_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME', sessionVariable],
  default_tools_approval_mode: 'approve',
};
type CodexHook = Readonly<{ hook: string; seconds: number; group: { readonly matcher?: string } }>;
export const codexHooks = hooksOf(codexLanguage).map(
  ({ hook, timeout }): CodexHook => ({
    ...{ hook, seconds: hookTimeouts[timeout] },
    // Only its list can be refused: no other call waits for us.
    group: hook === 'PreToolUse' ? { matcher: `^${planTool}$` } : {},
  }),
);
const files = ['.codex/hooks.json', '.codex/config.toml'] as const;

const eventName = (hook: string) => hook.replace(/(?<!^)[A-Z]/gu, '_$&').toLowerCase();

/** As the host takes it: of the hook alone, with sorted keys and nothing between them. */
export function trustedHash({ hook, seconds: timeout, group }: CodexHook, command: string): string {
  const hooks = [{ async: false, command, timeout, type: 'command' }];
  return `sha256:${sha256(JSON.stringify({ event_name: eventName(hook), hooks, ...group }))}`;
}

export const hookGroup = ({ seconds: timeout, group }: CodexHook, command: string): Json => ({
  ...{ ...group, hooks: [{ type: 'command', command, timeout }] },
});

/** Under the place of the hook in its file, where a person's own may stand before it. */
export const trustEntry = (one: CodexHook, command: string, file: string, place = '0:0') =>
  [`${file}:${eventName(one.hook)}:${place}`, { trusted_hash: trustedHash(one, command) }] as const;

function trustEdits(file: string, text: string, command: string): Edit[] {
  return codexHooks.flatMap((one) =>
    listOf(valueAt(text, ['hooks', one.hook])).flatMap((group, outer) =>
      listOf(recordOf(group)['hooks']).flatMap((hook, inner): Edit[] => {
        const [key, value] = trustEntry(one, command, file, `${outer}:${inner}`);
        const isOurs = recordOf(hook)['command'] === command;
        return isOurs ? [{ kind: 'table', path: ['hooks', 'state', key], value, named: true }] : [];
      }),
    ),
  );
}

const tableAt = (value: unknown, ...path: string[]) =>
  path.reduce((one, key) => recordOf(one[key]), recordOf(value));

function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home } = basis;
  const { root, mainRoot: project, excludeFile, isTracked } = installer.findProject(basis);
  // The host follows links in its variable, and in nothing else.
  const moved = env['CODEX_HOME'] && askOr(env['CODEX_HOME'], () => realpathSync(env['CODEX_HOME'] ?? ''));
  const own = moved || join(home, '.codex');
  const userConfig = join(own, 'config.toml');
  const configOf = (scope: installer.Scope) => (scope === 'user' ? userConfig : join(root, files[1]));
  const hooksFile = (scope: installer.Scope) =>
    join(scope === 'user' ? own : project, scope === 'user' ? 'hooks.json' : files[0]);
  const textOf = (path: string) => readSettingsFile(path).text ?? '';
  const hooksIn = (scope: installer.Scope) => askOr(null, () => valueAt(textOf(hooksFile(scope)), ['hooks']));
  const read = (path: string): Readonly<{ path: string; value: Fields; problem: string | null }> =>
    unlessRefused(
      () => ({ path, value: parseToml(textOf(path)), problem: null }),
      (problem) => ({ path, value: {}, problem }),
    );
  const isTrusted = () => tableAt(read(userConfig).value, 'projects', project)['trust_level'] === 'trusted';
  /** The project's own wins, as in the host. */
  function registered() {
    const [ofProject = {}, ofUser = {}] = [configOf('project'), userConfig].map((path) =>
      tableAt(read(path).value, 'mcp_servers', serverName),
    );
    const isServerOfProject = ofProject['command'] !== undefined;
    return { server: isServerOfProject ? ofProject : ofUser, isServerOfProject };
  }

  function layout(scope: installer.Scope) {
    const request = { ...basis, scope };
    const variables = movedVariables(request);
    const command = writeHookCommand(request, hostName, [`--tools=${toolPrefix}`], variables);
    const [path, config] = [hooksFile(scope), configOf(scope)];
    const hooks = codexHooks.map(
      (one): Edit => ({
        ...{ kind: 'hook', path: ['hooks', one.hook], value: hookGroup(one, command) },
      }),
    );
    const written = () => hooks.reduce((text, edit) => applyEdit(text, edit, hostName), textOf(path));
    // What cannot be edited is refused by name when its own turn comes.
    const trust = trustEdits(path, askOr('', written), command);
    const server = {
      ...serverCall(request, offeredTools),
      ...(Object.keys(variables).length > 0 && { env: variables }),
      ...serverRights,
    };
    const settings: Edit[] = [
      { kind: 'table', path: ['tools', planTool], value: { enabled: true } },
      { kind: 'table', path: ['mcp_servers', serverName], value: server, named: true },
    ];
    const trusted: Edit = { kind: 'table', path: ['projects', project], value: { trust_level: 'trusted' } };
    const targets: FileTarget[] = [{ path, refusesComments: true, edits: hooks }];
    if (config === userConfig) trust.unshift(...settings);
    else targets.push({ path: config, edits: settings });
    targets.push({
      path: userConfig,
      isPrivate: true,
      edits: [...(scope === 'user' ? [] : [trusted]), ...trust],
    });
    const tracked = files.filter((file) => scope === 'project' && isTracked(join(project, file)));
    const lines = files.filter((file) => !tracked.includes(file)).map((file) => `/${file}`);
    if (scope === 'project' && excludeFile !== null)
      targets.push({ path: excludeFile, edits: lines.map((text) => ({ kind: 'line', text })) });
    const notes = tracked.map(
      (file) =>
        `${file} is tracked by git, and now holds paths of this machine: rather use --user or --shared.`,
    );
    if (scope !== 'user' && !isTrusted())
      notes.push(
        `Codex skips hooks of a project that nobody trusts, so ${userConfig} trusts ${project} now. It then reads all else in ${join(project, '.codex')} too: other hooks are asked about, MCP servers and settings are not.`,
      );
    return { targets, notes, summary: `${codexHooks.length} hooks, trusted` };
  }

  function examine(scopes: readonly installer.Scope[]): installer.Examination {
    const scope = scopes[0] ?? 'project';
    const mend = `untildone init ${hostName}${installer.scopeFlags[scope]}`;
    // The project's own win, as in the host.
    const sources = [userConfig, configOf('project')].map(read);
    const said = (table: string[], key: string) =>
      sources.map(({ value }) => tableAt(value, ...table)[key]).findLast((one) => one !== undefined);
    const wrong = sources.find(({ problem }) => problem !== null);
    const states = Object.entries(tableAt(sources[0]?.value, 'hooks', 'state'));
    const ours = scopes.map(hooksFile);
    const off = states.find(
      ([key, state]) =>
        ours.some((path) => key.startsWith(`${path}:`)) && recordOf(state)['enabled'] === false,
    )?.[0];
    const { server } = registered();
    const program = listOf(server['args'])[0];
    const isGone = server['command'] !== 'npx' && typeof program === 'string' && !existsSync(program);
    const untrusted = `${userConfig} does not trust ${project}, so Codex skips its hooks without a word.`;
    const planOff = `The plan tool is off: the model needs tools.${planTool}.enabled.`;
    return [
      [
        wrong &&
          broken('trust', `Codex does not start: ${wrong.path} ${wrong.problem}.`, `mend ${wrong.path}`),
        said(['features'], 'hooks') === false &&
          broken('trust', 'Hooks are switched off in the settings of Codex.', 'codex features enable hooks'),
        scope !== 'user' && !isTrusted() && broken('trust', untrusted, `set its trust_level to "trusted"`),
        off && broken('trust', `The hook ${off} is switched off.`, 'switch it on with /hooks in Codex'),
        ok('trust', 'Codex trusts the hooks as they are written.'),
      ],
      [
        said(['tools', planTool], 'enabled') !== true && broken('todo-tools', planOff, mend),
        ok('todo-tools', 'The plan tool is on.'),
      ],
      [
        !server['command'] &&
          broken('server', 'The MCP server is not registered, so the model cannot pause.', mend),
        isGone && broken('server', `The MCP server is registered, but its program is gone: ${program}`, mend),
        server['enabled'] === false &&
          note('server', 'The MCP server is switched off, so the model cannot pause.'),
        ok('server', 'The MCP server is registered, and its tools are approved.'),
      ],
    ];
  }

  return {
    ...{ project, plugin: null, layout, examine },
    // What everyone can start names no file of this machine.
    installed: (scope) =>
      hookCommandsIn(hooksIn(scope), hostName).filter(
        ({ file }) => scope === 'user' || (file === undefined) === (scope === 'shared'),
      ),
    proofs: (scopes) =>
      hookProofs(basis, {
        ...{ host: hostName, title: 'Codex', harmlessStop, scopes, hooksIn },
        ...registered(),
      }),
  };
}
