// What is particular to driving Copilot CLI, for the stories and the kills that all
// driven hosts share.
import type { DriveStage } from '../harness/drive.ts';
import { copilotCli } from './real-host.ts';

export const stage: DriveStage = {
  host: copilotCli,
  isSilentOnTokens: true,
  flags: ['--no-color'],
};
