// Installs us in Qwen Code and examines whether all is there and allowed. Its own todo
// tool, switched on, holds the plan; our MCP server adds what it lacks; the cap on
// continuations is raised as far as the host allows.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hookElement, hookInstaller, switchedOff } from '../install/hook-host.ts';
import {
  brokenRow,
  noteRow,
  okRow,
  readSource,
  settingsIn,
} from '../install/installer.ts';
import { member } from '../install/json-text.ts';
import { settingsPlace } from '../install/settings-host.ts';
import { capVariable, qwenCodeLanguage, takenBlocks, toolPrefix } from './host.ts';

export { hookElement };

/**
 * The highest cap that the host allows; at its own cap of eight it ends a turn as a
 * success.
 */
export const mostBlocks = 100;
/**
 * The format of its settings. The host rewrites a file that does not name it at the next
 * start, and the file then counts as edited.
 */
const format = 4;
/**
 * Our tools are allowed without asking and in the prompt from the start: no model
 * searches for a way to pause.
 */
export const serverGrants = { trust: true, alwaysLoadTools: true };
const untrusted =
  'Folder trust is on, and nobody trusted this folder yet: until then Qwen Code leaves its settings aside.';

export const qwenCodeInstaller = hookInstaller({
  title: 'Qwen Code',
  program: 'qwen',
  npmPackage: '@qwen-code/qwen-code',
  knownVersions: ['0.24.4'],
  howToRemovePlugin: 'qwen extensions uninstall untildone',
  language: qwenCodeLanguage,
  toolPrefix,
  element: (command, { timeout }, moved) => hookElement(command, timeout, moved),
  server: (call) => ({ ...call, ...serverGrants }),
  stop: {
    prompt_id: 'untildone-doctor########0',
    permission_mode: 'default',
    last_assistant_message: '',
    background_tasks: [],
    crons: [],
  },
  look({ env, home }, found) {
    const userFolder = env['QWEN_HOME'] || join(home, '.qwen');
    return settingsPlace(found, {
      title: 'Qwen Code',
      folder: '.qwen',
      userFolder,
      managed: '/etc/qwen-code/settings.json',
      more(_scope, path) {
        const written = existsSync(path) ? readSource(path)['$version'] : format;
        const edits = [
          member(['tools', 'todoWrite', 'enabled'], true),
          member(['stopHookBlockingCap'], mostBlocks),
        ];
        return {
          edits: written === format ? [...edits, member(['$version'], format)] : edits,
        };
      },
      examine({ project, sources }, mend) {
        const first = (...path: string[]) => settingsIn(sources, ...path)[0]?.value;
        const [off] = settingsIn(sources, 'disableAllHooks');
        const isGuarded = first('security', 'folderTrust', 'enabled') === true;
        const trusted = readSource(join(userFolder, 'trustedFolders.json'))[project];
        const isTodoOn = first('tools', 'todoWrite', 'enabled') === true;
        const variable = env[capVariable]?.trim();
        const taken = takenBlocks(
          variable ? Number(variable) : first('stopHookBlockingCap'),
        );
        const cap = `Qwen Code ends a turn after ${taken} continuations.`;
        const lower = variable
          ? `unset ${capVariable}`
          : `set "stopHookBlockingCap" to ${mostBlocks}`;
        return [
          [
            off?.value === true && switchedOff(off.path, 'disableAllHooks'),
            isGuarded &&
              trusted !== 'TRUST_FOLDER' &&
              noteRow('trust', untrusted, 'start qwen there, and /trust'),
            okRow('trust', 'Hooks are allowed.'),
          ],
          [
            !isTodoOn &&
              brokenRow(
                'todo-tools',
                'The todo tool is off (tools.todoWrite.enabled).',
                mend,
              ),
            okRow('todo-tools', 'The todo tool is on.'),
          ],
          [taken < mostBlocks - 1 && noteRow('cap', cap, lower), okRow('cap', cap)],
        ];
      },
    });
  },
});
