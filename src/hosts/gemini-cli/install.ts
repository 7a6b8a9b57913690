// Installs us in Gemini CLI and examines whether all is there and allowed. Facts of the
// real program: in a folder that nobody trusted it runs nothing of ours, not even the
// user's own hooks; `--skip-trust` comes too late for a project's settings; it reads no
// policies of a project, so the policy that lets the model write its todos without asking
// is the user's.
import { dirname, join, sep } from 'node:path';
import { hookTimeouts } from '../asked-call.ts';
import { wholeFileComment } from '../install/changes.ts';
import { hookInstaller, serverName, switchedOff } from '../install/hook-host.ts';
import type { InstallBasis, Project } from '../install/installer.ts';
import {
  brokenRow,
  noteRow,
  okRow,
  readSource,
  settingsIn,
} from '../install/installer.ts';
import { type SettingsProject, settingsPlace } from '../install/settings-host.ts';
import { listOf } from '../untrusted.ts';
import { geminiLanguage, hostName, todoTool, toolPrefix } from './host.ts';

export const geminiInstaller = hookInstaller({
  title: 'Gemini CLI',
  program: 'gemini',
  npmPackage: '@google/gemini-cli',
  knownVersions: ['0.61.0'],
  howToRemovePlugin: 'gemini extensions uninstall untildone',
  language: geminiLanguage,
  toolPrefix,
  offersAll: true,
  element: (command, { hook, timeout }, env) => ({
    ...(hook === 'BeforeTool' && { matcher: `^${todoTool}$` }),
    hooks: [
      {
        name: serverName,
        type: 'command',
        command,
        timeout: hookTimeouts[timeout] * 1000,
        ...(Object.keys(env).length > 0 && { env }),
      },
    ],
  }),
  server: (call) => ({ ...call, trust: true }),
  stop: {
    hook_event_name: 'AfterAgent',
    transcript_path: '',
    prompt: '',
    prompt_response: '',
  },
  look,
});

/**
 * Leaves plan mode out: the host refuses our own tools in it too, and nothing is to be
 * continued there (P26).
 */
export const policy = `${wholeFileComment('#', hostName)}
# The model writes its list of todos without asking. It changes nothing else.
[[rule]]
toolName = "${todoTool}"
decision = "allow"
priority = 100
modes = ["default", "autoEdit", "yolo"]
`;

const trustAdvice =
  'start gemini there and trust the folder; without a terminal set GEMINI_CLI_TRUST_WORKSPACE=true (--skip-trust alone leaves the settings of the project unread)';

function look({ env, home }: InstallBasis, found: Project) {
  const userFolder = join(env['GEMINI_CLI_HOME'] || home, '.gemini');
  const trustedFolders =
    env['GEMINI_CLI_TRUSTED_FOLDERS_PATH'] || join(userFolder, 'trustedFolders.json');
  const managed =
    env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] || '/etc/gemini-cli/settings.json';

  /** Whether the folder is trusted; null: the host has not asked yet. */
  function isTrusted({ project, sources }: SettingsProject): boolean | null {
    const setting = env['GEMINI_CLI_TRUST_WORKSPACE'];
    if (setting === 'true' || setting === 'false') return setting === 'true';
    // The setting of a project does not count.
    const own = sources.filter(({ path }) => !path.startsWith(project + sep));
    if (settingsIn(own, 'security', 'folderTrust', 'enabled')[0]?.value === false)
      return true;
    const holds = ([path, level]: [string, unknown]) => {
      const folder = level === 'TRUST_PARENT' ? dirname(path) : path;
      return (
        project === folder ||
        project.startsWith(folder.endsWith(sep) ? folder : folder + sep)
      );
    };
    const rules = Object.entries(readSource(trustedFolders)).filter(holds);
    const [nearest] = rules.sort(([one], [other]) => other.length - one.length);
    return nearest === undefined ? null : nearest[1] !== 'DO_NOT_TRUST';
  }
  const untrusted = `Gemini CLI runs hooks and MCP servers only in folders that you trust, and ${found.root} is not one of them yet.`;

  return settingsPlace(found, {
    title: 'Gemini CLI',
    folder: '.gemini',
    userFolder,
    managed,
    more(scope) {
      const path = join(userFolder, 'policies', 'untildone.toml');
      return scope === 'shared'
        ? {}
        : { targets: [{ path, isOurs: true, edits: [{ kind: 'whole', text: policy }] }] };
    },
    notes: (at) => (isTrusted(at) ? [] : [`${untrusted} To do so: ${trustAdvice}.`]),
    examine(at, mend) {
      const all = (...path: string[]) => settingsIn(at.sources, ...path);
      const namesIn = (...path: string[]) =>
        all(...path).flatMap(({ value }) => listOf(value));
      const [hooks] = all('hooksConfig', 'enabled');
      const isDisabled = namesIn('hooksConfig', 'disabled').includes(serverName);
      const trusted = isTrusted(at);
      const allowed = all('mcp', 'allowed')[0]?.value;
      const isShut =
        namesIn('mcp', 'excluded').includes(serverName) ||
        (Array.isArray(allowed) &&
          !allowed.includes(serverName) &&
          !allowed.includes('*'));
      const shut = 'Settings keep our MCP server from starting.';
      const policies = all('policyPaths')[0]?.path;
      const mayAsk = `${policies} names other policies, so ${todoTool} may need a yes.`;
      const granted =
        'Our todo tools, and those of the host where it has them, are allowed without asking.';
      return [
        [
          hooks?.value === false && switchedOff(hooks.path, 'hooksConfig.enabled'),
          isDisabled &&
            brokenRow(
              'trust',
              'Our hooks are disabled.',
              `/hooks enable ${serverName} in gemini`,
            ),
          trusted === false && brokenRow('trust', untrusted, trustAdvice),
          trusted === null && noteRow('trust', untrusted, trustAdvice),
          okRow('trust', 'The folder is trusted, and hooks are allowed.'),
        ],
        [
          isShut && brokenRow('todo-tools', shut, `add "${serverName}" to mcp.allowed`),
          policies && noteRow('todo-tools', mayAsk, mend),
          okRow('todo-tools', granted),
        ],
      ];
    },
  });
}
