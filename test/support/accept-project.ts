// A human's yes to what a project's file asks for (V10), as `untildone trust` records it.
import { readPolicy } from '../../src/engine/policy.ts';
import { acceptWishes } from '../../src/engine/trust.ts';

export function acceptProject(stateDirectory: string, directory: string): void {
  const { project } = readPolicy({
    projectDirectory: directory,
    userConfigDirectory: null,
    environment: {},
  });
  const { key, folder, asked } = project;
  if (key === null || folder === null) throw new Error(`no project file in ${directory}`);
  acceptWishes(stateDirectory, { key, folder, at: 1, config: asked });
}
