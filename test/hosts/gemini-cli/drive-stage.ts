// What is particular to driving Gemini CLI, for the stories and the kills that all driven
// hosts share.
import type { DriveStage } from '../harness/drive.ts';
import { geminiCli } from './real-host.ts';

export const stage: DriveStage = {
  host: geminiCli,
  variables: { GEMINI_MODEL: 'gemini-2.5-pro' },
  flags: ['--screen-reader'],
};
