// What is particular to driving Copilot CLI, for the stories and the kills that all driven hosts share.
import type { DriveStage } from '../harness/drive.ts';
import { hostProgram } from '../harness/install-host.ts';
import { copilotCli } from './real-host.ts';

export const stage: DriveStage = {
  host: 'copilot-cli',
  program: { name: 'copilot', path: hostProgram('copilot-cli', 'copilot') },
  prepare(project, model) {
    copilotCli.settle?.({ project, model });
    return copilotCli.environment({ project, model });
  },
  isSilentOnTokens: true,
  flags: ['--no-color'],
};
