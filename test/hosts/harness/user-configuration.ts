// The human's own configuration in the home of a test, which no project can write.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './project.ts';

export function writeUserConfiguration(
  { home }: Pick<Project, 'home'>,
  settings: object,
): void {
  const folder = join(home, '.config', 'untildone');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'untildone.json'), JSON.stringify(settings));
}

/**
 * A check on the goal that never passes: an agent that works is sent on until it makes no
 * progress.
 */
export const neverDone = { checks: { never: { command: ['false'] } }, goal: ['never'] };
