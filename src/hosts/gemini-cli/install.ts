// What Gemini CLI is given, and whether that is there and allowed. Facts of the real program: nothing of ours runs in a folder
// that nobody trusted, the user's own hooks included; `--skip-trust` comes too late for a project's settings; policies of
// a project are not read, so the one that lets the model write its todos without asking is the user's.
import { dirname, join, sep } from 'node:path';
import { hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import { wholeFileComment } from '../install/changes.ts';
import { serverName } from '../install/hook-host.ts';
import type * as installer from '../install/installer.ts';
import { broken, note, ok, readSources } from '../install/installer.ts';
import { type Place, surveySettings } from '../install/settings-host.ts';
import { listOf, recordOf } from '../untrusted.ts';
import { geminiLanguage, hostName, todoTool, toolPrefix } from './host.ts';

export const geminiInstaller: installer.HostInstaller = {
  name: hostName,
  title: 'Gemini CLI',
  program: 'gemini',
  programs: ['hook.js', 'host-commands.js'],
  pieces: 'hooks',
  oldestVersion: null,
  knownVersions: ['0.61.0'],
  howToGet: 'npm install --global @google/gemini-cli',
  afterInstall: 'Gemini CLI sessions that are already running keep their old settings: restart them.',
  howToRemovePlugin: 'gemini extensions uninstall untildone',
  survey,
};

/** The end of a turn in which nothing was done. */
const harmlessStop = {
  ...{ hook_event_name: 'AfterAgent', session_id: 'untildone-doctor', transcript_path: '' },
  ...{ prompt: '', prompt_response: '', stop_hook_active: false },
};

/** Not in plan mode, in which the host refuses our own tools too: there nothing is to be continued (P26). */
export const policy = `${wholeFileComment('#')} (untildone init ${hostName}); untildone init ${hostName} --uninstall takes it away.
# The model writes its list of todos without asking. It changes nothing else.
[[rule]]
toolName = "${todoTool}"
decision = "allow"
priority = 100
modes = ["default", "autoEdit", "yolo"]
`;

const trustAdvice =
  'start gemini there and trust the folder; without a terminal set GEMINI_CLI_TRUST_WORKSPACE=true (--skip-trust alone leaves the settings of the project unread)';

function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home } = basis;
  const userFolder = join(env['GEMINI_CLI_HOME'] || home, '.gemini');
  const trustedFolders = env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] || join(userFolder, 'trustedFolders.json');
  const managed = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] || '/etc/gemini-cli/settings.json';

  /** Null: nobody was asked yet. */
  function isTrusted({ project, sources }: Place): boolean | null {
    const said = env['GEMINI_CLI_TRUST_WORKSPACE'];
    if (said === 'true' || said === 'false') return said === 'true';
    // Of a project it does not count.
    const own = sources.filter(({ path }) => !path.startsWith(project + sep));
    const isAsked = own.map(({ value }) => settingIn(value, 'security', 'folderTrust', 'enabled'));
    if (isAsked.find((one) => one !== undefined) === false) return true;
    const rules = Object.entries(readSources([trustedFolders])[0]?.value ?? {});
    const holds = ([path, level]: [string, unknown]) => {
      const folder = level === 'TRUST_PARENT' ? dirname(path) : path;
      return project === folder || project.startsWith(folder.endsWith(sep) ? folder : folder + sep);
    };
    const [nearest] = rules.filter(holds).sort(([one], [other]) => other.length - one.length);
    return nearest === undefined ? null : nearest[1] !== 'DO_NOT_TRUST';
  }
  const untrusted = ({ project }: Place) =>
    `Gemini CLI runs hooks and MCP servers only in folders that you trust, and ${project} is not one of them yet.`;

  function examine(at: Place, mend: string): installer.Examination {
    const find = (...path: string[]) =>
      at.sources.find(({ value }) => settingIn(value, ...path) !== undefined);
    const first = (...path: string[]) => settingIn(find(...path)?.value ?? {}, ...path);
    const namesIn = (...path: string[]) =>
      at.sources.flatMap(({ value }) => listOf(settingIn(value, ...path)));
    const off = first('hooksConfig', 'enabled') === false && find('hooksConfig', 'enabled')?.path;
    const isDisabled = namesIn('hooksConfig', 'disabled').includes(serverName);
    const trusted = isTrusted(at);
    const allowed = first('mcp', 'allowed');
    const isShut =
      namesIn('mcp', 'excluded').includes(serverName) ||
      (Array.isArray(allowed) && !allowed.includes(serverName) && !allowed.includes('*'));
    const policies = find('policyPaths')?.path;
    return [
      [
        off &&
          broken('trust', `Hooks are switched off in ${off}.`, `take "hooksConfig.enabled" out of ${off}`),
        isDisabled && broken('trust', 'Our hooks are disabled.', `/hooks enable ${serverName} in gemini`),
        trusted === false && broken('trust', untrusted(at), trustAdvice),
        trusted === null && note('trust', untrusted(at), trustAdvice),
        ok('trust', 'The folder is trusted, and hooks are allowed.'),
      ],
      [
        isShut &&
          broken(
            'todo-tools',
            'Settings keep our MCP server from starting.',
            `add "${serverName}" to mcp.allowed`,
          ),
        policies &&
          note('todo-tools', `${policies} names other policies, so ${todoTool} may need a yes.`, mend),
        ok(
          'todo-tools',
          'Our todo tools, and those of the host where it has them, are allowed without asking.',
        ),
      ],
    ];
  }

  return surveySettings(
    {
      ...{ name: hostName, title: 'Gemini CLI', folder: '.gemini', userFolder, managed: [managed] },
      ...{ toolPrefix, tools: null, server: { trust: true }, harmlessStop, examine },
      hooks: hooksOf(geminiLanguage),
      element: (command, { hook, timeout }, moved) => ({
        ...(hook === 'BeforeTool' && { matcher: `^${todoTool}$` }),
        hooks: [
          {
            ...{ name: serverName, type: 'command', command, timeout: hookTimeouts[timeout] * 1000 },
            ...(Object.keys(moved).length > 0 && { env: moved }),
          },
        ],
      }),
      more: (scope) =>
        scope === 'shared'
          ? {}
          : {
              targets: [
                {
                  ...{ path: join(userFolder, 'policies', 'untildone.toml'), isOurs: true },
                  edits: [{ kind: 'whole', text: policy }],
                },
              ],
            },
      notes: (at) => (isTrusted(at) ? [] : [`${untrusted(at)} To do so: ${trustAdvice}.`]),
    },
    basis,
  );
}

const settingIn = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce((one, key) => recordOf(one)[key], value);
