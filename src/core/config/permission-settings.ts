// The settings of what our own agent may do without being asked about it. Part of the one table in settings.ts.
// A project's file cannot say any of this: see project-grants.ts.

import { choice, integer, list, named, nullable, text } from './kinds.ts';
import { field, sharedSection } from './setting.ts';

export interface PermissionSettings {
  readonly mode: 'ask' | 'allow-list' | 'read-only' | 'auto' | null;
  /** Keys are names of tools. */
  readonly allow: { readonly [tool: string]: readonly string[] };
  readonly waitSeconds: number;
}

export const permissionSettings = {
  permissions: sharedSection(
    {
      mode: field(
        nullable(choice('ask', 'allow-list', 'read-only', 'auto')),
        null,
        'How calls that nobody allowed are treated; null: ask on a terminal, allow-list elsewhere.',
      ),
      allow: field(
        named(list(text(500), 1000), 50),
        {},
        'Patterns by tool: commands for shell and start_job, paths for write_file and edit_file.',
      ),
      waitSeconds: field(
        integer(0, 604_800),
        0,
        'Seconds that a run without a terminal waits for an answer from elsewhere before it ends as paused.',
      ),
    },
    'What our own agent may do. Never taken from a project.',
  ),
} as const;
