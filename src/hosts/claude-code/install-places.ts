// Where Claude Code keeps its settings, as the real program does: its own folder or CLAUDE_CONFIG_DIR, and for a
// project the root of the main working tree, from where it reads local settings in subfolders and worktrees as well.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { findRepository } from '../install/git.ts';
import type { InstallRequest } from '../install/installer.ts';

export interface Places {
  /** The key of the project in the host's own state file. */
  readonly project: string;
  readonly userSettings: string;
  /** The host's own state, which it rewrites at every run; MCP servers of user and local scope are in it. */
  readonly stateFile: string;
  readonly sharedSettings: string;
  readonly sharedServers: string;
  readonly localSettings: string;
  /** Null: not a repository. */
  readonly excludeFile: string | null;
}

export function placesOf({ env, cwd, home }: Pick<InstallRequest, 'env' | 'cwd' | 'home'>): Places {
  const own = env['CLAUDE_CONFIG_DIR'];
  const repository = findRepository(cwd, env);
  const folder = realpathSync(cwd);
  const root = repository?.root ?? folder;
  const project = repository?.mainRoot ?? folder;
  return {
    project,
    userSettings: join(own || join(home, '.claude'), 'settings.json'),
    stateFile: join(own || home, '.claude.json'),
    // Committed files belong to the working tree at hand; the host reads them from there.
    sharedSettings: join(root, '.claude', 'settings.json'),
    sharedServers: join(root, '.mcp.json'),
    localSettings: join(project, '.claude', 'settings.local.json'),
    excludeFile: repository?.excludeFile ?? null,
  };
}
