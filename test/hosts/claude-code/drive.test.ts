// `untildone run --with claude-code` with the real Claude Code.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { driveStories } from '../harness/drive-stories.ts';
import { claudeEnvironment } from './claude.ts';

driveStories({
  host: 'claude-code',
  program: { name: 'claude', path: fileURLToPath(new URL('node_modules/.bin/claude', import.meta.url)) },
  // Root may switch its permissions off only where it says that this is a sandbox.
  prepare: (project, model) => ({ ...claudeEnvironment(project, model), IS_SANDBOX: '1' }),
  lowCap: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '1' },
  silence(project) {
    mkdirSync(join(project.directory, '.claude'));
    project.write('.claude/settings.json', JSON.stringify({ disableAllHooks: true }));
    return {};
  },
  flags: ['--allowedTools', 'Bash'],
});
