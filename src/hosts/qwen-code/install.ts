// What Qwen Code is given, and whether that is there and allowed. Its own todo tool, switched on, holds the plan; our MCP server
// adds what it lacks; its cap on continuations is raised as far as it goes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type HookTimeout, hookTimeouts } from '../asked-call.ts';
import { hooksOf } from '../asked-translate.ts';
import type { Edit } from '../install/changes.ts';
import { offeredTools } from '../install/hook-host.ts';
import type * as installer from '../install/installer.ts';
import { broken, note, ok, readSources } from '../install/installer.ts';
import type { Json } from '../install/json-text.ts';
import { type Place, surveySettings } from '../install/settings-host.ts';
import { type Fields, recordOf } from '../untrusted.ts';
import { capVariable, hostName, qwenCodeLanguage, takenBlocks, toolPrefix } from './host.ts';

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
  howToRemovePlugin: 'qwen extensions uninstall untildone',
  survey,
};

/** The highest that it takes; at its own eight it ends a turn as a success. */
export const mostBlocks = 100;
/** Of its settings. A file that does not say it is rewritten at the next start, and counts as edited. */
const format = 4;
/** The end of a turn in which nothing was done. */
const harmlessStop = {
  ...{ hook_event_name: 'Stop', session_id: 'untildone-doctor', prompt_id: 'untildone-doctor########0' },
  ...{ transcript_path: '/dev/null', permission_mode: 'default', stop_hook_active: false },
  ...{ last_assistant_message: '', background_tasks: [], crons: [] },
};
/** Without asking, and in the prompt from the start: nobody searches for an escape hatch. */
export const serverGrants = { trust: true, alwaysLoadTools: true };
const untrusted =
  'Folder trust is on, and nobody trusted this folder yet: until then Qwen Code leaves its settings aside.';

function survey(basis: installer.InstallBasis): installer.HostSurvey {
  const { env, home } = basis;
  const userFolder = env['QWEN_HOME'] || join(home, '.qwen');

  function examine({ project, sources }: Place, mend: string): installer.Examination {
    const first = <Value>(read: (settings: Fields) => Value | undefined) =>
      sources.map(({ value }) => read(value)).find((value) => value !== undefined);
    const off = sources.find(({ value }) => 'disableAllHooks' in value);
    const isOff = off?.value['disableAllHooks'] === true;
    const isGuarded =
      first((value) => recordOf(recordOf(value['security'])['folderTrust'])['enabled']) === true;
    const [trusted] = readSources([join(userFolder, 'trustedFolders.json')]);
    const isTrusted = !isGuarded || trusted?.value[project] === 'TRUST_FOLDER';
    const isTodoOn = first((value) => recordOf(recordOf(value['tools'])['todoWrite'])['enabled']) === true;
    const variable = env[capVariable]?.trim();
    const taken = takenBlocks(variable ? Number(variable) : first((value) => value['stopHookBlockingCap']));
    const cap = `Qwen Code ends a turn after ${taken} continuations.`;
    const lower = variable ? `unset ${capVariable}` : `set "stopHookBlockingCap" to ${mostBlocks}`;
    return [
      [
        isOff &&
          broken(
            'trust',
            `Hooks are switched off in ${off.path}.`,
            `take "disableAllHooks" out of ${off.path}`,
          ),
        !isTrusted && note('trust', untrusted, 'start qwen there, and /trust'),
        ok('trust', 'Hooks are allowed.'),
      ],
      [
        !isTodoOn && broken('todo-tools', 'The todo tool is off (tools.todoWrite.enabled).', mend),
        ok('todo-tools', 'The todo tool is on.'),
      ],
      [taken < mostBlocks - 1 && note('cap', cap, lower), ok('cap', cap)],
    ];
  }

  function more(_scope: installer.Scope, path: string) {
    const written = existsSync(path) ? readSources([path])[0]?.value['$version'] : format;
    const edits = [
      member(['tools', 'todoWrite', 'enabled'], true),
      member(['stopHookBlockingCap'], mostBlocks),
      ...(written === format ? [member(['$version'], format)] : []),
    ];
    return { edits };
  }

  return surveySettings(
    {
      ...{ name: hostName, title: 'Qwen Code', folder: '.qwen', userFolder },
      managed: ['/etc/qwen-code/settings.json'],
      ...{ toolPrefix, tools: offeredTools, harmlessStop, examine, more },
      server: serverGrants,
      hooks: hooksOf(qwenCodeLanguage),
      element: (command, { timeout }, moved) => hookElement(command, timeout, moved),
    },
    basis,
  );
}

const member = (path: string[], value: Json): Edit => ({ kind: 'member', path, value });

/** @param moved variables that the hook must find */
export function hookElement(command: string, timeout: HookTimeout, moved: Record<string, string> = {}): Json {
  const env = Object.keys(moved).length === 0 ? {} : { env: moved };
  return { hooks: [{ type: 'command', command, timeout: hookTimeouts[timeout], ...env }] };
}
