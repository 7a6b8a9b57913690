// Installs us in Codex and examines whether all is there and trusted. Its own plan tool
// holds the plan once it is switched on; our MCP server adds what it lacks. Facts of the
// real program: it silently skips a hook that nobody trusted; in a worktree it reads
// hooks from the main working tree and settings from the one at hand.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { sessionVariable } from '../../checks/process.ts';
import { sha256 } from '../../engine/system.ts';
import { type HookTimeout, hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import { applyEdit, type Edit } from '../install/changes.ts';
import { askOr, readSettingsFile } from '../install/files.ts';
import { type HookPlace, hookInstaller, serverName } from '../install/hook-host.ts';
import type { InstallBasis, Project } from '../install/installer.ts';
import {
  brokenRow,
  okRow,
  readSource,
  readSources,
  settingIn,
  settingsIn,
} from '../install/installer.ts';
import { type Json, valueAt } from '../install/json-text.ts';
import { listOf, recordOf } from '../untrusted.ts';
import { codexLanguage, hostName, planTool } from './host.ts';

export const toolPrefix = `mcp__${serverName}__`;
/**
 * The host hands few variables on to a server, and without a terminal it refuses tools
 * that nobody approved.
 */
export const serverRights = {
  env_vars: ['UNTILDONE_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_HOME', sessionVariable],
  default_tools_approval_mode: 'approve',
};

export const codexInstaller = hookInstaller({
  title: 'Codex',
  program: 'codex',
  npmPackage: '@openai/codex',
  knownVersions: ['0.166.0'],
  howToRemovePlugin: '',
  language: codexLanguage,
  toolPrefix,
  commandSetsVariables: true,
  element: (command, hook) => hookGroup(codexHook(hook), command),
  server: ({ command, args, env = {} }) => ({
    command,
    args,
    ...(Object.keys(env).length > 0 && { env }),
    ...serverRights,
  }),
  serverRights: ', and its tools are approved',
  stop: {
    turn_id: 'untildone-doctor',
    transcript_path: null,
    model: 'none',
    permission_mode: 'default',
    last_assistant_message: '',
  },
  summary: ', trusted',
  look,
});

type CodexHook = Readonly<{
  hook: string;
  seconds: number;
  group: { readonly matcher?: string };
}>;
function codexHook({
  hook,
  timeout,
}: Readonly<{ hook: string; timeout: HookTimeout }>): CodexHook {
  // Only calls of its plan tool can be refused: no other call waits for us.
  const group = hook === 'PreToolUse' ? { matcher: `^${planTool}$` } : {};
  return { hook, seconds: hookTimeouts[timeout], group };
}
/** All our hooks, as Codex gets them. */
export const codexHooks = hooksOf(codexLanguage).map(codexHook);

const eventName = (hook: string) => hook.replace(/(?<!^)[A-Z]/gu, '_$&').toLowerCase();

/** The hash that Codex computes: SHA-256 of one hook as compact JSON with sorted keys. */
export function trustedHash(
  { hook, seconds: timeout, group }: CodexHook,
  command: string,
): string {
  const hooks = [{ async: false, command, timeout, type: 'command' }];
  return `sha256:${sha256(JSON.stringify({ event_name: eventName(hook), hooks, ...group }))}`;
}

/** One hook as Codex wants it in its settings. */
export function hookGroup({ seconds: timeout, group }: CodexHook, command: string): Json {
  return { ...group, hooks: [{ type: 'command', command, timeout }] };
}

/** The trust key holds the hook's position, since the user's own hooks may come first. */
export const trustEntry = (
  one: CodexHook,
  command: string,
  file: string,
  position = '0:0',
) =>
  [
    `${file}:${eventName(one.hook)}:${position}`,
    { trusted_hash: trustedHash(one, command) },
  ] as const;

function trustEdits(file: string, text: string, command: string): Edit[] {
  return codexHooks.flatMap((one) =>
    listOf(valueAt(text, ['hooks', one.hook])).flatMap((group, outer) =>
      listOf(recordOf(group)['hooks']).flatMap((hook, inner): Edit[] => {
        const [key, value] = trustEntry(one, command, file, `${outer}:${inner}`);
        const isOurs = recordOf(hook)['command'] === command;
        return isOurs
          ? [{ kind: 'table', path: ['hooks', 'state', key], value, named: true }]
          : [];
      }),
    ),
  );
}

const files = ['.codex/hooks.json', '.codex/config.toml'] as const;

function look(
  { env, home }: InstallBasis,
  { root, mainRoot: project, isTracked }: Project,
): HookPlace {
  // Codex resolves symlinks in CODEX_HOME only; the trust key needs the same path.
  const moved =
    env['CODEX_HOME'] &&
    askOr(env['CODEX_HOME'], () => realpathSync(env['CODEX_HOME'] ?? ''));
  const userFolder = moved || join(home, '.codex');
  const projectHooks = join(project, files[0]);
  const projectConfig = join(root, files[1]);
  const userConfig = join(userFolder, 'config.toml');
  const hookFiles = {
    project: projectHooks,
    shared: projectHooks,
    user: join(userFolder, 'hooks.json'),
  };
  const keysIn = (path: string) => [path, 'mcp_servers', serverName] as const;
  const isTrusted = () =>
    settingIn(readSource(userConfig), 'projects', project, 'trust_level') === 'trusted';
  return {
    project,
    hookFiles,
    servers: {
      project: keysIn(projectConfig),
      shared: keysIn(projectConfig),
      user: keysIn(userConfig),
    },
    layout(scope, { command, hooks, server }) {
      const path = hookFiles[scope];
      const written = () =>
        hooks.reduce(
          (text, edit) => applyEdit(text, edit, hostName),
          readSettingsFile(path).text ?? '',
        );
      // A file that cannot be edited is refused by name when its own turn comes.
      const trust = trustEdits(path, askOr('', written), command);
      const settings: Edit[] = [
        { kind: 'table', path: ['tools', planTool], value: { enabled: true } },
        server,
      ];
      const trusted: Edit = {
        kind: 'table',
        path: ['projects', project],
        value: { trust_level: 'trusted' },
      };
      const ofUser = scope === 'user' ? [...settings, ...trust] : [trusted, ...trust];
      const tracked = files.filter(
        (file) => scope === 'project' && isTracked(join(project, file)),
      );
      return {
        targets: [
          { path, refusesComments: true, edits: hooks },
          ...(scope === 'user' ? [] : [{ path: projectConfig, edits: settings }]),
          { path: userConfig, isPrivate: true, edits: ofUser },
        ],
        local: files.filter((file) => !tracked.includes(file)),
        notes: [
          ...tracked.map(
            (file) =>
              `${file} is tracked by git, and now holds paths of this machine: rather use --user or --shared.`,
          ),
          scope !== 'user' &&
            !isTrusted() &&
            `Codex skips hooks of a project that nobody trusts, so ${userConfig} trusts ${project} now. It then reads all else in ${join(project, '.codex')} too: other hooks are asked about, MCP servers and settings are not. And without \`-s\` it may write there: its sandbox in a trusted project is workspace-write.`,
        ],
      };
    },
    examine(scopes, mend, server) {
      // The project's settings win, as in the host.
      const sources = readSources([userConfig, projectConfig]);
      const readSetting = (...path: string[]) =>
        settingsIn(sources, ...path).at(-1)?.value;
      const wrong = sources.find(({ problem }) => problem !== null);
      const unreadable = wrong && `Codex does not start: ${wrong.path} ${wrong.problem}.`;
      const ours = scopes.map((scope) => hookFiles[scope]);
      const states = Object.entries(
        recordOf(settingIn(readSource(userConfig), 'hooks', 'state')),
      );
      const off = states.find(
        ([key, state]) =>
          ours.some((path) => key.startsWith(`${path}:`)) &&
          recordOf(state)['enabled'] === false,
      )?.[0];
      const hooksOff = 'Hooks are switched off in the settings of Codex.';
      const isUntrusted = scopes[0] !== 'user' && !isTrusted();
      const untrusted = `${userConfig} does not trust ${project}, so Codex skips its hooks without a word.`;
      const planOff = `The plan tool is off: the model needs tools.${planTool}.enabled.`;
      return [
        [
          unreadable && brokenRow('trust', unreadable, `mend ${wrong.path}`),
          readSetting('features', 'hooks') === false &&
            brokenRow('trust', hooksOff, 'codex features enable hooks'),
          isUntrusted &&
            brokenRow('trust', untrusted, 'set its trust_level to "trusted"'),
          off &&
            brokenRow(
              'trust',
              `The hook ${off} is switched off.`,
              'switch it on with /hooks in Codex',
            ),
          okRow('trust', 'Codex trusts the hooks as they are written.'),
        ],
        [
          readSetting('tools', planTool, 'enabled') !== true &&
            brokenRow('todo-tools', planOff, mend),
          okRow('todo-tools', 'The plan tool is on.'),
        ],
        server,
      ];
    },
  };
}
