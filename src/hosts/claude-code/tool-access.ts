// What each of Claude Code's tools can do to the workspace, as a table. A name that is not in it may write: work
// that is not seen would make an honest agent look idle, and that mistake is the worse one.
import type { ToolAccess } from '../../core/events.ts';

const accessOf: Readonly<Record<string, ToolAccess>> = {
  Read: 'read',
  Glob: 'read',
  Grep: 'read',
  LS: 'read',
  LSP: 'read',
  NotebookRead: 'read',
  WebFetch: 'read',
  WebSearch: 'read',
  ToolSearch: 'read',
  BashOutput: 'read',
  TaskOutput: 'read',
  AskUserQuestion: 'read',
  ExitPlanMode: 'read',
  EnterPlanMode: 'read',
  Skill: 'read',
  ListMcpResourcesTool: 'read',
  ReadMcpResourceTool: 'read',
  Write: 'write',
  Edit: 'write',
  MultiEdit: 'write',
  NotebookEdit: 'write',
  TaskCreate: 'todo',
  TaskUpdate: 'todo',
  TaskGet: 'todo',
  TaskList: 'todo',
  TodoWrite: 'todo',
};

/** `mcp__untildone__todo_pause`, or `mcp__plugin_<plugin>_untildone__todo_pause` in a plugin. */
const ownTool = /^mcp__(?:plugin_[\w-]+_)?untildone__/u;

export function isOwnTool(name: string): boolean {
  return ownTool.test(name);
}

export function toolAccess(name: string): ToolAccess {
  if (isOwnTool(name)) return 'todo';
  return Object.hasOwn(accessOf, name) ? (accessOf[name] ?? 'unknown') : 'unknown';
}
