// What is particular to driving OpenCode, for the stories and the kills that all driven
// hosts share.
import type { DriveStage } from '../harness/drive.ts';
import { opencode } from './real-host.ts';

export const stage: DriveStage = {
  host: opencode,
  silence: () => ({ OPENCODE_PURE: '1' }),
  flags: ['--agent', 'build'],
};
