// What is particular to driving OpenCode, for the stories and the kills that all driven hosts share.
import type { DriveStage } from '../harness/drive.ts';
import { hostEnvironment, program, seedHome, settleFolder } from './opencode.ts';

export const stage: DriveStage = {
  host: 'opencode',
  program: { name: 'opencode', path: program },
  prepare(project, model) {
    seedHome(project);
    settleFolder(project.directory, project, model, { plugins: [] });
    return hostEnvironment(project);
  },
  silence: () => ({ OPENCODE_PURE: '1' }),
  flags: ['--agent', 'build'],
};
