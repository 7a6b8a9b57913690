// What is particular to driving Qwen Code, for the stories and the kills that all driven
// hosts share.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DriveStage } from '../harness/drive.ts';
import { qwenCode } from './real-host.ts';

export const stage: DriveStage = {
  host: qwenCode,
  // With a cap of two it takes one.
  lowCap: { QWEN_CODE_STOP_HOOK_BLOCK_CAP: '2' },
  silence(project) {
    mkdirSync(join(project.directory, '.qwen'));
    project.write(
      '.qwen/settings.json',
      JSON.stringify({ disableAllHooks: true, $version: 4 }),
    );
    return {};
  },
  flags: ['--max-session-turns', '1000'],
};
