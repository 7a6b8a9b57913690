// What is particular to driving Codex, for the stories and the kills that all driven
// hosts share.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DriveStage } from '../harness/drive.ts';
import { codex } from './real-host.ts';

export const stage: DriveStage = {
  host: codex,
  silence(project) {
    const path = join(project.home, '.codex/config.toml');
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace('[features]\n', '[features]\nhooks = false\n'),
    );
    return {};
  },
  flags: ['--color', 'never'],
};
