// What is particular to driving Qwen Code, for the stories that all driven hosts share.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DriveStage } from '../harness/drive.ts';
import { qwenCode } from './real-host.ts';

export const stage: DriveStage = {
  host: 'qwen-code',
  program: { name: 'qwen', path: fileURLToPath(new URL('node_modules/.bin/qwen', import.meta.url)) },
  prepare(project, model) {
    qwenCode.settle?.({ project, model });
    return qwenCode.environment({ project, model });
  },
  // With a cap of two it takes one.
  lowCap: { QWEN_CODE_STOP_HOOK_BLOCK_CAP: '2' },
  silence(project) {
    mkdirSync(join(project.directory, '.qwen'));
    project.write('.qwen/settings.json', JSON.stringify({ disableAllHooks: true, $version: 4 }));
    return {};
  },
  flags: ['--max-session-turns', '1000'],
};
