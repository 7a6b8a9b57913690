// What is particular to driving pi, for the stories and the kills that all driven hosts
// share.
import type { DriveStage } from '../harness/drive.ts';
import { pi } from './real-host.ts';

export const stage: DriveStage = {
  host: pi,
  flags: ['--thinking', 'off'],
};
