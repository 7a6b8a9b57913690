// The files that `init` wrote for Claude Code, for tests that change something in them as
// a person would.
import type { Project } from '../harness/project.ts';

export interface ClaudeSettings {
  readonly env: Record<string, string>;
  hooks: Record<
    string,
    { hooks: { type: string; command: string; timeout: number }[] }[]
  >;
}

interface ClaudeState {
  readonly projects: Record<
    string,
    { readonly mcpServers: { readonly untildone: { readonly args: string[] } } }
  >;
}

export const settingsFile = '.claude/settings.local.json';

export function editSettings(
  project: Project,
  edit: (settings: ClaudeSettings) => void,
): void {
  project.editJson(`${project.directory}/${settingsFile}`, edit);
}

export function setSwitch(project: Project, name: string, value: string): void {
  editSettings(project, ({ env }) => {
    env[name] = value;
  });
}

/**
 * As the docs say: all tools are granted, and the server's arguments choose which are
 * offered.
 */
export function offerAllTools(project: Project): void {
  project.editJson<ClaudeState>(`${project.home}/.claude.json`, ({ projects }) => {
    const { args } = projects[project.directory]!.mcpServers.untildone;
    args.splice(args.indexOf('--tools'));
  });
}

/** A Stop hook that may take so long; the hook itself knows of it only if it is told. */
export function shortenStop(
  project: Project,
  seconds: number,
  isToldToHook: boolean,
): void {
  editSettings(project, ({ hooks }) => {
    const hook = hooks['Stop']![0]!.hooks[0]!;
    hook.timeout = seconds;
    if (isToldToHook) hook.command += ` --timeout=${seconds}`;
  });
}
