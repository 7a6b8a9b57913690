// What Claude Code is given: hooks with explicit timeouts, switches, grants and our MCP server. One family of todo
// tools holds the plan: the host's own, which need no grant; the server only brings what the host lacks.
import { defaultSettings } from '../../core/config/settings.ts';
import { type HookTimeout, hookTimeouts } from '../hook/timeouts.ts';
import type { Json, JsonEdit, KeyPath } from '../install/edit.ts';
import { type HookCommand, hookFileName, writeHookCommand } from '../install/hook-command.ts';
import type { InstallRequest } from '../install/installer.ts';
import { type ProgramName, programPath } from '../install/program-files.ts';
import { claudeCodeHooks } from './translate.ts';

export const hostName = 'claude-code';
export const serverName = 'untildone';

export const claudeCodePrograms = [
  hookFileName,
  'host-commands.js',
] as const satisfies readonly ProgramName[];

/** What the host's own todo tools cannot do. */
const offeredTools = ['todo_pause', 'todo_verify'] as const;

/**
 * All tools that the server can offer, one by one: a pattern would also grant what a later version adds. They change
 * the plan and nothing else, so that offering another family is a matter of the server's arguments alone.
 */
const grantedTools = [
  ...['create_todo', 'list_todo', 'complete_todo', 'update_todo'],
  ...['todo_write', 'todo_read', 'todo_pause', 'todo_verify'],
] as const;

export const switches = {
  /** New models come without the host's todo tools. */
  CLAUDE_CODE_ENABLE_TODO_TOOLS: '1',
  /**
   * The todo tools stand behind a search otherwise. Not `false`: that would also load every tool of every other MCP
   * server of the user, where `auto` goes on searching once they would fill a tenth of the context.
   */
  ENABLE_TOOL_SEARCH: 'auto',
  /**
   * The host's own cap of 8 ends a turn as if it had succeeded. Ours end it with an outcome; this one stays behind
   * our highest limit, in case that ours should fail.
   */
  CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: String(defaultSettings.ceiling),
} as const;

export function hookElement(command: string, timeout: HookTimeout): Json {
  return { hooks: [{ type: 'command', command, timeout: hookTimeouts[timeout] }] };
}

/** @param isGranted whether the host will take our grants: only then may texts send the model to our tools */
export function settingsEdits(request: InstallRequest, isGranted: boolean): JsonEdit[] {
  const words = isGranted ? [`--tools=mcp__${serverName}__`] : [];
  const command = writeHookCommand(hookCommand(request), hostName, words);
  const stateHome = stateVariable(request);
  return [
    ...Object.entries({ ...switches, ...stateHome }).map(
      ([name, value]): JsonEdit => ({ kind: 'member', path: ['env', name], value }),
    ),
    ...grantedTools.map(
      (tool): JsonEdit => ({
        kind: 'entry',
        path: ['permissions', 'allow'],
        value: `mcp__${serverName}__${tool}`,
      }),
    ),
    ...claudeCodeHooks.map(
      ({ hook, timeout }): JsonEdit => ({
        kind: 'hook',
        path: ['hooks', hook],
        value: hookElement(command, timeout),
      }),
    ),
  ];
}

/** @param path of the object with the servers */
export function serverEdit(request: InstallRequest, path: KeyPath): JsonEdit {
  return { kind: 'member', path: [...path, serverName], value: serverOf(request), named: true };
}

function serverOf(request: InstallRequest): Json {
  const tools = ['--tools', offeredTools.join(',')];
  // In the prompt from the start: an escape hatch that has to be searched for is none.
  if (request.scope === 'shared') {
    const args = ['-y', '--fetch-retries=0', `untildone@${request.version}`, 'mcp', ...tools];
    return { type: 'stdio', command: 'npx', args, alwaysLoad: true };
  }
  const file = programPath(request.stateDirectory, request.version, 'host-commands.js');
  return {
    ...{ type: 'stdio', command: request.node, args: [file, 'mcp', ...tools] },
    ...{ env: stateVariable(request), alwaysLoad: true },
  };
}

function hookCommand({ scope, version, node, stateDirectory }: InstallRequest): HookCommand {
  if (scope === 'shared') return { kind: 'portable', version };
  return { kind: 'copied', node, file: programPath(stateDirectory, version, hookFileName), version };
}

/** Where the person moved the state directory, hooks and server must find it as well. */
function stateVariable({ scope, env, stateDirectory }: InstallRequest): Record<string, string> {
  return env['UNTILDONE_HOME'] && scope !== 'shared' ? { UNTILDONE_HOME: stateDirectory } : {};
}
