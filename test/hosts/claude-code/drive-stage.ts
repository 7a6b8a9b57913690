// What is particular to driving Claude Code, for the stories and the kills that all
// driven hosts share.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DriveStage } from '../harness/drive.ts';
import { claudeCode } from './real-host.ts';

export const stage: DriveStage = {
  host: claudeCode,
  // Root may switch its permissions off only where it says that this is a sandbox.
  variables: { IS_SANDBOX: '1' },
  lowCap: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '1' },
  silence(project) {
    mkdirSync(join(project.directory, '.claude'));
    project.write('.claude/settings.json', JSON.stringify({ disableAllHooks: true }));
    return {};
  },
  flags: ['--allowedTools', 'Bash'],
};
